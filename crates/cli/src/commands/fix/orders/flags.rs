//! Flags of `fix orders`.

use clap::{Args, ValueEnum};
use files::conflicts::{Files, Stdout};
use fixlog::orders::{Life, State};

use crate::args::output::OutputArgs;
use crate::commands::fix::message_flags::MessagesArgs;

/// Show what became of each order: answers, fills, rejects, and how long they took.
///
/// Orders are followed by ClOrdID, OrigClOrdID and OrderID on each session, and over several sessions (hops) where
/// the party that gets an order sends it on with the same ClOrdID, or with it as SecondaryClOrdID. Several logs are
/// read in the order of their times. Without --id and --list, a report counts orders by what became of them, with
/// the reasons of rejects, the times of each step and hop, the offset between the clocks of the two parties of a
/// hop, and the slowest orders.
#[derive(Debug, Clone, Args)]
#[command(after_long_help = "Examples:
  perfkit fix orders day.log
  perfkit fix orders --id ORD00000000001 gateway.log router.log venue.log.gz
  perfkit fix orders --list unanswered,rejected day.log | jq -r .id
  perfkit fix orders --id ORD00000000001 --list all day.log | jq .steps")]
pub(crate) struct OrdersArgs {
    #[command(flatten)]
    pub(crate) messages: MessagesArgs,
    /// Print the order with this ClOrdID or OrderID as a timeline, or with --list as JSON; repeatable
    #[arg(long, value_name = "ID", help_heading = "Orders")]
    pub(crate) id: Vec<String>,
    /// Write orders as JSON: all, or unanswered,open,rejected,…
    ///
    /// A line per order and session, with its messages, when nothing has come for a minute of the log after its
    /// end. unanswered: no answer came, or "pending new" only. open: answered, without a fill. partially-filled, filled, cancelled,
    /// rejected, expired (also done for the day): by the last status. orphan: the message that it began with is
    /// not in the logs. reused: its ClOrdID came again before its end. An order of which messages come later
    /// is written again, with "again": true.
    #[arg(
        long,
        value_name = "STATE,…",
        value_enum,
        value_delimiter = ',',
        num_args = 1,
        hide_possible_values = true,
        help_heading = "Orders"
    )]
    pub(crate) list: Vec<Listed>,
    /// With --list, a line per order over all sessions, by its state on the first one
    ///
    /// `reached` is the last party that got it, `sessions` what it was on each session.
    #[arg(long, requires = "list", help_heading = "Orders")]
    pub(crate) chains: bool,
    /// How many of the slowest orders of each kind the report names
    #[arg(long, value_name = "N", default_value_t = 5,
          value_parser = clap::value_parser!(u32).range(..=10_000), help_heading = "Orders")]
    pub(crate) slowest: u32,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// Which orders are listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Listed {
    /// All of them
    All,
    /// Without an answer
    Unanswered,
    /// Answered, without fills
    Open,
    /// With fills, and not at their end
    PartiallyFilled,
    /// Filled
    Filled,
    /// Cancelled
    Cancelled,
    /// Rejected
    Rejected,
    /// Expired, or done for the day
    Expired,
    /// Without the message that they began with
    Orphan,
    /// Whose ClOrdID came again before their end
    Reused,
}

impl Listed {
    /// Whether an order is to be listed.
    pub(super) fn has(self, life: &Life) -> bool {
        match self {
            Self::Orphan => life.is_orphan,
            Self::Reused => life.reused > 0,
            _ => self.is(life.state),
        }
    }

    /// Whether orders of a state are to be listed.
    pub(super) fn is(self, state: State) -> bool {
        let listed = match self {
            Self::All => return true,
            Self::Orphan | Self::Reused => return false,
            Self::Unanswered => State::Unanswered,
            Self::Open => State::Open,
            Self::PartiallyFilled => State::PartiallyFilled,
            Self::Filled => State::Filled,
            Self::Cancelled => State::Cancelled,
            Self::Rejected => State::Rejected,
            Self::Expired => State::Expired,
        };
        state == listed
    }
}

impl OrdersArgs {
    /// Whether standard output has orders, and not the report.
    pub(super) fn writes_orders(&self) -> bool {
        !self.id.is_empty() || !self.list.is_empty()
    }

    /// What it reads and writes.
    pub(crate) fn files(&self) -> Files<'_> {
        let stdout = match self.writes_orders() {
            true => Stdout::Data,
            false => Stdout::Report,
        };
        self.messages.files(&self.output).stdout(stdout)
    }
}
