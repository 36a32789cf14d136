//! The cost of a dictionary per call: records the output of zstdkit's example `dictionary`.

use std::fmt::Write;

use anyhow::Result;
use serde::{Deserialize, Serialize};

use crate::record::Body;

pub(crate) mod run;

/// Rows of calls.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Dictionary {
    rows: Vec<Row>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Row {
    call: String,
    records: String,
    bytes: u64,
    loaded_digested_once_us: [f64; 3],
    /// The median, the least and the most.
    loaded_over_once: [f64; 3],
    digested_over_once: [f64; 3],
}

impl Body for Dictionary {
    fn write(&self, out: &mut String) -> Result<()> {
        writeln!(
            out,
            "Microseconds a call, medians over the rounds in turns: *loaded* loads the dictionary into a \
             kept context for each call, *digested* makes a digest and a context for each call, *once* is \
             zstdkit with a dictionary digested once. Ratios are medians over the rounds, with the least \
             and the most. *New* records were kept from the training; *seen* ones lie half in one of its \
             samples. Every answer was compared before the timing.\n\n\
             | call | records | bytes | loaded | digested | once | loaded / once | digested / once |\n\
             |---|---|---:|---:|---:|---:|---:|---:|"
        )?;
        for row in &self.rows {
            let [loaded, digested, once] = row.loaded_digested_once_us;
            write!(
                out,
                "| {} | {} | {} | {loaded:.3} | {digested:.3} | {once:.3} |",
                row.call, row.records, row.bytes
            )?;
            for [median, least, most] in [row.loaded_over_once, row.digested_over_once] {
                write!(out, " {median:.2}x ({least:.2}–{most:.2}) |")?;
            }
            writeln!(out)?;
        }
        Ok(())
    }
}
