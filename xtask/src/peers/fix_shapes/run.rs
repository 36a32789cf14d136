//! Runs the comparison, and writes its record.

use std::fs;

use anyhow::{Context, Result, ensure};

use super::FixShapes;
use crate::peers::{Size, fix, locked};
use crate::record::{Machine, Made, Record, Results};
use crate::sh;

/// Measures and writes the record.
pub(crate) fn run(size: Size) -> Result<()> {
    let folder = sh::root().join("bench-peers/fix");
    let (name, command, words): (_, _, [&str; 3]) = match size {
        Size::Full => (
            "fix-shapes",
            "cargo xtask peers fix-shapes",
            ["50", "15", "each"],
        ),
        Size::Quick => (
            "fix-shapes-quick",
            "cargo xtask peers fix-shapes --quick",
            ["2", "2", "fastest"],
        ),
    };
    let quickfix = fix::quickfix()?;
    let mut cargo = sh::cargo(&["run", "--release", "--locked", "--manifest-path"]);
    cargo.arg(folder.join("Cargo.toml"));
    cargo.args(["--", "shapes"]).args(words);
    match &quickfix {
        Some((program, dictionary)) => cargo.args([program, dictionary]),
        None => {
            println!("QuickFIX is not installed (libquickfix-dev): it takes no part");
            &mut cargo
        }
    };
    let text = sh::text(&mut cargo)?;
    let found: FixShapes =
        serde_json::from_str(&text).context("the program prints something else")?;
    let cliffs = found.cliffs;
    let mut record = Record::new(
        "fixcore, a naive parser and encoder, fefix and QuickFIX over shapes of messages",
        command,
        Results::FixShapes(found),
    );
    record.quick = size == Size::Quick;
    let rustc = sh::text(sh::command("rustc").arg("--version"))?;
    let lock = fs::read_to_string(folder.join("Cargo.lock"))?;
    record.made = vec![Made::now(locked(&lock, "fixcore"), vec![rustc])?];
    record.versions = locked(&lock, "fefix").into_iter().collect();
    if quickfix.is_some() {
        record.versions.push(fix::quickfix_version()?);
    }
    record.machine = Some(Machine::here());
    println!("{}", record.write(name)?.display());
    ensure!(
        cliffs == 0,
        "{cliffs} neighbours of sweeps are too far apart: see the record"
    );
    Ok(())
}
