//! Records of measurements: `bench-peers/record/NAME.json` is what was found, `NAME.md` is written
//! whole from it.
//!
//! [`head`] is what every record says of how it was made, [`results`] knows the kinds of results and
//! where each is rendered, [`body`] is what it asks of them, [`folder`] checks the folder, [`layout`] is
//! how the JSON is written.

mod body;
mod folder;
mod head;
mod layout;
mod results;
#[cfg(test)]
pub(crate) mod tests;

use std::fmt::Write;
use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result, bail, ensure};
use serde::{Deserialize, Serialize};

use crate::sh;

pub(crate) use body::Body;
pub(crate) use folder::{check, names};
pub(crate) use head::{Machine, Made, mebibytes};
pub(crate) use results::Results;

/// Where the records are, from the root.
pub(crate) const FOLDER: &str = "bench-peers/record";
/// The form of the JSON.
pub(crate) const SCHEMA: &str = "perfkit.record/1";

/// A record.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Record {
    schema: String,
    pub(crate) title: String,
    #[serde(default)]
    pub(crate) quick: bool,
    /// The command.
    pub(crate) commands: Vec<String>,
    /// What was measured and when; empty if each of the results states it.
    #[serde(default)]
    pub(crate) made: Vec<Made>,
    #[serde(default)]
    pub(crate) machine: Option<Machine>,
    /// The other programs and libraries.
    #[serde(default)]
    pub(crate) versions: Vec<String>,
    /// The data, and what else is a line.
    #[serde(default)]
    pub(crate) facts: Vec<String>,
    /// What the results are and how to read them, one paragraph each.
    #[serde(default)]
    pub(crate) notes: Vec<String>,
    /// What the numbers mean, one paragraph each. New measurements remove all of them.
    #[serde(default)]
    pub(crate) findings: Vec<String>,
    pub(crate) results: Results,
}

impl Record {
    /// A record without words.
    pub(crate) fn new(title: &str, command: &str, results: Results) -> Self {
        Self {
            schema: SCHEMA.to_owned(),
            title: title.to_owned(),
            quick: false,
            commands: vec![command.to_owned()],
            made: Vec::new(),
            machine: None,
            versions: Vec::new(),
            facts: Vec::new(),
            notes: Vec::new(),
            findings: Vec::new(),
            results,
        }
    }

    /// Reads the JSON of a record.
    pub(crate) fn parse(text: &str) -> Result<Self> {
        let record: Self = serde_json::from_str(text).context("no record")?;
        ensure!(
            record.schema == SCHEMA,
            "schema is '{}', known is {SCHEMA}",
            record.schema
        );
        Ok(record)
    }

    /// The record of that name; `None` where there is none yet.
    pub(crate) fn read(name: &str) -> Result<Option<Self>> {
        let file = json_of(name);
        if !file.exists() {
            return Ok(None);
        }
        let text = fs::read_to_string(&file)?;
        let record = Self::parse(&text).with_context(|| file.display().to_string())?;
        Ok(Some(record))
    }

    /// Writes the JSON, and the Markdown that follows from it.
    pub(crate) fn write(&self, name: &str) -> Result<PathBuf> {
        let faults = self.faults();
        if !faults.is_empty() {
            bail!("the record {name} is not written: {}", faults.join("; "));
        }
        let file = json_of(name);
        fs::create_dir_all(sh::root().join(FOLDER))?;
        let json = layout::json(self)?;
        fs::write(&file, &json).with_context(|| format!("cannot write {}", file.display()))?;
        let page = file.with_extension("md");
        fs::write(&page, Self::parse(&json)?.markdown()?)?;
        Ok(page)
    }

    /// Every build that was measured, each once.
    pub(crate) fn all_made(&self) -> Vec<Made> {
        let mut all: Vec<Made> = Vec::new();
        for made in self.made.iter().cloned().chain(self.results.made()) {
            if !all.contains(&made) {
                all.push(made);
            }
        }
        all
    }

    /// What it is missing.
    pub(crate) fn faults(&self) -> Vec<String> {
        let all = self.all_made();
        let mut faults: Vec<String> = all.iter().filter_map(Made::fault).collect();
        faults.extend(self.results.faults());
        if all.is_empty() {
            faults.push("it names no commit".to_owned());
        }
        if self.commands.iter().all(|command| command.is_empty()) {
            faults.push("it names no command".to_owned());
        }
        if self.title.is_empty() {
            faults.push("it has no title".to_owned());
        }
        faults
    }

    /// The record for people.
    pub(crate) fn markdown(&self) -> Result<String> {
        let mut out = String::new();
        self.head(&mut out)?;
        self.results.write(&mut out)?;
        for finding in &self.findings {
            writeln!(out, "\n{finding}")?;
        }
        Ok(format!("{}\n", out.trim_end()))
    }

    fn head(&self, out: &mut String) -> std::fmt::Result {
        if self.quick {
            let note = "**A quick run, to see that it works. Not to be quoted.**";
            writeln!(out, "{note}\n")?;
        }
        writeln!(out, "# {}\n", self.title)?;
        for command in &self.commands {
            writeln!(out, "- made by `{command}`")?;
        }
        for made in self.all_made() {
            writeln!(out, "- {}", made.line())?;
        }
        for line in self.versions.iter().chain(&self.facts) {
            writeln!(out, "- {line}")?;
        }
        match &self.machine {
            Some(machine) => writeln!(out, "- machine: {}\n", machine.line())?,
            None => writeln!(out, "- machine: {}\n", self.results.machine())?,
        }
        for note in &self.notes {
            writeln!(out, "{note}\n")?;
        }
        Ok(())
    }
}

fn json_of(name: &str) -> PathBuf {
    sh::root().join(FOLDER).join(name).with_extension("json")
}
