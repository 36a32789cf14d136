//! `perfkit zip-bench`: its flags.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use files::conflicts::{Files, Stdout};

use crate::args::live::LiveArgs;
use crate::args::output::OutputArgs;
use crate::args::units;

/// Measure archives packed with and without an async runtime.
///
/// Packs 5, 10 and 20 MiB, 50 entries of 10 KB and 100 KB in memory, and ten archives at once. The
/// content is one repeated line, generated source text, and the FILES together. The synchronous
/// writer and the one for tokio run in random order, the first also as a control; every archive is
/// read back. Rows show the time per entry and how long a call, or a poll of the task, kept its
/// thread; a 1 ms ticker on the same runtime shows how late it ran. Memory and CPU time are measured
/// in separate processes.
#[derive(Debug, Clone, Args)]
#[command(after_long_help = "Examples:
  perfkit zip-bench
  perfkit zip-bench --level 1 --rounds 30 access.log
  perfkit zip-bench --report markdown --export-json zip.json")]
pub(crate) struct ZipBenchArgs {
    /// Files to measure in addition
    #[arg(value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// Deflate level
    #[arg(long, value_name = "N", default_value_t = 6,
          value_parser = clap::value_parser!(i32).range(0..=10))]
    pub(crate) level: i32,
    /// Rounds; in each, every variant runs once
    #[arg(long, value_name = "N", default_value_t = 11,
          value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) rounds: u32,
    /// Only 5 MiB, 50 entries and 100 KB
    #[arg(long)]
    pub(crate) quick: bool,
    /// Seed of the generated text
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Pack in this process and print nothing: for measurements of memory
    #[arg(long, hide = true, value_enum)]
    pub(crate) once: Option<Once>,
    #[arg(long, hide = true, value_name = "SIZE", default_value = "5M", value_parser = units::size)]
    pub(crate) once_bytes: u64,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
    #[command(flatten)]
    pub(crate) live: LiveArgs,
}

/// What a process does while its memory is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Once {
    /// Only generates the content.
    Nothing,
    /// The writer for files.
    Sync,
    /// The same with one thread per CPU.
    Threads,
    /// The writer for tokio.
    Async,
}

impl Once {
    pub(crate) const ALL: [Self; 4] = [Self::Nothing, Self::Sync, Self::Threads, Self::Async];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Nothing => "nothing",
            Self::Sync => "sync",
            Self::Threads => "threads",
            Self::Async => "async",
        }
    }
}

impl ZipBenchArgs {
    /// What it reads and writes.
    pub(crate) fn files(&self) -> Files<'_> {
        self.output
            .files()
            .sources(&self.files, false)
            .stdout(Stdout::Report)
    }
}
