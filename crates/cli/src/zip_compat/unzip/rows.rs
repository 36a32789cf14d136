//! What listings say of an entry: its time, its method, its ratio.

use jiff::civil::DateTime;
use jiff::tz::Offset;
use zipstream::extract::utc_offset_seconds;
use zipstream::{Entry, EntryTime, Method};

/// The time of an entry as a clock in this system's zone showed it.
pub(super) fn clock(entry: &Entry<'_>) -> DateTime {
    clock_of(entry.time())
}

/// A time as a clock in this system's zone showed it.
pub(super) fn clock_of(time: EntryTime) -> DateTime {
    let seconds = match time {
        EntryTime::Local { seconds } => seconds,
        time => {
            let seconds = time.seconds_utc(|local| local);
            seconds.saturating_add(utc_offset_seconds(seconds).into())
        }
    };
    let at = jiff::Timestamp::from_second(seconds).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
    Offset::UTC.to_datetime(at)
}

/// What compression saved, in tenths of a percent.
pub(super) fn saved(content: u64, compressed: u64) -> i64 {
    if content == 0 {
        return 0;
    }
    let wide = |bytes: u64| i128::from(bytes);
    let difference = wide(content) - wide(compressed);
    let half = wide(content / 2);
    let tenths = (1000 * difference.abs() + half) / wide(content);
    let tenths = i64::try_from(tenths).unwrap_or(i64::MAX);
    if difference < 0 { -tenths } else { tenths }
}

/// The same in whole percent.
pub(super) fn percent(content: u64, compressed: u64) -> String {
    let tenths = saved(content, compressed);
    match (tenths.unsigned_abs() + 5) / 10 {
        // So it is in those programs, where there is no room for the sign.
        100 => "100%".to_owned(),
        whole if tenths < 0 => format!("-{whole}%"),
        whole => format!("{whole}%"),
    }
}

/// Bytes that the old encryption puts before a content.
const CRYPT_HEAD_BYTES: u64 = 12;

/// The size of the compressed content alone.
pub(super) fn without_head(entry: &Entry<'_>) -> u64 {
    match entry.is_encrypted() {
        true => entry.compressed_bytes().saturating_sub(CRYPT_HEAD_BYTES),
        false => entry.compressed_bytes(),
    }
}

/// The letter of a deflate level, by the flags of its entry.
fn level(flags: u16) -> char {
    match flags >> 1 & 3 {
        0 => 'N',
        1 => 'X',
        2 => 'F',
        _ => 'S',
    }
}

/// The start of the line about an entry that is extracted.
pub(super) fn verb(method: Method) -> &'static str {
    match method {
        Method::Stored => " extracting",
        _ => "  inflating",
    }
}

/// The method in seven columns.
pub(super) fn method(entry: &Entry<'_>) -> String {
    match stated(entry) {
        Method::Stored => "Stored".to_owned(),
        Method::Deflate => format!("Defl:{}", level(entry.flags())),
        other => match other.code() {
            1 => "Shrunk".to_owned(),
            code @ 2..=5 => format!("Reduce{}", code - 1),
            6 => "Implode".to_owned(),
            9 => format!("Def64{}", level(entry.flags())),
            12 => "BZip2".to_owned(),
            14 => "LZMA".to_owned(),
            98 => "PPMd".to_owned(),
            code => format!("Unk:{code:03}"),
        },
    }
}

/// The method in four columns.
pub(super) fn short_method(entry: &Entry<'_>) -> String {
    match stated(entry) {
        Method::Stored => "stor".to_owned(),
        Method::Deflate => format!("def{}", level(entry.flags())),
        other => match other.code() {
            1 => "shrk".to_owned(),
            code @ 2..=5 => format!("re:{}", code - 1),
            6 => "impl".to_owned(),
            9 => format!("d64{}", level(entry.flags())),
            12 => "bzp2".to_owned(),
            14 => "lzma".to_owned(),
            98 => "ppmd".to_owned(),
            code => format!("u{code:03}"),
        },
    }
}

/// The method that the header states: for AES entries, not the one inside.
fn stated(entry: &Entry<'_>) -> Method {
    match entry.is_encrypted() && entry.needed_version() >= 51 {
        true => Method::of(99),
        false => entry.method(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_are_rounded() {
        assert_eq!(saved(1906, 901), 527);
        assert_eq!(percent(1892, 887), "53%");
        assert_eq!(percent(6, 8), "-33%");
        assert_eq!(percent(0, 0), "0%");
        assert_eq!(percent(u64::MAX, 0), "100%");
        assert_eq!((&*percent(2, 4), &*percent(2, 5)), ("100%", "-150%"));
    }
}
