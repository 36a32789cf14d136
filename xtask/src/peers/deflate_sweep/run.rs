//! Runs the sweep, and writes its record.

use std::fs;

use anyhow::{Context, Result};

use super::DeflateSweep;
use crate::metadata;
use crate::peers::{Size, build_perfkit, is_built, locked};
use crate::record::{Machine, Made, Record, Results};
use crate::sh;

/// What to measure; the record keeps the rest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    All,
    /// The libraries, compressing and decompressing.
    Libraries,
    Archivers,
}

impl Part {
    /// Its name; all have none.
    fn name(self) -> Option<&'static str> {
        match self {
            Self::All => None,
            Self::Libraries => Some("libraries"),
            Self::Archivers => Some("archivers"),
        }
    }

    fn other(self) -> Self {
        match self {
            Self::All => Self::All,
            Self::Libraries => Self::Archivers,
            Self::Archivers => Self::Libraries,
        }
    }
}

/// Measures and writes the record. A quick run has few sizes, one round and no archivers.
pub(crate) fn run(size: Size, part: Part) -> Result<()> {
    let folder = sh::root().join("bench-peers/deflate");
    let target = sh::root().join("bench-peers/target/deflate");
    if !is_built() {
        // ISA-L is a library of the system: without it there is one rival less.
        build(&["--features", "isal"]).or_else(|_| build(&[]))?;
    }
    let mut sweep = sh::command(target.join("release/deflate-peers"));
    let (name, command) = match size {
        Size::Full => {
            if part != Part::Libraries {
                build_perfkit()?;
                let perfkit = metadata::measured_binaries()?.join("perfkit");
                sweep.arg("--programs").arg(perfkit);
            }
            if part == Part::Archivers {
                sweep.args(["--sizes", "", "--inflate", ""]);
            }
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
    let mut found: DeflateSweep =
        serde_json::from_str(&text).context("the program prints something else")?;
    let old = match part {
        Part::All => None,
        _ => Record::read(name)?,
    };
    let mut old_made = Vec::new();
    if let Some(Record {
        results: Results::DeflateSweep(old),
        made,
        ..
    }) = old
    {
        match part {
            Part::Archivers => (found.libraries, found.inflate) = (old.libraries, old.inflate),
            _ => found.programs = old.programs,
        }
        old_made = made;
        // What was made whole is the other part from now on.
        for made in old_made.iter_mut().filter(|made| made.part.is_none()) {
            made.part = part.other().name().map(str::to_owned);
        }
    }
    let mut record = Record::new(
        "zipstream's deflate, libraries and archivers on many kinds of data",
        command,
        Results::DeflateSweep(found),
    );
    record.quick = size == Size::Quick;
    let rustc = sh::text(sh::command("rustc").arg("--version"))?;
    let lock = fs::read_to_string(folder.join("Cargo.lock"))?;
    let made = Made::now(locked(&lock, "zipstream"), vec![rustc])?;
    record.made = made.replaced(old_made, part.name());
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
