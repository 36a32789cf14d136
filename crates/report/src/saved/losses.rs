//! What a form of a report cannot keep of what it is made from.

use std::collections::BTreeMap;

use latency::hlog;
use latency::report::{Latency, Report};

use super::load::{FileKind, Saved};
use crate::units::count;

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

impl Form {
    fn name(self) -> &'static str {
        match self {
            Self::Json => "JSON",
            Self::Hgrm => ".hgrm",
            Self::Hlog => ".hlog",
        }
    }
}

/// What `form` cannot keep of these files, and which form can: a line each, none where it keeps everything.
#[must_use]
pub fn losses(files: &[Saved], form: Form) -> Vec<String> {
    let rows = || files.iter().flat_map(|file| &file.latencies);
    let mut lost = losses_of_rows(rows(), form);
    if form == Form::Json {
        return lost;
    }
    let stated: usize = files.iter().map(stated_times).sum();
    if stated > 0 {
        lost.push(format!(
            "{} keeps distributions: the statistics of {} without samples are left out (JSON keeps them)",
            form.name(),
            several(stated, "row", "rows"),
        ));
    }
    let mut kinds: BTreeMap<usize, (usize, &str, &str)> = BTreeMap::new();
    for file in files {
        for (place, (found, one, many)) in beside(file).into_iter().enumerate() {
            kinds.entry(place).or_insert((0, one, many)).0 += found;
        }
    }
    let kinds = kinds.into_values().filter(|(found, ..)| *found > 0);
    let mut parts: Vec<String> = kinds
        .map(|(found, one, many)| several(found, one, many))
        .collect();
    let commands = files.iter().filter_map(report);
    if commands
        .into_iter()
        .any(|report| !report.command.argv.is_empty())
    {
        parts.push("the command".to_owned());
    }
    if files.iter().any(|file| !file.environment().is_unknown()) {
        parts.push("the machine".to_owned());
    }
    if let Some(last) = parts.pop() {
        let all = match parts.is_empty() {
            true => last,
            false => format!("{} and {last}", parts.join(", ")),
        };
        lost.push(format!(
            "{} keeps distributions alone, not {all} (JSON keeps them)",
            form.name()
        ));
    }
    lost
}

/// What `form` cannot keep of the rows of a report.
#[must_use]
pub fn losses_of_rows<'r>(rows: impl Iterator<Item = &'r Latency>, form: Form) -> Vec<String> {
    let rows: Vec<&Latency> = rows.collect();
    let mut lost = Vec::new();
    match form {
        Form::Json => return lost,
        Form::Hgrm => {
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
        }
        Form::Hlog => {
            let mut tags: BTreeMap<String, usize> = BTreeMap::new();
            for row in &rows {
                *tags.entry(hlog::tag(row)).or_default() += 1;
            }
            for (tag, found) in tags.into_iter().filter(|(_, found)| *found > 1) {
                lost.push(format!(
                    ".hlog knows rows by tag alone: {found} of them have the tag '{tag}', and are one where it is read (JSON keeps them apart)"
                ));
            }
        }
    }
    let saturated = rows.iter().map(|row| row.saturated);
    let saturated = saturated.fold(0, u64::saturating_add);
    if saturated > 0 {
        lost.push(format!(
            "{} values above the range of their histogram are not in {} as other tools read it",
            count(saturated),
            form.name()
        ));
    }
    lost
}

/// What adding rows up cannot keep.
#[must_use]
pub fn merge_losses(files: &[Saved]) -> Vec<String> {
    let mut rows = files.iter().flat_map(|file| &file.latencies);
    let timed = rows.any(|row| row.intervals.len() > 1);
    let line = "--merge adds whole runs: the sum has no time line";
    timed.then(|| line.to_owned()).into_iter().collect()
}

fn several(found: usize, one: &str, many: &str) -> String {
    match found {
        1 => format!("1 {one}"),
        _ => format!("{} {many}", count(found as u64)),
    }
}

fn report(file: &Saved) -> Option<&Report> {
    match &file.kind {
        FileKind::Report(report) => Some(report),
        FileKind::Log | FileKind::Distribution | FileKind::Foreign(_) => None,
    }
}

/// Times that were stated without samples.
fn stated_times(file: &Saved) -> usize {
    file.stated.times.len()
}

/// What a file has besides distributions: how many of each kind, in the order in which they are printed.
fn beside(file: &Saved) -> Vec<(usize, &'static str, &'static str)> {
    let report = report(file);
    let of = |found: fn(&Report) -> usize| report.map_or(0, found);
    let rates = file.stated.rates.len();
    vec![
        (
            of(|report| report.comparisons.len()),
            "comparison",
            "comparisons",
        ),
        (of(|report| report.tables.len()), "table", "tables"),
        (rates, "rate", "rates"),
        (of(|report| report.gates.len()), "limit", "limits"),
        (
            of(|report| report.slowest.len()),
            "slowest sample",
            "slowest samples",
        ),
    ]
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::time::Instant;

    use latency::report::{Interval, Table, Unit};
    use latency::{LatencyName, Recorder, Spec};

    use super::*;
    use crate::{Outcome, Run, RunOptions};

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

    fn file(rows: &[Latency], change: impl FnOnce(&mut Outcome)) -> Saved {
        let mut options = RunOptions::new("tool", "1", "test");
        options.floors = false;
        options.argv = vec!["tool".to_owned()];
        let mut outcome = Outcome::new("test");
        change(&mut outcome);
        let run = Run::start(options).expect("started");
        let json = serde_json::to_vec(&run.finish(outcome).report).expect("JSON");
        let mut file = Saved::parse(Path::new("a.json"), &json, None).expect("a report");
        file.latencies = rows.to_vec();
        file
    }

    #[test]
    fn each_form_says_what_it_loses_of_rows() {
        let rows = [row(9), row(0)];
        let lines = |form: Form| losses_of_rows(rows.iter(), form).len();
        assert_eq!([Form::Json, Form::Hgrm, Form::Hlog].map(lines), [0, 2, 1]);
        assert!(losses_of_rows(rows.iter(), Form::Hgrm)[0].contains("9 intervals"));
        assert!(losses_of_rows(rows.iter(), Form::Hlog)[0].contains("'service'"));
        let one = [row(1)];
        assert!(losses_of_rows(one.iter(), Form::Hgrm).is_empty());
        assert!(losses_of_rows(one.iter(), Form::Hlog).is_empty());
        let above = [Latency {
            saturated: 3,
            ..row(0)
        }];
        assert!(losses_of_rows(above.iter(), Form::Hlog)[0].starts_with("3 values above"));
    }

    #[test]
    fn what_stands_beside_rows_is_counted() {
        let with = file(&[row(1)], |outcome| {
            outcome.tables.push(Table::new("t", &[("n", Unit::Count)]));
            outcome.tables.push(Table::new("u", &[("n", Unit::Count)]));
        });
        for form in [Form::Hgrm, Form::Hlog] {
            let lost = losses(std::slice::from_ref(&with), form);
            let expected = format!(
                "{} keeps distributions alone, not 2 tables, the command and the machine (JSON keeps them)",
                form.name()
            );
            assert_eq!(lost, [expected]);
        }
        assert!(losses(&[with], Form::Json).is_empty());
        let stated = br#"{"mean": {"point_estimate": 5.0}, "median": {"point_estimate": 5.0},
            "median_abs_dev": {"point_estimate": 1.0}}"#;
        let stated = Saved::parse(Path::new("estimates.json"), stated, None).expect("estimates");
        let lost = losses(&[stated], Form::Hlog);
        assert!(
            lost[0].contains("the statistics of 1 row without samples"),
            "{lost:?}"
        );
    }

    #[test]
    fn a_sum_has_no_time_line() {
        let of = |rows: &[Latency]| merge_losses(&[file(rows, |_| ())]).len();
        assert_eq!((of(&[row(9), row(0)]), of(&[row(1), row(0)])), (1, 0));
    }
}
