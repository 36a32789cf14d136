//! The lines of an interval log as rows of a report.

use std::collections::BTreeMap;

use hdrhistogram::Histogram;

use super::read::{TaggedHistogram, read_to_cut};
use super::tag::{split_tag, tag};
use crate::carried;
use crate::coding;
use crate::dependence;
use crate::hgrm::HgrmUnit;
use crate::histogram::Layout;
use crate::read::{Place, ReadError, ReadErrorKind};
use crate::recording::Known;
use crate::report::{Interval, Latency, LatencyName, Timing};

/// Most tags that become rows.
const TAGS_MAX: usize = 1_000;
/// Starts beyond this (three years) are times since the epoch, not since a base time.
const SINCE_EPOCH_S: f64 = 1e8;

/// The rows of a log: those of its [lines](latencies), with what the comments of [`write_rows`](super::write_rows) say of them where that
/// holds for these lines.
///
/// # Errors
/// Those of [`read`](super::read) and of [`latencies`](super::latencies).
pub fn rows(bytes: &[u8]) -> Result<Vec<Latency>, ReadError> {
    Ok(rows_in(bytes, None)?.rows)
}

/// The rows of a log, and what is not known of them.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Rows {
    /// The rows.
    pub rows: Vec<Latency>,
    /// Whether the values were taken for nanoseconds because neither the log nor the caller says in which unit they
    /// are.
    pub unit_assumed: bool,
    /// Whether values were taken for independent because there are too few intervals to know.
    pub independence_assumed: bool,
    /// The number of the last line, where its writer ended within it: see [`read`](super::read()).
    pub cut_line: Option<u64>,
}

/// [`rows`] of a log whose values are in `unit`; without one in nanoseconds. A log does not state its unit, unless
/// perfkit wrote it.
///
/// # Errors
/// Those of [`rows`], and where a value is beyond all times in nanoseconds.
pub fn rows_in(bytes: &[u8], unit: Option<HgrmUnit>) -> Result<Rows, ReadError> {
    let (lines, cut_line) = read_to_cut(bytes)?;
    let factor = unit.map_or(1, HgrmUnit::whole_ns);
    let mut rows = scaled_latencies(&lines, factor)?;
    let mut said = carried::read_all(bytes).peekable();
    let is_own = said.peek().is_some();
    let unknown = |row: &Latency| row.effective_n.is_none() && row.min_ns < row.max_ns;
    let independence_assumed = !is_own && rows.iter().any(unknown);
    for said in said.filter(|_| factor == 1) {
        let same = |row: &&mut Latency| tag(row) == tag(&said);
        if let Some(row) = rows.iter_mut().find(same) {
            carried::adopt(row, said);
        }
    }
    Ok(Rows {
        rows,
        unit_assumed: unit.is_none() && !is_own,
        independence_assumed,
        cut_line,
    })
}

/// The lines of a log as rows of a report, one row per tag, with all intervals of the tag merged and the
/// intervals kept. A tag that [`tag`] did not make becomes the series of a service row. Times since the
/// epoch count from the first line.
///
/// # Errors
/// When histograms of one tag cannot be added up, or there are more than 1,000 tags.
pub fn latencies(lines: &[TaggedHistogram]) -> Result<Vec<Latency>, ReadError> {
    scaled_latencies(lines, 1)
}

/// The same with all values times `factor`.
fn scaled_latencies(lines: &[TaggedHistogram], factor: u64) -> Result<Vec<Latency>, ReadError> {
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
    let rows = by_tag.iter().map(|lines| row(lines, zero_s, factor));
    rows.collect()
}

fn row(lines: &[&TaggedHistogram], zero_s: f64, factor: u64) -> Result<Latency, ReadError> {
    let (series, name) = split_tag(lines.first().and_then(|line| line.tag.as_deref()));
    let Merged { sum, parts } = merged(lines)?;
    let own = Known::of(&sum);
    let known = Known {
        min_ns: own.min_ns.saturating_mul(factor),
        max_ns: own.max_ns.saturating_mul(factor),
        mean_ns: own.mean_ns * factor as f64,
        stdev_ns: own.stdev_ns.map(|stdev| stdev * factor as f64),
        inflation: own
            .stdev_ns
            .and_then(|stdev| dependence::of_intervals(&parts, stdev)),
    };
    let histogram = scaled(sum, factor)?;
    let mut row = Latency::from_known(name, "operation", Timing::Actual, &histogram, known);
    if name == LatencyName::Response {
        row.timing = Timing::Intended;
    }
    row.series = series;
    // A single line without a length is a whole run (see [`write`]), not an interval. Of several, it is one that is
    // shorter than the half millisecond that a log can say.
    let whole = lines.len() == 1;
    let timed = lines.iter().filter(|line| !whole || line.length_s > 0.0);
    let interval = |line: &&TaggedHistogram| {
        Ok(Interval {
            start_ns: nanoseconds(line.start_s - zero_s),
            length_ns: nanoseconds(line.length_s),
            histogram_v2_deflate: match factor {
                1 => line.histogram_v2_deflate.clone(),
                _ => coding::encode_deflate(&scaled(line.histogram()?, factor)?)
                    .ok_or_else(|| ReadError::malformed(Place::Whole, "counts overflow"))?,
            },
        })
    };
    row.intervals = timed.map(interval).collect::<Result<_, ReadError>>()?;
    Ok(row)
}

/// Saturating, so that a start and a length add up; the log itself has milliseconds.
fn nanoseconds(seconds: f64) -> u64 {
    ((seconds * 1e9).round() as u64).min(u64::MAX / 2)
}

/// A histogram with all values times `factor`, each the greatest that it may have been.
fn scaled(histogram: Histogram<u64>, factor: u64) -> Result<Histogram<u64>, ReadError> {
    if factor == 1 {
        return Ok(histogram);
    }
    let most = histogram.max().checked_mul(factor);
    let most = most.filter(|most| i64::try_from(*most).is_ok());
    let too_large = || ReadError::malformed(Place::Whole, "a value is too large for its unit");
    let mut found =
        coding::new_histogram(1, most.ok_or_else(too_large)?.max(2), histogram.sigfig())?;
    for recorded in histogram.iter_recorded() {
        let value = histogram.highest_equivalent(recorded.value_iterated_to());
        found
            .record_n(
                value.min(histogram.max()) * factor,
                recorded.count_at_value(),
            )
            .map_err(|_| too_large())?;
    }
    Ok(found)
}

/// The histograms of a tag.
struct Merged {
    /// All of them added up.
    sum: Histogram<u64>,
    /// The count and the mean of each, in the order of time.
    parts: Vec<(u64, f64)>,
}

fn merged(lines: &[&TaggedHistogram]) -> Result<Merged, ReadError> {
    let mut layout = Layout::default();
    for line in lines {
        layout.take_in(&line.histogram()?)?;
    }
    let mut sum = layout.empty()?;
    let mut ordered = lines.to_vec();
    ordered.sort_by(|a, b| a.start_s.total_cmp(&b.start_s));
    let mut parts = Vec::with_capacity(lines.len());
    for line in ordered {
        let histogram = line.histogram()?;
        let message = "histograms of one tag do not add up";
        sum.add(&histogram)
            .map_err(|_| ReadError::malformed(Place::Whole, message))?;
        parts.push((histogram.len(), histogram.mean()));
    }
    Ok(Merged { sum, parts })
}
