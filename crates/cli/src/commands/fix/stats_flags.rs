//! Flags of `fix stats`.

use clap::Args;
use files::conflicts::{Files, Stdout};

use crate::args::output::OutputArgs;
use crate::commands::fix::message_flags::MessagesArgs;
use crate::commands::fix::one_log::OneLogArgs;

/// Count messages, gaps and duplicates; measure time from order to execution.
///
/// Each log has sessions of its own, as both parties of a session may have written one: their messages are counted in
/// each, and the time of an order that is in both is one latency. --one-log reads the pieces of one log.
#[derive(Debug, Clone, Args)]
#[command(after_long_help = "Examples:
  perfkit fix stats *.log
  perfkit fix stats --one-log day.log*
  perfkit fix stats --session DESK,MARKET --since 14:00 day.log")]
pub(crate) struct StatsArgs {
    #[command(flatten)]
    pub(crate) messages: MessagesArgs,
    #[command(flatten)]
    pub(crate) pieces: OneLogArgs,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

impl StatsArgs {
    /// What it reads and writes.
    pub(crate) fn files(&self) -> Files<'_> {
        self.messages.files(&self.output).stdout(Stdout::Report)
    }
}
