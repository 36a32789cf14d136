//! `--export-json`: statistics and every run, in seconds.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;

use super::Sample;

const NS: f64 = 1e9;

#[derive(Serialize)]
struct Summary {
    results: Vec<Row>,
    /// What hyperfine has not: which run it was.
    #[serde(skip_serializing_if = "Option::is_none")]
    perfkit: Option<Value>,
}

/// In the order in which hyperfine writes them.
#[derive(Serialize)]
struct Row {
    command: String,
    mean: f64,
    stddev: Option<f64>,
    median: f64,
    user: f64,
    system: f64,
    min: f64,
    max: f64,
    times: Vec<f64>,
    memory_usage_byte: Vec<u64>,
    exit_codes: Vec<Option<i32>>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    parameters: BTreeMap<String, String>,
    /// Of perfkit's own, where an interrupt ended the runs early.
    #[serde(skip_serializing_if = "is_false")]
    cut_short: bool,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes a reference"
)]
fn is_false(value: &bool) -> bool {
    !value
}

pub(super) fn content(samples: &[Sample], perfkit: Option<Value>) -> String {
    let results = samples.iter().map(row).collect();
    // Rows of finite numbers and text have no reason to fail.
    let text = serde_json::to_string_pretty(&Summary { results, perfkit }).unwrap_or_default();
    text + "\n"
}

fn row(sample: &Sample) -> Row {
    let [min, max] = sample.range_ns();
    let parameters = sample.program.values();
    Row {
        command: sample.program.name(),
        mean: sample.mean_ns() / NS,
        stddev: sample.stdev_ns().map(|ns| ns / NS),
        median: sample.median_ns() / NS,
        user: sample.user_ns() / NS,
        system: sample.system_ns() / NS,
        min: min / NS,
        max: max / NS,
        times: sample.runs.iter().map(|run| run.wall_ns / NS).collect(),
        memory_usage_byte: sample.runs.iter().map(|run| run.rss_max_bytes).collect(),
        exit_codes: sample.runs.iter().map(|run| run.exit_code).collect(),
        parameters: parameters
            .map(|((name, value), _)| (name.clone(), value.clone()))
            .collect(),
        cut_short: sample.cut_short,
    }
}
