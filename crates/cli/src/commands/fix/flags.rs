//! Flags of `fix` and its parts.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use fixcore::Isa;

use crate::args::output::{OutputArgs, TerminalArgs};
use crate::args::units;
use crate::commands::fix::store_flags::StoreArgs;
use crate::io::conflicts::{Files, Stdout};

/// Read FIX messages from logs and streams.
///
/// Messages may stand one a line or behind each other, with prefixes of a log or without, and with
/// the byte 1, `|`, `^A` or `\x01` between fields. What is no valid message is named with its place
/// in the file; when there was some, the exit code is 3.
#[derive(Debug, Clone, Args)]
#[command(after_long_help = "Examples:
  perfkit fix parse messages.log
  perfkit fix validate --dictionary FIX44.xml messages.log
  perfkit fix stats *.log
  perfkit fix anonymize --key-file key messages.log")]
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
    Stats(Box<FilterArgs>),
    Diff(Box<DiffArgs>),
    Replay(Box<ReplayArgs>),
    Anonymize(Box<AnonymizeArgs>),
    Generate(GenerateArgs),
    Store(StoreArgs),
}

impl FixCommand {
    /// Whether a terminal gets what is written as it is.
    pub(crate) fn wants_raw(&self) -> bool {
        match self {
            Self::Parse(args) | Self::Validate(args) | Self::Print(args) | Self::Stats(args) => {
                args.output.force
            }
            Self::Diff(args) => args.output.force,
            Self::Replay(args) => args.output.force,
            Self::Anonymize(args) => args.output.force,
            Self::Generate(args) => args.force,
            Self::Store(args) => args.command.wants_raw(),
        }
    }
}

/// Which messages of two logs belong together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Match {
    /// Those of a session (49, 56) with the same MsgSeqNum
    Number,
    /// Those of a type and session with the same ClOrdID, OrigClOrdID, OrderID and ExecID
    Order,
    /// Those that are the same but for the tags that are ignored
    Whole,
}

/// Compare two logs message by message.
///
/// Writes a line of JSON for each message that is not in both logs or not the same in both, with the
/// fields that differ, and counts to standard error. The logs need not have the same separators or
/// the same order: a message waits for its like in a window. Ends with 0 when both say the same and
/// with 1 when not.
#[derive(Debug, Clone, Args)]
pub(crate) struct DiffArgs {
    /// A log
    #[arg(value_name = "A")]
    pub(crate) first: PathBuf,
    /// Another log
    #[arg(value_name = "B")]
    pub(crate) second: PathBuf,
    /// number, order or whole
    #[arg(long, value_name = "WHAT", value_enum, default_value_t = Match::Number,
          hide_possible_values = true)]
    pub(crate) by: Match,
    /// Tags that may differ; BodyLength and CheckSum always may
    #[arg(
        long,
        value_name = "TAG,…",
        value_delimiter = ',',
        num_args = 1,
        default_value = "52,122"
    )]
    pub(crate) ignore: Vec<u32>,
    /// How many messages of a log may wait for their like
    #[arg(long, value_name = "N", default_value_t = 65_536,
          value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    pub(crate) window: u32,
    /// auto, soh, pipe, caret or hex
    #[arg(long, value_name = "NAME", value_enum, default_value_t = Separator::Auto,
          hide_possible_values = true)]
    pub(crate) separator: Separator,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// Send the messages of a log once more, at the times at which they were sent.
///
/// Each valid message is due when its SendingTime says so, counted from the first, whether or not those
/// before it are through; the report says how late messages were. No session is held: there is no
/// logon, and what the other side answers is read and let go.
#[derive(Debug, Clone, Args)]
pub(crate) struct ReplayArgs {
    /// The log; `-` is standard input
    #[arg(value_name = "FILE", default_value = "-")]
    pub(crate) file: PathBuf,
    /// A TCP address in place of standard output, as 127.0.0.1:5001
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) to: Option<String>,
    /// How many times faster than it was; 0: without waiting
    #[arg(long, value_name = "TIMES", default_value_t = 1.0, value_parser = speed)]
    pub(crate) speed: f64,
    /// At most so many messages a second
    #[arg(long, value_name = "N", value_parser = rate)]
    pub(crate) rate: Option<f64>,
    /// Number the messages of each session from 1
    #[arg(long)]
    pub(crate) renumber: bool,
    /// Put the time of sending into SendingTime
    #[arg(long)]
    pub(crate) retime: bool,
    /// auto, soh, pipe, caret or hex
    #[arg(long, value_name = "NAME", value_enum, default_value_t = Separator::Auto,
          hide_possible_values = true)]
    pub(crate) separator: Separator,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

fn speed(text: &str) -> Result<f64, String> {
    let speed = text
        .parse()
        .ok()
        .filter(|speed| (0.0..=1e9).contains(speed));
    speed.ok_or_else(|| "a number from 0 to 1000000000".to_owned())
}

fn rate(text: &str) -> Result<f64, String> {
    let rate = text.parse().ok().filter(|rate| (1e-3..=1e9).contains(rate));
    rate.ok_or_else(|| "a number from 0.001 to 1000000000".to_owned())
}

/// Write messages with pseudonyms in place of who and what they are about.
///
/// A pseudonym has the length and form of its value, digits for digits and letters for letters, and is
/// the same for a value wherever it stands. CheckSum is that of the new message. What stands around
/// messages and what is no valid message is left out, for nobody knows what it says; each message is
/// written on a line, with the separator that it had. Without a key file pseudonyms are those of a key
/// that nobody will have again. A value of one or two characters may by chance be its own pseudonym.
#[derive(Debug, Clone, Args)]
pub(crate) struct AnonymizeArgs {
    #[command(flatten)]
    pub(crate) messages: MessagesArgs,
    /// The tags whose values are replaced, instead of accounts, parties, ids and free text
    #[arg(long, value_name = "TAG,…", value_delimiter = ',', num_args = 1)]
    pub(crate) tags: Option<Vec<u32>>,
    /// More tags, such as those of one's own
    #[arg(long, value_name = "TAG,…", value_delimiter = ',', num_args = 1)]
    pub(crate) also: Vec<u32>,
    /// A file of 16 bytes or more: the same bytes give the same pseudonyms
    #[arg(long, value_name = "FILE")]
    pub(crate) key_file: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// What a generated log has around messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogForm {
    /// Nothing
    Stream,
    /// A message a line
    Lines,
    /// A message a line, behind a date and time
    Prefixed,
}

/// Write a log to try things on.
///
/// Orders, their executions, market data and heartbeats of some sessions, in order of time. The same
/// seed gives the same bytes everywhere.
#[derive(Debug, Clone, Args)]
pub(crate) struct GenerateArgs {
    /// How many messages
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    pub(crate) messages: u64,
    /// Until there are so many bytes, as 2GB
    #[arg(long, value_name = "SIZE", value_parser = units::size, conflicts_with = "messages")]
    pub(crate) size: Option<u64>,
    /// Weights of heartbeats, orders, executions and market data
    #[arg(
        long,
        value_name = "H,D,8,X",
        default_value = "4,44,48,4",
        value_delimiter = ',',
        num_args = 1
    )]
    pub(crate) mix: Vec<u32>,
    /// How many sessions
    #[arg(long, value_name = "N", default_value_t = 4,
          value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) sessions: u32,
    /// Which share of messages is spoiled, lost or repeated, from 0 to 1
    #[arg(long, value_name = "SHARE", default_value_t = 0.0)]
    pub(crate) hostile: f64,
    /// soh, pipe, caret or hex
    #[arg(long, value_name = "NAME", value_enum, default_value_t = Separator::Soh,
          hide_possible_values = true)]
    pub(crate) separator: Separator,
    /// stream, lines or prefixed
    #[arg(long, value_name = "FORM", value_enum, default_value_t = LogForm::Lines,
          hide_possible_values = true)]
    pub(crate) form: LogForm,
    /// Seed of the generated data
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// The file; `-` is standard output
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    pub(crate) output: PathBuf,
    /// Overwrite an existing file
    #[arg(short, long)]
    pub(crate) force: bool,
    #[command(flatten)]
    pub(crate) terminal: TerminalArgs,
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
    /// `\x01` as text, one message or more a line
    Hex,
}

impl Separator {
    /// The bytes that it is.
    pub(crate) fn name(self) -> &'static [u8] {
        match self {
            Self::Auto | Self::Soh => b"\x01",
            Self::Pipe => b"|",
            Self::Caret => b"^A",
            Self::Hex => b"\\x01",
        }
    }
}

/// Which messages are read, and how.
#[derive(Debug, Clone, Args)]
pub(crate) struct MessagesArgs {
    /// Files of messages; `-` is standard input
    #[arg(value_name = "FILE", default_value = "-")]
    pub(crate) files: Vec<PathBuf>,
    /// auto, soh, pipe, caret or hex
    #[arg(long, value_name = "NAME", value_enum, default_value_t = Separator::Auto,
          hide_possible_values = true)]
    pub(crate) separator: Separator,
    /// A dictionary in the XML of QuickFIX, in place of the built-in one of each message
    #[arg(long, value_name = "FILE")]
    pub(crate) dictionary: Option<PathBuf>,
    /// How many threads; 0: one a processor
    #[arg(
        short = 'T',
        long,
        value_name = "N",
        default_value_t = 0,
        hide_default_value = true
    )]
    pub(crate) threads: u32,
    /// Scan by this instruction set: scalar, swar, sse2, avx2, avx512bw or avx512vbmi2
    #[arg(long, value_name = "NAME", hide_short_help = true)]
    pub(crate) isa: Option<Isa>,
}

/// Flags of the parts that read messages one by one.
#[derive(Debug, Clone, Args)]
pub(crate) struct FilterArgs {
    #[command(flatten)]
    pub(crate) messages: MessagesArgs,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

impl FixArgs {
    /// What it reads and writes.
    pub(crate) fn files(&self) -> Files<'_> {
        match &self.command {
            FixCommand::Parse(args) | FixCommand::Validate(args) | FixCommand::Print(args) => {
                args.messages.files(&args.output).stdout(Stdout::Data)
            }
            FixCommand::Stats(args) => args.messages.files(&args.output).stdout(Stdout::Report),
            FixCommand::Anonymize(args) => args
                .messages
                .files(&args.output)
                .reads_some("--key-file", &args.key_file)
                .stdout(Stdout::Data),
            FixCommand::Diff(args) => args
                .output
                .files()
                .reads("the first log", &args.first)
                .reads("the second log", &args.second)
                .stdout(Stdout::Data),
            FixCommand::Replay(args) => args
                .output
                .files()
                .reads("the log", &args.file)
                .stdout(Stdout::Data),
            FixCommand::Generate(args) => Files::default().writes("-o", &args.output),
            FixCommand::Store(args) => args.files(),
        }
    }
}

impl MessagesArgs {
    fn files<'a>(&'a self, output: &'a OutputArgs) -> Files<'a> {
        output
            .files()
            .sources(&self.files, false)
            .reads_some("--dictionary", &self.dictionary)
    }
}
