//! Libraries: one program for each build of them, which run in rounds of random order, zipstream twice.

use std::path::PathBuf;

use anyhow::{Context, Result};
use serde_json::Value;

use super::super::{Bench, Size, rounds};
use super::record::Row;
use crate::peers::ignored::Ignored;
use crate::peers::rounds::Spread;
use crate::sh;

/// Builds of the package, by their feature.
const BUILDS: [&str; 4] = ["own", "s-zip", "zip-ng", "zip-rs"];

/// A library that is measured: its name, and the program that has it.
const LIBRARIES: [(&str, &str); 8] = [
    ("zipstream", "own"),
    ("zipstream-async", "own"),
    ("s-zip", "s-zip"),
    ("s-zip-async", "s-zip"),
    ("async_zip", "s-zip"),
    ("zip-ng", "zip-ng"),
    ("zip-rs", "zip-rs"),
    ("klauspost", "go"),
];

/// Which libraries take part in a case.
#[derive(Debug, Clone, Copy)]
enum Who {
    All,
    /// All that write without a runtime.
    Sync,
    These(&'static [&'static str]),
}

impl Who {
    fn takes(self, name: &str) -> bool {
        match self {
            Self::All => true,
            Self::Sync => !name.contains("async"),
            Self::These(names) => names.contains(&name),
        }
    }
}

/// One case: what it is called, the case and input of the programs, rounds, and milliseconds of each.
#[derive(Debug, Clone, Copy)]
pub(super) struct Case {
    what: &'static str,
    case: &'static str,
    input: &'static str,
    rounds: usize,
    milliseconds: u32,
    who: Who,
}

const fn small(what: &'static str, case: &'static str, input: &'static str) -> Case {
    Case {
        what,
        case,
        input,
        rounds: 9,
        milliseconds: 80,
        who: Who::All,
    }
}

/// A case that takes long enough to be run once a round.
const fn large(what: &'static str, case: &'static str, input: &'static str, who: Who) -> Case {
    Case {
        rounds: 3,
        milliseconds: 1,
        who,
        ..small(what, case, input)
    }
}

const CRATES: Who = Who::These(&["zipstream", "zip-ng", "zip-rs"]);
const STORING: Who = Who::These(&["zipstream", "zipstream-async", "zip-rs"]);
const TRICKLING: Who = Who::These(&["zipstream", "s-zip", "zip-rs"]);
const FAST: Who = Who::These(&["zipstream", "s-zip", "zip-ng", "zip-rs"]);

pub(super) const CASES: [Case; 16] = [
    small("5 MiB of one line", "one", "line5"),
    small("50 x 10 KB of one line", "fifty", "line5"),
    small("100 KB of one line, in memory", "memory", "line5"),
    small("5 MiB of source text", "one", "text5"),
    small("50 x 10 KB of source text", "fifty", "text5"),
    small("100 KB of source text, in memory", "memory", "text5"),
    large("the tree, one thread", "tree", "tree", Who::Sync),
    large("the tree, level 1, one thread", "tree-fast", "tree", FAST),
    large("one text, all processors", "threads", "text", Who::Sync),
    large("test the tree, one thread", "test", "tree.zip", CRATES),
    Case {
        rounds: 9,
        ..large("noise, stored", "stored", "noise", STORING)
    },
    Case {
        rounds: 6,
        ..large("noise, stored and encrypted", "aes", "noise", STORING)
    },
    Case {
        rounds: 6,
        ..large("test of that", "test", "sealed.zip", CRATES)
    },
    Case {
        who: CRATES,
        ..small("500 keys of 256 bits, and 10 bytes each", "keys", "text5")
    },
    large("8 MiB of text in one write", "whole", "text5", TRICKLING),
    large(
        "8 MiB of text in writes of 64 bytes",
        "trickle",
        "text5",
        TRICKLING,
    ),
];

/// The programs, by build.
pub(super) struct Programs(Vec<(&'static str, PathBuf)>);

/// Builds what can be built here; what cannot is left out by its name.
pub(super) fn build(ignored: &mut Ignored) -> Result<Programs> {
    let folder = sh::root().join("bench-peers/zip");
    let target = sh::root().join("bench-peers/target/zip");
    let mut programs = Vec::new();
    for feature in BUILDS {
        let target = target.join(feature);
        let mut cargo = sh::cargo(&["build", "--release", "--locked", "--features", feature]);
        cargo.arg("--target-dir").arg(&target).current_dir(&folder);
        if !super::super::is_built() {
            sh::run(&mut cargo)?;
        }
        programs.push((feature, target.join("release/zip-libraries")));
    }
    if sh::find("go").is_some() {
        let program = target.join("go");
        let mut go = sh::command("go");
        go.args(["build", "-trimpath", "-o"]).arg(&program).arg(".");
        sh::run(go.current_dir(sh::root().join("bench-peers/zip-go")))?;
        programs.push(("go", program));
    } else {
        for (library, _) in LIBRARIES.iter().filter(|(_, build)| *build == "go") {
            ignored.add(library, "go");
        }
    }
    Ok(Programs(programs))
}

/// The output of a program.
#[derive(Debug, Clone, Copy)]
struct Turn {
    ns: u64,
    bytes: u64,
    rss_bytes: u64,
}

impl Bench {
    /// Every library on one case, in rounds.
    pub(super) fn libraries(&self, case: Case, programs: &Programs) -> Result<Vec<Row>> {
        let quick = self.size == Size::Quick;
        let rounds = if quick { 2 } else { case.rounds };
        let mut sides: Vec<(&str, &PathBuf, Vec<Turn>)> = Vec::new();
        for (name, build) in LIBRARIES
            .into_iter()
            .filter(|(name, _)| case.who.takes(name))
        {
            if let Some((_, program)) = programs.0.iter().find(|(of, _)| *of == build) {
                sides.push((name, program, Vec::new()));
            }
        }
        // The first once more, as the control.
        if let Some((_, program, _)) = sides.first() {
            sides.push(("zipstream again", program, Vec::new()));
        }
        let mut random = rounds::SEED;
        for _ in 0..rounds {
            for index in rounds::shuffled(sides.len(), &mut random) {
                let (name, program, turns) = &mut sides[index];
                let library = name.trim_end_matches(" again");
                let milliseconds = case.milliseconds.to_string();
                let mut command = sh::command(&**program);
                command.current_dir(self.folder.path()).args([
                    library,
                    case.case,
                    case.input,
                    "out.zip",
                    &milliseconds,
                ]);
                let said: Value = serde_json::from_slice(&sh::output(&mut command)?.stdout)?;
                let cell = |key: &str| {
                    let value = said[key].as_u64();
                    value.with_context(|| format!("{library} prints no {key}"))
                };
                turns.push(Turn {
                    ns: cell("ns")?,
                    bytes: cell("bytes")?,
                    rss_bytes: cell("rss_bytes")?,
                });
                if !matches!(case.case, "memory" | "test") {
                    self.readable(library)?;
                }
            }
        }
        let base: Vec<u64> = sides[0].2.iter().map(|turn| turn.ns).collect();
        Ok(sides
            .iter()
            .map(|(name, _, turns)| row(case.what, name, turns, &base))
            .collect())
    }

    /// The output of a library is read by a program that did not write it.
    fn readable(&self, library: &str) -> Result<()> {
        // 7zz if it is installed, because it can decrypt.
        let unzip: &[&str] = &["unzip", "-tqq", "out.zip"];
        let other: &[&str] = &["7zz", "t", "-pcorrect", "-bso0", "-bsp0", "out.zip"];
        let words = sh::find("7zz").map_or(unzip, |_| other);
        sh::output(&mut self.command(words))
            .map(drop)
            .with_context(|| format!("{library}: a wrong answer"))
    }
}

#[allow(clippy::cast_precision_loss, reason = "times stay below 2^52 ns")]
fn row(what: &str, name: &str, turns: &[Turn], base: &[u64]) -> Row {
    let mut ns: Vec<u64> = turns.iter().map(|turn| turn.ns).collect();
    let pairs = ns.iter().zip(base);
    let ratios = Spread::of(pairs.map(|(ns, base)| *ns as f64 / *base as f64));
    ns.sort_unstable();
    Row {
        what: what.to_owned(),
        library: name.to_owned(),
        rounds: turns.len() as u64,
        ns_p50: ns[ns.len() / 2],
        ns_min: ns[0],
        ratio_p50: ratios.median,
        ratio_range: ratios.range,
        archive_bytes: turns[0].bytes,
        rss_max_bytes: turns.iter().map(|turn| turn.rss_bytes).max().unwrap_or(0),
    }
}
