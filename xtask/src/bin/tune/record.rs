//! Runs as JSON. `cargo xtask record` puts several of them together: one run of everything would keep a
//! machine busy for too long.

use std::fs;
use std::process::Command;

use anyhow::{Context, Result};
use latency::report::Environment;
use serde::Serialize;

use crate::table::Table;

/// What one call of the program measured, and where.
#[derive(Debug, Serialize)]
pub(crate) struct Run {
    /// The words of the command, files by their kinds only, without where it wrote to.
    command: String,
    made: Made,
    libzstd: String,
    machine: Environment,
    pub(crate) tables: Vec<Table>,
}

/// The build, as records name it.
#[derive(Debug, Serialize)]
struct Made {
    date: String,
    program: String,
    commit: String,
    dirty: bool,
    known: &'static str,
    compilers: Vec<String>,
}

impl Made {
    fn now() -> Result<Self> {
        let said = |program: &str, words: &[&str]| -> Result<String> {
            let output = Command::new(program).args(words).output();
            let output = output.with_context(|| format!("there is no `{program}`"))?;
            Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
        };
        let commit = said("git", &["describe", "--always", "--exclude=*", "--dirty"])?;
        let clean = commit.trim_end_matches("-dirty");
        Ok(Self {
            date: said("date", &["-u", "+%F"])?,
            program: format!("zstdkit {}", env!("CARGO_PKG_VERSION")),
            commit: clean.to_owned(),
            dirty: clean != commit,
            known: "run",
            compilers: vec![said("rustc", &["--version"])?],
        })
    }
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
        Ok(Self {
            command: format!("cargo xtask tune {}", words.join(" ")),
            made: Made::now()?,
            libzstd: zstdkit::version().to_owned(),
            machine: latency::environment::capture(),
            tables: Vec::new(),
        })
    }

    pub(crate) fn write(&self, path: &str) -> Result<()> {
        let mut json = serde_json::to_string(self)?;
        json.push('\n');
        fs::write(path, json).with_context(|| format!("cannot write {path}"))
    }
}
