//! Runs the comparison, and writes its record.

use std::fs;

use anyhow::{Context, Result};

use super::AsyncStreams;
use crate::peers::{Size, locked};
use crate::record::{Machine, Made, Record, Results};
use crate::sh;

/// Measures and writes the record.
pub(crate) fn run(size: Size) -> Result<()> {
    let folder = sh::root().join("bench-peers/async");
    let (name, command, rounds) = match size {
        Size::Full => ("async", "cargo xtask peers async", "5"),
        Size::Quick => ("async-quick", "cargo xtask peers async --quick", "1"),
    };
    let mut cargo = sh::cargo(&["run", "--release", "--locked", "--manifest-path"]);
    cargo.arg(folder.join("Cargo.toml")).args(["--", rounds]);
    let text = sh::text(&mut cargo)?;
    let found: AsyncStreams =
        serde_json::from_str(&text).context("the program prints something else")?;
    let mut record = Record::new(
        "zstdkit and zipstream in a tokio runtime, async-compression, async_zip, s-zip and spawn_blocking",
        command,
        Results::AsyncStreams(found),
    );
    record.quick = size == Size::Quick;
    let rustc = sh::text(sh::command("rustc").arg("--version"))?;
    let lock = fs::read_to_string(folder.join("Cargo.lock"))?;
    record.made = vec![Made::now(locked(&lock, "zstdkit"), vec![rustc])?];
    let versions = [
        "async-compression",
        "async_zip",
        "s-zip",
        "tokio",
        "zip",
        "zipstream",
        "zstd",
    ];
    let versions = versions.iter().filter_map(|name| locked(&lock, name));
    record.versions = versions.collect();
    record.machine = Some(Machine::here());
    println!("{}", record.write(name)?.display());
    Ok(())
}
