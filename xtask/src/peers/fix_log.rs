//! How fast `perfkit fix` reads a log: beside counting its bytes and its lines, in one run, every command
//! in turns, the least time of each.

use std::fmt::Write;

use anyhow::Result;
use serde::{Deserialize, Serialize};

use crate::record::Body;

pub(crate) mod run;

/// Commands over one log.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct FixLog {
    bytes: u64,
    rounds: u32,
    rows: Vec<Row>,
}

/// The fastest round of a command.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Row {
    pub(crate) command: String,
    pub(crate) seconds: f64,
    /// Of all threads and processes.
    pub(crate) processor_s: f64,
    /// Of the largest process.
    pub(crate) peak_mib: f64,
}

impl Body for FixLog {
    fn write(&self, out: &mut String) -> Result<()> {
        writeln!(
            out,
            "A generated log of {} bytes on tmpfs (`fix generate --size 2GB`: orders, executions, market \
             data and heartbeats, a message a line), output to /dev/null; the least of {} rounds in turns. \
             Processor seconds are those of all threads, memory is the resident peak of the largest \
             process.\n\n\
             | command | seconds | GB/s | processor s | GB/s a processor | peak MiB |\n\
             |---|---|---|---|---|---|",
            self.bytes, self.rounds
        )?;
        let rate = |seconds: f64| self.bytes as f64 / seconds / 1e9;
        for row in &self.rows {
            writeln!(
                out,
                "| {} | {:.2} | {:.2} | {:.2} | {:.2} | {:.0} |",
                row.command,
                row.seconds,
                rate(row.seconds),
                row.processor_s,
                rate(row.processor_s),
                row.peak_mib
            )?;
        }
        Ok(())
    }
}
