//! Flags of `explain`.

use clap::Args;

use crate::args::output::TerminalArgs;

/// Explain what the numbers of a report mean.
///
/// Without TOPIC, lists the topics. Each is one short page.
#[derive(Debug, Clone, Args)]
#[command(after_long_help = "Examples:
  perfkit explain
  perfkit explain coordinated-omission
  perfkit explain gates | less")]
pub(crate) struct ExplainArgs {
    /// What to explain
    #[arg(value_name = "TOPIC")]
    pub(crate) topic: Option<String>,
    #[command(flatten)]
    pub(crate) terminal: TerminalArgs,
}
