//! What memory packing and extracting take: the library in a small program of its own
//! (`crates/zipstream/examples/memory.rs`), and the tool; one file of two sizes, the sources of Go, a
//! tree of very many files.

use std::fmt::Write as _;

use anyhow::Result;
use serde::{Deserialize, Serialize};

use crate::record::Body;

pub(crate) mod run;

const MB: f64 = 1e6;
/// The small program, which says itself what its peak was.
const SMALL: &str = "examples/memory";

/// Everything that was measured.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Memory {
    rows: Vec<Row>,
}

/// What came of a case.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Row {
    what: String,
    command: String,
    peak_bytes: u64,
    goal_mb: Option<f64>,
    wall_s: f64,
}

impl Body for Memory {
    fn write(&self, out: &mut String) -> Result<()> {
        writeln!(
            out,
            "Peak resident size as Linux keeps it (`VmHWM`); everything is in memory (tmpfs). *Library* is \
             a small program (`crates/zipstream/examples/memory.rs`) which goes from file to file; the \
             goals are of it in all, and of the tool for a tree. The size of a program that does nothing \
             is that of its own pages and those of the system's libraries: *above it* is what a case \
             takes beside them. The wall times are of one run each.\n\n\
             | case | peak | above it | goal | wall |\n|---|---:|---:|---:|---:|"
        )?;
        let mut bare = 0;
        for row in &self.rows {
            if row.what.ends_with("nothing") {
                bare = row.peak_bytes;
            }
            let ours = row.command.starts_with("perfkit") || row.command.starts_with(SMALL);
            let above = match ours && row.peak_bytes > bare {
                true => format!("{:.2} MB", (row.peak_bytes - bare) as f64 / MB),
                false => "—".to_owned(),
            };
            let goal = row
                .goal_mb
                .map_or_else(|| "—".to_owned(), |goal| format!("≤ {goal:.1} MB"));
            writeln!(
                out,
                "| {} | {:.2} MB | {above} | {goal} | {:.2} s |",
                row.what,
                row.peak_bytes as f64 / MB,
                row.wall_s
            )?;
        }
        Ok(())
    }
}
