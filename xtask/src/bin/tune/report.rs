//! Measurements as text, Markdown and JSON.

use std::fmt::Write;

use serde::{Deserialize, Serialize};

use crate::candidate::Group;
use crate::data::Case;
use crate::front;
use crate::measure::Row;
use crate::search::Outcome;

/// One kind at one size, the quickest candidate first.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Table {
    pub(crate) kind: String,
    pub(crate) size: usize,
    pub(crate) content_bytes: usize,
    /// By how much times differed that should not, as a share; see [`front::noise`].
    pub(crate) noise: f64,
    pub(crate) rows: Vec<Judged>,
}

/// A row and what it is worth.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Judged {
    #[serde(flatten)]
    pub(crate) row: Row,
    pub(crate) ratio: f64,
    pub(crate) mb_per_s: f64,
    /// See [`front::margin`].
    pub(crate) margin: f64,
    /// The native level that is no larger and faster.
    pub(crate) dominated_by: Option<String>,
}

impl Table {
    pub(crate) fn new(case: &Case, rows: Vec<Row>, noise: f64) -> Self {
        let content_bytes = case.bytes();
        let mut judged: Vec<Judged> = rows
            .iter()
            .map(|row| Judged {
                ratio: content_bytes as f64 / row.compressed_bytes as f64,
                mb_per_s: content_bytes as f64 * 1e3 / row.pass_ns as f64,
                margin: front::margin(row, &rows, noise),
                dominated_by: front::dominating(row, &rows, noise).map(|level| level.name.clone()),
                row: row.clone(),
            })
            .collect();
        judged.sort_by_key(|judged| judged.row.pass_ns);
        Self {
            kind: case.kind.clone(),
            size: case.size,
            content_bytes,
            noise,
            rows: judged,
        }
    }

    pub(crate) fn text(&self) -> String {
        let count = self.content_bytes / self.size;
        let mut text = format!("\n{}, {count} x {}\n", self.kind, size_words(self.size));
        for judged in &self.rows {
            let _ = writeln!(
                text,
                "{:>28} {:>9.3} {:>8.1} MB/s {:>7.2} MB {:>+6.2} % {}",
                judged.row.name,
                judged.ratio,
                judged.mb_per_s,
                judged.row.memory_bytes as f64 / 1e6,
                judged.margin * 100.0,
                judged.dominated_by.as_deref().unwrap_or("")
            );
        }
        text
    }
}

/// All kinds of one size in one Markdown table: a row for each candidate, the slowest last.
pub(crate) fn matrix(tables: &[&Table]) -> String {
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

/// Which recipes are dominated where, a line each, and how far they are from what the old mapping
/// made where that was measured too.
pub(crate) fn verdict(tables: &[&Table]) -> String {
    let mut text = String::from("\n");
    let (mut all, mut dominated) = (0, 0);
    for table in tables {
        let recipes = table
            .rows
            .iter()
            .filter(|judged| judged.row.group == Group::Recipe);
        for judged in recipes {
            all += 1;
            let by = judged.dominated_by.as_ref().and_then(|by| table.row(by));
            if let Some(level) = by {
                dominated += 1;
                let _ = writeln!(
                    text,
                    "- {} on {} of {}: ratio {:.3} at {:.1} MB/s, {} {:.3} at {:.1} MB/s",
                    judged.row.name,
                    table.kind,
                    size_words(table.size),
                    judged.ratio,
                    judged.mb_per_s,
                    level.row.name,
                    level.ratio,
                    level.mb_per_s
                );
            }
        }
    }
    let _ = writeln!(text, "\n{dominated} of {all} recipe cases dominated");
    let lines: Vec<String> = tables.iter().flat_map(|table| table.beside_old()).collect();
    if !lines.is_empty() {
        text.push_str("\nBeside the old mapping, ratio and speed as multiples of its own:\n\n");
        text.extend(lines);
    }
    text
}

impl Table {
    fn row(&self, name: &str) -> Option<&Judged> {
        self.rows.iter().find(|judged| judged.row.name == name)
    }

    fn beside_old(&self) -> Vec<String> {
        let of_both = |new: &Judged| {
            let old = self.row(&format!("old {}", new.row.name))?;
            Some(format!(
                "- {} on {} of {}: ratio {:.3}x, speed {:.2}x\n",
                new.row.name,
                self.kind,
                size_words(self.size),
                new.ratio / old.ratio,
                new.mb_per_s / old.mb_per_s
            ))
        };
        self.rows.iter().filter_map(of_both).collect()
    }
}

/// The best sets of a search, a line each: where in the band of speed, margins by kind.
pub(crate) fn found(outcome: &Outcome, cases: &[Case]) -> String {
    let kinds: Vec<&str> = cases.iter().map(|case| case.kind.as_str()).collect();
    let size = cases.first().map_or(0, |case| case.size);
    let mut text = format!("\n{}: {}\n", size_words(size), kinds.join(" "));
    for found in outcome.best(4) {
        let _ = write!(
            text,
            "{:>5.2} {:>28} {:>+6.2} % |",
            found.place,
            found.set.to_string(),
            found.worst_margin() * 100.0
        );
        for (margin, (row, case)) in found.margins.iter().zip(found.rows.iter().zip(cases)) {
            let speed = case.bytes() as f64 * 1e3 / row.pass_ns as f64;
            let ratio = case.bytes() as f64 / row.compressed_bytes as f64;
            let _ = write!(text, " {:+.2}% ({ratio:.2}@{speed:.0})", margin * 100.0);
        }
        text.push('\n');
    }
    text
}

pub(crate) fn size_words(bytes: usize) -> String {
    match bytes {
        _ if bytes.is_multiple_of(1 << 20) => format!("{} MiB", bytes >> 20),
        _ if bytes.is_multiple_of(1 << 10) => format!("{} KiB", bytes >> 10),
        _ => format!("{bytes} bytes"),
    }
}
