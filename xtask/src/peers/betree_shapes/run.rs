//! Runs the comparison, and writes its record.

use std::fs;

use anyhow::{Context, Result, ensure};

use super::BetreeShapes;
use crate::peers::{Size, locked};
use crate::record::{Machine, Made, Record, Results};
use crate::sh;

/// Measures and writes the record.
pub(crate) fn run(size: Size) -> Result<()> {
    let folder = sh::root().join("bench-peers/betree");
    let (name, command, words): (_, _, &[&str]) = match size {
        Size::Full => (
            "betree-shapes",
            "cargo xtask peers betree-shapes",
            &["100", "10000", "100000"],
        ),
        Size::Quick => (
            "betree-shapes-quick",
            "cargo xtask peers betree-shapes --quick",
            &["10", "1000"],
        ),
    };
    let mut cargo = sh::cargo(&["run", "--release", "--locked", "--manifest-path"]);
    cargo.arg(folder.join("Cargo.toml"));
    let text = sh::text(cargo.args(["--", "--shapes"]).args(words))?;
    let found: BetreeShapes =
        serde_json::from_str(&text).context("the program prints something else")?;
    let cliffs = found.cliffs;
    let mut record = Record::new(
        "betree, a simple inverted index and a-tree over shapes of workloads",
        command,
        Results::BetreeShapes(found),
    );
    record.quick = size == Size::Quick;
    let rustc = sh::text(sh::command("rustc").arg("--version"))?;
    let lock = fs::read_to_string(folder.join("Cargo.lock"))?;
    record.made = vec![Made::now(locked(&lock, "betree"), vec![rustc])?];
    record.versions = locked(&lock, "a-tree").into_iter().collect();
    record.machine = Some(Machine::here());
    println!("{}", record.write(name)?.display());
    ensure!(
        cliffs == 0,
        "{cliffs} neighbours of sweeps are too far apart: see the record"
    );
    Ok(())
}
