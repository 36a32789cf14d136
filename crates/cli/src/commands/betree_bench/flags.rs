//! Flags of `betree-bench`.

use std::path::PathBuf;

use clap::Args;

use crate::args::expressions::{WorkloadArgs, WorkloadKind};
use crate::args::output::OutputArgs;
use crate::io::conflicts::{Files, Stdout};

/// Measure searches: in one call, and in slices of a budget.
///
/// Generates a workload and checks that every way to search and every instruction set finds the same
/// ids. Then compares a search in one call with the same search in slices, in random order, with the
/// search in one call also as a control. A ticker that shares its thread with searches shows how late
/// it runs.
#[derive(Debug, Clone, Args)]
#[command(after_long_help = "Examples:
  perfkit betree-bench
  perfkit betree-bench bool --attributes 128
  perfkit betree-bench ad --expressions 100000 --report markdown
  perfkit betree-bench --expression-file expressions --event-file events")]
pub(crate) struct BetreeBenchArgs {
    /// bool or ad
    #[arg(value_enum, default_value_t = WorkloadKind::Bool)]
    pub(crate) kind: WorkloadKind,
    #[command(flatten)]
    pub(crate) size: WorkloadArgs,
    /// Take expressions from FILE instead of generating them
    #[arg(long, value_name = "FILE", requires = "event_file")]
    pub(crate) expression_file: Option<PathBuf>,
    /// Take events from FILE
    #[arg(long, value_name = "FILE", requires = "expression_file")]
    pub(crate) event_file: Option<PathBuf>,
    /// Take domains from FILE; not needed with Erlang terms
    #[arg(long, value_name = "FILE", requires = "expression_file")]
    pub(crate) domain_file: Option<PathBuf>,
    /// Buckets of searches per side
    #[arg(long, value_name = "N", default_value_t = 30,
          value_parser = clap::value_parser!(u32).range(2..=10_000))]
    pub(crate) buckets: u32,
    /// Searches per bucket
    #[arg(long, value_name = "N", default_value_t = 1000,
          value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(crate) bucket_size: u32,
    /// Reductions per slice, the unit of work of a search
    #[arg(long, value_name = "N", default_value_t = 2000,
          value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) budget: u64,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

impl BetreeBenchArgs {
    /// What it reads and writes.
    pub(crate) fn files(&self) -> Files<'_> {
        self.output
            .files()
            .reads_some("--expression-file", &self.expression_file)
            .reads_some("--event-file", &self.event_file)
            .reads_some("--domain-file", &self.domain_file)
            .stdout(Stdout::Report)
    }
}
