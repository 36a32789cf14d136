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
    let intervals: usize = rows.iter().map(|row| row.intervals.len()).sum();
    let with_intervals = rows.iter().filter(|row| row.intervals.len() > 1).count();
    let bucketed = rows.iter().filter(|row| row.buckets.is_some()).count();
    if form != Form::Hlog && with_intervals > 0 {
        let name = match form {
            Form::Json => "JSON",
            Form::Hgrm | Form::Hlog => ".hgrm",
        };
        lost.push(format!(
            "{name} keeps no time line: {intervals} intervals become one distribution a row (.hlog keeps them)"
        ));
    }
    if form != Form::Json && bucketed > 0 {
        let name = match form {
            Form::Hlog => ".hlog",
            Form::Hgrm | Form::Json => ".hgrm",
        };
        lost.push(format!(
            "{name} keeps no buckets, which `compare` needs (JSON keeps them)"
        ));
    }
    if form == Form::Hgrm && rows.len() > 1 {
        lost.push(format!(
            ".hgrm keeps one of {} distributions, which --row chooses (JSON and .hlog keep all)",
            rows.len()
        ));
    }
    lost
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
        assert_eq!([Form::Json, Form::Hgrm, Form::Hlog].map(lines), [1, 3, 1]);
        assert!(losses(&rows, Form::Json)[0].contains("9 intervals"));
        let mut plain = row(1);
        plain.buckets = None;
        for form in [Form::Json, Form::Hgrm, Form::Hlog] {
            assert!(losses(std::slice::from_ref(&plain), form).is_empty());
        }
    }
}
