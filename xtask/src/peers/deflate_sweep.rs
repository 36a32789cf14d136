//! Compares zipstream's deflate with other libraries and archivers over many kinds of data: the record of
//! the program in `bench-peers/deflate`.

mod inflate;
mod judge;
mod means;
pub(crate) mod run;

use std::fmt::Write as _;

use anyhow::Result;
use serde::{Deserialize, Serialize};

use crate::record::Body;
use inflate::Decoded;
use judge::{Cliff, Dominated, Inversion};

/// Every point of the sweep; what it says is computed from them.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct DeflateSweep {
    rounds: u64,
    libraries: Vec<Cell>,
    programs: Vec<Cell>,
    #[serde(default)]
    inflate: Vec<Decoded>,
    ignored: Vec<String>,
}

/// All ways to compress one content.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Cell {
    kind: String,
    bytes: u64,
    points: Vec<Point>,
}

/// Who, level, threads, compressed bytes, nanoseconds.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Point(String, i32, u64, u64, u64);

impl Point {
    fn is_own(&self) -> bool {
        ["zipstream", "perfkit zip"].contains(&self.0.as_str())
    }
}

/// Rows of a table at most: the rest is counted.
const ROWS_MAX: usize = 60;

impl Body for DeflateSweep {
    fn write(&self, out: &mut String) -> Result<()> {
        writeln!(
            out,
            "{} rounds. Libraries run on one thread, and their times are processor time; archivers run on one to \
             three threads, and their times are wall time less that of one byte. A cell is *dominated* if \
             a rival at any level is smaller (by 0.1 % or more) and faster (by 3 % or more). *time* and *size* are \
             ours over the rival's. A level is an *inversion* if a lower one is smaller by 0.2 % or more. A *cliff* is \
             a size at which time for a byte, or the ratio, becomes worse than at the size below, compared \
             with how libdeflate changes there. The worst comes first.",
            self.rounds
        )?;
        self.summary(out)?;
        means::write(out, &self.libraries)?;
        for (title, cells) in [
            ("Libraries", &self.libraries),
            ("Archivers", &self.programs),
        ] {
            if cells.is_empty() {
                continue;
            }
            dominated(out, title, &judge::dominated(cells))?;
            inversions(out, title, &judge::inversions(cells))?;
        }
        cliffs(out, &judge::cliffs(&self.libraries))?;
        inflate::write(out, &self.inflate)?;
        for line in &self.ignored {
            writeln!(out, "\nIgnored: {line}.")?;
        }
        Ok(())
    }
}

impl DeflateSweep {
    /// How many cells are dominated, by level.
    fn summary(&self, out: &mut String) -> Result<()> {
        writeln!(
            out,
            "\n| compared with | level | cells | dominated | kinds dominated | kinds |\n|---|---:|---:|---:|---:|---:|"
        )?;
        for (title, cells) in [
            ("libraries", &self.libraries),
            ("archivers", &self.programs),
        ] {
            let all = judge::dominated(cells);
            for level in judge::levels(cells) {
                let found: Vec<_> = all.iter().filter(|one| one.level == level).collect();
                let kinds = |names: &mut Vec<&str>| {
                    names.sort_unstable();
                    names.dedup();
                    names.len()
                };
                let mut bad = found.iter().map(|one| one.kind.as_str()).collect();
                let mut every = cells.iter().map(|cell| cell.kind.as_str()).collect();
                let own = |point: &&Point| point.is_own() && point.1 == level;
                let count: usize = (cells.iter())
                    .map(|cell| cell.points.iter().filter(own).count())
                    .sum();
                let (bad, every, found) = (kinds(&mut bad), kinds(&mut every), found.len());
                writeln!(
                    out,
                    "| {title} | {level} | {count} | {found} | {bad} | {every} |"
                )?;
            }
        }
        Ok(())
    }
}

/// MB/s.
fn rate(bytes: u64, ns: u64) -> f64 {
    bytes as f64 * 1e3 / ns.max(1) as f64
}

/// A size in the largest unit that it is a multiple of, nearly.
fn human(bytes: u64) -> String {
    match bytes {
        0..1024 => format!("{bytes} B"),
        1024..1_048_576 => format!("{} KiB", bytes / 1024),
        _ => format!("{} MiB", bytes as f64 / 1_048_576.0),
    }
}

fn rest(out: &mut String, count: usize) -> Result<()> {
    if count > ROWS_MAX {
        writeln!(out, "\n{} more.", count - ROWS_MAX)?;
    }
    Ok(())
}

fn dominated(out: &mut String, title: &str, all: &[Dominated]) -> Result<()> {
    writeln!(out, "\n## {title}: {} dominated\n", all.len())?;
    if all.is_empty() {
        return Ok(());
    }
    writeln!(
        out,
        "| kind | size | threads | level | ratio | MB/s | rival | its ratio | its MB/s | time | size |\n\
         |---|---:|---:|---:|---:|---:|---|---:|---:|---:|---:|"
    )?;
    for one in all.iter().take(ROWS_MAX) {
        let share = |bytes: u64| bytes as f64 / one.bytes as f64;
        writeln!(
            out,
            "| {} | {} | {} | {} | {:.4} | {:.0} | {} -{} | {:.4} | {:.0} | {:.2}x | {:.3}x |",
            one.kind,
            human(one.bytes),
            one.threads,
            one.level,
            share(one.own.0),
            rate(one.packed_bytes, one.own.1),
            one.rival,
            one.rival_level,
            share(one.theirs.0),
            rate(one.packed_bytes, one.theirs.1),
            one.own.1 as f64 / one.theirs.1.max(1) as f64,
            one.own.0 as f64 / one.theirs.0.max(1) as f64,
        )?;
    }
    rest(out, all.len())
}

fn inversions(out: &mut String, title: &str, all: &[Inversion]) -> Result<()> {
    writeln!(out, "\n## {title}: {} inversions of levels\n", all.len())?;
    if all.is_empty() {
        return Ok(());
    }
    writeln!(
        out,
        "| kind | size | threads | level | lower level | size | time |\n|---|---:|---:|---:|---:|---:|---:|"
    )?;
    for one in all.iter().take(ROWS_MAX) {
        writeln!(
            out,
            "| {} | {} | {} | {} | {} | {:.3}x | {:.2}x |",
            one.kind,
            human(one.bytes),
            one.threads,
            one.level,
            one.lower,
            one.size,
            one.time
        )?;
    }
    rest(out, all.len())
}

fn cliffs(out: &mut String, all: &[Cliff]) -> Result<()> {
    writeln!(out, "\n## {} cliffs\n", all.len())?;
    if all.is_empty() {
        return Ok(());
    }
    writeln!(
        out,
        "| kind | level | from | to | ratio | time for a byte |\n|---|---:|---:|---:|---:|---:|"
    )?;
    for one in all.iter().take(ROWS_MAX) {
        writeln!(
            out,
            "| {} | {} | {} | {} | {:.3}x | {:.2}x |",
            one.kind,
            one.level,
            human(one.from),
            human(one.to),
            one.size,
            one.time
        )?;
    }
    rest(out, all.len())
}
