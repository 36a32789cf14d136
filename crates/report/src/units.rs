//! Numbers for people: three or four significant digits and a unit.

use latency::report::{Cell, Unit};

/// What stands where a value is not known.
pub const ABSENT: &str = "—";

/// A number of things in words: `1 expression`, `2 expressions`.
pub fn counted(count: u64, [one, several]: [&str; 2]) -> String {
    format!("{count} {}", if count == 1 { one } else { several })
}

/// `850 ns`, `12.3 µs`, `4.56 ms`, `1.23 s`.
pub fn duration(ns: f64) -> String {
    // What would read as 1000 of a unit is 1.00 of the next.
    let (value, unit) = match ns.abs() {
        v if v < 999.5 => (ns, "ns"),
        v if v < 999.5e3 => (ns / 1e3, "µs"),
        v if v < 999.5e6 => (ns / 1e6, "ms"),
        _ => (ns / 1e9, "s"),
    };
    format!("{} {unit}", significant(value))
}

/// The same of a whole number, or [`ABSENT`].
pub fn duration_or_absent(ns: Option<u64>) -> String {
    ns.map_or_else(|| ABSENT.to_owned(), |ns| duration(ns as f64))
}

/// `999 B`, `4.00 KiB`, `1.50 MiB`.
pub fn bytes(bytes: f64) -> String {
    let mut value = bytes;
    for unit in ["B", "KiB", "MiB", "GiB"] {
        // What would read as 1,024 of a unit is 1 of the next.
        if value.abs() < 1023.5 {
            return if unit == "B" {
                format!("{value:.0} B")
            } else {
                sized(value, unit)
            };
        }
        value /= 1024.0;
    }
    sized(value, "TiB")
}

fn sized(value: f64, unit: &str) -> String {
    format!("{} {unit}", significant(value))
}

/// `311 MiB/s`: in the same units as sizes, so that a size and a speed of one report divide.
pub fn rate(bytes_per_s: f64) -> String {
    format!("{}/s", bytes(bytes_per_s))
}

/// `-3.2 %` with a sign.
pub fn signed_percent(fraction: f64) -> String {
    // Without the addition a difference of nothing could read as -0.0 %.
    let percent = (fraction * 1000.0).round() / 10.0 + 0.0;
    if percent == 0.0 {
        "0 %".to_owned()
    } else {
        format!("{} %", trim(format!("{percent:+.1}")))
    }
}

/// `40 %` without a sign.
pub fn percent(fraction: f64) -> String {
    format!("{} %", trim(format!("{:.1}", fraction * 100.0)))
}

/// A number of unknown unit.
pub fn number(value: f64) -> String {
    match value.abs() {
        v if v > 0.0 && !(0.01..1e15).contains(&v) => format!("{value:.2e}"),
        _ => significant(value),
    }
}

/// `12,345,678`.
pub fn count(value: u64) -> String {
    let digits = value.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// `p50`, `p99.9`.
pub fn percentile_name(p: f64) -> String {
    format!("p{p}")
}

/// A cell of a report table in its unit.
pub fn cell(cell: &Cell, unit: Unit) -> String {
    let number = match cell {
        Cell::Null => return ABSENT.to_owned(),
        Cell::Text(text) => return text.clone(),
        Cell::Integer(value) => *value as f64,
        Cell::Number(value) => *value,
    };
    match unit {
        Unit::Text => number.to_string(),
        Unit::Count => match cell {
            Cell::Integer(value) if *value >= 0 => count(value.unsigned_abs()),
            _ => significant(number),
        },
        Unit::Bytes => bytes(number),
        Unit::Nanoseconds => duration(number),
        Unit::BytesPerSecond => rate(number),
        Unit::PerSecond => format!("{}/s", significant(number)),
        Unit::Ratio => format!("{number:.3}"),
        Unit::Share => percent(number),
    }
}

/// Three significant digits below 1000, whole numbers above.
fn significant(value: f64) -> String {
    match value.abs() {
        v if v == v.trunc() && v < 1000.0 => format!("{value:.0}"),
        v if v < 10.0 => format!("{value:.2}"),
        v if v < 100.0 => format!("{value:.1}"),
        v if v < 1000.0 => format!("{value:.0}"),
        _ => {
            let sign = if value < 0.0 { "-" } else { "" };
            format!("{sign}{}", count(value.abs().round() as u64))
        }
    }
}

fn trim(number: String) -> String {
    number
        .strip_suffix(".0")
        .map_or(number.clone(), str::to_owned)
}

/// A time in RFC 3339 to the second: no clock that is read by people is finer.
#[must_use]
pub fn moment(time: &str) -> String {
    match time.split_once('.') {
        Some((seconds, rest)) => {
            let zone = rest.trim_start_matches(|letter: char| letter.is_ascii_digit());
            format!("{seconds}{zone}")
        }
        None => time.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        assert_eq!(duration(999.6e3), "1.00 ms");
        assert_eq!(duration(999.4e3), "999 µs");
        assert_eq!(rate(2_500.0), "2.44 KiB/s");
        assert_eq!(rate(0.0), "0 B/s");
        assert_eq!(rate(-2_097_152.0), "-2 MiB/s");
        assert_eq!(duration(21.0), "21 ns");
        assert_eq!(duration(355_400.0), "355 µs");
        assert_eq!(duration(1_310_000.0), "1.31 ms");
        assert_eq!(duration(61e9), "61 s");
        assert_eq!(bytes(999.0), "999 B");
        assert_eq!(bytes(1_023.0), "1023 B");
        assert_eq!(bytes(1_048_300.0), "1.00 MiB");
        assert_eq!(bytes(134_217_728.0), "128 MiB");
        assert_eq!(rate(325_812_345.0), "311 MiB/s");
        assert_eq!(signed_percent(-0.1), "-10 %");
        assert_eq!(signed_percent(0.0), "0 %");
        assert_eq!(signed_percent(-0.000_01), "0 %");
        assert_eq!(signed_percent(0.4), "+40 %");
        assert_eq!(number(10.0), "10");
        assert_eq!(number(-12_345.6), "-12,346");
        assert_eq!(number(0.001_234), "1.23e-3");
        assert_eq!(percent(0.205), "20.5 %");
        assert_eq!(count(12_345_678), "12,345,678");
        assert_eq!(percentile_name(99.9), "p99.9");
    }
}
