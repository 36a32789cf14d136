//! Measurements as text.

use std::fmt::Write;

use crate::data::Case;
use crate::front;
use crate::search::Outcome;
use crate::table::{Judged, Row, Table, size_words};

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
