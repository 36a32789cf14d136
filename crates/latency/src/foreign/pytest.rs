//! JSON of pytest-benchmark, in seconds: every round (`--benchmark-json`), or only statistics (`--benchmark-save` without
//! `--benchmark-save-data`).

use serde::Deserialize;

use super::loose::{MaybeNumber, MaybeText};
use super::{At, Each, Foreign, SECOND_NS, Samples, Source, Summary};
use crate::read::ReadError;

#[derive(Deserialize)]
struct File {
    datetime: Option<String>,
    #[serde(default)]
    machine_info: Machine,
    benchmarks: Vec<Row>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Machine {
    node: MaybeText,
    machine: MaybeText,
    system: MaybeText,
    release: MaybeText,
    python_implementation: MaybeText,
    python_version: MaybeText,
    cpu: Cpu,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Cpu {
    brand_raw: MaybeText,
    count: MaybeNumber,
}

#[derive(Deserialize)]
struct Row {
    name: String,
    fullname: Option<String>,
    stats: Statistics,
}

#[derive(Deserialize)]
struct Statistics {
    min: Option<f64>,
    max: Option<f64>,
    mean: Option<f64>,
    stddev: Option<f64>,
    median: Option<f64>,
    q1: Option<f64>,
    q3: Option<f64>,
    rounds: Option<u64>,
    iterations: Option<u64>,
    #[serde(default)]
    data: Option<Vec<f64>>,
}

/// What the file says of its machine.
fn machine(found: &mut Foreign, machine: Machine) {
    let joined = |words: [MaybeText; 2]| {
        let words: Vec<String> = words.into_iter().filter_map(|word| word.0).collect();
        (!words.is_empty()).then(|| words.join(" "))
    };
    let environment = &mut found.environment;
    environment.kernel = joined([machine.system, machine.release]);
    environment.cpu_model = machine.cpu.brand_raw.0;
    environment.logical_cpus = machine.cpu.count.whole();
    found.fact("host", machine.node.0);
    found.fact("architecture", machine.machine.0);
    found.fact(
        "Python",
        joined([machine.python_implementation, machine.python_version]),
    );
}

pub(super) fn read(bytes: &[u8]) -> Result<Foreign, ReadError> {
    let file: File = serde_json::from_slice(bytes)?;
    let mut found = Foreign::new(Source::PytestBenchmark);
    found.started_at = file.datetime;
    machine(&mut found, file.machine_info);
    let mut means = false;
    for (index, row) in file.benchmarks.into_iter().enumerate() {
        let at = At {
            list: "benchmarks",
            index,
        };
        let name = row.fullname.unwrap_or(row.name);
        let stats = row.stats;
        let data = stats.data.unwrap_or_default();
        if !data.is_empty() {
            let each = Each::of(stats.iterations);
            means |= each != Each::Single;
            found.samples.push(Samples {
                name,
                operation: "call",
                each,
                values_ns: at.times("stats.data", &data, SECOND_NS)?,
                in_order: true,
            });
            continue;
        }
        let time = |field, value| at.optional(field, value, SECOND_NS);
        let quartiles = [
            (25.0, time("stats.q1", stats.q1)?),
            (50.0, time("stats.median", stats.median)?),
            (75.0, time("stats.q3", stats.q3)?),
        ];
        found.summaries.push(Summary {
            name,
            n: stats.rounds,
            mean_ns: time("stats.mean", stats.mean)?,
            stdev_ns: time("stats.stddev", stats.stddev)?,
            min_ns: time("stats.min", stats.min)?,
            max_ns: time("stats.max", stats.max)?,
            quantiles_ns: quartiles
                .into_iter()
                .filter_map(|(p, ns)| Some((p, ns?)))
                .collect(),
        });
    }
    if means {
        let note = "pytest-benchmark timed several calls at once where a call is short: samples are their means";
        found.notes.push(note.to_owned());
    }
    if !found.summaries.is_empty() {
        let note =
            "a file without rounds has quartiles only: --benchmark-save-data writes the rounds";
        found.notes.push(note.to_owned());
    }
    found.checked("benchmarks")
}
