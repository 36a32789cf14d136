//! JSON of JMH: the score of each iteration of each fork, or a histogram of single calls.

use serde::Deserialize;
use serde::de::IgnoredAny;

use super::loose::{MaybeNumber, MaybeText};
use super::{At, Each, Foreign, Samples, Source};
use crate::read::ReadError;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Row {
    benchmark: String,
    mode: String,
    #[serde(default)]
    params: Option<std::collections::BTreeMap<String, String>>,
    primary_metric: Metric,
    #[serde(default)]
    jmh_version: MaybeText,
    #[serde(default)]
    jdk_version: MaybeText,
    #[serde(default)]
    vm_name: MaybeText,
    #[serde(default)]
    vm_version: MaybeText,
    #[serde(default)]
    threads: MaybeNumber,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Metric {
    score_unit: String,
    #[serde(default)]
    raw_data: Option<Vec<Vec<f64>>>,
    #[serde(default)]
    raw_data_histogram: Option<Vec<Fork>>,
}

/// The iterations of a fork, each of which has values and how often each occurred.
type Fork = Vec<Vec<(f64, u64)>>;

/// What a row is known by.
#[derive(Deserialize)]
struct Head {
    #[serde(rename = "benchmark")]
    _benchmark: IgnoredAny,
    #[serde(rename = "primaryMetric")]
    _metric: IgnoredAny,
}

/// Whether all items of a list are results.
pub(super) fn is_jmh(bytes: &[u8]) -> bool {
    serde_json::from_slice::<Vec<Head>>(bytes).is_ok_and(|rows| !rows.is_empty())
}

pub(super) fn read(bytes: &[u8]) -> Result<Foreign, ReadError> {
    let rows: Vec<Row> = serde_json::from_slice(bytes)?;
    let mut found = Foreign::new(Source::Jmh);
    facts(&mut found, &rows);
    let (mut means, mut rates) = (Vec::new(), false);
    for (index, row) in rows.into_iter().enumerate() {
        let at = At {
            list: "results",
            index,
        };
        let unit = unit(&row.primary_metric.score_unit).ok_or_else(|| {
            let message = "the unit is neither a time per operation nor operations per time";
            ReadError::malformed(at.place("primaryMetric.scoreUnit"), message)
        })?;
        let name = named(&row);
        let metric = row.primary_metric;
        let mut values = Vec::new();
        let each = match metric.raw_data_histogram {
            Some(forks) if !forks.is_empty() => {
                let counted = forks.into_iter().flatten().flatten();
                for (time, count) in counted.filter(|(_, count)| *count > 0) {
                    values.push((unit.ns(at, "rawDataHistogram", time)?, count));
                }
                Each::Single
            }
            _ => {
                let forks = metric.raw_data.unwrap_or_default();
                // A single shot is one call; of an iteration only the length is stated.
                let each = Each::of((row.mode == "ss").then_some(1));
                if each != Each::Single {
                    means.push(shape(&forks));
                }
                for score in forks.into_iter().flatten() {
                    values.push((unit.ns(at, "rawData", score)?, 1));
                }
                each
            }
        };
        rates |= matches!(unit, Unit::PerTime(_));
        if !values.is_empty() {
            found.samples.push(Samples {
                name,
                operation: "operation",
                in_order: each != Each::Single || row.mode == "ss",
                each,
                values_ns: values,
            });
        }
    }
    if let Some((first, others)) = means.split_first() {
        let known = first.filter(|_| others.iter().all(|other| other == first));
        let known = known
            .map(|(iterations, forks)| format!(" (iterations x forks: {iterations} x {forks})"));
        found.notes.push(format!(
            "JMH gives the mean of each iteration of each fork{}, but not of how many operations; it has no tail (the \
             mode `sample` has single calls)",
            known.unwrap_or_default()
        ));
    }
    if rates {
        let note = "throughput is shown as the time of one operation";
        found.notes.push(note.to_owned());
    }
    found.checked("rawData")
}

/// What the file says of its run, where all rows say the same.
fn facts(found: &mut Foreign, rows: &[Row]) {
    let mut fact = |name, of: &dyn Fn(&Row) -> Option<String>| {
        let first = rows.first().and_then(of);
        found.fact(
            name,
            first.filter(|first| rows.iter().all(|row| of(row).as_ref() == Some(first))),
        );
    };
    fact("JMH", &|row| row.jmh_version.0.clone());
    fact("JDK", &|row| row.jdk_version.0.clone());
    fact("virtual machine", &|row| row.vm_name.0.clone());
    fact("its version", &|row| row.vm_version.0.clone());
    fact("threads", &|row| {
        row.threads.whole().map(|threads| threads.to_string())
    });
}

/// Iterations and forks, where all forks have as many iterations.
fn shape(forks: &[Vec<f64>]) -> Option<(usize, usize)> {
    let iterations = forks.first()?.len();
    let alike = forks.iter().all(|fork| fork.len() == iterations);
    alike.then_some((iterations, forks.len()))
}

/// The benchmark with its parameters and its mode.
fn named(row: &Row) -> String {
    let params = row.params.iter().flatten();
    let params: Vec<String> = params
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    match params.is_empty() {
        true => format!("{} ({})", row.benchmark, row.mode),
        false => format!("{} ({}, {})", row.benchmark, row.mode, params.join(", ")),
    }
}

#[derive(Clone, Copy)]
enum Unit {
    /// So many nanoseconds for one operation.
    Time(f64),
    /// Operations in so many nanoseconds.
    PerTime(f64),
}

fn unit(text: &str) -> Option<Unit> {
    let time = |name: &str| {
        Some(match name {
            "ns" => 1.0,
            "us" => 1e3,
            "ms" => 1e6,
            "s" => 1e9,
            "min" => 60e9,
            "hr" => 3600e9,
            "day" => 86_400e9,
            _ => return None,
        })
    };
    match text.split_once('/')? {
        ("ops", unit) => time(unit).map(Unit::PerTime),
        (unit, "op") => time(unit).map(Unit::Time),
        _ => None,
    }
}

impl Unit {
    fn ns(self, at: At, field: &'static str, score: f64) -> Result<f64, ReadError> {
        match self {
            Self::Time(ns) => at.time(field, score, ns),
            Self::PerTime(ns) => at.time(field, ns / score, 1.0),
        }
    }
}
