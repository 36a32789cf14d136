//! Sizes, times and processor lists as words of a command line.

use std::time::Duration;

/// Parses `4096`, `64K`, `16MiB`, `1G`: binary multiples, as zstd and its relatives read them; and `64 KiB`, `1.5 MiB`, as
/// reports show them.
pub(crate) fn size(text: &str) -> Result<u64, String> {
    let trimmed = text.trim();
    let end = trimmed.find(|c: char| !c.is_ascii_digit() && c != '.');
    let (number, suffix) = trimmed.split_at(end.unwrap_or(trimmed.len()));
    let wrong = || format!("'{text}' is not a size (such as 64K, 16MiB)");
    let (whole, fraction) = number.split_once('.').unwrap_or((number, "0"));
    let whole: u64 = whole.parse().map_err(|_| wrong())?;
    let is_fraction = !fraction.is_empty() && fraction.bytes().all(|byte| byte.is_ascii_digit());
    let fraction: f64 = match is_fraction {
        true => format!("0.{fraction}").parse().map_err(|_| wrong())?,
        false => return Err(wrong()),
    };
    let suffix = suffix.trim_start();
    let shift = match suffix.to_ascii_lowercase().as_str() {
        "" | "b" => 0,
        "k" | "kb" | "kib" => 10,
        "m" | "mb" | "mib" => 20,
        "g" | "gb" | "gib" => 30,
        "t" | "tb" | "tib" => 40,
        _ => {
            return Err(format!(
                "'{suffix}' is not a unit of size: use K, M, G or T"
            ));
        }
    };
    if shift == 0 && number.contains('.') {
        return Err(wrong());
    }
    let unit = 1_u64 << shift;
    // Less than a unit, to the nearest byte: reports show three digits.
    let rest = (fraction * unit as f64).round() as u64;
    let bytes = whole.checked_mul(unit);
    bytes
        .and_then(|bytes| bytes.checked_add(rest))
        .ok_or_else(|| format!("'{text}' is too large"))
}

/// The longest time that a flag takes.
const DURATION_MAX: Duration = Duration::from_secs(30 * 24 * 3600);

/// Parses `100us`, `100µs`, `1ms`, `1.5s`, `90m`, `12h`: a positive time of up to 720 hours.
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    let ns = latency::parse_duration(text.trim())
        .ok_or_else(|| format!("'{text}' is not a time (such as 100us, 1ms, 2s, 5m, 1h)"))?;
    let time = Duration::from_nanos(ns);
    match time.is_zero() || time > DURATION_MAX {
        true => Err(format!("'{text}' is out of range (1ns to 720h)")),
        false => Ok(time),
    }
}

/// Parses `A..B`, `A..` or `..B`, where A and B are sizes: bytes A up to, not including, B.
pub(crate) fn range(text: &str) -> Result<ByteRange, String> {
    let (start, end) = text
        .split_once("..")
        .ok_or_else(|| format!("'{text}' is not a range (such as 1M..2M, 4096.., ..64K)"))?;
    let bound = |text: &str| match text.trim() {
        "" => Ok(None),
        text => size(text).map(Some),
    };
    let range = ByteRange {
        start: bound(start)?.unwrap_or(0),
        end: bound(end)?,
    };
    match range.end {
        Some(end) if end < range.start => Err(format!("'{text}' ends before it begins")),
        _ => Ok(range),
    }
}

/// Bytes `start` up to, not including, `end`; without one, up to the last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ByteRange {
    pub(crate) start: u64,
    pub(crate) end: Option<u64>,
}

/// Parses `0`, `0,2` or `0-3` into processor numbers.
pub(crate) fn cpu_list(text: &str) -> Result<CpuList, String> {
    let wrong = || format!("'{text}' is not a list of CPUs (such as 0, 0,2 or 0-3)");
    let mut cpus = Vec::new();
    for part in text.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let first: u32 = first.trim().parse().map_err(|_| wrong())?;
        let last: u32 = last.trim().parse().map_err(|_| wrong())?;
        if first > last || last > 4095 {
            return Err(wrong());
        }
        cpus.extend(first..=last);
    }
    cpus.sort_unstable();
    cpus.dedup();
    Ok(CpuList(cpus))
}

/// Processors to run on, ascending.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CpuList(pub(crate) Vec<u32>);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_binary_units_and_do_not_overflow() {
        assert_eq!(size("4096"), Ok(4096));
        assert_eq!(size("64K"), Ok(65_536));
        assert_eq!(size("16MiB"), Ok(16 << 20));
        assert_eq!(size("1g"), Ok(1 << 30));
        assert!(size("99999999999G").is_err());
        assert!(size("12 parsecs").is_err());
        assert!(size("").is_err());
    }

    #[test]
    fn sizes_are_read_as_reports_show_them() {
        for bytes in [
            0_u64,
            1,
            999,
            1023,
            1024,
            65_536,
            1_572_864,
            134_217_728,
            3 << 40,
        ] {
            let shown = report::units::bytes(bytes as f64);
            assert_eq!(size(&shown), Ok(bytes), "{shown}");
        }
        // To three digits.
        assert_eq!(size(&report::units::bytes(1_234_567.0)), Ok(1_237_320));
        assert_eq!(size("1.25k"), Ok(1280));
        for wrong in [
            "0.5", "1.0", ".5M", "1.M", "1..2M", "1.2.3M", "-1M", "1e3", ".",
        ] {
            assert!(size(wrong).is_err(), "{wrong}");
        }
        assert_eq!(size("18446744073709551615"), Ok(u64::MAX));
        assert!(size("17179869183.9G").is_ok() && size("17179869184G").is_err());
    }

    #[test]
    fn times_have_units_and_an_end() {
        assert_eq!(duration("100us"), Ok(Duration::from_micros(100)));
        assert_eq!(duration("100µs"), Ok(Duration::from_micros(100)));
        assert_eq!(duration("1.5ms"), Ok(Duration::from_micros(1500)));
        assert_eq!(duration("60min"), Ok(Duration::from_secs(3600)));
        assert_eq!(duration("1.5h"), duration("90m"));
        assert_eq!(duration("720h"), Ok(DURATION_MAX));
        assert_eq!(duration("1ns"), Ok(Duration::from_nanos(1)));
        for wrong in [
            "", "5", "ms", "-1s", "0s", "720.001h", "2 weeks", "nans", "infs", "1 parsec", "1e99s",
        ] {
            assert!(duration(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn ranges_may_be_open_at_either_end() {
        let bytes = |start, end| Ok(ByteRange { start, end });
        assert_eq!(range("1K..2KiB"), bytes(1024, Some(2048)));
        assert_eq!(range("5.."), bytes(5, None));
        assert_eq!(range("..5"), bytes(0, Some(5)));
        assert_eq!(range(".."), bytes(0, None));
        assert_eq!(range("7..7"), bytes(7, Some(7)));
        for wrong in ["", "5", "2..1", "-1..2", "1..2..3", "a..b"] {
            assert!(range(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn processor_lists_are_sorted_and_unique() {
        assert_eq!(cpu_list("2,0-1,1"), Ok(CpuList(vec![0, 1, 2])));
        assert!(cpu_list("3-1").is_err());
        assert!(cpu_list("a").is_err());
    }
}
