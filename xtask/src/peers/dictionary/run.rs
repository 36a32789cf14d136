//! Runs the example, and writes its record.

use anyhow::{Context, Result};

use crate::peers::measured_by_example;
use crate::record::{Machine, Record, Results};

/// Measures and writes the record.
pub(crate) fn run(words: &[&str]) -> Result<()> {
    let (found, made) = measured_by_example("zstdkit", "workload", "dictionary", words)?;
    let about = found["about"]
        .as_array()
        .context("the example says nothing about its data")?;
    let facts = about
        .iter()
        .filter_map(|line| line.as_str().map(str::to_owned));
    let facts = facts.collect();
    let command = format!("cargo xtask peers dictionary {}", words.join(" "));
    let mut record = Record::new(
        "A dictionary of 110 KB, by the call",
        command.trim(),
        Results::Dictionary(serde_json::from_value(found)?),
    );
    record.made = vec![made];
    record.machine = Some(Machine::here());
    record.facts = facts;
    println!("{}", record.write("zstd-dictionary")?.display());
    Ok(())
}
