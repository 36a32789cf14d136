//! Compares zstdkit's async encoder and decoder with async-compression and with `spawn_blocking`, and zipstream's async
//! writer with async_zip, s-zip and the crate zip: records the tables of the program in `bench-peers/async`.

pub(crate) mod run;

use std::fmt::Write as _;

use anyhow::Result;
use serde::{Deserialize, Serialize};

use super::table::Table;
use crate::record::Body;

/// What the program prints.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct AsyncStreams {
    rounds: u64,
    streams: Cells,
    archives: Cells,
}

/// The cells of one kind of work.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Cells {
    cells: u64,
    /// Cells in which our side takes over 1.1 times as long as the best other side, or as much CPU time.
    slower: u64,
    tables: Vec<Table>,
}

impl Body for AsyncStreams {
    fn write(&self, out: &mut String) -> Result<()> {
        let (streams, archives) = (&self.streams, &self.archives);
        writeln!(
            out,
            "Streams and archives of JSON lines on a tokio runtime, {} cells, {} rounds, each measurement in a process of \
             its own that knows nothing yet and repeats its cell at least four times (within 600 ms); what comes out is \
             decoded and compared. Sides take turns. Times and memory are medians of the rounds. *wall* and *cpu* are our \
             side over the best other side, the worst first; over 1.1 in {} of {} cells of streams and {} of {} of \
             archives. *stalls* are how long a task of the same runtime waited that was woken every 500 µs: p50 and p99 of the median round, max of all. *peak* is the most memory \
             above what the process had, the output of the first repetition included.\n\n\
             *zstdkit* is `AsyncEncoder` and `AsyncDecoder`, *async-compression* the crate of that name over the same \
             libzstd, *spawn_blocking* gathers 128 KiB, or up to the next flush, and sends them to a thread that may \
             block. A slow sink or source is ready once in a millisecond.\n\n\
             *zipstream* is `AsyncArchiveWriter`, *async_zip* and *s-zip* are the async writers of those crates, \
             *spawn_blocking* is the crate zip, one call for an archive, all with deflate at level 6 by zlib-rs but \
             zipstream, which has its own; contents are in memory and written in pieces of 64 KiB, and so is the archive.",
            streams.cells + archives.cells,
            self.rounds,
            streams.slower,
            streams.cells,
            archives.slower,
            archives.cells
        )?;
        for table in streams.tables.iter().chain(&archives.tables) {
            table.write(out)?;
        }
        Ok(())
    }
}
