//! Flags of `fix store` and its parts.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::args::output::OutputArgs;
use crate::io::conflicts::{Files, Stdout};

/// Look at a store of sent messages, without changing it.
///
/// A store that is open elsewhere may be looked at: what is appended meanwhile may look torn. What is
/// damaged or torn is named with its file and byte; when there was some, the exit code is 3.
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
    /// Say how much it holds, and the next sequence numbers
    Stats(Box<StoreStatsArgs>),
}

impl StoreCommand {
    /// Whether a terminal gets what is written as it is.
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
    /// Write messages as they are, one behind the other
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
