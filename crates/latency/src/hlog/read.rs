//! Reading an interval log.

use std::collections::BTreeMap;
use std::time::SystemTime;

use hdrhistogram::Histogram;
use hdrhistogram::serialization::interval_log::{IntervalLogIterator, LogEntry};

use super::tag::{split_tag, tag};
use crate::carried;
use crate::coding;
use crate::read::{Place, ReadError, ReadErrorKind};
use crate::report::{Interval, Latency, LatencyName, Timing};

/// Most lines with a histogram that are read: a day of seconds of eleven tags.
const LINES_MAX: usize = 1_000_000;
/// Most tags that become rows.
const TAGS_MAX: usize = 1_000;
/// Lines in which the start time of a log is looked for.
const HEADER_LINES_MAX: usize = 100;
/// Starts beyond this (three years) are times since the epoch, not since a base time.
const SINCE_EPOCH_S: f64 = 1e8;

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
/// Start times are as in the log: since its base time, or since the epoch.
///
/// # Errors
/// At the first line that breaks the format, with its number.
pub fn read(bytes: &[u8]) -> Result<Vec<TaggedHistogram>, ReadError> {
    let mut found = Vec::new();
    let mut is_log = false;
    for (at, line) in bytes.split_inclusive(|byte| *byte == b'\n').enumerate() {
        let place = Place::Line {
            line: at as u64 + 1,
            column: 0,
        };
        if line.trim_ascii().is_empty() {
            continue;
        }
        // The parser wants every line ended, the last one too.
        let ended = match line.last() {
            Some(b'\n') => None,
            _ => Some([line, b"\n"].concat()),
        };
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
    }
    if found.is_empty() && !is_log {
        let message = "not an interval log: no line has a histogram";
        return Err(ReadError::new(
            ReadErrorKind::Foreign,
            Place::Whole,
            message,
        ));
    }
    Ok(found)
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

/// The rows of a log: those of its [lines](latencies), with what the comments of [`write_rows`](super::write_rows) say of them where that
/// holds for these lines.
///
/// # Errors
/// Those of [`read`] and of [`latencies`].
pub fn rows(bytes: &[u8]) -> Result<Vec<Latency>, ReadError> {
    let mut rows = latencies(&read(bytes)?)?;
    for said in carried::read_all(bytes) {
        let same = |row: &&mut Latency| tag(row) == tag(&said);
        if let Some(row) = rows.iter_mut().find(same) {
            carried::adopt(row, said);
        }
    }
    Ok(rows)
}

/// The lines of a log as rows of a report, one row per tag, with all intervals of the tag merged and the
/// intervals kept. A tag that [`tag`] did not make becomes the series of a service row. Times since the
/// epoch count from the first line.
///
/// # Errors
/// When histograms of one tag cannot be added up, or there are more than 1,000 tags.
pub fn latencies(lines: &[TaggedHistogram]) -> Result<Vec<Latency>, ReadError> {
    let least = lines
        .iter()
        .map(|line| line.start_s)
        .min_by(f64::total_cmp)
        .unwrap_or(0.0);
    let zero_s = if least > SINCE_EPOCH_S { least } else { 0.0 };
    // In the order in which the tags first occur.
    let mut order: BTreeMap<Option<&str>, usize> = BTreeMap::new();
    let mut by_tag: Vec<Vec<&TaggedHistogram>> = Vec::new();
    for line in lines {
        let at = *order.entry(line.tag.as_deref()).or_insert(by_tag.len());
        if at == by_tag.len() {
            by_tag.push(Vec::new());
        }
        if by_tag.len() > TAGS_MAX {
            let message = "more than 1,000 tags";
            return Err(ReadError::new(
                ReadErrorKind::TooLarge,
                Place::Whole,
                message,
            ));
        }
        by_tag[at].push(line);
    }
    by_tag.iter().map(|lines| row(lines, zero_s)).collect()
}

fn row(lines: &[&TaggedHistogram], zero_s: f64) -> Result<Latency, ReadError> {
    let (series, name) = split_tag(lines.first().and_then(|line| line.tag.as_deref()));
    let histogram = merged(lines)?;
    let mut row = Latency::from_histogram(name, "operation", Timing::Actual, &histogram);
    if name == LatencyName::Response {
        row.timing = Timing::Intended;
    }
    row.series = series;
    // A single line without a length is a whole run (see [`write`]), not an interval. Of several, it is one that is
    // shorter than the half millisecond that a log can say.
    let whole = lines.len() == 1;
    row.intervals = lines
        .iter()
        .filter(|line| !whole || line.length_s > 0.0)
        .map(|line| Interval {
            start_ns: nanoseconds(line.start_s - zero_s),
            length_ns: nanoseconds(line.length_s),
            histogram_v2_deflate: line.histogram_v2_deflate.clone(),
        })
        .collect();
    Ok(row)
}

/// Saturating, so that a start and a length add up; the log itself has milliseconds.
fn nanoseconds(seconds: f64) -> u64 {
    ((seconds * 1e9).round() as u64).min(u64::MAX / 2)
}

/// All histograms of a tag added up, in the range and precision of the greatest.
fn merged(lines: &[&TaggedHistogram]) -> Result<Histogram<u64>, ReadError> {
    let refuse = |message: &str| ReadError::malformed(Place::Whole, message);
    let (mut high, mut digits, mut total) = (2, 1, 0i64);
    for line in lines {
        let histogram = line.histogram()?;
        high = high.max(histogram.high()).max(histogram.max());
        digits = digits.max(histogram.sigfig());
        total = i64::try_from(histogram.len())
            .ok()
            .and_then(|count| total.checked_add(count))
            .ok_or_else(|| refuse("counts overflow"))?;
    }
    let mut sum = coding::new_histogram(high, digits)?;
    for line in lines {
        sum.add(&line.histogram()?)
            .map_err(|_| refuse("histograms of one tag do not add up"))?;
    }
    Ok(sum)
}
