//! `.hgrm`: a percentile distribution as text, for the plotters that read HdrHistogram's output.
//!
//! The public plotter accepts only rows of exactly four space-separated fields and aligns series by row
//! number. The ladder is therefore the same in every file: it halves the distance to 100 % [`HALVINGS`]
//! times in five steps each, and ends at 1 with `inf`. A short run repeats its greatest value at the end of
//! the ladder; the report, not this file, decides which percentiles have enough samples.

mod printed;
mod unit;
mod write;

use std::time::{Duration, SystemTime};

use hdrhistogram::Histogram;

use crate::carried;
use crate::deviation;
use crate::percentile::{order_statistic_ranks, values_at_ranks};
use crate::read::{Place, ReadError, ReadErrorKind};
use crate::recording::Known;
use crate::report::{Latency, LatencyName, Timing};

pub use self::printed::printed;
use self::unit::WRK2;
pub use self::unit::{HgrmUnit, ParseHgrmUnitError, is_printed, stated_unit, unit_of};
pub use self::write::{HALVINGS, write, write_row, write_start, write_whole};

/// Values of a distribution and of a histogram that are closer than this share are the same.
const PRECISION: f64 = 1e-3;
/// How wide a bucket of a histogram of one digit is at most, as a share of its values.
const BUCKET_MAX: f64 = 1.0 / 16.0;
/// Most rows read.
const ROWS_MAX: usize = 100_000;

/// The distribution within the output of a tool that prints more than that, with the number of lines before it.
fn distribution(text: &str) -> (usize, &str) {
    let Some(at) = text.find(WRK2) else {
        return (0, text);
    };
    let from = at + WRK2.len();
    let rest = &text[from..];
    // It ends with the line of `Buckets`.
    let end = rest.find("#[Buckets").map(|at| {
        let line = rest[at..].find('\n').unwrap_or(rest.len() - at);
        at + line
    });
    (
        text[..from].matches('\n').count(),
        &rest[..end.unwrap_or(rest.len())],
    )
}

/// What the line of a start begins with, as in `.hlog`.
const START: &str = "#[StartTime: ";

/// When the run of a distribution started, where the file says so.
#[must_use]
pub fn started_at(text: &str) -> Option<SystemTime> {
    let stated = text
        .lines()
        .find_map(|line| line.trim().strip_prefix(START))?;
    let seconds = stated.split(' ').next().and_then(non_negative)?;
    let micros = Duration::try_from_secs_f64(seconds).ok()?.as_micros();
    let since_epoch = Duration::from_micros(u64::try_from(micros).ok()?);
    SystemTime::UNIX_EPOCH.checked_add(since_epoch)
}

/// One row that was read.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HgrmRow {
    /// The value in nanoseconds.
    pub value_ns: f64,
    /// The quantile, 0 to 1.
    pub quantile: f64,
    /// Values at most as great.
    pub total_count: u64,
}

/// A distribution that was read.
#[derive(Debug, Clone, PartialEq)]
pub struct Hgrm {
    /// The rows, ascending.
    pub rows: Vec<HgrmRow>,
    /// Mean in nanoseconds, from the footer.
    pub mean_ns: Option<f64>,
    /// Standard deviation in nanoseconds, from the footer: of all values, by n, as HdrHistogram writes it.
    pub stdev_ns: Option<f64>,
    /// Greatest value in nanoseconds, from the footer.
    pub max_ns: Option<f64>,
    /// How many values there are, by the footer or else by the last row.
    pub total_count: u64,
    /// Which time it is of, where the file says so; the distribution of wrk2 is one of response times.
    pub row: Option<LatencyName>,
    /// Powers of two of the histogram, from the footer.
    pub buckets: Option<u64>,
    /// Linear steps in each, from the footer.
    pub sub_buckets: Option<u64>,
    /// The row as a report has it, where the file says so and it holds.
    pub whole: Option<Latency>,
}

/// Reads a distribution whose values are in `unit`, written here or by any HdrHistogram tool.
///
/// # Errors
/// At the first line that breaks the format, with its number.
pub fn read(text: &str, unit: HgrmUnit) -> Result<Hgrm, ReadError> {
    let scale = unit.ns();
    let mut hgrm = Hgrm {
        rows: Vec::new(),
        mean_ns: None,
        stdev_ns: None,
        max_ns: None,
        total_count: 0,
        row: text.contains(WRK2).then_some(LatencyName::Response),
        buckets: None,
        sub_buckets: None,
        whole: None,
    };
    let (skipped, text) = distribution(text);
    let mut has_header = false;
    let mut total = None;
    for (at, line) in text.lines().enumerate() {
        let place = Place::Line {
            line: (skipped + at) as u64 + 1,
            column: 0,
        };
        let line = line.trim();
        if line.is_empty() {
            continue;
        }
        if carried::is_row(line) {
            hgrm.whole = carried::read(line);
        } else if let Some(footer) = line.strip_prefix("#[") {
            for (name, value) in footer_fields(footer) {
                read_footer(&mut hgrm, &mut total, name, value, scale);
            }
        } else if line.starts_with('#') {
        } else if line.starts_with("Value") {
            has_header = true;
        } else if !has_header {
            let message = "not a percentile distribution: no header line";
            return Err(ReadError::new(ReadErrorKind::Foreign, place, message));
        } else if hgrm.rows.len() == ROWS_MAX {
            let message = "more than 100,000 rows";
            return Err(ReadError::new(ReadErrorKind::TooLarge, place, message));
        } else {
            let row = read_row(line, scale, hgrm.rows.last())
                .map_err(|why| ReadError::malformed(place, why))?;
            hgrm.rows.push(row);
        }
    }
    let Some(last) = hgrm.rows.last() else {
        let message = "not a percentile distribution: no rows";
        return Err(ReadError::new(
            ReadErrorKind::Foreign,
            Place::Whole,
            message,
        ));
    };
    if last.quantile < 1.0 {
        let message = format!(
            "the distribution ends at {} %, not at 100 %: its end is missing",
            last.quantile * 100.0
        );
        return Err(ReadError::malformed(Place::Whole, message));
    }
    hgrm.total_count = total.unwrap_or(last.total_count);
    if hgrm.total_count < last.total_count {
        let message = "the footer's total count is below the last row's";
        return Err(ReadError::malformed(Place::Whole, message));
    }
    hgrm.whole = hgrm.whole.take().filter(|whole| hgrm.agrees(whole));
    Ok(hgrm)
}

/// `Mean = 1.000, StdDeviation = 2.000]` as pairs.
fn footer_fields(footer: &str) -> impl Iterator<Item = (&str, &str)> {
    let fields = footer.trim_end_matches(']').split(',');
    fields
        .filter_map(|field| field.split_once('='))
        .map(|(name, value)| (name.trim(), value.trim()))
}

fn read_footer(hgrm: &mut Hgrm, total: &mut Option<u64>, name: &str, value: &str, scale: f64) {
    let ns = || {
        non_negative(value)
            .map(|number| number * scale)
            .filter(|ns| ns.is_finite())
    };
    match name {
        "Mean" => hgrm.mean_ns = ns(),
        "StdDeviation" => hgrm.stdev_ns = ns(),
        "Max" => hgrm.max_ns = ns(),
        "Total count" => *total = value.parse().ok(),
        "Row" => hgrm.row = value.parse().ok().or(hgrm.row),
        "Buckets" => hgrm.buckets = value.parse().ok(),
        "SubBuckets" => hgrm.sub_buckets = value.parse().ok(),
        _ => {}
    }
}

fn non_negative(text: &str) -> Option<f64> {
    text.parse()
        .ok()
        .filter(|number: &f64| number.is_finite() && *number >= 0.0)
}

/// Value, quantile and total; the fourth field follows from the second and is ignored.
/// HdrHistogram's own tools leave it out of the last row.
fn read_row(line: &str, scale: f64, last: Option<&HgrmRow>) -> Result<HgrmRow, &'static str> {
    let mut fields = line.split_ascii_whitespace();
    let mut next = || fields.next().ok_or("a row has fewer than three fields");
    let (value, quantile, total) = (next()?, next()?, next()?);
    if fields.count() > 1 {
        return Err("a row has more than four fields");
    }
    let value_ns = non_negative(value)
        .map(|value| value * scale)
        .filter(|ns| *ns < 1.8e19);
    let row = HgrmRow {
        value_ns: value_ns.ok_or("the value is not a number in range")?,
        quantile: non_negative(quantile)
            .filter(|quantile| *quantile <= 1.0)
            .ok_or("the percentile is not within 0 to 1")?,
        total_count: total
            .parse()
            .map_err(|_| "the total count is not a number")?,
    };
    if let Some(last) = last
        && (row.value_ns < last.value_ns
            || row.quantile < last.quantile
            || row.total_count < last.total_count)
    {
        return Err("rows do not ascend");
    }
    Ok(row)
}

impl Hgrm {
    /// Whether a row is the one of this distribution.
    fn agrees(&self, whole: &Latency) -> bool {
        let Ok(histogram) = whole.histogram() else {
            return false;
        };
        let totals: Vec<u64> = self.rows.iter().map(|row| row.total_count).collect();
        let values = values_at_ranks(&histogram, &totals);
        let near = |(row, value): (&HgrmRow, &u64)| {
            (row.value_ns - *value as f64).abs() <= row.value_ns * PRECISION + 1.0
        };
        histogram.len() == self.total_count
            && (histogram.is_empty() || values.len() == totals.len())
            && self.rows.iter().zip(&values).all(near)
            && carried::holds(whole)
    }

    /// The row of a report. Unless the file has it whole: mean, standard deviation and maximum from the footer, the
    /// minimum from the first row, percentiles and their intervals no narrower than the steps between the rows of the file.
    #[must_use]
    pub fn latency(&self) -> Latency {
        if let Some(whole) = &self.whole {
            return whole.clone();
        }
        let name = self.row.unwrap_or(LatencyName::Service);
        let timing = match name {
            LatencyName::Response => Timing::Intended,
            _ => Timing::Actual,
        };
        let histogram = self.histogram();
        let known = Known {
            min_ns: self.least_ns(),
            max_ns: self.greatest_ns(),
            ..Known::of(&histogram)
        };
        let mut row = Latency::from_known(name, "operation", timing, &histogram, known);
        let (least, most) = (row.min_ns.unwrap_or(0), row.max_ns.unwrap_or(0));
        // A footer that contradicts the rows is not believed.
        let within = |ns: &f64| (least as f64 * 0.95..=most as f64 * 1.05).contains(ns);
        if let Some(mean) = self.mean_ns.filter(within) {
            row.mean_ns = Some(mean);
            let stated = self.stdev_ns;
            let stated = stated.and_then(|stdev| deviation::of_all(stdev, row.n));
            row.stdev_ns = stated.or(row.stdev_ns);
        }
        for found in &mut row.percentiles {
            found.ci95_ns = found.value_ns.and_then(|value| {
                let (low, high) = order_statistic_ranks(row.n, found.p, 0.95)?;
                let below = self.rows.iter().rev().find(|step| step.total_count < low);
                let above = self.rows.iter().find(|step| step.total_count >= high);
                let low = below.map_or(0, |step| whole_ns(step.value_ns)).min(value);
                let high = above.map_or(most, |step| whole_ns(step.value_ns));
                Some([low, high.max(value).min(most.max(value))])
            });
        }
        row
    }

    /// The least value, as the first row states it.
    fn least_ns(&self) -> u64 {
        let first = self.rows.iter().find(|row| row.total_count > 0);
        first.map_or(0, |row| whole_ns(row.value_ns).min(self.greatest_ns()))
    }

    /// The greatest value, as the footer states it: the last row has the end of its bucket. A footer that contradicts
    /// the rows is not believed.
    fn greatest_ns(&self) -> u64 {
        let Some(last) = self.rows.last() else {
            return 0;
        };
        let mut fewer = self.rows.iter().rev();
        let fewer = fewer.find(|row| row.total_count < last.total_count);
        let least = fewer.map_or(0.0, |row| row.value_ns);
        let least = least.max(last.value_ns * (1.0 - BUCKET_MAX));
        let within = |ns: &f64| (least..=last.value_ns * 1.05).contains(ns);
        whole_ns(self.max_ns.filter(within).unwrap_or(last.value_ns))
    }

    /// A histogram of this distribution. Unless the file has it whole, it is approximate: all values between two rows count at the upper one.
    /// Good for percentiles of the ladder and for overlays, not for exact merging.
    #[must_use]
    pub fn histogram(&self) -> Histogram<u64> {
        if let Some(Ok(whole)) = self.whole.as_ref().map(Latency::histogram) {
            return whole;
        }
        let greatest = self.greatest_ns();
        let mut histogram = Histogram::new_with_bounds(1, greatest.max(2), 3)
            .expect("any upper bound from 2 on makes a histogram of three digits");
        let mut total = 0;
        for row in &self.rows {
            let count = row.total_count.saturating_sub(total);
            if count > 0 {
                // In range by construction.
                let _ = histogram.record_n(whole_ns(row.value_ns).min(greatest), count);
            }
            total = row.total_count.max(total);
        }
        histogram
    }
}

/// Rounded; the range was checked when it was read.
fn whole_ns(ns: f64) -> u64 {
    ns.round() as u64
}

#[cfg(test)]
mod tests;
