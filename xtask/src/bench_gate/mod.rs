//! Instruction counts against recorded baselines. Wall time gates nothing here: on a shared
//! machine it says more about the neighbours than about the code.
//!
//! Each workload of `bin/gate_workloads.rs` runs at two sizes; the difference divided by the
//! difference of sizes is the cost of one more operation, free of set-up. [`callgrind`] counts,
//! [`baseline`] compares. A number from another compiler, processor or libc is no baseline:
//! there the counts are printed and nothing is decided.

mod baseline;
mod callgrind;

use std::path::Path;

use anyhow::{Result, bail};

use crate::{metadata, sh};
use baseline::{Baselines, Verdict};

/// A program whose instructions are counted, and the two sizes it runs at.
struct Workload {
    name: &'static str,
    /// What one unit of size is.
    unit: &'static str,
    small: u64,
    large: u64,
    /// Share by which random seeds of hashes move the count.
    spread: f64,
}

const WORKLOADS: &[Workload] = &[
    Workload {
        name: "latency/record_span",
        unit: "span",
        small: 10_000,
        large: 20_000,
        spread: 0.0,
    },
    Workload {
        name: "latency/percentiles",
        unit: "call",
        small: 10,
        large: 20,
        spread: 0.0,
    },
    Workload {
        name: "zstdkit/encode-3-json",
        unit: "MiB",
        small: 1,
        large: 2,
        spread: 0.0,
    },
    Workload {
        name: "zstdkit/encode-3-log",
        unit: "MiB",
        small: 1,
        large: 2,
        spread: 0.0,
    },
    Workload {
        name: "zstdkit/decode-json",
        unit: "MiB",
        small: 2,
        large: 4,
        spread: 0.0,
    },
    Workload {
        name: "zstdkit/decode-log",
        unit: "MiB",
        small: 2,
        large: 4,
        spread: 0.0,
    },
    Workload {
        name: "zstdkit/scan-frames",
        unit: "pass over 256 frames",
        small: 2,
        large: 4,
        spread: 0.0,
    },
    Workload {
        name: "zipstream/deflate-1-json",
        unit: "256 KiB",
        small: 1,
        large: 2,
        spread: 0.0,
    },
    Workload {
        name: "zipstream/deflate-6-json",
        unit: "256 KiB",
        small: 1,
        large: 2,
        spread: 0.0,
    },
    Workload {
        name: "zipstream/deflate-9-log",
        unit: "256 KiB",
        small: 1,
        large: 2,
        spread: 0.0,
    },
    Workload {
        name: "zipstream/inflate-json",
        unit: "256 KiB",
        small: 4,
        large: 8,
        spread: 0.0,
    },
    Workload {
        name: "zipstream/inflate-log",
        unit: "256 KiB",
        small: 4,
        large: 8,
        spread: 0.0,
    },
    Workload {
        name: "fixcore/parse-execution",
        unit: "message",
        small: 1_000,
        large: 2_000,
        spread: 0.0,
    },
    Workload {
        name: "fixcore/parse-market-data",
        unit: "message",
        small: 200,
        large: 400,
        spread: 0.0,
    },
    Workload {
        name: "betree/match-booleans",
        unit: "event",
        small: 50,
        large: 100,
        spread: 0.0,
    },
    Workload {
        name: "betree/match-advertisements",
        unit: "event",
        small: 1_000,
        large: 2_000,
        spread: 0.01,
    },
];

/// What to do with the counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    Compare,
    /// Count twice, refuse what does not repeat, and write the baseline of this environment.
    Record,
}

/// Counts every workload, and returns one line about it.
pub(crate) fn run(mode: Mode) -> Result<String> {
    let Some(environment) = callgrind::environment()? else {
        println!("valgrind is not installed: nothing is counted");
        return Ok("not run: no valgrind".to_owned());
    };
    let args = ["build", "--package", "xtask", "--features", "workloads"];
    let mut cargo = sh::cargo(&args);
    sh::run(
        cargo
            .args(["--bin", "gate-workloads"])
            .args(metadata::MEASURED),
    )?;
    let program = metadata::measured_binaries()?.join("gate-workloads");

    let path = sh::root().join("xtask/baselines.json");
    let mut baselines = Baselines::read(&path)?;
    println!("environment: {environment}");
    let mut counts = Vec::new();
    for workload in WORKLOADS {
        let count = measure(&program, workload)?;
        if mode == Mode::Record {
            let again = measure(&program, workload)?;
            if (again - count).abs() > count * workload.spread {
                bail!(
                    "{}: {count} and then {again}: it does not repeat",
                    workload.name
                );
            }
        }
        counts.push((workload, count));
    }
    if mode == Mode::Record {
        let rows = counts
            .iter()
            .map(|(workload, count)| (workload.name.to_owned(), *count));
        baselines.record(environment, rows.collect());
        baselines.write(&path)?;
        println!("{}: written", path.display());
        return Ok(format!("{} recorded", counts.len()));
    }
    judge(&baselines, &environment, &counts)
}

fn judge(
    baselines: &Baselines,
    environment: &baseline::Environment,
    counts: &[(&Workload, f64)],
) -> Result<String> {
    let known = baselines.of(environment);
    let mut worse = Vec::new();
    for (workload, count) in counts {
        let found = known.and_then(|rows| rows.get(workload.name));
        let tolerance = baselines.tolerance + workload.spread;
        let verdict = Verdict::of(found.copied(), *count, tolerance);
        let decimals = if *count < 10_000.0 { 2 } else { 0 };
        println!(
            "{:<24} {count:>12.decimals$} instructions a {:<22} {verdict}",
            workload.name, workload.unit
        );
        if matches!(verdict, Verdict::Worse(_)) {
            worse.push(workload.name);
        }
    }
    if !worse.is_empty() {
        bail!(
            "more instructions than the baseline allows: {}; if it is meant, run \
             `cargo xtask bench-gate --record` and say why in the commit",
            worse.join(", ")
        );
    }
    if known.is_none() {
        println!("no baseline for {environment}: counted, not judged");
        return Ok("no baseline for this environment".to_owned());
    }
    let tolerance = baselines.tolerance * 100.0;
    Ok(format!("{} workloads within {tolerance} %", counts.len()))
}

/// Instructions for one more unit of work.
fn measure(program: &Path, workload: &Workload) -> Result<f64> {
    let small = callgrind::count(program, workload.name, workload.small)?;
    let large = callgrind::count(program, workload.name, workload.large)?;
    if large <= small {
        bail!(
            "{}: no more instructions for more work ({small}, {large})",
            workload.name
        );
    }
    #[allow(clippy::cast_precision_loss, reason = "counts stay far below 2^52")]
    let slope = (large - small) as f64 / (workload.large - workload.small) as f64;
    Ok((slope * 100.0).round() / 100.0)
}
