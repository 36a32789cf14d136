//! Ratio and speed of candidates on one kind of data at one size, and which recipes a native level beats.
//! `cargo xtask tune` measures them, the record of recipes keeps them; both have this file.

use std::fmt::Write;

use serde::{Deserialize, Serialize};

/// One kind at one size, the quickest candidate first.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Table {
    pub(crate) kind: String,
    pub(crate) size: usize,
    pub(crate) content_bytes: usize,
    /// By how much times differed that should not, as a share of them.
    pub(crate) noise: f64,
    pub(crate) rows: Vec<Judged>,
}

/// A row and its value.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Judged {
    #[serde(flatten)]
    pub(crate) row: Row,
    pub(crate) ratio: f64,
    pub(crate) mb_per_s: f64,
    /// By how much it is better than the native levels, as a share.
    pub(crate) margin: f64,
    /// The native level that is no larger and faster.
    pub(crate) dominated_by: Option<String>,
}

/// Measurements of one candidate on one case.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Row {
    pub(crate) name: String,
    pub(crate) group: Group,
    /// Compressed size of all samples.
    pub(crate) compressed_bytes: usize,
    /// Processor time of a pass over all samples, the least there was.
    pub(crate) pass_ns: u64,
    pub(crate) passes: u32,
    /// Memory of the context after it.
    pub(crate) memory_bytes: usize,
}

/// Where a candidate comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Group {
    Level,
    Recipe,
    Exzstandard,
    Set,
    /// A recipe once more, to see by how much times differ that should not.
    Control,
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
    pub(crate) fn row(&self, name: &str) -> Option<&Judged> {
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

pub(crate) fn size_words(bytes: usize) -> String {
    match bytes {
        _ if bytes.is_multiple_of(1 << 20) => format!("{} MiB", bytes >> 20),
        _ if bytes.is_multiple_of(1 << 10) => format!("{} KiB", bytes >> 10),
        _ => format!("{bytes} bytes"),
    }
}
