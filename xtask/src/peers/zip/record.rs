//! The results of ZIP as data and as Markdown.

use std::fmt::Write;

use anyhow::Result;
use serde::{Deserialize, Serialize};

use super::super::comparisons::Comparison;
use crate::record::{Body, Made, mebibytes};

/// Everything that `cargo xtask peers zip` measures.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Zip {
    pub(super) rows: Vec<Row>,
    pub(super) comparisons: Vec<Comparison>,
    /// What `perfkit zip-bench` shows, as Markdown.
    #[serde(default)]
    pub(super) tables: String,
}

/// One library on one case.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Row {
    pub(super) what: String,
    pub(super) library: String,
    pub(super) rounds: u64,
    /// Of the medians of the rounds.
    pub(super) ns_p50: u64,
    pub(super) ns_min: u64,
    /// Over zipstream's time of the same round.
    pub(super) ratio_p50: f64,
    pub(super) ratio_range: [f64; 2],
    pub(super) archive_bytes: u64,
    pub(super) rss_max_bytes: u64,
}

#[allow(clippy::cast_precision_loss, reason = "times stay below 2^52 ns")]
fn milliseconds(ns: u64) -> String {
    format!("{:.3} ms", ns as f64 / 1e6)
}

impl Row {
    /// The row in one line.
    pub(super) fn line(&self) -> String {
        format!(
            "{}, {}: {}, {:.2}x zipstream, {} bytes",
            self.what,
            self.library,
            milliseconds(self.ns_p50),
            self.ratio_p50,
            self.archive_bytes
        )
    }
}

impl Body for Zip {
    fn made(&self) -> Vec<Made> {
        let all = self.comparisons.iter();
        all.map(|case| case.made.clone()).collect()
    }

    fn write(&self, out: &mut String) -> Result<()> {
        writeln!(
            out,
            "## Libraries\n\nDeflate at level 6 where a case does not say otherwise, each library in a program of its own, in rounds of \
             random order, zipstream twice. A ratio is a library's time over zipstream's of the same \
             round: above 1 zipstream is faster. The libraries of the same row need not compress \
             alike: the size stands beside the time. `zip-ng` and `zip-rs` are the crate zip with \
             zlib-ng and zlib-rs; what is async writes by `tokio::fs`; async_zip 0.0.19, s-zip \
             0.15.0, zip 9.4.1, klauspost/compress by its `go.sum`. Every archive in a file was read \
             by unzip or 7zz; where one is read, its size is that of the content.\n"
        )?;
        writeln!(
            out,
            "| case | library | p50 | least | over zipstream | range | archive | peak RSS |"
        )?;
        writeln!(out, "|---|---|---:|---:|---:|---|---:|---:|")?;
        for row in &self.rows {
            writeln!(
                out,
                "| {} | {} | {} | {} | {:.2}x | {:.2}–{:.2} | {} | {} |",
                row.what,
                row.library,
                milliseconds(row.ns_p50),
                milliseconds(row.ns_min),
                row.ratio_p50,
                row.ratio_range[0],
                row.ratio_range[1],
                row.archive_bytes,
                mebibytes(row.rss_max_bytes)
            )?;
        }
        writeln!(
            out,
            "\n## Programs\n\nRuns alternate in random order with an A/A control; everything is in \
             memory (tmpfs). A ratio is perfkit over the other program: below 1 perfkit is faster, \
             smaller, leaner. Before the timing each archive was tested by the program that did not \
             write it, and names and checksums were compared. Fewer than 6 pairs have no interval.\n"
        )?;
        Comparison::write_all(&self.comparisons, out)?;
        if !self.tables.is_empty() {
            writeln!(out, "\n## perfkit zip-bench\n\n{}", self.tables)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_markdown_has_times_ratios_and_sizes() {
        let results = Zip {
            rows: vec![Row {
                what: "one".to_owned(),
                library: "s-zip".to_owned(),
                rounds: 9,
                ns_p50: 2_000_000,
                ns_min: 1_500_000,
                ratio_p50: 2.5,
                ratio_range: [2.0, 3.0],
                archive_bytes: 99,
                rss_max_bytes: 1 << 20,
            }],
            comparisons: Vec::new(),
            tables: String::new(),
        };
        let mut text = String::new();
        results.write(&mut text).unwrap();
        let row = "| one | s-zip | 2.000 ms | 1.500 ms | 2.50x | 2.00–3.00 | 99 | 1.0 MiB |";
        assert!(text.contains(row), "{text}");
    }
}
