//! Consistency of a report that was read: rows agree with their histograms, values are in order and in
//! range.
//!
//! JSON of the right shape can still be truncated, edited or invented. A report that passes can be
//! rendered, merged, compared and gated without further checks. Reading itself is in `read.rs`.

mod stated;

use crate::coding::{self, Budget};
use crate::gate::Gate;
use crate::percentile::{earned_n, rank, values_at_ranks};
use crate::read::{Place, ReadError, ReadErrorKind};
use crate::report::{
    Comparison, Differences, GateResult, Latency, Percentile, Report, Table, Timing,
};

/// Most rows of each kind that a report may have.
const ROWS_MAX: usize = 10_000;
/// Most percentiles of a row.
const PERCENTILES_MAX: usize = 1_000;
/// Most intervals of a row: as many as lines that are read of an `.hlog`.
const INTERVALS_MAX: usize = 1_000_000;

type Checked = Result<(), ReadError>;

/// A row of the report, to say where something is wrong.
#[derive(Clone, Copy)]
struct Row {
    list: &'static str,
    index: usize,
}

impl Row {
    fn place(self, field: &'static str) -> Place {
        Place::Field {
            list: self.list,
            index: self.index as u64,
            field,
        }
    }

    /// An error at `field` unless `holds`.
    fn need(self, holds: bool, field: &'static str, message: &str) -> Checked {
        match holds {
            true => Ok(()),
            false => Err(ReadError::malformed(self.place(field), message)),
        }
    }
}

/// Returns the first contradiction in `report`.
pub(crate) fn check(report: &Report) -> Checked {
    let lists = [
        ("latencies", report.latencies.len()),
        ("tables", report.tables.len()),
        ("comparisons", report.comparisons.len()),
        ("gates", report.gates.len()),
        ("stated.times", report.stated.times.len()),
        ("stated.rates", report.stated.rates.len()),
    ];
    for (list, length) in lists {
        if length > ROWS_MAX {
            let place = Row {
                list,
                index: ROWS_MAX,
            };
            let message = "more than 10,000 rows";
            let place = place.place("");
            return Err(ReadError::new(ReadErrorKind::TooLarge, place, message));
        }
    }
    rates(report)?;
    stated::check(report)?;
    let mut budgets = Budgets::default();
    for (index, row) in report.latencies.iter().enumerate() {
        let list = "latencies";
        latency(row, Row { list, index }, &mut budgets)?;
    }
    for (index, found) in report.tables.iter().enumerate() {
        let list = "tables";
        table(found, Row { list, index })?;
    }
    for (index, found) in report.comparisons.iter().enumerate() {
        let list = "comparisons";
        comparison(found, Row { list, index })?;
    }
    for (index, found) in report.gates.iter().enumerate() {
        let list = "gates";
        gate(found, Row { list, index })?;
    }
    Ok(())
}

/// The same of a row alone.
pub(crate) fn row(row: &Latency) -> Checked {
    let at = Row {
        list: "latencies",
        index: 0,
    };
    latency(row, at, &mut Budgets::default())
}

/// What the histograms of a report may take together.
struct Budgets {
    rows: Budget,
    intervals: Budget,
}

impl Default for Budgets {
    fn default() -> Self {
        Self {
            rows: Budget::default(),
            intervals: Budget::of_intervals(),
        }
    }
}

/// Values that a report has once: rates and shares.
fn rates(report: &Report) -> Checked {
    let (load, throughput) = (&report.load, &report.throughput);
    let positive = [
        ("load.rate_target_per_s", load.rate_target_per_s),
        ("load.rate_achieved_per_s", load.rate_achieved_per_s),
        ("throughput.ops_per_s", throughput.ops_per_s),
        ("throughput.bytes_in_per_s", throughput.bytes_in_per_s),
        ("throughput.bytes_out_per_s", throughput.bytes_out_per_s),
        ("throughput.bytes_per_cpu_s", throughput.bytes_per_cpu_s),
        ("environment.load_before", report.environment.load_before),
    ];
    let shares = [
        ("load.late_start_ratio", load.late_start_ratio),
        ("environment.steal_ratio", report.environment.steal_ratio),
    ];
    let wrong = |name: &str, what: &str| {
        Err(ReadError::malformed(
            Place::Whole,
            format!("{name} is {what}"),
        ))
    };
    for (name, value) in positive {
        if value.is_some_and(|value| !at_least_0(value)) {
            return wrong(name, "below 0");
        }
    }
    for (name, value) in shares {
        if value.is_some_and(|value| !(0.0..=1.0).contains(&value)) {
            return wrong(name, "not within 0 to 1");
        }
    }
    Ok(())
}

fn at_least_0(value: f64) -> bool {
    value.is_finite() && value >= 0.0
}

fn latency(row: &Latency, at: Row, budgets: &mut Budgets) -> Checked {
    at.need(
        row.batch != Some(0),
        "batch",
        "a batch has at least 1 operation, found 0",
    )?;
    at.need(
        row.batch.is_some() || row.timing == Timing::BatchMean,
        "batch",
        "only means may be of a number of operations that is not known",
    )?;
    let some = row.n > 0;
    at.need(
        row.min_ns.is_some() == some,
        "min_ns",
        "does not agree with n",
    )?;
    at.need(
        row.max_ns.is_some() == some,
        "max_ns",
        "does not agree with n",
    )?;
    at.need(
        row.effective_n.is_none_or(|effective| effective <= row.n),
        "effective_n",
        "is above n",
    )?;
    let (min, max) = (row.min_ns.unwrap_or(0), row.max_ns.unwrap_or(0));
    at.need(min <= max, "min_ns", "min_ns is above max_ns")?;
    if let Some(mean) = row.mean_ns {
        // Values and batch means are whole nanoseconds; the mean is not rounded.
        let (low, high) = (min as f64 * 0.9 - 1.0, max as f64 * 1.1 + 1.0);
        let within = some && at_least_0(mean) && low <= mean && mean <= high;
        at.need(within, "mean_ns", "the mean is outside min_ns to max_ns")?;
    }
    if let Some(stdev) = row.stdev_ns {
        at.need(
            at_least_0(stdev),
            "stdev_ns",
            "a standard deviation is never negative",
        )?;
    }
    if let Some(buckets) = &row.buckets {
        at.need(
            buckets.size_ops > 0,
            "buckets",
            "a bucket has at least 1 operation, found 0",
        )?;
        let bucketed = buckets.size_ops.saturating_mul(buckets.sum_ns.len() as u64);
        let recorded = row.n.saturating_mul(row.batch.unwrap_or(1));
        let message = "they hold more operations than n × batch";
        at.need(bucketed <= recorded, "buckets", message)?;
    }
    percentiles(row, at)?;
    histogram(row, at, &mut budgets.rows)?;
    intervals(row, at, &mut budgets.intervals)
}

/// The intervals are histograms, which hold as many values as the row.
fn intervals(row: &Latency, at: Row, budget: &mut Budget) -> Checked {
    let field = "intervals";
    let few = row.intervals.len() <= INTERVALS_MAX;
    at.need(few, field, "more than a million intervals")?;
    let mut counted = row.saturated;
    for interval in &row.intervals {
        let ends = interval.start_ns.checked_add(interval.length_ns);
        at.need(ends.is_some(), field, "an interval ends after all time")?;
        let values = coding::values_within(&interval.histogram_v2_deflate, budget)
            .map_err(|error| error.at(at.place(field)))?;
        counted = counted.saturating_add(values);
    }
    let whole = row.intervals.is_empty() || counted == row.n;
    let message = "their counts and `saturated` do not add up to n";
    at.need(whole, field, message)
}

fn percentiles(row: &Latency, at: Row) -> Checked {
    let need = |holds: bool, found: &Percentile, message: &str| {
        at.need(holds, "percentiles", &format!("p{}: {message}", found.p))
    };
    let few = row.percentiles.len() <= PERCENTILES_MAX;
    at.need(few, "percentiles", "more than 1,000 percentiles")?;
    let (min, max) = (row.min_ns.unwrap_or(0), row.max_ns.unwrap_or(0));
    let (mut last_p, mut last_ns) = (0.0, 0);
    for found in &row.percentiles {
        need(
            found.p > 0.0 && found.p < 100.0,
            found,
            "a percentile lies between 0 and 100",
        )?;
        need(found.p > last_p, found, "percentiles do not ascend")?;
        let either = found.value_ns.is_some() != found.reason.is_some();
        need(either, found, "needs either a value or a reason, not both")?;
        if let Some(value) = found.value_ns {
            let earned = row.n >= earned_n(found.p);
            need(earned, found, "has a value although n is too small for it")?;
            need(min <= value, found, "below min_ns")?;
            need(value <= max, found, "above max_ns")?;
            need(last_ns <= value, found, "below the percentile before it")?;
            last_ns = value;
        }
        let unbounded = found.value_ns.is_some() && found.ci95_ns.is_none();
        need(
            found.ci95_reason.is_none() || unbounded,
            found,
            "has a reason for no interval although it has one, or has no value",
        )?;
        if let Some([low, high]) = found.ci95_ns {
            let value = found.value_ns.unwrap_or(low);
            let inside = low <= value && value <= high;
            need(
                inside && high <= max,
                found,
                "outside its interval, or the interval is above max_ns",
            )?;
        }
        last_p = found.p;
    }
    Ok(())
}

/// The histogram decodes and says what the row says.
fn histogram(row: &Latency, at: Row, budget: &mut Budget) -> Checked {
    let field = "histogram_v2_deflate_b64";
    let histogram = coding::decode_base64_within(&row.histogram_v2_deflate_b64, budget)
        .map_err(|error| error.at(at.place(field)))?;
    let counted = histogram.len().checked_add(row.saturated);
    let message = "the histogram's counts and `saturated` do not add up to n";
    at.need(counted == Some(row.n), "n", message)?;
    if histogram.is_empty() || histogram.sigfig() == 0 {
        return Ok(());
    }
    let agrees = |stated: Option<u64>, found: u64| stated.is_some_and(|ns| near(ns, found));
    let message = "does not match the histogram";
    at.need(agrees(row.min_ns, histogram.min()), "min_ns", message)?;
    let most = histogram.max();
    let max_holds = match row.saturated {
        0 => agrees(row.max_ns, most),
        _ => row.max_ns.is_some_and(|ns| ns >= most),
    };
    at.need(max_holds, "max_ns", message)?;
    let stated: Vec<&Percentile> = row
        .percentiles
        .iter()
        .filter(|found| found.value_ns.is_some())
        .collect();
    let ranks: Vec<u64> = stated.iter().map(|found| rank(row.n, found.p)).collect();
    let values = values_at_ranks(&histogram, &ranks);
    for (at_rank, found) in stated.iter().enumerate() {
        let holds = values
            .get(at_rank)
            .is_some_and(|value| agrees(found.value_ns, *value));
        let message = format!("p{}: does not match the histogram", found.p);
        at.need(holds, "percentiles", &message)?;
    }
    Ok(())
}

/// Equal to within a tenth: the precision of a histogram of one digit.
fn near(stated: u64, found: u64) -> bool {
    stated.abs_diff(found) <= found / 10 + 1
}

fn table(table: &Table, at: Row) -> Checked {
    let width = table.columns.len();
    let whole = table.rows.iter().all(|row| row.len() == width);
    at.need(whole, "rows", "a row and the header differ in length")?;
    let finite = |cell: &crate::report::Cell| match cell {
        crate::report::Cell::Number(number) => number.is_finite(),
        _ => true,
    };
    let numbers = table.rows.iter().flatten().all(finite);
    at.need(numbers, "rows", "a number is NaN or infinite")
}

fn comparison(found: &Comparison, at: Row) -> Checked {
    let paired = (found.pairs > 0) == found.difference.is_some();
    at.need(paired, "difference", "does not agree with pairs")?;
    for (field, differences) in [
        ("difference", &found.difference),
        ("control", &found.control),
    ] {
        if let Some(differences) = differences {
            let message = "its numbers are out of order";
            at.need(in_order(differences), field, message)?;
        }
    }
    for tail in &found.tails {
        let is_tail = tail.p >= 50.0 && tail.p < 100.0;
        at.need(is_tail, "tails", "a percentile is below the median")?;
        let [low, high] = tail.interval;
        let holds = low <= tail.difference && tail.difference <= high;
        at.need(holds, "tails", "a difference is outside its interval")?;
    }
    for left_out in &found.tails_left_out {
        let p = left_out.p;
        let unknown = found.tails.iter().all(|tail| tail.p != p);
        let is_tail = p > 50.0 && p < 100.0;
        let message = "a percentile is none above the median, or was compared";
        at.need(is_tail && unknown, "tails_left_out", message)?;
    }
    for (field, value) in [
        ("baseline_median_ns", found.baseline_median_ns),
        ("target_median_ns", found.target_median_ns),
        ("resolution", found.resolution),
        ("margin", found.margin),
        ("drift", found.drift),
    ] {
        at.need(value.is_none_or(at_least_0), field, "below 0")?;
    }
    Ok(())
}

fn in_order(found: &Differences) -> bool {
    let [least, most] = found.range;
    let interval = found.median_ci95.unwrap_or([found.median; 2]);
    let ascending = [least, interval[0], found.median, interval[1], most];
    ascending.is_sorted()
        && found.median <= found.p99
        && found.p99 <= most
        && (0.0..=1.0).contains(&found.better)
}

fn gate(found: &GateResult, at: Row) -> Checked {
    let parsed: Gate = found.gate.parse().map_err(|error: crate::ParseGateError| {
        ReadError::malformed(at.place("gate"), error.to_string())
    })?;
    let message = "does not match the limit in the gate's text";
    at.need(parsed.limit_ns() == found.limit_ns, "limit_ns", message)?;
    at.need(parsed.limit() == found.limit, "limit", message)?;
    let finite = found.value.is_none_or(f64::is_finite);
    at.need(finite, "value", "a number is NaN or infinite")?;
    let value = found.value_ns;
    let inside = found.ci95_ns.is_none_or(|[low, high]| {
        low <= high && value.is_none_or(|value| low <= value && value <= high)
    });
    at.need(inside, "ci95_ns", "the value is outside its interval")
}

#[cfg(test)]
mod tests;
