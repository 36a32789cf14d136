//! Flags of `fix acceptor` and `fix initiator`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use files::conflicts::Files;
use fixcore::io::Choice;
use fixsession::Fill;

use crate::args::output::OutputArgs;
use crate::args::units;
use crate::commands::fix::values::{Separator, rate, separator, speed};

/// What a session does with application messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum App {
    /// Take them and answer nothing
    Discard,
    /// Return NewOrderSingle, SecurityDefinition and Email; refuse others
    Echo,
    /// Fill orders and cancel what is open; refuse others
    Orders,
}

/// How much of an order `--app orders` fills at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum FillName {
    /// All of it
    Full,
    /// Half of it; the rest stays open
    Partial,
    /// Nothing; it stays open
    None,
}

impl From<FillName> for Fill {
    fn from(name: FillName) -> Self {
        match name {
            FillName::Full => Self::Full,
            FillName::Partial => Self::Partial,
            FillName::None => Self::None,
        }
    }
}

impl App {
    /// Its name in flags and reports.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Discard => "discard",
            Self::Echo => "echo",
            Self::Orders => "orders",
        }
    }
}

/// Flags of everything that runs sessions.
#[derive(Debug, Clone, Args)]
pub(crate) struct SessionsArgs {
    /// Settings file, as for QuickFIX
    #[arg(long, value_name = "FILE")]
    pub(crate) settings: PathBuf,
    /// System interface for connections: epoll, uring or auto (uring if the system allows it)
    #[arg(long, value_name = "NAME", default_value = "epoll")]
    pub(crate) interface: Choice,
    /// Never sleep: lower latency, for a whole CPU
    #[arg(long)]
    pub(crate) busy_poll: bool,
    /// Messages of a session that are handled before other sessions have their turn
    #[arg(long, value_name = "N", default_value_t = 64,
          value_parser = clap::value_parser!(u32).range(1..=1_000_000), hide_short_help = true)]
    pub(crate) budget: u32,
    /// Time for Logouts once a signal asks to stop
    #[arg(long, value_name = "TIME", default_value = "5s", value_parser = units::duration)]
    pub(crate) grace: Duration,
    /// Stop after this time
    #[arg(long, value_name = "TIME", value_parser = units::duration)]
    pub(crate) duration: Option<Duration>,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// Run the acceptor sessions of a QuickFIX settings file.
///
/// Listens on every SocketAcceptPort and runs any number of sessions on one thread until it gets SIGTERM
/// or SIGINT, or for --duration; then it logs out every session. Numbers and messages are kept below
/// FileStorePath, logs below FileLogPath. Without a dictionary in the settings, the built-in one of the
/// version is used. What happens to connections goes to standard error, the report with the state of
/// each session follows at the end. `perfkit fix settings check FILE` says what each line of the
/// settings does.
#[derive(Debug, Clone, Args)]
#[command(after_long_help = "Examples:
  perfkit fix acceptor --settings acceptor.cfg
  perfkit fix acceptor --settings acceptor.cfg --app echo --report json
  perfkit fix acceptor --settings acceptor.cfg --app orders --fill partial --users users.txt
  perfkit fix acceptor --settings acceptor.cfg --app echo --busy-poll --cpu 1")]
pub(crate) struct AcceptorArgs {
    /// What to do with application messages: discard, echo or orders
    #[arg(long, value_name = "APP", value_enum, default_value_t = App::Discard,
          hide_possible_values = true)]
    pub(crate) app: App,
    /// With --app orders, how much of an order to fill at once: full, partial (half) or none [default: full]
    #[arg(long, value_name = "HOW", value_enum, hide_possible_values = true)]
    pub(crate) fill: Option<FillName>,
    /// With --app orders, reject every Nth order
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) reject_every: Option<u64>,
    /// Accept only Logons with a Username (553) and Password (554) of FILE, one NAME:PASSWORD per line
    #[arg(long, value_name = "FILE")]
    pub(crate) users: Option<PathBuf>,
    /// Write the addresses to FILE, one per line, once they answer, and remove it at the end
    #[arg(long, value_name = "FILE")]
    pub(crate) ready_file: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) sessions: SessionsArgs,
}

/// Run the initiator sessions of a QuickFIX settings file.
///
/// Connects, logs on, and connects again when a connection is lost, by the hosts and intervals of the
/// settings. With --send, sends the application messages of a log in the live session, with new headers
/// and the timing of their SendingTime, then logs out and ends. Of a log of both directions only the
/// messages of this side are sent.
#[derive(Debug, Clone, Args)]
#[command(after_long_help = "Examples:
  perfkit fix initiator --settings initiator.cfg
  perfkit fix initiator --settings initiator.cfg --send orders.log
  perfkit fix initiator --settings initiator.cfg --send orders.log --speed 0 --report json")]
pub(crate) struct InitiatorArgs {
    /// What to do with application messages: discard, echo or orders
    #[arg(long, value_name = "APP", value_enum, default_value_t = App::Discard,
          hide_possible_values = true)]
    pub(crate) app: App,
    /// Send the application messages of a log
    #[arg(long, value_name = "FILE")]
    pub(crate) send: Option<PathBuf>,
    /// How many times faster than the original; 0: without waiting
    #[arg(long, value_name = "TIMES", default_value_t = 1.0, value_parser = speed, requires = "send")]
    pub(crate) speed: f64,
    /// Send at most N messages per second
    #[arg(long, value_name = "N", value_parser = rate, requires = "send")]
    pub(crate) rate: Option<f64>,
    /// auto, soh, pipe, caret or hex, or what stands between fields, such as '##'
    #[arg(long, value_name = "NAME", value_parser = separator, default_value = "auto",
          requires = "send")]
    pub(crate) separator: Separator,
    #[command(flatten)]
    pub(crate) sessions: SessionsArgs,
}

impl AcceptorArgs {
    /// What it reads and writes.
    pub(crate) fn files(&self) -> Files<'_> {
        let files = self.sessions.files().reads_some("--users", &self.users);
        match &self.ready_file {
            Some(path) => files.writes("--ready-file", path),
            None => files,
        }
    }
}

impl InitiatorArgs {
    /// What it reads and writes.
    pub(crate) fn files(&self) -> Files<'_> {
        self.sessions.files().reads_some("--send", &self.send)
    }
}

impl SessionsArgs {
    fn files(&self) -> Files<'_> {
        self.output.files().reads("--settings", &self.settings)
    }
}
