//! Flags of `fix fills`.

use clap::Args;
use files::conflicts::{Files, Stdout};
use fixcore::dict::Dictionary;
use fixlog::GroupKey;

use crate::args::output::OutputArgs;
use crate::commands::fix::group_by;
use crate::commands::fix::message_flags::MessagesArgs;
use crate::failure::Result;

/// Add up fills: executions, quantity, average price and notional by session, symbol and side.
///
/// A fill is an ExecutionReport (8) with ExecType F, 1 or 2, or in FIX 4.0 with LastShares (32). Each counts once, by its
/// ExecID (17), OrderID, symbol, side and day on its session, even if it was sent again or is in the logs of both parties.
/// Trades that were corrected (ExecType G, ExecTransType 2) count with their last values, and those that were cancelled (H, 1) not at
/// all. Numbers are exact; averages are weighted by quantity and have six digits more than the prices. An order that was sent
/// on has fills on each session. An execution whose quantity or price cannot be read or added up is not
/// counted, but named with its place, and the exit code is 3.
#[derive(Debug, Clone, Args)]
#[command(after_long_help = "Examples:
  perfkit fix fills day.log
  perfkit fix fills --group-by Symbol,Side --session DESK,MARKET --report csv day.log
  perfkit fix fills --group-by Account,Symbol,Side,hour *.log")]
pub(crate) struct FillsArgs {
    #[command(flatten)]
    pub(crate) messages: MessagesArgs,
    /// Rows by these: session, sender, target, day, hour, minute, or fields such as Symbol, Account or 30
    ///
    /// A row has the fills with the same values; rows are in the order of these. session is SenderCompID → TargetCompID of
    /// the execution; day, hour and minute are those of SendingTime (52); fields are tags, or names of the standard or of
    /// --dictionary. Where a correction lacks a field, the value of the trade counts.
    #[arg(
        long = "group-by",
        value_name = "KEY,…",
        value_delimiter = ',',
        num_args = 1,
        default_value = "session,Symbol,Side",
        help_heading = "Fills"
    )]
    pub(crate) by: Vec<String>,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

impl FillsArgs {
    /// What it reads and writes.
    pub(crate) fn files(&self) -> Files<'_> {
        self.messages.files(&self.output).stdout(Stdout::Report)
    }

    /// What fills are told apart by, each with the name of its column.
    pub(in crate::commands::fix) fn keys(
        &self,
        dictionaries: &[Dictionary],
    ) -> Result<Vec<(String, GroupKey)>> {
        group_by::keys(&self.by, dictionaries)
    }
}
