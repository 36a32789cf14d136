//! Flags of `fix store` and its parts.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use files::conflicts::{Files, Stdout};

use crate::args::output::{OutputArgs, TerminalArgs};

/// Inspect a store of sent messages, or exchange it with QuickFIX.
///
/// A store that is inspected is not changed. It may be open in another process; records that are being appended may
/// then look torn. Damaged and torn records are reported with file and byte offset, and the exit code is 3.
#[derive(Debug, Clone, Args)]
#[command(after_long_help = "Examples:
  perfkit fix store dump session/
  perfkit fix store dump --raw session/ | perfkit fix print
  perfkit fix store verify session/
  perfkit fix store import old/FIX.4.4-A-B session/")]
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
    Import(ImportArgs),
    Export(ExportArgs),
}

impl StoreCommand {
    /// Whether data goes to a terminal unchanged.
    pub(super) fn wants_raw(&self) -> bool {
        match self {
            Self::Dump(args) => args.filter.output.force,
            Self::Verify(args) => args.output.force,
            Self::Stats(args) => args.output.force,
            Self::Import(_) | Self::Export(_) => false,
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

/// Take over the file store of QuickFIX or QuickFIX/J.
///
/// Numbers, messages and the time when the numbers began become a store of perfkit, so that a running counterparty
/// sees no reset. Stop the other engine first. Every message is checked; a damaged file is refused with its
/// place, and nothing is written then.
#[derive(Debug, Clone, Args)]
pub(crate) struct ImportArgs {
    /// What the names of its files begin with, such as store/FIX.4.4-SENDER-TARGET
    #[arg(value_name = "PREFIX")]
    pub(crate) prefix: PathBuf,
    /// The directory of the new store; `fix settings check` shows it for each session
    #[arg(value_name = "DIR")]
    pub(crate) dir: PathBuf,
    /// Replace a store that is there
    #[arg(short, long)]
    pub(crate) force: bool,
    #[command(flatten)]
    pub(crate) terminal: TerminalArgs,
}

/// Write a store as the file store of QuickFIX or QuickFIX/J.
///
/// The store must not be open. Files that exist are not overwritten without -f.
#[derive(Debug, Clone, Args)]
pub(crate) struct ExportArgs {
    /// The store's directory
    #[arg(value_name = "DIR")]
    pub(crate) dir: PathBuf,
    /// What the names of the files begin with, such as store/FIX.4.4-SENDER-TARGET
    #[arg(value_name = "PREFIX")]
    pub(crate) prefix: PathBuf,
    /// quickfix, quickfix-1.15 or quickfixj
    ///
    /// quickfix is QuickFIX for C++ since 1.16. Versions up to 1.15 misread its file of next numbers: they need
    /// quickfix-1.15.
    #[arg(long, value_name = "ENGINE", value_enum, hide_possible_values = true)]
    pub(crate) format: FileForm,
    /// Replace files that are there
    #[arg(short, long)]
    pub(crate) force: bool,
    #[command(flatten)]
    pub(crate) terminal: TerminalArgs,
}

/// Whose files are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum FileForm {
    /// QuickFIX for C++ since 1.16
    Quickfix,
    /// QuickFIX for C++ up to 1.15
    #[value(name = "quickfix-1.15")]
    Quickfix115,
    /// QuickFIX/J
    Quickfixj,
}

impl StoreArgs {
    /// What it reads and writes.
    pub(crate) fn files(&self) -> Files<'_> {
        let (dir, output, stdout) = match &self.command {
            StoreCommand::Import(args) => {
                return Files::default().reads("the QuickFIX store", &args.prefix);
            }
            StoreCommand::Export(args) => return Files::default().reads_below(&args.dir),
            StoreCommand::Dump(args) => (&args.filter.dir, &args.filter.output, Stdout::Data),
            StoreCommand::Verify(args) => (&args.dir, &args.output, Stdout::Data),
            StoreCommand::Stats(args) => (&args.dir, &args.output, Stdout::Report),
        };
        output.files().reads_below(dir).stdout(stdout)
    }
}
