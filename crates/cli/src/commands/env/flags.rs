//! Flags of `env`.

use clap::Args;

use crate::args::output::OutputArgs;

/// Show what reports say about this machine.
///
/// The CPU and the system, the floors (how long an empty timed span takes, waking a thread, starting a process),
/// the cost of recording one span, and whatever makes this machine unfit for measuring.
///
/// Flags that you always type can be defaults: in $XDG_CONFIG_HOME/perfkit/config.toml (usually
/// ~/.config/perfkit/config.toml), where `threads = 2` is for all commands that have this flag, and a table
/// such as [compress] or [fix.parse] for one; or in the environment, as PERFKIT_THREADS and
/// PERFKIT_FIX_PARSE_THREADS. A typed flag wins over the environment, and that over the file. PERFKIT_CONFIG
/// names another file, or, empty, none. Flags that delete or replace files, or say what to do, have no defaults.
/// This command shows the defaults that are set, and checks them.
#[derive(Debug, Clone, Args)]
#[command(after_long_help = "Examples:
  perfkit env
  PERFKIT_CONFIG=ci.toml perfkit env
  perfkit env --strict-env && ./bench.sh")]
pub(crate) struct EnvArgs {
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}
