//! Reading an interval log: its lines.

use std::time::SystemTime;

use hdrhistogram::Histogram;
use hdrhistogram::serialization::interval_log::{IntervalLogIterator, LogEntry};

use crate::coding;
use crate::read::{Place, ReadError, ReadErrorKind};

/// Most lines with a histogram that are read: a day of seconds of eleven tags.
const LINES_MAX: usize = 1_000_000;
/// Lines in which the start time of a log is looked for.
const HEADER_LINES_MAX: usize = 100;

/// One line of a log.
#[derive(Debug, Clone, PartialEq)]
pub struct TaggedHistogram {
    /// The tag, if it has one.
    pub tag: Option<String>,
    /// Start in seconds: since the log's base time, or since the epoch when it has none.
    pub start_s: f64,
    /// Length in seconds.
    pub length_s: f64,
    /// The histogram as in the log, HDR V2 deflate, already checked. A log of an hour would not fit in
    /// memory unpacked.
    pub histogram_v2_deflate: Vec<u8>,
}

impl TaggedHistogram {
    /// The histogram.
    ///
    /// # Errors
    /// Never on what [`read`] returned.
    pub fn histogram(&self) -> Result<Histogram<u64>, ReadError> {
        coding::decode(&self.histogram_v2_deflate)
    }
}

/// Reads every line of a log. Checks each histogram and keeps it packed.
///
/// Start times are as in the log: since its base time, or since the epoch. A last line that a writer did not end,
/// behind others, is left out: see [`cut_line`].
///
/// # Errors
/// At the first line that breaks the format, with its number.
pub fn read(bytes: &[u8]) -> Result<Vec<TaggedHistogram>, ReadError> {
    Ok(read_to_cut(bytes)?.0)
}

/// The number of the last line, where its writer ended within it.
///
/// # Errors
/// Those of [`read`].
pub fn cut_line(bytes: &[u8]) -> Result<Option<u64>, ReadError> {
    Ok(read_to_cut(bytes)?.1)
}

pub(super) fn read_to_cut(bytes: &[u8]) -> Result<(Vec<TaggedHistogram>, Option<u64>), ReadError> {
    let mut found = Vec::new();
    let mut is_log = false;
    for (number, line) in (1..).zip(bytes.split_inclusive(|byte| *byte == b'\n')) {
        if line.trim_ascii().is_empty() {
            continue;
        }
        match read_line(line, number, &mut found) {
            Ok(says) => is_log |= says,
            Err(error) => {
                let is_cut = line.last() != Some(&b'\n') && !found.is_empty();
                return match is_cut && error.kind() != ReadErrorKind::TooLarge {
                    true => Ok((found, Some(number))),
                    false => Err(error),
                };
            }
        }
    }
    if found.is_empty() && !is_log {
        let message = match bytes.trim_ascii().is_empty() {
            true => "the interval log is empty: it has no values",
            false => "not an interval log: no line has a histogram",
        };
        return Err(ReadError::new(
            ReadErrorKind::Foreign,
            Place::Whole,
            message,
        ));
    }
    Ok((found, None))
}

/// Reads one line. Returns whether it is one that only logs have.
fn read_line(
    line: &[u8],
    number: u64,
    found: &mut Vec<TaggedHistogram>,
) -> Result<bool, ReadError> {
    let place = Place::Line {
        line: number,
        column: 0,
    };
    // The parser wants every line ended, the last one too.
    let ended = match line.last() {
        Some(b'\n') => None,
        _ => Some([line, b"\n"].concat()),
    };
    let mut is_log = false;
    for entry in IntervalLogIterator::new(ended.as_deref().unwrap_or(line)) {
        let Ok(entry) = entry else {
            return Err(ReadError::malformed(place, "not a line of an interval log"));
        };
        match entry {
            LogEntry::StartTime(_) | LogEntry::BaseTime(_) => is_log = true,
            LogEntry::Interval(interval) if found.len() < LINES_MAX => {
                let encoded = interval.encoded_histogram();
                found.push(TaggedHistogram {
                    tag: interval.tag().map(|tag| tag.as_str().to_owned()),
                    start_s: interval.start_timestamp().as_secs_f64(),
                    length_s: interval.duration().as_secs_f64(),
                    histogram_v2_deflate: checked(encoded).map_err(|error| error.at(place))?,
                });
            }
            LogEntry::Interval(_) => {
                let message = "more than a million lines";
                return Err(ReadError::new(ReadErrorKind::TooLarge, place, message));
            }
        }
    }
    Ok(is_log)
}

/// When the run of a log started: by its start time, or else its base time; `None` where it states none.
#[must_use]
pub fn started_at(bytes: &[u8]) -> Option<SystemTime> {
    let comment = |line: &&[u8]| line.starts_with(b"#");
    let lines = bytes.split_inclusive(|byte| *byte == b'\n');
    let mut found = None;
    for line in lines.take(HEADER_LINES_MAX).filter(comment) {
        for entry in IntervalLogIterator::new(line) {
            match entry {
                Ok(LogEntry::StartTime(start)) => return SystemTime::UNIX_EPOCH.checked_add(start),
                Ok(LogEntry::BaseTime(base)) => found = SystemTime::UNIX_EPOCH.checked_add(base),
                _ => {}
            }
        }
    }
    found
}

/// The bytes of a valid encoded histogram, deflated if they were not.
fn checked(encoded: &str) -> Result<Vec<u8>, ReadError> {
    let bytes = coding::bytes_of_base64(encoded)?;
    let plain = coding::checked(&bytes)?;
    if plain != bytes {
        return Ok(bytes);
    }
    let deflated = coding::encode_deflate(&coding::decode(&plain)?);
    deflated.ok_or_else(|| ReadError::malformed(Place::Whole, "counts overflow"))
}
