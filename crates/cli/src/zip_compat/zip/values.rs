//! Values of options of `zip`: lists in files, dates, sizes of parts.

use std::ffi::{OsStr, OsString};

use zipstream::extract::local_to_utc;

use crate::failure::Failure;
use crate::zip_compat::ended::{Ended, Stop, zip as code};

/// Patterns in a file, one per line.
pub(super) fn listed(path: &str) -> Ended<Vec<OsString>> {
    let text = std::fs::read_to_string(path)
        .map_err(|error| Stop::new(code::OPEN, Failure::io("read", path.as_ref(), &error)))?;
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    Ok(lines.map(OsString::from).collect())
}

/// What becomes of the parts of an archive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Split {
    /// A split archive stays one, with parts as large as its first one.
    AsItIs,
    /// Parts are joined.
    Joined,
    /// The archive is whole.
    Never,
    /// Parts of at most this many bytes.
    Parts(u64),
}

/// The least size of parts.
const PART_BYTES_MIN: u64 = 64 << 10;

/// Numbers without a letter are of MiB below this one, and of bytes from it on.
const MIB_END: u64 = 1024;

/// The size of parts: a number of MiB or of bytes, or with a letter of KiB and so on.
pub(super) fn split_size(value: &OsStr) -> Ended<Split> {
    let text = value.to_string_lossy();
    if text == "-" {
        return Ok(Split::Never);
    }
    let digits = text.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    let number = digits.bytes().all(|byte| byte.is_ascii_digit());
    let number = digits.parse::<u64>().ok().filter(|_| number);
    let shift = match text[digits.len()..].to_ascii_lowercase().as_str() {
        "" if number.is_some_and(|number| number >= MIB_END) => Some(0),
        "k" => Some(10),
        "" | "m" => Some(20),
        "g" => Some(30),
        "t" => Some(40),
        _ => None,
    };
    let bytes = shift
        .zip(number)
        .and_then(|(shift, number)| number.checked_mul(1 << shift));
    match bytes {
        Some(0) => Ok(Split::Joined),
        Some(bytes) if bytes < PART_BYTES_MIN => Err(refuse(
            &format!("option -s: parts of '{text}' are too small"),
            "the least size is 64k",
        )),
        Some(bytes) => Ok(Split::Parts(bytes)),
        None => Err(refuse(
            &format!("option -s: '{text}' is not a size"),
            "write it as 100k, 10m or 1g; a number alone is in MiB, from 1024 on in bytes",
        )),
    }
}

/// When a day begins here: `2020-12-31` or `12312020`.
pub(super) fn date(value: &OsStr) -> Ended<i64> {
    let text = value.to_string_lossy();
    let part = |from: usize, to: usize| text.get(from..to)?.parse::<i16>().ok();
    let parts = match text.len() {
        10 if text.is_ascii() => part(0, 4).zip(part(5, 7)).zip(part(8, 10)),
        8 if text.is_ascii() => part(4, 8).zip(part(0, 2)).zip(part(2, 4)),
        _ => None,
    };
    let day = parts.and_then(|((year, month), day)| {
        let small = |number: i16| i8::try_from(number).ok();
        jiff::civil::Date::new(year, small(month)?, small(day)?).ok()
    });
    let day = day.ok_or_else(|| {
        refuse(
            &format!("'{text}' is not a date"),
            "write it as 2020-12-31 or 12312020",
        )
    })?;
    let midnight = day.to_zoned(jiff::tz::TimeZone::UTC);
    let shown = midnight.map_or(0, |midnight| midnight.timestamp().as_second());
    Ok(local_to_utc(shown))
}

pub(super) fn refuse(message: &str, help: &str) -> Stop {
    Stop::new(code::USAGE, Failure::new(message).help(help))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_of_parts_are_in_mib_or_have_a_letter() {
        let size = |text: &str| split_size(text.as_ref()).ok();
        for (text, split) in [
            ("64k", Split::Parts(65_536)),
            ("64K", Split::Parts(65_536)),
            ("1", Split::Parts(1 << 20)),
            ("1023", Split::Parts(1023 << 20)),
            ("65536", Split::Parts(1 << 16)),
            ("3m", Split::Parts(3 << 20)),
            ("2t", Split::Parts(2 << 40)),
            ("0", Split::Joined),
            ("-", Split::Never),
        ] {
            assert_eq!(size(text), Some(split), "{text}");
        }
        for text in [
            "",
            "k",
            "63k",
            "64kb",
            "65536b",
            "-5k",
            "+1",
            "0.5m",
            "é",
            "99999999t",
        ] {
            assert_eq!(size(text), None, "{text}");
        }
    }
}
