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

/// Whether the size of parts is 0, which joins them; archives are not split.
pub(super) fn split_size(value: &OsStr) -> Ended<bool> {
    match value
        .to_str()
        .map(|text| text.bytes().all(|byte| byte == b'0'))
    {
        Some(true) => Ok(true),
        _ if value == "-" => Ok(false),
        _ => Err(refuse(
            "option -s: archives are not split into parts of one archive",
            "`perfkit zip --split SIZE` makes archives that are complete each; -s 0 joins parts",
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
