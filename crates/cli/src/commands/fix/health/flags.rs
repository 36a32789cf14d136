//! Flags of `fix health`.

use clap::{Args, ValueEnum};
use files::conflicts::{Files, Stdout};
use fixlog::health::Finding;

use crate::args::output::OutputArgs;
use crate::commands::fix::message_flags::MessagesArgs;
use crate::commands::fix::one_log::OneLogArgs;

/// Show what became of each session: gaps, resends, disconnects, heartbeats, rejects.
///
/// For each session and direction: gaps of the sequence numbers with their times and how they were filled,
/// ResendRequests and storms of them, connections and how they ended, how late Heartbeats were, TestRequests
/// without an answer, the time from SendingTime (52) to what the log has before the message, rejects by reason, and
/// messages a minute. Each log has sessions of its own, as both parties of a session may write one; --one-log reads
/// the pieces of one log.
#[derive(Debug, Clone, Args)]
#[command(after_long_help = "Examples:
  perfkit fix health day.log
  perfkit fix health --one-log day.log*
  perfkit fix health --list gaps,connections day.log | jq -c 'select(.how == \"never\")'")]
pub(crate) struct HealthArgs {
    #[command(flatten)]
    pub(crate) messages: MessagesArgs,
    #[command(flatten)]
    pub(crate) pieces: OneLogArgs,
    /// Write rows as JSON: all, or gaps,requests,storms,connections,silences,tests,duplicates,rejects
    ///
    /// A line per gap, ResendRequest, storm of them, connection, silence of more than 1.2 times HeartBtInt,
    /// unanswered TestRequest, number that came again, and reason of rejects, with file, line and byte of its first
    /// message. Each is written when it has ended: a gap when it is filled.
    #[arg(
        long,
        value_name = "WHAT,…",
        value_enum,
        value_delimiter = ',',
        num_args = 1,
        hide_possible_values = true,
        help_heading = "Sessions"
    )]
    pub(crate) list: Vec<Listed>,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// Which rows are listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Listed {
    /// All of them
    All,
    /// Numbers that were left out
    Gaps,
    /// ResendRequests
    Requests,
    /// Three or more ResendRequests in a row for the same number
    Storms,
    /// Connections
    Connections,
    /// Nothing was sent for more than 1.2 times HeartBtInt (108)
    Silences,
    /// TestRequests without an answer
    Tests,
    /// Numbers that came again without 43=Y
    Duplicates,
    /// Reasons of rejects
    Rejects,
}

impl Listed {
    /// Whether a row is to be listed.
    pub(super) fn has(self, finding: &Finding) -> bool {
        match self {
            Self::All => true,
            Self::Gaps => matches!(finding, Finding::Gap(_)),
            Self::Requests => matches!(finding, Finding::Request(_)),
            Self::Storms => matches!(finding, Finding::Storm(_)),
            Self::Connections => matches!(finding, Finding::Connection(_)),
            Self::Silences => matches!(finding, Finding::Silence(_)),
            Self::Duplicates => matches!(finding, Finding::Duplicate(_)),
            Self::Tests => matches!(finding, Finding::Test(_)),
            Self::Rejects => false,
        }
    }
}

impl HealthArgs {
    /// What it reads and writes.
    pub(crate) fn files(&self) -> Files<'_> {
        let stdout = match self.list.is_empty() {
            true => Stdout::Report,
            false => Stdout::Data,
        };
        self.messages.files(&self.output).stdout(stdout)
    }
}
