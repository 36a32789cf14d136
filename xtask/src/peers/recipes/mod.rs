//! The record that compares zstdkit's recipes with native levels, made of runs of `cargo xtask tune`.

mod table;

use std::fmt::Write;

use anyhow::{Context, Result, ensure};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::record::{Body, Machine, Made};
use table::{Group, Judged, Table, size_words, verdict};

/// Several runs, of some sizes each.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Recipes {
    runs: Vec<Run>,
}

/// What one `cargo xtask tune` measured, and where.
#[derive(Debug, Serialize, Deserialize)]
struct Run {
    command: String,
    made: Made,
    libzstd: String,
    machine: Machine,
    tables: Vec<Table>,
}

impl Recipes {
    /// Reads runs as `cargo xtask tune --json` writes them.
    pub(super) fn of_runs(runs: Vec<Value>) -> Result<Self> {
        ensure!(!runs.is_empty(), "a record of no runs");
        let runs = runs.into_iter().map(serde_json::from_value);
        let runs = runs.collect::<Result<_, _>>();
        Ok(Self {
            runs: runs.context("not what `cargo xtask tune --json` writes")?,
        })
    }
}

impl Body for Recipes {
    fn made(&self) -> Vec<Made> {
        self.runs.iter().map(|run| run.made.clone()).collect()
    }

    fn machine(&self) -> &'static str {
        "beside each run"
    }

    fn write(&self, out: &mut String) -> Result<()> {
        let runs = &self.runs;
        for run in runs {
            writeln!(
                out,
                "- `{}`, {}, libzstd {}: {}",
                run.command,
                run.made.date,
                run.libzstd,
                run.machine.line()
            )?;
        }
        out.push_str(
            "\nEach cell is the ratio and the speed in MB/s of processor time, the best of its \
         passes\n(at least `--passes`; slow candidates have no more), in turns over one context \
         each. † marks what a\nnative level beats: no larger, and faster by more than a recipe \
         and its control, the same recipe\nonce more, differ by at most (by 3 % where that is \
         less)",
        );
        let tables: Vec<&Table> = runs.iter().flat_map(|run| &run.tables).collect();
        let mut sizes: Vec<usize> = tables.iter().map(|table| table.size).collect();
        sizes.sort_unstable();
        sizes.dedup();
        for (index, &size) in sizes.iter().enumerate() {
            let of_size = tables.iter().filter(|table| table.size == size);
            let noise = of_size.map(|table| table.noise).fold(0.0, f64::max) * 100.0;
            let before = if index == 0 { ":\n" } else { ", " };
            write!(out, "{before}{noise:.1} % at {}", size_words(size))?;
        }
        out.push_str(
        ".\nRecipes have the parameters of a look at the first sample, which is not part of the \
         time.\n",
    );
        if runs.iter().all(|run| run.command.contains("--part second")) {
            out.push_str(
            "Samples are of the second half of the data; the first is what parameters are chosen \
             on.\n",
        );
        }
        out.push_str(&verdict(&tables));
        for size in sizes {
            let of_size: Vec<&Table> = tables
                .iter()
                .filter(|table| table.size == size)
                .copied()
                .collect();
            out.push_str(&matrix(&of_size));
        }
        Ok(())
    }
}

/// All kinds of one size in one Markdown table: a row per candidate, the slowest last.
fn matrix(tables: &[&Table]) -> String {
    let Some(first) = tables.first() else {
        return String::new();
    };
    let mut text = format!("\n## {}\n\n| candidate | context |", size_words(first.size));
    for table in tables {
        let _ = write!(text, " {} |", table.kind);
    }
    let _ = writeln!(text, "\n|---|---:|{}", "---:|".repeat(tables.len()));
    let time = |name: &str| -> f64 {
        let rows = tables.iter().filter_map(|table| table.row(name));
        rows.map(|judged| -judged.mb_per_s.ln()).sum()
    };
    let mut names: Vec<(f64, &Judged)> = first
        .rows
        .iter()
        .filter(|judged| judged.row.group != Group::Control)
        .map(|judged| (time(&judged.row.name), judged))
        .collect();
    names.sort_by(|(one, _), (other, _)| one.total_cmp(other));
    for (_, judged) in names {
        let name = match judged.row.group {
            Group::Recipe => format!("**{}**", judged.row.name),
            _ => judged.row.name.clone(),
        };
        let memory_mb = judged.row.memory_bytes as f64 / 1e6;
        let _ = write!(text, "| {name} | {memory_mb:.2} MB |");
        for table in tables {
            let _ = match table.row(&judged.row.name) {
                Some(cell) => write!(
                    text,
                    " {:.3} @ {:.1}{} |",
                    cell.ratio,
                    cell.mb_per_s,
                    if cell.dominated_by.is_some() {
                        " †"
                    } else {
                        ""
                    }
                ),
                None => write!(text, " — |"),
            };
        }
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{Record, Results};

    /// Where the table is quoted, and which part of the record it shows.
    const QUOTED: &str = "crates/zstdkit/src/recipe/mod.rs";
    const SIZE: usize = 1 << 20;
    const KINDS: [&str; 6] = ["html", "json", "source", "elf", "log", "uuid"];
    const CANDIDATES: [&str; 8] = [
        "fast",
        "balanced",
        "binary",
        "structured_data",
        "text",
        "maximum",
        "level 3",
        "level 11",
    ];

    fn line(tables: &[&Table], name: &str) -> String {
        let of = |kind: &str| {
            let table = tables
                .iter()
                .find(|table| table.kind == kind && table.size == SIZE);
            table.and_then(|table| table.row(name)).expect(name)
        };
        let cells = KINDS.map(|kind| format!("{:.2} @ {:.0}", of(kind).ratio, of(kind).mb_per_s));
        let shown = match name.starts_with("level") {
            true => name.to_owned(),
            false => format!("`{name}`"),
        };
        let memory_mb = of(KINDS[0]).row.memory_bytes as f64 / 1e6;
        format!(
            "//! | {shown} | {memory_mb:.1} MB | {} |",
            cells.join(" | ")
        )
    }

    #[test]
    fn the_documentation_of_recipes_quotes_what_the_record_has() {
        let record = Record::read("zstd-recipes").unwrap().expect("a record");
        let Results::Recipes(recipes) = record.results else {
            panic!("zstd-recipes is a record of something else");
        };
        let tables: Vec<&Table> = recipes.runs.iter().flat_map(|run| &run.tables).collect();
        let text = std::fs::read_to_string(crate::sh::root().join(QUOTED)).unwrap();
        let missing: Vec<String> = CANDIDATES
            .iter()
            .map(|name| line(&tables, name))
            .filter(|line| !text.contains(line.as_str()))
            .collect();
        assert!(
            missing.is_empty(),
            "{QUOTED} quotes other figures than zstd-recipes.json; write there:\n{}",
            missing.join("\n")
        );
    }
}
