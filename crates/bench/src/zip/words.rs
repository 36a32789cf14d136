//! What the ZIP writers came to, in sentences.

use latency::report::LatencyName;
use report::{Outcome, Run, verdicts};

use crate::words::{is_shorter, p99, time};

/// The sentences: which writer takes less time, then what each does to the thread that it runs on.
pub(super) fn findings(outcome: &Outcome, run: &Run) -> Vec<String> {
    let mut findings = verdicts::findings(&outcome.comparisons);
    findings.extend(hold(outcome, run));
    findings
}

fn hold(outcome: &Outcome, run: &Run) -> Option<String> {
    let of = |way: &'static str| {
        let is_wanted = move |series: &str| series.ends_with(way);
        p99(&outcome.latencies, LatencyName::Hold, is_wanted)
    };
    let (sync, asynchronous) = (of(", sync")?, of(", async")?);
    let advice = if is_shorter(asynchronous, sync, run) {
        "on the threads of a tokio runtime, use the async writer; elsewhere, the one for files"
    } else {
        "the async writer does not hold its thread for less time"
    };
    Some(format!(
        "hold: 99 of 100 calls of the writer for files end within {}, turns of the async one within {}: {advice}.",
        time(sync, run),
        time(asynchronous, run),
    ))
}
