//! Compares zstdkit's async encoder and decoder with async-compression and with `spawn_blocking`: records the tables of
//! the program in `bench-peers/async`.

pub(crate) mod run;

use std::fmt::Write as _;

use anyhow::Result;
use serde::{Deserialize, Serialize};

use super::table::Table;
use crate::record::Body;

/// What the program prints.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct AsyncStreams {
    cells: u64,
    /// Cells in which zstdkit takes over 1.1 times as long as the best other side, or as much CPU time.
    slower: u64,
    rounds: u64,
    tables: Vec<Table>,
}

impl Body for AsyncStreams {
    fn write(&self, out: &mut String) -> Result<()> {
        writeln!(
            out,
            "Streams of JSON lines on a tokio runtime, {} cells, {} rounds, each measurement in a process of its own \
             with a scheduler that knows nothing yet; what comes out is decoded and compared. Sides take turns. \
             *zstdkit* is `AsyncEncoder` and `AsyncDecoder`, *async-compression* the crate of that name over the same \
             libzstd, *spawn_blocking* gathers 128 KiB, or up to the next flush, and sends them to a thread that may \
             block. A slow sink or source is ready once in a millisecond. Times and memory are medians of the rounds. *wall* and *cpu* are zstdkit over the best other side, \
             the worst first; over 1.1 in {} cells. *stalls* are how long a task of the same runtime waited that was \
             woken every 500 µs: p50 and p99 of the median round, max of all. *peak* is the most memory above what the \
             process had, the output of the first repetition of decoders included.",
            self.cells, self.rounds, self.slower
        )?;
        for table in &self.tables {
            table.write(out)?;
        }
        Ok(())
    }
}
