//! `.hlog`: the HdrHistogram interval log, version 2, with tags.
//!
//! One line per tag and interval, each with its own histogram, so that a finished run can be plotted over
//! time. The histogram crate's own writer writes the lines. Its parser reads them, one line at a time,
//! because it searches all of its input for a separator.

use std::collections::BTreeMap;
use std::io;
use std::time::{Duration, SystemTime};

use hdrhistogram::Histogram;
use hdrhistogram::serialization::V2DeflateSerializer;
use hdrhistogram::serialization::interval_log::{
    IntervalLogIterator, IntervalLogWriterBuilder, IntervalLogWriterError, LogEntry, Tag,
};

use crate::coding;
use crate::interval_log::{Logged, LoggedIntervals};
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

/// Maxima are written in milliseconds, as the Java tools do; a comment says so.
const MAX_VALUE_DIVISOR: f64 = 1e6;

/// Writes rows as one log that starts at `start`: the intervals of each row in the order of time, or one
/// line of length 0 from its histogram when it has none. The intervals of a row come from `logged`, or were
/// read with it. Tags are the series and the name (`level_3-service`), see [`tag`].
///
/// # Errors
/// Those of the writer and of the spool of `logged`; [`io::ErrorKind::InvalidData`] when a row holds no
/// readable histogram.
pub fn write(
    w: &mut impl io::Write,
    start: SystemTime,
    rows: &[&Latency],
    mut logged: Option<&mut LoggedIntervals>,
) -> io::Result<()> {
    let mut serializer = V2DeflateSerializer::new();
    IntervalLogWriterBuilder::new()
        .add_comment("[Histogram log format version 1.3]")
        .with_start_time(start)
        .with_base_time(start)
        .begin_log_with(w, &mut serializer)?;
    writeln!(
        w,
        "\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\",\
         \"Interval_Compressed_Histogram\""
    )?;
    let tags: Vec<String> = rows.iter().map(|row| tag(row)).collect();
    let mut log = IntervalLogWriterBuilder::new()
        .with_max_value_divisor(MAX_VALUE_DIVISOR)
        .begin_log_with(w, &mut serializer)?;
    let lines = in_order(rows, logged.as_deref());
    for same in lines.chunk_by(|a, b| a.logged.is_some() && a.key() == b.key()) {
        let Some(Line { start_ns, row, .. }) = same.first().copied() else {
            continue;
        };
        let own = same.iter().filter_map(|line| line.logged);
        let own: Vec<Logged> = own.collect();
        let sum = match &mut logged {
            Some(logged) => logged.sum(&own)?,
            None => None,
        };
        let histogram = match (sum, same[0].interval) {
            (Some(sum), _) => Ok(sum),
            (None, Some(interval)) => interval.histogram(),
            (None, None) => rows[row].histogram(),
        };
        let histogram = histogram.map_err(|error| invalid(&rows[row].label(), &error))?;
        let length_ns = same.iter().map(|line| line.length_ns).max().unwrap_or(0);
        let (start, length) = (
            Duration::from_nanos(start_ns),
            Duration::from_nanos(length_ns),
        );
        log.write_histogram(&histogram, start, length, Tag::new(&tags[row]))
            .map_err(|error| match error {
                IntervalLogWriterError::IoError(error) => error,
                IntervalLogWriterError::SerializeError(error) => {
                    invalid(&rows[row].label(), &error)
                }
            })?;
    }
    Ok(())
}

/// A line, or one recorder's part of it. With neither an interval nor a part it is the row as a whole.
#[derive(Debug, Clone, Copy)]
struct Line<'a> {
    start_ns: u64,
    length_ns: u64,
    row: usize,
    interval: Option<&'a Interval>,
    logged: Option<Logged>,
}

impl Line<'_> {
    fn key(&self) -> (u64, usize) {
        (self.start_ns, self.row)
    }
}

fn in_order<'a>(rows: &[&'a Latency], logged: Option<&LoggedIntervals>) -> Vec<Line<'a>> {
    let whole = |row| Line {
        start_ns: 0,
        length_ns: 0,
        row,
        interval: None,
        logged: None,
    };
    let mut parts = BTreeMap::new();
    for (at, row) in rows.iter().enumerate() {
        parts.extend(row.log_parts.iter().map(|part| (*part, at)));
    }
    let logged = logged.map(LoggedIntervals::all).unwrap_or_default().iter();
    let mut lines: Vec<Line<'a>> = logged
        .filter_map(|one| {
            Some(Line {
                start_ns: one.start_ns,
                length_ns: one.length_ns,
                logged: Some(*one),
                ..whole(*parts.get(&one.part)?)
            })
        })
        .collect();
    let mut has_lines = vec![false; rows.len()];
    lines.iter().for_each(|line| has_lines[line.row] = true);
    for (at, row) in rows.iter().enumerate().filter(|(at, _)| !has_lines[*at]) {
        if row.intervals.is_empty() {
            lines.push(whole(at));
        }
        lines.extend(row.intervals.iter().map(|interval| Line {
            start_ns: interval.start_ns,
            length_ns: interval.length_ns,
            interval: Some(interval),
            ..whole(at)
        }));
    }
    lines.sort_by_key(Line::key);
    lines
}

fn invalid(label: &str, error: &dyn std::fmt::Display) -> io::Error {
    io::Error::new(
        io::ErrorKind::InvalidData,
        format!("histogram of `{label}`: {error}"),
    )
}

/// The tag of a row: `service`, or `SERIES-service` with `_` for what a tag may not hold.
#[must_use]
pub fn tag(row: &Latency) -> String {
    let name = row.name.as_str();
    let plain = |c: char| {
        if c == ',' || c.is_whitespace() || c.is_control() {
            '_'
        } else {
            c
        }
    };
    match row.series.as_deref().filter(|series| !series.is_empty()) {
        Some(series) => format!("{}-{name}", series.chars().map(plain).collect::<String>()),
        None => name.to_owned(),
    }
}

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

/// Saturating; the log itself has milliseconds.
fn nanoseconds(seconds: f64) -> u64 {
    (seconds * 1e9).round() as u64
}

fn split_tag(tag: Option<&str>) -> (Option<String>, LatencyName) {
    let tag = tag.unwrap_or_default();
    for name in LatencyName::ALL {
        if tag == name.as_str() {
            return (None, name);
        }
        let series = tag
            .strip_suffix(name.as_str())
            .and_then(|series| series.strip_suffix('-'));
        if let Some(series) = series.filter(|series| !series.is_empty()) {
            return (Some(series.to_owned()), name);
        }
    }
    (
        Some(tag.to_owned()).filter(|tag| !tag.is_empty()),
        LatencyName::Service,
    )
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

#[cfg(test)]
mod tests;
