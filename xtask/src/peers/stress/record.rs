//! The results of codecs under load: how they are read, and the Markdown of them.

use std::fmt::Write;

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::judged::{Judged, median};
use super::subjects::Subject;
use crate::record::{Body, Made};

/// Everything that `cargo xtask peers stress` measures.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Stress {
    pub(super) measured: Option<Measured>,
    /// What else was shown, each by a command of its own.
    #[serde(default)]
    pub(super) sections: Vec<Section>,
}

/// The results of the rounds.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Measured {
    pub(super) made: Made,
    pub(super) rounds: usize,
    pub(super) run_ms: u64,
    pub(super) figures: Vec<Figures>,
    pub(super) goals: Vec<Judged>,
}

/// One run of a subject.
#[derive(Debug, Clone, Default)]
pub(super) struct Run {
    ratio: f64,
    pub(super) cpu_bytes_per_s: f64,
    wall_bytes_per_s: f64,
    rss_max_bytes: Option<u64>,
    threads: u64,
    goroutines: Option<u64>,
    contexts: Option<u64>,
    /// The 50th, 99th and 99.9th percentile.
    compress_ns: [Option<f64>; 3],
    decompress_ns: [Option<f64>; 3],
}

/// The rounds of a subject.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Figures {
    name: String,
    command: String,
    ratio: f64,
    cpu_bytes_per_s: f64,
    /// Of the slowest and the fastest round.
    cpu_bytes_per_s_range: [f64; 2],
    wall_bytes_per_s: f64,
    rss_max_bytes: Option<u64>,
    threads: u64,
    goroutines: Option<u64>,
    contexts: Option<u64>,
    /// Medians over the rounds of the 50th, 99th and 99.9th percentile.
    compress_ns: [Option<f64>; 3],
    decompress_ns: [Option<f64>; 3],
}

/// A table of its own.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Section {
    pub(super) title: String,
    pub(super) made: Made,
    pub(super) commands: Vec<String>,
    pub(super) note: String,
    pub(super) columns: Vec<String>,
    pub(super) rows: Vec<Vec<String>>,
}

impl Run {
    /// The output of the Go program.
    pub(super) fn of_go(found: &Value) -> Result<Self> {
        let number = |key: &str| {
            let value = found[key].as_f64();
            value.with_context(|| format!("the result has no {key}"))
        };
        let content = number("content_bytes")?;
        Ok(Self {
            ratio: number("ratio")?,
            cpu_bytes_per_s: content / (number("cpu_ns")? / 1e9),
            wall_bytes_per_s: content / (number("wall_ns")? / 1e9),
            rss_max_bytes: found["rss_max_bytes"].as_u64(),
            threads: found["threads"].as_u64().unwrap_or_default(),
            goroutines: found["goroutines"].as_u64(),
            ..Self::default()
        })
    }

    /// The only row of the ranking in a report of perfkit.
    pub(super) fn of_perfkit(report: &Value) -> Result<Self> {
        let table = table(report, "codecs and pools")?;
        let cell = |key: &str| cell(table, 0, key);
        let number = |key: &str| {
            let value = cell(key).and_then(Value::as_f64);
            value.with_context(|| format!("the ranking has no {key}"))
        };
        let whole = |key: &str| cell(key).and_then(Value::as_u64);
        let tail = |direction: &str| {
            ["p50", "p99", "p99_9"].map(|p| number(&format!("{direction}_{p}_ns")).ok())
        };
        Ok(Self {
            ratio: number("ratio")?,
            cpu_bytes_per_s: number("cpu_bytes_per_s")?,
            wall_bytes_per_s: number("bytes_per_s")?,
            rss_max_bytes: whole("rss_bytes_max"),
            threads: whole("threads").unwrap_or_default(),
            goroutines: None,
            contexts: whole("contexts_max"),
            compress_ns: tail("compress"),
            decompress_ns: tail("decompress"),
        })
    }
}

/// A table of a report of perfkit.
pub(super) fn table<'r>(report: &'r Value, name: &str) -> Result<&'r Value> {
    let tables = report["tables"].as_array();
    let mut tables = tables.into_iter().flatten();
    tables
        .find(|table| table["name"] == name)
        .with_context(|| format!("the report has no table {name}"))
}

/// A cell of it, by the key of its column.
pub(super) fn cell<'t>(table: &'t Value, row: usize, key: &str) -> Option<&'t Value> {
    let columns = table["columns"].as_array()?;
    let at = columns.iter().position(|column| column["key"] == key)?;
    table["rows"][row].get(at)
}

impl Figures {
    pub(super) fn of(subject: &Subject, words: &[String], runs: &[Run]) -> Self {
        let over = |of: &dyn Fn(&Run) -> f64| {
            let mut values: Vec<f64> = runs.iter().map(of).collect();
            values.sort_by(f64::total_cmp);
            values
        };
        let most = |of: fn(&Run) -> Option<u64>| runs.iter().filter_map(of).max();
        let tail = |of: fn(&Run) -> [Option<f64>; 3]| {
            [0, 1, 2].map(|at| {
                let mut values: Vec<f64> = runs.iter().filter_map(|run| of(run)[at]).collect();
                values.sort_by(f64::total_cmp);
                (!values.is_empty()).then(|| median(&values))
            })
        };
        let cpu = over(&|run| run.cpu_bytes_per_s);
        Self {
            name: subject.name(),
            command: format!("{} {}", subject.program.name(), words.join(" ")),
            ratio: median(&over(&|run| run.ratio)),
            cpu_bytes_per_s: median(&cpu),
            cpu_bytes_per_s_range: [
                cpu.first().copied().unwrap_or_default(),
                cpu.last().copied().unwrap_or_default(),
            ],
            wall_bytes_per_s: median(&over(&|run| run.wall_bytes_per_s)),
            rss_max_bytes: most(|run| run.rss_max_bytes),
            threads: most(|run| Some(run.threads)).unwrap_or_default(),
            goroutines: most(|run| run.goroutines),
            contexts: most(|run| run.contexts),
            compress_ns: tail(|run| run.compress_ns),
            decompress_ns: tail(|run| run.decompress_ns),
        }
    }

    fn row(&self) -> String {
        let [low, high] = self.cpu_bytes_per_s_range;
        format!(
            "| {} | {:.3} | {} ({}–{}) | {} | {} | {} | {} | {} | {} |",
            self.name,
            self.ratio,
            megabytes(self.cpu_bytes_per_s),
            megabytes(low),
            megabytes(high),
            megabytes(self.wall_bytes_per_s),
            self.rss_max_bytes.map_or_else(|| "—".to_owned(), mebibytes),
            self.threads,
            self.goroutines
                .or(self.contexts)
                .map_or_else(|| "—".to_owned(), |count| count.to_string()),
            microseconds(self.compress_ns),
            microseconds(self.decompress_ns),
        )
    }
}

fn megabytes(bytes_per_s: f64) -> String {
    match bytes_per_s / 1e6 {
        small if small < 99.5 => format!("{small:.1}"),
        large => format!("{large:.0}"),
    }
}

#[allow(clippy::cast_precision_loss, reason = "memory stays below 2^52")]
fn mebibytes(bytes: u64) -> String {
    format!("{:.1}", bytes as f64 / f64::from(1 << 20))
}

fn microseconds(tail: [Option<f64>; 3]) -> String {
    if tail[0].is_none() {
        return "—".to_owned();
    }
    let each = tail.map(|ns| ns.map_or_else(|| "—".to_owned(), |ns| format!("{:.1}", ns / 1e3)));
    each.join(", ")
}

impl Stress {
    /// Takes a section in, in the place of an older one of the same title.
    pub(super) fn add(&mut self, section: Section) {
        let mut known = self.sections.iter_mut();
        match known.find(|old| old.title == section.title) {
            Some(old) => *old = section,
            None => self.sections.push(section),
        }
    }
}

impl Body for Stress {
    fn made(&self) -> Vec<Made> {
        let measured = self.measured.iter().map(|measured| &measured.made);
        let sections = self.sections.iter().map(|section| &section.made);
        measured.chain(sections).cloned().collect()
    }

    fn write(&self, out: &mut String) -> Result<()> {
        writeln!(
            out,
            "100 producers and 100 consumers, 2 KiB blocks of UUID text, as many threads as processors. In \
             the honest loop every block is made, compressed, sent, decompressed and compared; in the seed \
             loop each producer compresses one block and sends it for ever."
        )?;
        if let Some(measured) = &self.measured {
            measured.text(out)?;
        }
        for section in &self.sections {
            section.text(out)?;
        }
        Ok(())
    }
}

impl Measured {
    fn text(&self, out: &mut String) -> std::fmt::Result {
        writeln!(
            out,
            "\n## Beside codecs of Go\n\n\
             Made by `cargo xtask peers stress`, {}: {} rounds, in each of which every subject runs once for {} \
             ms, in an order of the round's own. MB a CPU-second are content that came out at the \
             consumers by the processor time of the whole process, the median over the rounds with the \
             slowest and the fastest. Resident memory is the greatest of all rounds. The Go program is \
             `bench-peers/stress`; it makes its data as perfkit does, sends batches of 16 blocks unless \
             said otherwise, and verifies in the honest loop. `fresh` makes a context for each call.\n",
            self.made.line(),
            self.rounds,
            self.run_ms
        )?;
        writeln!(
            out,
            "| this | beside | times | 95 % | reach | |\n|---|---|---:|---|---:|---|"
        )?;
        for goal in &self.goals {
            writeln!(out, "{}", goal.row())?;
        }
        writeln!(
            out,
            "\nThe last line is a control: one subject beside itself.\n\n\
             | subject | ratio | MB a CPU-second | MB/s | resident MiB | threads | goroutines or contexts | \
             compress p50, p99, p99.9 µs | decompress µs |\n\
             |---|---:|---:|---:|---:|---:|---:|---|---|"
        )?;
        for figures in &self.figures {
            writeln!(out, "{}", figures.row())?;
        }
        writeln!(out, "\nCommand lines:\n")?;
        for figures in &self.figures {
            writeln!(out, "    # {}\n    {}", figures.name, figures.command)?;
        }
        Ok(())
    }
}

impl Section {
    fn text(&self, out: &mut String) -> std::fmt::Result {
        writeln!(out, "\n## {}\n\n{}\n", self.title, self.note)?;
        writeln!(out, "| {} |", self.columns.join(" | "))?;
        writeln!(out, "|{}", "---|".repeat(self.columns.len()))?;
        for row in &self.rows {
            writeln!(out, "| {} |", row.join(" | "))?;
        }
        writeln!(out, "\nMade by, {}:\n", self.made.line())?;
        self.commands
            .iter()
            .try_for_each(|command| writeln!(out, "    {command}"))
    }
}

#[cfg(test)]
mod tests;
