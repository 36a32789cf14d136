//! Flags of `betree-bench`.

use std::path::PathBuf;

use clap::Args;

use crate::args::expressions::{WorkloadArgs, WorkloadKind};
use crate::args::output::OutputArgs;
use crate::io::conflicts::{Files, Stdout};

/// Measure searches: plain, in slices, slice by slice.
///
/// Generates a workload, checks that every way of searching and every instruction set finds the
/// same, and then compares a search in one call with the same search in slices of a budget, bucket by
/// bucket in turns, with the plain search once more as a control. A ticker that shares a thread with
/// searches shows how late it comes.
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
    /// Expressions of a file in place of generated ones
    #[arg(long, value_name = "FILE", requires = "event_file")]
    pub(crate) expression_file: Option<PathBuf>,
    /// Events of a file
    #[arg(long, value_name = "FILE", requires = "expression_file")]
    pub(crate) event_file: Option<PathBuf>,
    /// Domains of a file, where the expressions do not bring their own
    #[arg(long, value_name = "FILE", requires = "expression_file")]
    pub(crate) domain_file: Option<PathBuf>,
    /// Buckets of searches a side
    #[arg(long, value_name = "N", default_value_t = 30,
          value_parser = clap::value_parser!(u32).range(2..=10_000))]
    pub(crate) buckets: u32,
    /// Searches of a bucket
    #[arg(long, value_name = "N", default_value_t = 1000,
          value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(crate) bucket_size: u32,
    /// Reductions of one slice
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
