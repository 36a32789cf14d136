//! How fast `perfkit fix` answers a support desk: filters and orders over logs of several shapes, beside grep, ripgrep
//! and a Python script, in one run, every command in turns, the least time of each.

use std::fmt::Write;

use anyhow::Result;
use serde::{Deserialize, Serialize};

use crate::peers::fix_log::Row;
use crate::record::Body;

pub(crate) mod run;

/// What of a log the Python script reads.
const PYTHON_BYTES: u64 = 16 << 20;

/// Commands over logs of several shapes.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct FixDesk {
    rounds: u32,
    logs: Vec<Log>,
}

/// A log and what was done with it.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Log {
    name: String,
    bytes: u64,
    rows: Vec<Row>,
}

impl Body for FixDesk {
    fn write(&self, out: &mut String) -> Result<()> {
        writeln!(
            out,
            "Generated logs on tmpfs, one thread (`-T1`), output to /dev/null; the least of {} rounds in turns. Processor \
             seconds are those of all threads, memory is the resident peak of the largest process. The Python script \
             (simplefix) reads the first 16 MiB.",
            self.rounds
        )?;
        for log in &self.logs {
            writeln!(
                out,
                "\n{}, {} bytes:\n\n\
                 | command | seconds | processor s | MB/s a processor | peak MiB |\n\
                 |---|---|---|---|---|",
                log.name, log.bytes
            )?;
            for row in &log.rows {
                let bytes = match row.command.contains("simplefix") {
                    true => log.bytes.min(PYTHON_BYTES),
                    false => log.bytes,
                };
                writeln!(
                    out,
                    "| {} | {:.2} | {:.2} | {:.0} | {:.0} |",
                    row.command,
                    row.seconds,
                    row.processor_s,
                    bytes as f64 / row.processor_s.max(0.01) / 1e6,
                    row.peak_mib
                )?;
            }
        }
        Ok(())
    }
}
