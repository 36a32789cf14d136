//! Flags of `tour`.

use clap::Args;

use crate::args::output::OutputArgs;
use crate::args::units;

/// Run every component on generated data and say what came of it.
///
/// One sentence for each component: what it did, how fast, and what that means for a program that uses it. -v
/// shows the tables and distributions behind them; exports always hold them.
///
/// The same seed generates the same bytes on every machine. Everything that is compressed is also
/// decompressed and compared, untimed; a wrong answer ends with exit code 1.
#[derive(Debug, Clone, Args)]
#[command(after_long_help = "Examples:
  perfkit tour
  perfkit tour --size 64M --report markdown
  perfkit tour --export-json tour.json --export-hlog tour.hlog")]
pub(crate) struct TourArgs {
    /// Bytes of each kind of data, from 1M to 1G
    #[arg(long, value_name = "SIZE", default_value = "8M", value_parser = units::size)]
    pub(crate) size: u64,
    /// Seed of the generated data
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}
