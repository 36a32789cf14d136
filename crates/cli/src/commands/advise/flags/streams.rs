//! Flags of the streams that `advise --async` compresses at once.

use bench::advise::Streams;
use clap::Args;

use crate::args::units;
use crate::commands::advise::flags::SIZE_MAX;
use crate::failure::{Failure, Result};

/// The most streams: each is a task, and its output is kept until it is checked.
const STREAMS_MAX: u32 = 100_000;

/// Which streams, and how they are written.
#[derive(Debug, Clone, Args)]
pub(crate) struct StreamArgs {
    /// Streams compressed at once, with --async
    ///
    /// Each has the content of the largest --size, by default 1M, in an encoder of its own. They are compressed in
    /// their tasks, by spawn_blocking and by zstdkit's AsyncEncoder. overtaken_by is the most streams that
    /// began later than another and ended before it.
    #[arg(long, value_name = "N", default_value_t = 16, requires = "for_async", value_parser = clap::value_parser!(u32).range(1..=i64::from(STREAMS_MAX)))]
    streams: u32,
    /// Bytes of each write of a stream
    #[arg(long = "write", value_name = "SIZE", default_value = "16K", requires = "for_async", value_parser = units::size, hide_short_help = true)]
    write_bytes: u64,
    /// Flush each write of a stream
    #[arg(long, requires = "for_async", hide_short_help = true)]
    flush: bool,
    /// Level of the streams
    #[arg(
        long,
        value_name = "N",
        default_value_t = 3,
        requires = "for_async",
        allow_negative_numbers = true,
        hide_short_help = true
    )]
    level: i32,
    /// Memory budget for all contexts of the streams
    ///
    /// Streams wait for memory in order of arrival. The table context_memory has the longest wait.
    #[arg(long, value_name = "SIZE", default_value = "256M", requires = "for_async", value_parser = units::size, hide_short_help = true)]
    memory: u64,
    /// Do not measure streams
    #[arg(long, requires = "for_async", hide_short_help = true)]
    pub(super) no_streams: bool,
}

impl StreamArgs {
    /// Streams of this size, or what is wrong with the flags.
    pub(super) fn streams(&self, bytes: usize) -> Result<Streams> {
        let range = |flag: &str, bytes: u64| match (1..=SIZE_MAX).contains(&bytes) {
            true => Ok(()),
            false => Err(Failure::usage(format!("--{flag} {bytes} is out of range"))
                .help("choose a size between 1 byte and 64M")),
        };
        range("write", self.write_bytes)?;
        let levels = zstdkit::EncoderOptions::levels();
        if !levels.contains(&self.level) {
            let (first, last) = (levels.start(), levels.end());
            return Err(
                Failure::usage(format!("--level {} is out of range", self.level))
                    .help(format!("choose a level between {first} and {last}")),
            );
        }
        let mut streams = Streams::default();
        streams.count = self.streams as usize;
        streams.bytes = bytes;
        streams.write_bytes = self.write_bytes as usize;
        streams.flush = self.flush;
        streams.level = self.level;
        streams.memory_bytes = self.memory;
        Ok(streams)
    }
}
