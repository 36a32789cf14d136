//! Flags of `fix` and its parts.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use files::conflicts::{Files, Stdout};

use crate::args::output::{OutputArgs, TerminalArgs};
use crate::args::units;
use crate::commands::fix::accept_flags::AcceptArgs;
use crate::commands::fix::certify::flags::CertifyArgs;
use crate::commands::fix::fills::flags::FillsArgs;
use crate::commands::fix::health::flags::HealthArgs;
use crate::commands::fix::message_flags::MessagesArgs;
use crate::commands::fix::orders::flags::OrdersArgs;
use crate::commands::fix::row_flags::{RowFormat, RowsArgs};
#[cfg(target_os = "linux")]
use crate::commands::fix::session_flags::{AcceptorArgs, InitiatorArgs};
use crate::commands::fix::settings_flags::SettingsArgs;
use crate::commands::fix::stats_flags::StatsArgs;
use crate::commands::fix::store_flags::StoreArgs;
use crate::commands::fix::validate_flags::ValidateArgs;
use crate::commands::fix::values::{Separator, rate, separator, speed};
use crate::commands::fix::wanted::WantedArgs;

/// Read FIX messages from logs and streams, and run FIX sessions.
///
/// Logs may have one message per line or no line breaks, with or without prefixes, and with SOH (byte
/// 1), `|`, `^A` or `\x01` between fields. Captures (pcap, pcapng) and logs compressed with gzip or zstd are
/// read, too. Invalid messages are reported with their byte offset, and
/// the exit code is 3.
#[derive(Debug, Clone, Args)]
#[command(after_long_help = "Examples:
  perfkit fix parse messages.log
  perfkit fix validate --dictionary FIX44.xml messages.log
  perfkit fix stats *.log
  perfkit fix orders --id ORD1 gateway.log venue.log
  perfkit fix fills gateway.log
  perfkit fix anonymize --key-file key messages.log
  perfkit fix acceptor --settings acceptor.cfg --app echo")]
pub(crate) struct FixArgs {
    /// What to do
    #[command(subcommand)]
    pub(crate) command: FixCommand,
}

/// The parts of `fix`.
#[derive(Debug, Clone, Subcommand)]
pub(crate) enum FixCommand {
    /// Write each message as a line of JSON
    Parse(Box<ParseArgs>),
    Validate(Box<ValidateArgs>),
    /// Write messages with the names of their fields and values
    Print(Box<PrintArgs>),
    Stats(Box<StatsArgs>),
    Orders(Box<OrdersArgs>),
    Fills(Box<FillsArgs>),
    Health(Box<HealthArgs>),
    Diff(Box<DiffArgs>),
    Replay(Box<ReplayArgs>),
    Anonymize(Box<AnonymizeArgs>),
    Generate(GenerateArgs),
    Store(StoreArgs),
    #[cfg(target_os = "linux")]
    Acceptor(Box<AcceptorArgs>),
    #[cfg(target_os = "linux")]
    Initiator(Box<InitiatorArgs>),
    Settings(SettingsArgs),
    Certify(Box<CertifyArgs>),
}

impl FixCommand {
    /// Whether data goes to a terminal unchanged.
    pub(crate) fn wants_raw(&self) -> bool {
        match self {
            Self::Parse(args) => args.filter.output.force,
            Self::Print(args) => args.filter.output.force,
            Self::Validate(args) => args.output.force,
            Self::Stats(args) => args.output.force,
            Self::Orders(args) => args.output.force,
            Self::Fills(args) => args.output.force,
            Self::Health(args) => args.output.force,
            Self::Diff(args) => args.output.force,
            Self::Replay(args) => args.output.force,
            Self::Anonymize(args) => args.output.force,
            Self::Generate(args) => args.force,
            Self::Store(args) => args.command.wants_raw(),
            #[cfg(target_os = "linux")]
            Self::Acceptor(_) | Self::Initiator(_) => false,
            Self::Settings(_) => false,
            Self::Certify(_) => false,
        }
    }
}

/// Which messages of two logs are compared with each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Match {
    /// Same session (49, 56) and MsgSeqNum
    Number,
    /// Same type, session, ClOrdID, OrigClOrdID, OrderID and ExecID
    Order,
    /// Same fields, except for ignored tags
    Whole,
}

impl From<Match> for fixlog::diff::Match {
    fn from(by: Match) -> Self {
        match by {
            Match::Number => Self::Number,
            Match::Order => Self::Order,
            Match::Whole => Self::Whole,
        }
    }
}

/// Compare two logs message by message.
///
/// Writes a line of JSON for each message that is in only one log, or that differs between them, with
/// the fields that differ; counts go to standard error. Separators and order of the logs may differ: a
/// message waits for its counterpart in a window. The exit code is 0 if there is no difference, 1 if there
/// is one, and 3 if there is none but the logs contain invalid messages.
#[derive(Debug, Clone, Args)]
pub(crate) struct DiffArgs {
    /// A log
    #[arg(value_name = "A")]
    pub(crate) first: PathBuf,
    /// Another log
    #[arg(value_name = "B")]
    pub(crate) second: PathBuf,
    /// Match messages by number, order or whole
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
    /// How many messages of a log may wait for their counterpart
    #[arg(long, value_name = "N", default_value_t = 65_536,
          value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    pub(crate) window: u32,
    /// auto, soh, pipe, caret or hex, or what stands between fields, such as '##'
    #[arg(long, value_name = "NAME", value_parser = separator, default_value = "auto")]
    pub(crate) separator: Separator,
    #[command(flatten)]
    pub(crate) accept: AcceptArgs,
    #[command(flatten)]
    pub(crate) wanted: WantedArgs,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// Send the messages of a log again, with their original timing.
///
/// Each valid message is due at its SendingTime, counted from the first message, even if earlier ones
/// are still being sent; the report shows how late messages were. There is no session: no logon is
/// sent, and replies are read and discarded.
#[derive(Debug, Clone, Args)]
pub(crate) struct ReplayArgs {
    /// The log; `-` is standard input
    #[arg(value_name = "FILE", default_value = "-")]
    pub(crate) file: PathBuf,
    /// Send to the engine that listens here, such as 127.0.0.1:5001, instead of standard output
    #[arg(long, value_name = "HOST:PORT")]
    pub(crate) connect: Option<String>,
    /// How many times faster than the original; 0: without waiting
    #[arg(long, value_name = "TIMES", default_value_t = 1.0, value_parser = speed)]
    pub(crate) speed: f64,
    /// Send at most N messages per second
    #[arg(long, value_name = "N", value_parser = rate)]
    pub(crate) rate: Option<f64>,
    /// Renumber the messages of each session from 1
    #[arg(long)]
    pub(crate) renumber: bool,
    /// Set SendingTime to the time of sending
    #[arg(long)]
    pub(crate) retime: bool,
    /// auto, soh, pipe, caret or hex, or what stands between fields, such as '##'
    #[arg(long, value_name = "NAME", value_parser = separator, default_value = "auto")]
    pub(crate) separator: Separator,
    #[command(flatten)]
    pub(crate) wanted: WantedArgs,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// Replace accounts, parties, ids and free text by pseudonyms.
///
/// A pseudonym has the length and form of its value, digits for digits and letters for letters. Equal
/// values get equal pseudonyms, in every field. Opaque data (RawData, XmlData, EncodedText and the other
/// data fields of the standard and of --dictionary) are replaced too, and so is what stands in fields that no
/// dictionary has, unless it is a number, a time or a code of two characters: the report counts these. Name
/// fields that you want to be replaced with --also. CheckSum is computed anew. Text around messages and invalid messages are left out, because they
/// may contain anything. Each message is written on a line
/// of its own, with its original separator. Without --key-file, a random key is used and then
/// forgotten. The pseudonym of a value of one or two characters may by chance be that value.
#[derive(Debug, Clone, Args)]
pub(crate) struct AnonymizeArgs {
    #[command(flatten)]
    pub(crate) messages: MessagesArgs,
    /// Replace the values of these fields only; fields are tags or names
    #[arg(long, value_name = "FIELD,…", value_delimiter = ',', num_args = 1)]
    pub(crate) tags: Option<Vec<String>>,
    /// Also replace the values of these fields, such as numbers of user-defined ones
    #[arg(long, value_name = "FIELD,…", value_delimiter = ',', num_args = 1)]
    pub(crate) also: Vec<String>,
    /// Key, a file of at least 16 bytes: the same key gives the same pseudonyms
    #[arg(long, value_name = "FILE")]
    pub(crate) key_file: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// What a generated log has around messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogForm {
    /// Messages without line breaks
    Stream,
    /// One message per line
    Lines,
    /// One message per line, after a date and time
    Prefixed,
    /// A capture: a TCP connection per session
    Pcap,
}

impl From<LogForm> for fixlog::Form {
    fn from(form: LogForm) -> Self {
        match form {
            LogForm::Stream => Self::Stream,
            LogForm::Lines => Self::Lines,
            LogForm::Prefixed => Self::Prefixed,
            LogForm::Pcap => Self::Pcap,
        }
    }
}

/// Generate a log to experiment with.
///
/// Orders, their executions, market data and heartbeats of several sessions, in order of time. The
/// same seed gives the same bytes on every machine. With --day, a trading day that adds up: orders of clients go over
/// a gateway and a router to three venues, each with a clock of its own, and are filled, cancelled, replaced,
/// rejected or forgotten; the connection between gateway and router is gone at 14:02, and what was lost is sent again.
#[derive(Debug, Clone, Args)]
pub(crate) struct GenerateArgs {
    /// Number of messages
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    pub(crate) messages: u64,
    /// Size of the log, such as 2GB, instead of a number of messages
    #[arg(long, value_name = "SIZE", value_parser = units::size, conflicts_with = "messages")]
    pub(crate) size: Option<u64>,
    /// Write gateway.log, router.log, venue.log and the truth of a day, truth.jsonl, into DIR
    #[arg(long, value_name = "DIR", conflicts_with_all = ["messages", "size", "mix", "sessions", "hostile", "separator", "form", "output"])]
    pub(crate) day: Option<PathBuf>,
    /// Number of orders of the day, each of some 15 messages
    #[arg(long, value_name = "N", default_value_t = 10_000, requires = "day")]
    pub(crate) orders: u64,
    /// Weights of heartbeats, orders, executions and market data
    #[arg(
        long,
        value_name = "H,D,8,X",
        default_value = "4,44,48,4",
        value_delimiter = ',',
        num_args = 1
    )]
    pub(crate) mix: Vec<u32>,
    /// Number of sessions
    #[arg(long, value_name = "N", default_value_t = 4,
          value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) sessions: u32,
    /// Share of messages that are damaged, lost or repeated, from 0 to 1
    #[arg(long, value_name = "SHARE", default_value_t = 0.0)]
    pub(crate) hostile: f64,
    /// soh, pipe, caret or hex, or another text
    #[arg(long, value_name = "NAME", value_parser = separator, default_value = "soh")]
    pub(crate) separator: Separator,
    /// stream, lines, prefixed or pcap
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

/// Flags of the parts that read messages one by one.
#[derive(Debug, Clone, Args)]
pub(crate) struct FilterArgs {
    #[command(flatten)]
    pub(crate) messages: MessagesArgs,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// Flags of `parse`.
#[derive(Debug, Clone, Args)]
pub(crate) struct ParseArgs {
    #[command(flatten)]
    pub(crate) filter: FilterArgs,
    #[command(flatten)]
    pub(crate) rows: RowsArgs,
    /// json, csv, or raw: the lines of the log
    ///
    /// json: an object per message, with its byte and line in the log. csv: a table of the fields of --fields,
    /// or of sender, target, number and the message with | between fields; several values of a field have ;
    /// between them. raw: what the log has before the message on its line, and the message as it stands there,
    /// for other programs that read FIX logs and for further filters; what stands behind it is left out. With
    /// csv and raw, invalid messages are in the report.
    #[arg(long, value_name = "FORM", value_enum, default_value_t = RowFormat::Json,
          hide_possible_values = true, help_heading = "Messages")]
    pub(crate) format: RowFormat,
}

/// Flags of `print`.
#[derive(Debug, Clone, Args)]
pub(crate) struct PrintArgs {
    #[command(flatten)]
    pub(crate) filter: FilterArgs,
    #[command(flatten)]
    pub(crate) rows: RowsArgs,
}

impl FixArgs {
    /// What it reads and writes.
    pub(crate) fn files(&self) -> Files<'_> {
        match &self.command {
            FixCommand::Parse(args) => args.filter.files(),
            FixCommand::Print(args) => args.filter.files(),
            FixCommand::Validate(args) => args.files(),
            FixCommand::Orders(args) => args.files(),
            FixCommand::Fills(args) => args.files(),
            FixCommand::Health(args) => args.files(),
            FixCommand::Stats(args) => args.files(),
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
            // The names in a directory are not known to be read by anybody.
            FixCommand::Generate(args) if args.day.is_some() => Files::default(),
            FixCommand::Generate(args) => Files::default().writes("-o", &args.output),
            FixCommand::Store(args) => args.files(),
            #[cfg(target_os = "linux")]
            FixCommand::Acceptor(args) => args.files(),
            #[cfg(target_os = "linux")]
            FixCommand::Initiator(args) => args.files(),
            FixCommand::Settings(args) => args.files(),
            FixCommand::Certify(args) => args.files(),
        }
    }
}

impl FilterArgs {
    fn files(&self) -> Files<'_> {
        self.messages.files(&self.output).stdout(Stdout::Data)
    }
}
