//! What searches in one call and in slices came to, in sentences.

use latency::report::LatencyName;
use report::{Outcome, Run, verdicts};

use crate::words::{is_shorter, p99, time};

/// The sentences: what slices cost, then what they are good for.
pub(super) fn findings(outcome: &Outcome, run: &Run) -> Vec<String> {
    let mut findings = verdicts::findings(&outcome.comparisons);
    findings.extend(hold(outcome, run));
    findings
}

fn hold(outcome: &Outcome, run: &Run) -> Option<String> {
    let of = |name, series: &'static str| {
        p99(&outcome.latencies, name, move |found: &str| found == series)
    };
    let whole = of(LatencyName::Service, "search")?;
    let slice = of(LatencyName::Hold, "search_next")?;
    let advice = if is_shorter(slice, whole, run) {
        "search in slices on a thread that has others to serve"
    } else {
        "slices do not hold the thread for less time, so one call will do"
    };
    Some(format!(
        "hold: 99 of 100 searches in one call end within {}, slices within {}: {advice}.",
        time(whole, run),
        time(slice, run),
    ))
}
