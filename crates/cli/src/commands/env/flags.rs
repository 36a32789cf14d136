//! Flags of `env`.

use clap::Args;

use crate::args::output::OutputArgs;

/// Show what reports say about this machine.
///
/// The CPU and the system, the floors (how long an empty timed span takes, waking a thread, starting a process),
/// the cost of recording one span, and whatever makes this machine unfit for measuring.
#[derive(Debug, Clone, Args)]
#[command(after_long_help = "Examples:
  perfkit env
  perfkit env --report json
  perfkit env --strict-env && ./bench.sh")]
pub(crate) struct EnvArgs {
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}
