//! Flags of `betree-bench`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand};
use files::conflicts::{Files, Stdout};

use crate::args::expressions::{WorkloadArgs, WorkloadKind};
use crate::args::live::LiveArgs;
use crate::args::output::OutputArgs;
use crate::args::units;

/// Measure searches: in one call, and in slices of a budget.
///
/// Generates a workload and checks that every way to search and every instruction set finds the same
/// ids. Then compares a search in one call with the same search in slices, in random order, with the
/// search in one call also as a control. A ticker that shares its thread with searches shows how late
/// it runs.
#[derive(Debug, Clone, Args)]
#[command(args_conflicts_with_subcommands = true, disable_help_subcommand = true)]
#[command(after_long_help = "Examples:
  perfkit betree-bench
  perfkit betree-bench bool --attributes 128
  perfkit betree-bench ad --expressions 100000 --report markdown
  perfkit betree-bench --expression-file expressions --event-file events
  perfkit betree-bench shapes --expressions 10000
  perfkit betree-bench serve")]
pub(crate) struct BetreeBenchArgs {
    /// What to measure instead
    #[command(subcommand)]
    pub(crate) part: Option<BetreeBenchPart>,
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
    #[command(flatten)]
    pub(crate) live: LiveArgs,
}

/// The parts of `betree-bench`.
#[derive(Debug, Clone, Subcommand)]
pub(crate) enum BetreeBenchPart {
    Shapes(Box<ShapesArgs>),
    #[cfg(feature = "serve")]
    Serve(Box<ServeArgs>),
}

/// Compare with a simple inverted index over shapes of workloads.
///
/// Measures all named shapes, sweeps over numbers of values, and shapes drawn at random, each at every number of
/// expressions. All answers are compared; then both sides search in turns of random order. The first table has the
/// worst ratio first. Neighbours of a sweep whose costs per matching expression differ more than 3 times are a cliff:
/// the run names them and exits 4. A run whose time is up reports what it measured and exits 3.
#[derive(Debug, Clone, Args)]
#[command(after_long_help = "Examples:
  perfkit betree-bench shapes
  perfkit betree-bench shapes --expressions 10000,100000,1000000 --max-time 60m
  perfkit betree-bench shapes --shape radius --shape 'sweep of texts' --expressions 20000
  perfkit betree-bench shapes --shape deal --draws 20 --first-draw 100 --report markdown")]
pub(crate) struct ShapesArgs {
    /// Numbers of expressions, separated by commas
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_values_t = [10_000, 100_000],
          value_parser = clap::value_parser!(u32).range(1..=2_000_000))]
    pub(crate) expressions: Vec<u32>,
    /// Only shapes with TEXT in their name; repeatable [default: all]
    #[arg(long, value_name = "TEXT")]
    pub(crate) shape: Vec<String>,
    /// Number of shapes drawn at random [default: 100, or 0 with --shape]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(..=100_000))]
    pub(crate) draws: Option<u32>,
    /// Number that the first shape is drawn from; the others follow
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) first_draw: u64,
    /// Events per shape
    #[arg(long, value_name = "N", default_value_t = 200,
          value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) events: u32,
    /// Rounds over all events; a slow shape gets fewer
    #[arg(long, value_name = "N", default_value_t = 5,
          value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) rounds: u32,
    /// Reductions per step, the unit of work of a search
    #[arg(long, value_name = "N", default_value_t = 2000,
          value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) budget: u64,
    /// Seed of expressions, events and turns
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Measure no further shape after TIME
    #[arg(long, value_name = "TIME", default_value = "30m", value_parser = units::duration)]
    pub(crate) max_time: Duration,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// Measure a matcher over HTTP, with changes at the same time.
///
/// Starts `perfkit betree serve` with a log, loads expressions, then sends events at a fixed rate over
/// several connections and changes on another. Times count from when a request was due. The report has
/// the times seen by clients and those that the server recorded: how long searches and the writer kept
/// their threads, and how long publication took. A sample of the answers is compared with those of a
/// simple inverted index.
#[cfg(feature = "serve")]
#[derive(Debug, Clone, Args)]
#[command(after_long_help = "Examples:
  perfkit betree-bench serve
  perfkit betree-bench serve --events-per-s 50000 --changes-per-s 1000 --duration 30s
  perfkit betree-bench serve --shape radius --expressions 20000 --sync interval:10ms
  perfkit betree-bench serve --connect 127.0.0.1:8080")]
pub(crate) struct ServeArgs {
    /// Measure the matcher at this address instead, which has the domains of the shape and no expressions
    #[arg(long, value_name = "ADDRESS", conflicts_with_all = ["sync", "threads"])]
    pub(crate) connect: Option<std::net::SocketAddr>,
    /// The workload; `perfkit betree generate --list` shows the names
    #[arg(
        long,
        value_name = "NAME",
        default_value = "country in, age >=, segments one of"
    )]
    pub(crate) shape: String,
    /// Number of expressions
    #[arg(long, value_name = "N", default_value_t = 100_000,
          value_parser = clap::value_parser!(u32).range(1..=2_000_000))]
    pub(crate) expressions: u32,
    /// Events per second
    #[arg(long, value_name = "N", default_value_t = 20_000,
          value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    pub(crate) events_per_s: u32,
    /// Events per request
    #[arg(long, value_name = "N", default_value_t = 20,
          value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) batch: u32,
    /// Connections that events are sent on
    #[arg(long, value_name = "N", default_value_t = 4,
          value_parser = clap::value_parser!(u32).range(1..=1_000))]
    pub(crate) connections: u32,
    /// Changes per second; 0 is none
    #[arg(long, value_name = "N", default_value_t = 100,
          value_parser = clap::value_parser!(u32).range(..=1_000_000))]
    pub(crate) changes_per_s: u32,
    /// How long
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = units::duration)]
    pub(crate) duration: Duration,
    /// When changes are durable: always, interval:TIME or never
    #[arg(long, value_name = "POLICY", default_value = "always")]
    pub(crate) sync: String,
    /// Threads of the server; by default one per CPU
    #[arg(short = 'T', long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) threads: Option<u16>,
    /// Seed of expressions, events and changes
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

impl BetreeBenchArgs {
    /// What it reads and writes.
    pub(crate) fn files(&self) -> Files<'_> {
        match &self.part {
            Some(BetreeBenchPart::Shapes(args)) => {
                return args.output.files().stdout(Stdout::Report);
            }
            #[cfg(feature = "serve")]
            Some(BetreeBenchPart::Serve(args)) => {
                return args.output.files().stdout(Stdout::Report);
            }
            None => {}
        }
        self.output
            .files()
            .reads_some("--expression-file", &self.expression_file)
            .reads_some("--event-file", &self.event_file)
            .reads_some("--domain-file", &self.domain_file)
            .stdout(Stdout::Report)
    }
}
