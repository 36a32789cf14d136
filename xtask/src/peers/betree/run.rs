//! Runs the comparison, and writes its record.

use std::fs;

use anyhow::{Context, Result};

use crate::peers::locked;
use crate::record::{Machine, Made, Record, Results};
use crate::sh;

/// Measures and writes the record.
pub(crate) fn run() -> Result<()> {
    let folder = sh::root().join("bench-peers/betree");
    let mut cargo = sh::cargo(&["run", "--release", "--locked", "--manifest-path"]);
    let text = sh::text(cargo.arg(folder.join("Cargo.toml")))?;
    let results = serde_json::from_str(&text).context("the program prints something else")?;
    let mut record = Record::new(
        "betree beside a-tree",
        "cargo xtask peers betree",
        Results::Betree(results),
    );
    let rustc = sh::text(sh::command("rustc").arg("--version"))?;
    let lock = fs::read_to_string(folder.join("Cargo.lock"))?;
    record.made = vec![Made::now(locked(&lock, "betree"), vec![rustc])?];
    record.versions = locked(&lock, "a-tree").into_iter().collect();
    record.machine = Some(Machine::here());
    println!("{}", record.write("betree")?.display());
    Ok(())
}
