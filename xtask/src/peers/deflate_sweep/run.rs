//! Runs the sweep, and writes its record.

use std::fs;

use anyhow::{Context, Result};

use super::DeflateSweep;
use crate::metadata;
use crate::peers::{Size, build_perfkit, is_built, locked};
use crate::record::{Machine, Made, Record, Results};
use crate::sh;

/// Measures and writes the record. A quick run has few sizes, one round and no archivers.
pub(crate) fn run(size: Size) -> Result<()> {
    let folder = sh::root().join("bench-peers/deflate");
    let target = sh::root().join("bench-peers/target/deflate");
    if !is_built() {
        // ISA-L is a library of the system: without it there is one rival less.
        build(&["--features", "isal"]).or_else(|_| build(&[]))?;
    }
    let mut sweep = sh::command(target.join("release/deflate-peers"));
    let (name, command) = match size {
        Size::Full => {
            build_perfkit()?;
            let perfkit = metadata::measured_binaries()?.join("perfkit");
            sweep.arg("--programs").arg(perfkit);
            ("deflate-sweep", "cargo xtask peers deflate-sweep")
        }
        Size::Quick => {
            sweep.args(["--rounds", "1", "--sizes", "16384,1048576,1310720"]);
            sweep.args(["--inflate", "65536,1048576"]);
            (
                "deflate-sweep-quick",
                "cargo xtask peers deflate-sweep --quick",
            )
        }
    };
    let text = sh::text(&mut sweep)?;
    let found: DeflateSweep =
        serde_json::from_str(&text).context("the program prints something else")?;
    let mut record = Record::new(
        "zipstream's deflate, libraries and archivers on many kinds of data",
        command,
        Results::DeflateSweep(found),
    );
    record.quick = size == Size::Quick;
    let rustc = sh::text(sh::command("rustc").arg("--version"))?;
    let lock = fs::read_to_string(folder.join("Cargo.lock"))?;
    record.made = vec![Made::now(locked(&lock, "zipstream"), vec![rustc])?];
    let libraries = ["libdeflater", "libz-ng-sys", "isal-rs"];
    record.versions = libraries
        .iter()
        .filter_map(|name| locked(&lock, name))
        .collect();
    record.machine = Some(Machine::here());
    println!("{}", record.write(name)?.display());
    Ok(())
}

fn build(features: &[&str]) -> Result<()> {
    let mut cargo = sh::cargo(&["build", "--release", "--locked", "--target-dir"]);
    cargo.arg(sh::root().join("bench-peers/target/deflate"));
    cargo.args(features);
    sh::run(cargo.current_dir(sh::root().join("bench-peers/deflate")))
}
