//! Flags of `fix store` and its parts.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use files::conflicts::{Files, Stdout};

use crate::args::output::OutputArgs;

/// Inspect a store of sent messages, without changing it.
///
/// The store may be open in another process; records that are being appended may then look torn.
/// Damaged and torn records are reported with file and byte offset, and the exit code is 3.
#[derive(Debug, Clone, Args)]
#[command(after_long_help = "Examples:
  perfkit fix store dump session/
  perfkit fix store dump --raw session/ | perfkit fix print
  perfkit fix store verify session/")]
pub(crate) struct StoreArgs {
    /// What to do
    #[command(subcommand)]
    pub(crate) command: StoreCommand,
}

/// The parts of `fix store`.
#[derive(Debug, Clone, Subcommand)]
pub(crate) enum StoreCommand {
    /// Write its messages as lines of JSON
    Dump(Box<DumpArgs>),
    /// Check every record, and write what is wrong as lines of JSON
    Verify(Box<StoreFilterArgs>),
    /// Show its size, its number of messages and the next sequence numbers
    Stats(Box<StoreStatsArgs>),
}

impl StoreCommand {
    /// Whether data goes to a terminal unchanged.
    pub(super) fn wants_raw(&self) -> bool {
        match self {
            Self::Dump(args) => args.filter.output.force,
            Self::Verify(args) => args.output.force,
            Self::Stats(args) => args.output.force,
        }
    }
}

/// Flags of `fix store dump`.
#[derive(Debug, Clone, Args)]
pub(crate) struct DumpArgs {
    /// Write messages unchanged, one after another
    #[arg(long)]
    pub(crate) raw: bool,
    #[command(flatten)]
    pub(crate) filter: StoreFilterArgs,
}

/// Flags of the parts of `fix store` that write what they read.
#[derive(Debug, Clone, Args)]
pub(crate) struct StoreFilterArgs {
    /// The store's directory
    #[arg(value_name = "DIR")]
    pub(crate) dir: PathBuf,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// Flags of `fix store stats`.
#[derive(Debug, Clone, Args)]
pub(crate) struct StoreStatsArgs {
    /// The store's directory
    #[arg(value_name = "DIR")]
    pub(crate) dir: PathBuf,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

impl StoreArgs {
    /// What it reads and writes.
    pub(crate) fn files(&self) -> Files<'_> {
        let (dir, output, stdout) = match &self.command {
            StoreCommand::Dump(args) => (&args.filter.dir, &args.filter.output, Stdout::Data),
            StoreCommand::Verify(args) => (&args.dir, &args.output, Stdout::Data),
            StoreCommand::Stats(args) => (&args.dir, &args.output, Stdout::Report),
        };
        output.files().reads_below(dir).stdout(stdout)
    }
}
