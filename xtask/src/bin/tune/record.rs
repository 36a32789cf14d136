//! Runs as JSON, and records put together from several of them: one run of everything would
//! keep a machine busy for too long.

use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use latency::report::Environment;
use serde::{Deserialize, Serialize};

use crate::report::{self, Table};

/// What one call of the program measured, and where.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Run {
    /// The words of the command, files by their kinds only, without where it wrote to.
    command: String,
    date: String,
    libzstd: String,
    machine: Environment,
    pub(crate) tables: Vec<Table>,
}

impl Run {
    /// A run that starts now.
    pub(crate) fn start(words: &[String]) -> Result<Self> {
        let target = words.iter().position(|word| word == "--json");
        let words: Vec<&str> = words
            .iter()
            .enumerate()
            .filter(|(index, _)| target.is_none_or(|at| *index != at && *index != at + 1))
            .map(|(_, word)| word)
            .map(|word| match word.split_once('=') {
                Some((kind, _)) if !word.starts_with('-') => kind,
                _ => word,
            })
            .map(|word| if word.contains(';') { "…" } else { word })
            .collect();
        let date = Command::new("date").args(["-u", "+%F"]).output();
        let date = date.context("there is no `date`")?.stdout;
        Ok(Self {
            command: format!("cargo xtask tune {}", words.join(" ")),
            date: String::from_utf8_lossy(&date).trim().to_owned(),
            libzstd: zstdkit::version().to_owned(),
            machine: latency::environment::capture(),
            tables: Vec::new(),
        })
    }

    pub(crate) fn write(&self, path: &str) -> Result<()> {
        write_json(Path::new(path), self)
    }
}

/// Puts runs together into `FOLDER/zstd-recipes.md` and `.json`.
pub(crate) fn write(folder: &str, paths: &[String]) -> Result<()> {
    let mut runs: Vec<Run> = Vec::new();
    for path in paths {
        let text = fs::read_to_string(path).with_context(|| format!("cannot read {path}"))?;
        runs.push(serde_json::from_str(&text).with_context(|| format!("{path} is no run"))?);
    }
    ensure!(!runs.is_empty(), "a record of no runs");
    let folder = Path::new(folder);
    fs::create_dir_all(folder)?;
    fs::write(folder.join("zstd-recipes.md"), markdown(&runs)?)?;
    write_json(&folder.join("zstd-recipes.json"), &runs)
}

fn write_json<T: Serialize>(path: &Path, value: &T) -> Result<()> {
    let mut json = serde_json::to_string(value)?;
    json.push('\n');
    fs::write(path, json).with_context(|| format!("cannot write {}", path.display()))
}

fn markdown(runs: &[Run]) -> Result<String> {
    let mut out = String::from("# zstdkit's recipes beside native levels\n\n");
    let known = |text: &Option<String>| text.clone().unwrap_or_else(|| "unknown".to_owned());
    for run in runs {
        let machine = &run.machine;
        writeln!(
            out,
            "- `{}`, {}, libzstd {}: {}, {} processors, {}, hypervisor {}",
            run.command,
            run.date,
            run.libzstd,
            known(&machine.cpu_model),
            machine.logical_cpus,
            known(&machine.kernel),
            known(&machine.hypervisor)
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
        write!(out, "{before}{noise:.1} % at {}", report::size_words(size))?;
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
    out.push_str(&report::verdict(&tables));
    for size in sizes {
        let of_size: Vec<&Table> = tables
            .iter()
            .filter(|table| table.size == size)
            .copied()
            .collect();
        out.push_str(&report::matrix(&of_size));
    }
    Ok(out)
}
