//! `hyperfine --export-json`: every run of each command, in seconds. `perfkit hyperfine` adds which machine they ran on.

use serde::Deserialize;

use super::rows::failed_runs;
use super::{At, Each, Foreign, SECOND_NS, Samples, Source, Summary, Usage};
use crate::read::ReadError;
use crate::report::{Environment, RateKind};

#[derive(Deserialize)]
struct File {
    results: Vec<Run>,
    #[serde(default)]
    perfkit: Option<serde_json::Value>,
}

/// What the file says of its machine, if perfkit wrote it.
fn machine(added: Option<serde_json::Value>) -> Option<Environment> {
    let mut added = added?;
    let environment = added.get_mut("environment")?.take();
    let environment: Environment = serde_json::from_value(environment).ok()?;
    Some(Environment {
        stated: true,
        ..environment
    })
}

#[derive(Deserialize)]
struct Run {
    command: String,
    mean: Option<f64>,
    stddev: Option<f64>,
    median: Option<f64>,
    min: Option<f64>,
    max: Option<f64>,
    #[serde(default)]
    times: Option<Vec<f64>>,
    user: Option<f64>,
    system: Option<f64>,
    /// Of each run; files of older versions have none.
    #[serde(default)]
    memory_usage_byte: Option<Vec<u64>>,
    /// Of each run; none where a signal ended it.
    #[serde(default)]
    exit_codes: Option<Vec<Option<i32>>>,
}

pub(super) fn read(bytes: &[u8]) -> Result<Foreign, ReadError> {
    let file: File = serde_json::from_slice(bytes)?;
    let mut found = Foreign::new(Source::Hyperfine);
    found.environment = machine(file.perfkit).unwrap_or(found.environment);
    for (index, run) in file.results.into_iter().enumerate() {
        let at = At {
            list: "results",
            index,
        };
        let memory = run
            .memory_usage_byte
            .and_then(|runs| runs.into_iter().max());
        if memory.is_some() || run.user.is_some() {
            found.usage.push(Usage {
                name: run.command.clone(),
                user_ns: at.optional("user", run.user, SECOND_NS)?,
                system_ns: at.optional("system", run.system, SECOND_NS)?,
                rss_max_bytes: memory.filter(|bytes| *bytes > 0),
            });
        }
        if let Some(codes) = run.exit_codes.filter(|codes| !codes.is_empty()) {
            let failed = codes.iter().filter(|code| **code != Some(0)).count();
            let rate = found.rate(failed_runs(&run.command), RateKind::Failures);
            found
                .rates
                .push(rate.share_of(failed as u64, codes.len() as u64));
        }
        let times = run.times.unwrap_or_default();
        if times.is_empty() {
            found.summaries.push(Summary {
                name: run.command,
                n: None,
                mean_ns: at.optional("mean", run.mean, SECOND_NS)?,
                stdev_ns: at.optional("stddev", run.stddev, SECOND_NS)?,
                min_ns: at.optional("min", run.min, SECOND_NS)?,
                max_ns: at.optional("max", run.max, SECOND_NS)?,
                quantiles_ns: at
                    .optional("median", run.median, SECOND_NS)?
                    .map(|ns| (50.0, ns))
                    .into_iter()
                    .collect(),
            });
        } else {
            found.samples.push(Samples {
                values_ns: at.times("times", &times, SECOND_NS)?,
                name: run.command,
                operation: "run",
                each: Each::Single,
                in_order: true,
            });
        }
    }
    found.checked("results")
}
