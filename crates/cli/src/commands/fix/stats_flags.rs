//! Flags of `fix stats`.

use clap::{Args, ValueEnum};
use files::conflicts::{Files, Stdout};
use fixcore::dict::Dictionary;
use fixlog::{Clock, GroupKey};

use crate::args::output::OutputArgs;
use crate::commands::fix::group_by;
use crate::commands::fix::message_flags::MessagesArgs;
use crate::commands::fix::one_log::OneLogArgs;
use crate::failure::Result;

/// Which time latencies are between.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ClockName {
    /// SendingTime (52)
    Sending,
    /// The time that the log has before the message
    Log,
    /// TransactTime (60)
    Transact,
}

/// Count messages, gaps and duplicates; measure time from order to execution.
///
/// Each log has sessions of its own, as both parties of a session may have written one: their messages are counted in
/// each, and the time of an order that is in both is one latency. --one-log reads the pieces of one log.
#[derive(Debug, Clone, Args)]
#[command(after_long_help = "Examples:
  perfkit fix stats *.log
  perfkit fix stats --group-by session,type day.log
  perfkit fix stats --session DESK,MARKET --since 14:00 day.log")]
pub(crate) struct StatsArgs {
    #[command(flatten)]
    pub(crate) messages: MessagesArgs,
    #[command(flatten)]
    pub(crate) pieces: OneLogArgs,
    /// Also count messages by these: type, session, sender, target, day, hour, minute, or fields such as Symbol or 1
    ///
    /// A table has a row for each combination of values, the most frequent first; each message is in one row. session is
    /// SenderCompID → TargetCompID; day, hour and minute are those of SendingTime (52); fields are tags, or names of the
    /// standard or of --dictionary. A message with several such fields has all their values, with ; between them; one
    /// without it has —. Several logs have rows of their own, unless --one-log says that they are one.
    #[arg(
        long = "group-by",
        value_name = "KEY,…",
        value_delimiter = ',',
        num_args = 1,
        help_heading = "Statistics"
    )]
    pub(crate) by: Vec<String>,
    /// Which time of order and execution latencies are between: sending, log or transact
    ///
    /// sending: SendingTime (52), which each party stamps by its own clock. log: the time that the log has before the
    /// message, or that of the packet in a capture: one clock for both. transact: TransactTime (60). Executions whose time
    /// is before that of their order are no latencies: a table has their number and the largest difference.
    #[arg(long, value_name = "TIME", value_enum, default_value_t = ClockName::Sending,
          hide_possible_values = true, help_heading = "Statistics")]
    pub(crate) clock: ClockName,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

impl StatsArgs {
    /// What it reads and writes.
    pub(crate) fn files(&self) -> Files<'_> {
        self.messages.files(&self.output).stdout(Stdout::Report)
    }

    /// What messages are counted by, each with the name of its column.
    pub(super) fn keys(&self, dictionaries: &[Dictionary]) -> Result<Vec<(String, GroupKey)>> {
        group_by::keys(&self.by, dictionaries)
    }

    /// Which time latencies are between.
    pub(super) fn clock(&self) -> Clock {
        match self.clock {
            ClockName::Sending => Clock::Sending,
            ClockName::Log => Clock::Log,
            ClockName::Transact => Clock::Transact,
        }
    }

    /// The name of the series of latencies.
    pub(super) fn series(&self) -> &'static str {
        match self.clock {
            ClockName::Sending => "order to execution",
            ClockName::Log => "order to execution, by the log",
            ClockName::Transact => "order to execution, by TransactTime",
        }
    }
}
