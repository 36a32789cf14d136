//! JSON of Google Benchmark: a row per repetition, in its own unit.

use serde::Deserialize;

use super::loose::{MaybeNumber, MaybeText};
use super::{At, Each, Foreign, Samples, Source, Summary};
use crate::read::ReadError;

#[derive(Deserialize)]
struct File {
    context: Context,
    benchmarks: Vec<Row>,
}

#[derive(Deserialize)]
struct Context {
    date: Option<String>,
    #[serde(default)]
    host_name: MaybeText,
    #[serde(default)]
    executable: MaybeText,
    #[serde(default)]
    num_cpus: MaybeNumber,
    #[serde(default)]
    mhz_per_cpu: MaybeNumber,
    #[serde(default)]
    library_build_type: MaybeText,
    #[serde(default)]
    load_avg: Option<Vec<MaybeNumber>>,
}

#[derive(Deserialize)]
struct Row {
    name: String,
    run_name: Option<String>,
    run_type: Option<String>,
    aggregate_name: Option<String>,
    iterations: Option<u64>,
    real_time: Option<f64>,
    #[serde(default)]
    time_unit: Option<String>,
    #[serde(default)]
    error_occurred: bool,
}

/// All repetitions of a benchmark.
#[derive(Default)]
struct Group {
    name: String,
    values: Vec<(f64, u64)>,
    iterations: Vec<u64>,
    summary: Summary,
    has_aggregates: bool,
}

pub(super) fn read(bytes: &[u8]) -> Result<Foreign, ReadError> {
    let file: File = serde_json::from_slice(bytes)?;
    let mut found = Foreign::new(Source::GoogleBenchmark);
    machine(&mut found, file.context);
    let mut groups: Vec<Group> = Vec::new();
    let mut places = std::collections::HashMap::new();
    let mut failed = 0;
    for (index, row) in file.benchmarks.into_iter().enumerate() {
        let at = At {
            list: "benchmarks",
            index,
        };
        if row.error_occurred {
            failed += 1;
            continue;
        }
        let name = row.run_name.unwrap_or(row.name);
        let place = *places.entry(name.clone()).or_insert_with(|| {
            groups.push(Group {
                name,
                ..Group::default()
            });
            groups.len() - 1
        });
        let (Some(group), Some(time)) = (groups.get_mut(place), row.real_time) else {
            continue;
        };
        let unit = match row.time_unit.as_deref() {
            None | Some("ns") => 1.0,
            Some("us") => 1e3,
            Some("ms") => 1e6,
            Some("s") => 1e9,
            Some(_) => {
                let message = "the unit is none of ns, us, ms and s";
                return Err(ReadError::malformed(at.place("time_unit"), message));
            }
        };
        if row.run_type.as_deref() == Some("aggregate") {
            group.has_aggregates = true;
            // The coefficient of variation and the fits of complexity are no times.
            let slot = match row.aggregate_name.as_deref() {
                Some("mean") => &mut group.summary.mean_ns,
                Some("stddev") => &mut group.summary.stdev_ns,
                Some("median") => {
                    let median = at.time("real_time", time, unit)?;
                    group.summary.quantiles_ns = vec![(50.0, median)];
                    continue;
                }
                _ => continue,
            };
            *slot = Some(at.time("real_time", time, unit)?);
        } else {
            group.values.push((at.time("real_time", time, unit)?, 1));
            group.iterations.extend(row.iterations);
        }
    }
    for group in groups {
        add(&mut found, group);
    }
    if !found.samples.is_empty() {
        found.notes.push(
            "Google Benchmark times many iterations at once: samples are the means of its repetitions, which have no tail"
                .to_owned(),
        );
    }
    if failed > 0 {
        found.notes.push(format!("failed benchmarks: {failed}"));
    }
    found.checked("benchmarks")
}

/// What the file says of its machine and its run.
fn machine(found: &mut Foreign, context: Context) {
    found.started_at = context.date;
    found.environment.logical_cpus = context.num_cpus.whole();
    let load = context.load_avg.and_then(|load| load.first()?.0);
    found.environment.load_before = load.filter(|load| load.is_finite() && *load >= 0.0);
    found.fact("host", context.host_name.0);
    found.fact("program", context.executable.0);
    found.fact("MHz of a processor", context.mhz_per_cpu.0);
    found.fact("build of the library", context.library_build_type.0);
}

fn add(found: &mut Foreign, group: Group) {
    let stated = group.iterations.len() == group.values.len();
    let each = match stated {
        true => Each::of_all(group.iterations.iter().copied()),
        false => Each::MeanOfMany,
    };
    match group.values.as_slice() {
        [] if group.has_aggregates => found.summaries.push(Summary {
            name: group.name,
            ..group.summary
        }),
        [] => {}
        // One mean is no sample of anything.
        [(mean, _)] => found.summaries.push(Summary {
            name: group.name,
            n: group.iterations.first().copied(),
            mean_ns: Some(*mean),
            ..Summary::default()
        }),
        _ => found.samples.push(Samples {
            name: group.name,
            operation: "iteration",
            each,
            values_ns: group.values,
            in_order: true,
        }),
    }
}
