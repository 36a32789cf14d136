//! Flags of `fix` and its parts, and of `fix-bench`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use fixcore::Isa;

use super::output::{AnalysisArgs, ReportArgs, TerminalArgs};

/// Read FIX messages from logs and streams.
///
/// Messages may stand one a line or behind each other, with prefixes of a log or without, and with
/// the byte 1, `|` or `^A` between fields. What is no valid message is named with its place in the
/// file; when there was some, the exit code is 3.
#[derive(Debug, Clone, Args)]
#[command(after_long_help = "Examples:
  perfkit fix parse messages.log
  perfkit fix validate --dictionary FIX44.xml messages.log
  perfkit fix stats *.log")]
pub(crate) struct FixArgs {
    /// What to do
    #[command(subcommand)]
    pub(crate) command: FixCommand,
}

/// The parts of `fix`.
#[derive(Debug, Clone, Subcommand)]
pub(crate) enum FixCommand {
    /// Write each message as a line of JSON
    Parse(Box<FilterArgs>),
    /// Write what is not valid as lines of JSON
    Validate(Box<FilterArgs>),
    /// Write messages with the names of fields and values
    Print(Box<FilterArgs>),
    /// Count messages, gaps and duplicates, and time orders to executions
    Stats(Box<StatsArgs>),
}

/// What stands between the fields of messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Separator {
    /// What the first message has
    Auto,
    /// The byte 1
    Soh,
    /// `|`, one message or more a line
    Pipe,
    /// `^A`, one message or more a line
    Caret,
}

/// Which messages are read, and how.
#[derive(Debug, Clone, Args)]
pub(crate) struct MessagesArgs {
    /// Files of messages; `-` is standard input
    #[arg(value_name = "FILE", default_value = "-")]
    pub(crate) files: Vec<PathBuf>,
    /// auto, soh, pipe or caret
    #[arg(long, value_name = "NAME", value_enum, default_value_t = Separator::Auto,
          hide_possible_values = true)]
    pub(crate) separator: Separator,
    /// A dictionary in the XML of QuickFIX, in place of the built-in one of each message
    #[arg(long, value_name = "FILE")]
    pub(crate) dictionary: Option<PathBuf>,
    /// Scan by this instruction set: scalar, swar, sse2, avx2, avx512bw or avx512vbmi2
    #[arg(long, value_name = "NAME", hide_short_help = true)]
    pub(crate) isa: Option<Isa>,
}

/// Flags of the parts that write what they read.
#[derive(Debug, Clone, Args)]
pub(crate) struct FilterArgs {
    #[command(flatten)]
    pub(crate) messages: MessagesArgs,
    /// Overwrite exported files
    #[arg(short, long)]
    pub(crate) force: bool,
    #[command(flatten)]
    pub(crate) report: ReportArgs,
    #[command(flatten)]
    pub(crate) terminal: TerminalArgs,
}

/// Flags of `fix stats`.
#[derive(Debug, Clone, Args)]
pub(crate) struct StatsArgs {
    #[command(flatten)]
    pub(crate) messages: MessagesArgs,
    #[command(flatten)]
    pub(crate) output: AnalysisArgs,
}

/// What is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum FixBenchPart {
    /// Finding separators, and an index with tags and checksum
    Scan,
    /// A validated parse, and a parse with eight look-ups
    Parse,
    /// Writing a new order by a template
    Encode,
    /// All of these
    All,
}

/// Measure scans, parses and encodes.
///
/// Four messages of 83 to 1,920 bytes, or those of a file, by every instruction set that this
/// processor has, which have to give the same answer first. Times are of batches, divided by their
/// messages.
#[derive(Debug, Clone, Args)]
#[command(after_long_help = "Examples:
  perfkit fix-bench
  perfkit fix-bench scan --isa avx2
  perfkit fix-bench parse --messages messages.log --report markdown")]
pub(crate) struct FixBenchArgs {
    /// scan, parse, encode or all
    #[arg(value_enum, default_value_t = FixBenchPart::All, hide_possible_values = true)]
    pub(crate) part: FixBenchPart,
    /// Messages of a file in place of the four
    #[arg(long, value_name = "FILE")]
    pub(crate) messages: Option<PathBuf>,
    /// Only this instruction set
    #[arg(long, value_name = "NAME")]
    pub(crate) isa: Option<Isa>,
    /// Batches of each row
    #[arg(long, value_name = "N", default_value_t = 31,
          value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) batches: u32,
    /// Messages of a batch
    #[arg(long, value_name = "N", default_value_t = 2000,
          value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    pub(crate) batch_size: u32,
    #[command(flatten)]
    pub(crate) output: AnalysisArgs,
}
