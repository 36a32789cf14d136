//! Flags of `env`.

use clap::Args;

use crate::args::output::OutputArgs;

/// Show this machine as reports see it.
///
/// The processor and the system, the clock floor (what an empty timed span takes), what it costs to
/// record a span, and what is unfit about this machine to measure on.
#[derive(Debug, Clone, Args)]
#[command(after_long_help = "Examples:
  perfkit env
  perfkit env --report json
  perfkit env --strict-env && ./bench.sh")]
pub(crate) struct EnvArgs {
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}
