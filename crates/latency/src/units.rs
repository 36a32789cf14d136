//! Nanoseconds as people write and read them.

/// Three significant digits and a unit: `950 ns`, `1.31 ms`, `12.4 s`.
pub(crate) fn duration(ns: u64) -> String {
    let value = ns as f64;
    let (scaled, unit) = match ns {
        0..1_000 => return format!("{ns} ns"),
        1_000..1_000_000 => (value / 1e3, "µs"),
        1_000_000..1_000_000_000 => (value / 1e6, "ms"),
        _ => (value / 1e9, "s"),
    };
    let decimals = if scaled < 9.995 {
        2
    } else if scaled < 99.95 {
        1
    } else {
        0
    };
    format!("{scaled:.decimals$} {unit}")
}

/// Two durations as text, with all digits where they would look the same and are not.
pub(crate) fn durations_apart(one_ns: u64, other_ns: u64) -> (String, String) {
    let (one, other) = (duration(one_ns), duration(other_ns));
    if one != other || one_ns == other_ns {
        return (one, other);
    }
    (exact(one_ns), exact(other_ns))
}

/// A duration with all its digits.
fn exact(ns: u64) -> String {
    let (unit, size) = match ns {
        0..1_000 => ("ns", 1),
        1_000..1_000_000 => ("µs", 1_000),
        1_000_000..1_000_000_000 => ("ms", 1_000_000),
        _ => ("s", 1_000_000_000),
    };
    let (whole, part) = (ns / size, ns % size);
    if part == 0 {
        return format!("{whole} {unit}");
    }
    let digits = size.ilog10() as usize;
    let part = format!("{part:0digits$}");
    format!("{whole}.{} {unit}", part.trim_end_matches('0'))
}

/// Nanoseconds in one of a unit.
pub(crate) fn unit_ns(unit: &str) -> Option<u64> {
    match unit {
        "ns" => Some(1),
        // The micro sign and the Greek letter look alike; people type both.
        "us" | "µs" | "μs" => Some(1_000),
        "ms" => Some(1_000_000),
        "s" => Some(1_000_000_000),
        "m" | "min" => Some(60_000_000_000),
        "h" => Some(3_600_000_000_000),
        _ => None,
    }
}

/// A time as people write it (`250us`, `0.25 ms`, `1.5s`, `90m`, `12h`) in nanoseconds, exactly: none if a number or a unit
/// (`ns`, `us`, `µs`, `ms`, `s`, `m`, `min`, `h`) is missing, for a fraction of a nanosecond, and beyond 64 bits.
pub fn parse_duration(text: &str) -> Option<u64> {
    let end = text
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let unit = unit_ns(unit.trim())?;
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if whole.is_empty() || whole.len() > 20 || fraction.len() > 18 || number.ends_with('.') {
        return None;
    }
    let whole_ns = whole.parse::<u64>().ok()?.checked_mul(unit)?;
    let fraction = fraction.trim_end_matches('0');
    if fraction.is_empty() {
        return Some(whole_ns);
    }
    let scale = 10u128.pow(u32::try_from(fraction.len()).ok()?);
    let scaled = u128::from(fraction.parse::<u64>().ok()?) * u128::from(unit);
    if scaled % scale != 0 {
        return None;
    }
    whole_ns.checked_add(u64::try_from(scaled / scale).ok()?)
}

/// What a number is, for its unit in text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A count, a quotient or a share.
    Plain,
    /// Bytes, or bytes a second.
    Bytes,
    /// Nanoseconds.
    Time,
}

/// A limit as people write it, at least 0: `1000`, `2.5` or `1 %` for a plain number; `100M`, `1.5GiB` or `100MiB/s` for
/// bytes, in multiples of 1,024; a time for a time.
pub(crate) fn parse_number(text: &str, kind: Kind) -> Option<f64> {
    if kind == Kind::Time {
        return parse_duration(text).map(|ns| ns as f64);
    }
    let text = text.strip_suffix("/s").unwrap_or(text).trim();
    let end = text
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let factor = match (kind, unit.trim().to_ascii_lowercase().as_str()) {
        (_, "") => 1.0,
        (Kind::Plain, "%") => 0.01,
        (Kind::Bytes, "b") => 1.0,
        (Kind::Bytes, "k" | "kb" | "kib") => 1024.0,
        (Kind::Bytes, "m" | "mb" | "mib") => 1024.0 * 1024.0,
        (Kind::Bytes, "g" | "gb" | "gib") => 1024.0 * 1024.0 * 1024.0,
        (Kind::Bytes, "t" | "tb" | "tib") => 1024.0 * 1024.0 * 1024.0 * 1024.0,
        _ => return None,
    };
    let number = number.parse::<f64>().ok()? * factor;
    (number.is_finite() && number < 1e300).then_some(number)
}

/// `999 B`, `4 KiB`, `1.5 MiB`: in multiples of 1,024, as limits are written, in at most four digits.
fn bytes(value: f64) -> String {
    let mut value = value;
    for unit in ["B", "KiB", "MiB", "GiB"] {
        // What would read as 1,024 of a unit is 1 of the next.
        if value.abs() < 1023.5 {
            return format!("{} {unit}", digits(value));
        }
        value /= 1024.0;
    }
    format!("{} TiB", digits(value))
}

fn digits(value: f64) -> String {
    let decimals = match value.abs() {
        v if v < 9.995 => 2,
        v if v < 99.95 => 1,
        _ => return format!("{value:.0}"),
    };
    let text = format!("{value:.decimals$}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// A number of a report for a reason.
pub(crate) fn number(value: f64, kind: Kind) -> String {
    match kind {
        Kind::Time => duration(value.max(0.0) as u64),
        Kind::Bytes => bytes(value),
        Kind::Plain if value.abs() >= 1_000.0 => format!("{value:.0}"),
        Kind::Plain => {
            let text = format!("{value:.4}");
            text.trim_end_matches('0').trim_end_matches('.').to_owned()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_as_text() {
        for (ns, text) in [
            (0, "0 ns"),
            (999, "999 ns"),
            (1_310_000, "1.31 ms"),
            (12_440_000_000, "12.4 s"),
            (250_000, "250 µs"),
            (9_999, "10.0 µs"),
        ] {
            assert_eq!(duration(ns), text);
        }
    }

    #[test]
    fn durations_that_look_the_same_are_told_apart() {
        for (one, other, texts) in [
            (15_810_559, 15_800_000, ["15.810559 ms", "15.8 ms"]),
            (15_800_000, 15_800_000, ["15.8 ms", "15.8 ms"]),
            (15_900_000, 15_800_000, ["15.9 ms", "15.8 ms"]),
            (9_000_000_001, 9_000_000_000, ["9.000000001 s", "9 s"]),
            (9_999, 10_000, ["9.999 µs", "10 µs"]),
            (0, 0, ["0 ns", "0 ns"]),
            (
                u64::MAX,
                u64::MAX - 1,
                ["18446744073.709551615 s", "18446744073.709551614 s"],
            ),
        ] {
            let (first, second) = durations_apart(one, other);
            assert_eq!([first, second], texts);
        }
    }

    #[test]
    fn bytes_are_written_as_they_are_read() {
        for (value, text) in [
            (0.0, "0 B"),
            (1023.0, "1023 B"),
            (1023.6, "1 KiB"),
            (2_097_152.0, "2 MiB"),
            (1_572_864.0, "1.5 MiB"),
            (10.0 * 1024.0 * 1024.0 * 1024.0, "10 GiB"),
            (3.0 * 1024_f64.powi(4), "3 TiB"),
            (5000.0 * 1024_f64.powi(4), "5000 TiB"),
        ] {
            assert_eq!(number(value, Kind::Bytes), text);
            let read = parse_number(text, Kind::Bytes).expect("a number");
            assert!((read - value).abs() <= value / 1000.0, "{text}: {read}");
            let read = parse_number(&format!("{text}/s"), Kind::Bytes);
            assert!(read.is_some(), "{text}");
        }
    }

    #[test]
    fn durations_from_text() {
        assert_eq!(parse_duration("2ms"), Some(2_000_000));
        assert_eq!(parse_duration("1.5 s"), Some(1_500_000_000));
        assert_eq!(parse_duration("0.25µs"), Some(250));
        assert_eq!(parse_duration("1.50μs"), Some(1_500));
        assert_eq!(parse_duration("2m"), parse_duration("120s"));
        assert_eq!(parse_duration("2min"), parse_duration("120s"));
        assert_eq!(parse_duration("1.5h"), parse_duration("90m"));
        for wrong in [
            "", "2", "ms", ".5ms", "1.ms", "1..2ms", "-1ms", "1e3ms", "1.5ns", "2days", "5M",
        ] {
            assert_eq!(parse_duration(wrong), None, "{wrong}");
        }
        assert_eq!(parse_duration("99999999999999999999s"), None);
        assert_eq!(parse_duration("18446744073709551615ns"), Some(u64::MAX));
    }
}
