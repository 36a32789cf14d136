//! Writing an interval log.

use std::collections::BTreeMap;
use std::io;
use std::time::{Duration, SystemTime};

use hdrhistogram::serialization::V2DeflateSerializer;
use hdrhistogram::serialization::interval_log::{
    IntervalLogWriterBuilder, IntervalLogWriterError, Tag,
};

use super::tag::tag;
use crate::carried;
use crate::interval_log::{Logged, LoggedIntervals};
use crate::report::{Interval, Latency};

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

/// Writes what rows say beyond their histograms, as comments at the end of a log.
/// [`rows`](super::rows) reads them.
///
/// # Errors
/// Those of the writer.
pub fn write_rows(w: &mut impl io::Write, rows: &[&Latency]) -> io::Result<()> {
    let mut rows = rows.iter();
    rows.try_for_each(|row| carried::write(w, &carried::without_histograms(row)))
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
