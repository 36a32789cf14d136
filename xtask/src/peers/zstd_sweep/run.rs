//! Runs the sweep, and writes its record.

use std::path::PathBuf;

use anyhow::{Context, Result};

use super::ZstdSweep;
use crate::metadata;
use crate::peers::{Size, build_perfkit, is_built, made};
use crate::record::{Machine, Record, Results};
use crate::sh;

/// The variable that names another `zstd` than the one on PATH.
const RIVAL: &str = "PEER_ZSTD";

/// Measures and writes the record. A quick run has small contents, three levels, and few rounds.
pub(crate) fn run(size: Size) -> Result<()> {
    let zstd = std::env::var_os(RIVAL)
        .map(PathBuf::from)
        .or_else(|| sh::find("zstd"))
        .context("zstd is not installed: there is nothing to measure against")?;
    let target = sh::root().join("bench-peers/target/zstd");
    build_perfkit()?;
    if !is_built() {
        let mut cargo = sh::cargo(&["build", "--release", "--locked", "--target-dir"]);
        cargo.arg(&target);
        sh::run(cargo.current_dir(sh::root().join("bench-peers/zstd")))?;
    }
    let perfkit = metadata::measured_binaries()?.join("perfkit");
    let mut sweep = sh::command(target.join("release/zstd-peers"));
    sweep.arg(&perfkit).arg(&zstd).arg(sh::root());
    let (name, command) = match size {
        Size::Full => ("zstd-sweep", "cargo xtask peers zstd-sweep"),
        Size::Quick => {
            sweep.arg("--quick");
            ("zstd-sweep-quick", "cargo xtask peers zstd-sweep --quick")
        }
    };
    let text = sh::text(&mut sweep)?;
    let found: ZstdSweep =
        serde_json::from_str(&text).context("the program prints something else")?;
    let mut record = Record::new(
        "perfkit against the zstd command: kinds of data, levels, threads and ways",
        command,
        Results::ZstdSweep(found),
    );
    record.quick = size == Size::Quick;
    record.made = vec![made(&perfkit)?];
    let version = sh::text(sh::command(&zstd).arg("--version"))?;
    record.versions = vec![version.trim_matches('*').trim().to_owned()];
    record.machine = Some(Machine::here());
    println!("{}", record.write(name)?.display());
    Ok(())
}
