//! What benchmarks came to, in sentences: what several of them say alike. Verdicts are put into words by
//! `report::verdicts`.

use latency::clock::FLOORS_MIN;
use latency::report::{Latency, LatencyName, Percentile};
use report::Run;
use report::units::duration;

/// The percentile that sentences speak of.
const P: f64 = 99.0;

/// The greatest 99th percentile of the rows of a time that are wanted, as far as there are enough samples.
pub(crate) fn p99(
    rows: &[Latency],
    name: LatencyName,
    is_wanted: impl Fn(&str) -> bool,
) -> Option<&Percentile> {
    let rows = rows
        .iter()
        .filter(|row| row.name == name && row.series.as_deref().is_some_and(&is_wanted));
    let known = rows.filter_map(|row| row.find_percentile(P));
    known
        .filter(|found| found.value_ns.is_some())
        .max_by_key(|found| found.value_ns)
}

/// `210 µs`, or that it is too short to time by itself.
pub(crate) fn time(found: &Percentile, run: &Run) -> String {
    let ns = found.value_ns.unwrap_or(0) as f64;
    let floor = run.environment().clock_floor_ns.unwrap_or(0);
    let least = (floor * FLOORS_MIN) as f64;
    match ns < least {
        true => format!("less than {}", duration(least)),
        false => duration(ns),
    }
}

/// Whether one is shorter than the other, intervals and the clock's floor considered.
pub(crate) fn is_shorter(one: &Percentile, other: &Percentile, run: &Run) -> bool {
    let least = run.environment().clock_floor_ns.unwrap_or(0) * FLOORS_MIN;
    match (one.ci95_ns, other.ci95_ns) {
        (Some([_, high]), Some([low, _])) => high < low && low >= least,
        _ => false,
    }
}
