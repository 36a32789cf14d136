//! What runs of command lines come to as a report: distributions, a table, and comparisons with the reference.

use latency::RSS_FLOOR_PARAM;
use latency::foreign::{Each, Samples};
use latency::report::{Cell, Latency, Table, Unit};
use report::{Outcome, verdicts};

use super::relative::{Relative, ratios, relative};
use super::{Interleaved, Sample};

/// The columns of the table.
const COLUMNS: [(&str, Unit); 9] = [
    ("command", Unit::Text),
    ("runs", Unit::Count),
    ("mean_ns", Unit::Nanoseconds),
    ("stdev_ns", Unit::Nanoseconds),
    ("user_ns", Unit::Nanoseconds),
    ("system_ns", Unit::Nanoseconds),
    ("rss_max_bytes", Unit::Bytes),
    ("relative", Unit::Ratio),
    ("relative_stdev", Unit::Ratio),
];

/// What starting programs takes, which says nothing of them.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Floors {
    /// What a run takes that does nothing.
    pub start_ns: Option<f64>,
    /// Up to which peak the memory of a program is not known: it may be that of what started it.
    pub rss_bytes: u64,
}

/// What these command lines came to, compared with one of them, without a number with the fastest.
#[must_use]
pub fn outcome(
    samples: &[Sample],
    reference: Option<usize>,
    interleaved: Option<&Interleaved>,
    floors: Floors,
) -> Outcome {
    let mut outcome = Outcome::new(match interleaved {
        Some(_) => "hyperfine, interleaved",
        None => "hyperfine",
    });
    outcome.complete = !samples.iter().any(|sample| sample.cut_short);
    outcome.start_floor_ns = floors.start_ns.map(|ns| ns.round() as u64);
    let params = &mut outcome.workload.params;
    params.insert(RSS_FLOOR_PARAM.to_owned(), floors.rss_bytes.into());
    let runs = samples.iter().map(|sample| sample.runs.len() as u64);
    outcome.did(runs.sum(), ["run", "runs"]);
    let names = names(samples);
    outcome.latencies = samples
        .iter()
        .zip(&names)
        .map(|(sample, name)| row(sample, name))
        .collect();
    outcome
        .tables
        .push(table(samples, &names, reference, floors.rss_bytes));
    let found = relative(samples, reference, interleaved, false).unwrap_or_default();
    let compared = found.into_iter().filter_map(|one| one.standing);
    outcome.comparisons = compared.map(|standing| standing.comparison).collect();
    outcome.findings = verdicts::findings(&outcome.comparisons);
    outcome
}

/// Names of the command lines, each another one.
fn names(samples: &[Sample]) -> Vec<String> {
    let mut names: Vec<String> = Vec::with_capacity(samples.len());
    for sample in samples {
        let label = sample.program.label();
        let mut name = label.clone();
        for nth in 2..=samples.len() {
            if !names.contains(&name) {
                break;
            }
            name = format!("{label} ({nth})");
        }
        names.push(name);
    }
    names
}

fn row(sample: &Sample, name: &str) -> Latency {
    let times = sample.times_ns().into_iter();
    let samples = Samples {
        name: name.to_owned(),
        operation: "run",
        each: Each::Single,
        values_ns: times.map(|ns| (ns, 1)).collect(),
        in_order: true,
    };
    samples.latency()
}

fn table(
    samples: &[Sample],
    names: &[String],
    reference: Option<usize>,
    rss_floor_bytes: u64,
) -> Table {
    let mut table = Table::new("commands", &COLUMNS);
    let found = ratios(samples, reference);
    for ((sample, name), one) in samples.iter().zip(names).zip(found) {
        let Relative { ratio, stdev, .. } = one;
        let memory = sample.runs.iter().map(|run| run.rss_max_bytes).max();
        table.rows.push(vec![
            name.as_str().into(),
            (sample.runs.len() as u64).into(),
            sample.mean_ns().into(),
            sample.stdev_ns().into(),
            sample.user_ns().into(),
            sample.system_ns().into(),
            memory.filter(|bytes| *bytes > rss_floor_bytes).into(),
            Some(ratio).filter(|ratio| ratio.is_finite()).into(),
            match one.is_reference {
                true => Cell::Null,
                false => stdev.into(),
            },
        ]);
    }
    table
}

#[cfg(test)]
mod tests {
    use latency::report::Verdict;

    use super::super::sample::sample;
    use super::*;

    fn times(scale: f64) -> Vec<f64> {
        (0..40)
            .map(|at| scale * (1e6 + f64::from(at % 7)))
            .collect()
    }

    #[test]
    fn commands_become_rows_and_comparisons() {
        let samples = [
            sample("slow", &times(2.0)),
            sample("fast", &times(1.0)),
            sample("slow", &times(3.0)),
        ];
        let floors = Floors {
            start_ns: Some(600_000.4),
            rss_bytes: 8 << 20,
        };
        let found = outcome(&samples, None, None, floors);
        let series: Vec<_> = found
            .latencies
            .iter()
            .map(|row| (row.series.as_deref().unwrap_or_default(), row.n))
            .collect();
        assert_eq!(series, [("slow", 40), ("fast", 40), ("slow (2)", 40)]);
        assert_eq!(
            (found.start_floor_ns, found.complete),
            (Some(600_000), true)
        );
        let verdicts: Vec<_> = found
            .comparisons
            .iter()
            .map(|one| (one.baseline.as_str(), one.verdict))
            .collect();
        assert_eq!(verdicts, [("fast", Verdict::Worse); 2]);
        let said = &found.findings[0];
        assert!(
            said.contains("slow takes 100 % more time than fast"),
            "{said}"
        );
        let table = &found.tables[0];
        assert!(table.rows.iter().all(|row| row.len() == COLUMNS.len()));
        assert_eq!(table.rows[0][7], Cell::Number(2.0));
    }

    #[test]
    fn memory_that_may_be_that_of_what_started_the_program_is_not_shown() {
        let with = |rss_max_bytes: u64| {
            let mut found = sample("a", &times(1.0));
            found.runs[3].rss_max_bytes = rss_max_bytes;
            found
        };
        let floors = Floors {
            start_ns: None,
            rss_bytes: 8 << 20,
        };
        let found = outcome(&[with(8 << 20), with(9 << 20)], None, None, floors);
        let rows = &found.tables[0].rows;
        assert_eq!(
            [&rows[0][6], &rows[1][6]],
            [&Cell::Null, &Cell::Integer(9 << 20)]
        );
        assert_eq!(found.workload.params[RSS_FLOOR_PARAM], 8 << 20);
    }

    #[test]
    fn nothing_is_made_of_nothing() {
        let none = Floors::default();
        let found = outcome(&[], None, None, none);
        assert!(found.latencies.is_empty() && found.comparisons.is_empty());
        let one = [sample("a", &[0.0])];
        let found = outcome(&one, Some(3), None, none);
        assert_eq!((found.latencies.len(), found.findings.len()), (1, 0));
        let cut = [Sample {
            cut_short: true,
            ..sample("a", &[1.0])
        }];
        assert!(!outcome(&cut, None, None, none).complete);
    }
}
