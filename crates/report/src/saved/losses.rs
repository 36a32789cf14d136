//! What a form of a report cannot keep of the rows that it is made from.

use latency::report::Latency;

/// A form that rows are written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Form {
    /// The JSON report.
    Json,
    /// A percentile distribution.
    Hgrm,
    /// An interval log.
    Hlog,
}

/// What `form` cannot keep of these rows, and which form can: a line each, none where it keeps everything.
#[must_use]
pub fn losses(rows: &[Latency], form: Form) -> Vec<String> {
    let mut lost = Vec::new();
    if form != Form::Hgrm {
        return lost;
    }
    let intervals: usize = rows.iter().map(|row| row.intervals.len()).sum();
    if rows.iter().any(|row| row.intervals.len() > 1) {
        lost.push(format!(
            ".hgrm keeps no time line: {intervals} intervals become one distribution a row (JSON and .hlog keep them)"
        ));
    }
    if rows.len() > 1 {
        lost.push(format!(
            ".hgrm keeps one of {} distributions, which --row chooses (JSON and .hlog keep all)",
            rows.len()
        ));
    }
    lost
}

/// What adding rows up cannot keep.
#[must_use]
pub fn merge_losses(rows: &[Latency]) -> Vec<String> {
    let timed = rows.iter().any(|row| row.intervals.len() > 1);
    let line = "--merge adds whole runs: the sum has no time line";
    timed.then(|| line.to_owned()).into_iter().collect()
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use latency::report::Interval;
    use latency::{LatencyName, Recorder, Spec};

    use super::*;

    fn row(intervals: u64) -> Latency {
        let mut recorder = Recorder::new(Spec::new(LatencyName::Service, "call"), Instant::now());
        (1..100).for_each(|ns| recorder.record_ns(ns));
        let mut row = recorder.finish().latency();
        let interval = |at: u64| Interval {
            start_ns: at,
            length_ns: 1,
            histogram_v2_deflate: Vec::new(),
        };
        row.intervals = (0..intervals).map(interval).collect();
        row
    }

    #[test]
    fn each_form_says_what_it_loses() {
        let rows = [row(9), row(0)];
        let lines = |form: Form| losses(&rows, form).len();
        assert_eq!([Form::Json, Form::Hgrm, Form::Hlog].map(lines), [0, 2, 0]);
        assert!(losses(&rows, Form::Hgrm)[0].contains("9 intervals"));
        assert!(losses(&[row(1)], Form::Hgrm).is_empty());
        assert_eq!(merge_losses(&rows).len(), 1);
        assert!(merge_losses(&[row(1), row(0)]).is_empty());
    }
}
