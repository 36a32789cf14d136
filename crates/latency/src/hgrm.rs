//! `.hgrm`: a percentile distribution as text, for the plotters that read HdrHistogram's output.
//!
//! The public plotter accepts only rows of exactly four space-separated fields and aligns series by row
//! number. The ladder is therefore the same in every file: it halves the distance to 100 % [`HALVINGS`]
//! times in five steps each, and ends at 1 with `inf`. A short run repeats its greatest value at the end of
//! the ladder; the report, not this file, decides which percentiles have enough samples.

use std::fmt;
use std::io;
use std::str::FromStr;

use hdrhistogram::Histogram;

use crate::percentile::{order_statistic_ranks, values_at_ranks};
use crate::read::{Place, ReadError, ReadErrorKind};
use crate::report::{Latency, LatencyName, Timing};

/// How often the distance to 100 % is halved: up to one value in 16 million.
pub const HALVINGS: u32 = 24;
const STEPS: u64 = 5;
/// Most rows read.
const ROWS_MAX: usize = 100_000;

const HEADER: &str = "       Value     Percentile TotalCount 1/(1-Percentile)";

/// Unit of the values in a file. The file does not state it; HdrHistogram's tools call it *ticks*.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum HgrmUnit {
    /// Nanoseconds.
    Ns,
    /// Microseconds.
    #[default]
    Us,
    /// Milliseconds.
    Ms,
}

/// The text is not a unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("unknown unit: expected ns, us or ms")]
pub struct ParseHgrmUnitError;

impl FromStr for HgrmUnit {
    type Err = ParseHgrmUnitError;

    fn from_str(text: &str) -> Result<Self, ParseHgrmUnitError> {
        match text {
            "ns" => Ok(Self::Ns),
            "us" => Ok(Self::Us),
            "ms" => Ok(Self::Ms),
            _ => Err(ParseHgrmUnitError),
        }
    }
}

impl fmt::Display for HgrmUnit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Ns => "ns",
            Self::Us => "us",
            Self::Ms => "ms",
        })
    }
}

impl HgrmUnit {
    fn ns(self) -> f64 {
        match self {
            Self::Ns => 1.0,
            Self::Us => 1e3,
            Self::Ms => 1e6,
        }
    }
}

/// The header of C tools of HdrHistogram, whose columns are wider.
const HEADER_C: &str = "Value   Percentile   TotalCount";
/// What wrk2 prints above its distribution, which is one of milliseconds.
const WRK2: &str = "Detailed Percentile spectrum:";

/// The unit of a file, as far as it can be known: what it says itself, as those written by perfkit do; milliseconds
/// for the output of wrk2, whole or the distribution alone; microseconds for any other.
///
/// ```
/// use perfkit_latency::hgrm::{HgrmUnit, unit_of};
/// assert_eq!(unit_of("  Detailed Percentile spectrum:\n"), HgrmUnit::Ms);
/// ```
#[must_use]
pub fn unit_of(text: &str) -> HgrmUnit {
    let stated = text
        .lines()
        .filter_map(|line| line.trim().strip_prefix("#["))
        .flat_map(footer_fields)
        .find_map(|(name, value)| (name == "Unit").then(|| value.parse().ok())?);
    let is_c = || text.contains(WRK2) || text.contains(HEADER_C);
    stated.unwrap_or_else(|| if is_c() { HgrmUnit::Ms } else { HgrmUnit::Us })
}

/// Whether a text is the output of wrk2 with its distribution in it.
#[must_use]
pub fn is_printed(text: &str) -> bool {
    text.contains(WRK2)
}

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

/// Writes what a distribution is of, as a line that other tools ignore. [`read`] takes the row from it, and
/// [`unit_of`] the unit.
///
/// # Errors
/// Those of the writer.
pub fn write_row(w: &mut impl io::Write, row: LatencyName, unit: HgrmUnit) -> io::Result<()> {
    writeln!(
        w,
        "#[Row     = {:>12}, Unit           = {unit:>12}]",
        row.as_str()
    )
}

/// Writes the distribution of a histogram of nanoseconds.
///
/// # Errors
/// Those of the writer.
pub fn write(w: &mut impl io::Write, h: &Histogram<u64>, unit: HgrmUnit) -> io::Result<()> {
    let scale = unit.ns();
    writeln!(w, "{HEADER}\n")?;
    let ranks: Vec<u64> = ladder().map(|step| step.rank(h.len())).collect();
    let values = values_at_ranks(h, &ranks);
    let mut recorded = h.iter_recorded().peekable();
    let mut total = 0u64;
    for (at, step) in ladder().enumerate() {
        let value = values.get(at).copied().unwrap_or(0);
        while let Some(next) = recorded.next_if(|next| next.value_iterated_to() <= value) {
            total = total.saturating_add(next.count_at_value());
        }
        write!(
            w,
            "{:12.3} {:2.12} {total:10} ",
            value as f64 / scale,
            step.quantile()
        )?;
        match step.inverse() {
            Some(inverse) => writeln!(w, "{inverse:14.2}")?,
            None => writeln!(w, "{:>14}", "inf")?,
        }
    }
    let (mean, stdev) = (h.mean() / scale, h.stdev() / scale);
    let max = if h.is_empty() {
        0.0
    } else {
        h.max() as f64 / scale
    };
    let sub_buckets = sub_buckets(h);
    writeln!(w, "#[Mean    = {mean:12.3}, StdDeviation   = {stdev:12.3}]")?;
    writeln!(
        w,
        "#[Max     = {max:12.3}, Total count    = {:12}]",
        h.len()
    )?;
    writeln!(
        w,
        "#[Buckets = {:12}, SubBuckets     = {sub_buckets:12}]",
        h.buckets()
    )
}

/// Linear steps within a power of two, as the histogram crate chooses them.
fn sub_buckets(h: &Histogram<u64>) -> u64 {
    (2 * 10u64.pow(u32::from(h.sigfig().min(5)))).next_power_of_two()
}

/// One row of the ladder: 1 − (10 − step) / (10 · 2^halving), kept as integers so that ranks are exact.
#[derive(Debug, Clone, Copy)]
struct Step {
    /// Numerator of the distance to 1, 6 to 10; 0 for the last row.
    tenths: u64,
    halving: u32,
}

fn ladder() -> impl Iterator<Item = Step> {
    let steps = (0..HALVINGS).flat_map(|halving| {
        (0..STEPS).map(move |step| Step {
            tenths: 10 - step,
            halving,
        })
    });
    steps.chain([Step {
        tenths: 0,
        halving: 0,
    }])
}

impl Step {
    fn denominator(self) -> u64 {
        10 << self.halving
    }

    fn quantile(self) -> f64 {
        1.0 - self.tenths as f64 / self.denominator() as f64
    }

    fn inverse(self) -> Option<f64> {
        (self.tenths > 0).then(|| self.denominator() as f64 / self.tenths as f64)
    }

    /// ⌈n · quantile⌉, at least 1.
    fn rank(self, n: u64) -> u64 {
        let beyond = u128::from(n) * u128::from(self.tenths) / u128::from(self.denominator());
        n.saturating_sub(u64::try_from(beyond).unwrap_or(u64::MAX))
            .max(1)
    }
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
    /// Standard deviation in nanoseconds, from the footer.
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
        if let Some(footer) = line.strip_prefix("#[") {
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
    hgrm.total_count = total.unwrap_or(last.total_count);
    if hgrm.total_count < last.total_count {
        let message = "the footer's total count is below the last row's";
        return Err(ReadError::malformed(Place::Whole, message));
    }
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
    /// The row of a report: mean, standard deviation and maximum from the footer, percentiles and their intervals
    /// no narrower than the steps between the rows of the file.
    #[must_use]
    pub fn latency(&self) -> Latency {
        let name = self.row.unwrap_or(LatencyName::Service);
        let timing = match name {
            LatencyName::Response => Timing::Intended,
            _ => Timing::Actual,
        };
        let mut row = Latency::from_histogram(name, "operation", timing, &self.histogram());
        let (least, most) = (row.min_ns.unwrap_or(0), row.max_ns.unwrap_or(0));
        // A footer that contradicts the rows is not believed.
        let within = |ns: &f64| (least as f64 * 0.95..=most as f64 * 1.05).contains(ns);
        if let Some(mean) = self.mean_ns.filter(within) {
            row.mean_ns = Some(mean);
            row.stdev_ns = self.stdev_ns.or(row.stdev_ns);
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

    /// An approximate histogram of this distribution: all values between two rows count at the upper one.
    /// Good for percentiles of the ladder and for overlays, not for exact merging.
    #[must_use]
    pub fn histogram(&self) -> Histogram<u64> {
        let greatest = self.rows.last().map_or(0, |row| whole_ns(row.value_ns));
        let high = greatest.max(self.max_ns.map_or(0, whole_ns)).max(2);
        let mut histogram = Histogram::new_with_bounds(1, high, 3)
            .expect("any upper bound from 2 on makes a histogram of three digits");
        let mut total = 0;
        for row in &self.rows {
            let count = row.total_count.saturating_sub(total);
            if count > 0 {
                // In range by construction.
                let _ = histogram.record_n(whole_ns(row.value_ns), count);
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
