//! Flags of `fix-bench`.

use std::path::PathBuf;
use std::time::Duration;

use bench::fix::Part;
use bench::fix::shapes::Operation;
use clap::{Args, Subcommand, ValueEnum};
use files::conflicts::{Files, Stdout};
use fixcore::{Isa, UnknownName};

use crate::args::live::LiveArgs;
use crate::args::output::OutputArgs;
use crate::args::units;
use crate::commands::fix_bench::session_flags::SessionArgs;

/// What is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum FixBenchPart {
    /// Finding separators, and an index with tags and checksum
    Scan,
    /// A validated parse, and a parse with eight look-ups
    Parse,
    /// Writing an order with a template, and messages field by field
    Encode,
    /// Rings, many connections with io_uring and with epoll, and a round trip
    Transport,
    /// Techniques of low latency, each off and on
    Techniques,
    /// Storing messages and reading them back, compared with maps in memory
    Store,
    /// A queue between two threads
    Spsc,
    /// Handing messages over, inline work, and a handler that stalls
    Deferred,
    /// All of these, with stores of up to 100,000 messages
    All,
}

/// Measure scans, parses, encodes, stores, queues and transports.
///
/// Measures four messages of 83 to 1,920 bytes and a shuffled set of 256, or the messages of a file,
/// with every instruction set of this CPU. All of them must first give the same answer. Times are
/// means over batches.
///
/// transport measures io_uring requests with and without its flags, 64 connections with io_uring and
/// with epoll, and a polled round trip, over local sockets (Linux; PERFKIT_IO=epoll or uring chooses
/// one). techniques measures techniques off and on: io_uring flags, SQPOLL, registered buffers and
/// multishot receives, a vector scanner, a Swiss table, a pinned thread, huge and locked pages, deferred
/// work, a queue of many producers. What the system refuses is a row with the reason. Both compare
/// variants in random order, with a control, on two threads; --cpu 0,1 pins those, which may or may not
/// help.
#[derive(Debug, Clone, Args)]
#[command(args_conflicts_with_subcommands = true, disable_help_subcommand = true)]
#[command(after_long_help = "Examples:
  perfkit fix-bench
  perfkit fix-bench scan --isa avx2
  perfkit fix-bench transport --cpu 0,1 --report markdown
  perfkit fix-bench shapes --isa each
  perfkit fix-bench session --sessions 1,64")]
pub(crate) struct FixBenchArgs {
    /// What to measure instead
    #[command(subcommand)]
    pub(crate) command: Option<FixBenchCommand>,
    /// scan, parse, encode, store, spsc, deferred, transport, techniques or all
    #[arg(value_enum, default_value_t = FixBenchPart::All, hide_possible_values = true)]
    pub(crate) part: FixBenchPart,
    /// Measure the first 4,096 messages of FILE instead
    #[arg(long, value_name = "FILE")]
    pub(crate) messages: Option<PathBuf>,
    /// Only this instruction set
    #[arg(long, value_name = "NAME")]
    pub(crate) isa: Option<Isa>,
    /// Batches per row
    #[arg(long, value_name = "N", default_value_t = 31,
          value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) batches: u32,
    /// Messages per batch
    #[arg(long, value_name = "N", default_value_t = 2000,
          value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    pub(crate) batch_size: u32,
    /// techniques: 10,000 operations to warm up, then 5 batches of 100,000
    #[arg(long, conflicts_with_all = ["batches", "batch_size"])]
    pub(crate) as_seed: bool,
    /// Messages of the largest store
    #[arg(long, value_name = "N", default_value_t = 10_000_000, hide_short_help = true,
          value_parser = clap::value_parser!(u64).range(1000..=100_000_000))]
    pub(crate) store_messages: u64,
    /// Where to create stores [default: the directory for temporary files]
    #[arg(long, value_name = "DIR", hide_short_help = true)]
    pub(crate) store_dir: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
    #[command(flatten)]
    pub(crate) live: LiveArgs,
}

/// The parts of `fix-bench` with flags of their own.
#[derive(Debug, Clone, Subcommand)]
pub(crate) enum FixBenchCommand {
    Shapes(Box<ShapesArgs>),
    Session(Box<SessionArgs>),
}

/// Compare with a naive parser and encoder over shapes of messages.
///
/// Measures all named shapes, sweeps over fields, lengths, tags, data fields and faults, and shapes drawn at random. The
/// naive parser and encoder are short and make the same checks. Every message is parsed and written by both first, and
/// all answers are compared: fields, kinds of errors, bytes. Then both take turns in random order. A ratio below 1 means
/// that fixcore is faster; the worst comes first, and `control` shows the noise. Neighbours of a sweep that cost more
/// than 3 times as much a byte are a cliff: the run names them and exits 4. A run whose time is up reports what it
/// measured and exits 3.
///
/// Operations: parse; absent and late, the first look-up of a missing and of the last tag of a parsed message; iterate,
/// all fields of a parsed message; read, a parse and all fields; encode, field by field.
#[derive(Debug, Clone, Args)]
#[command(after_long_help = "Examples:
  perfkit fix-bench shapes
  perfkit fix-bench shapes --isa each --max-time 60m
  perfkit fix-bench shapes --isa avx2,sse2 --operation parse --shape order --shape snapshot
  perfkit fix-bench shapes --shape 'sweep of fields' --rounds 31
  perfkit fix-bench shapes --shape heartbeat --draws 20 --seed 7 --report markdown")]
pub(crate) struct ShapesArgs {
    /// Instruction sets, separated by commas, or each for all of this CPU [default: the fastest]
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    pub(crate) isa: Vec<IsaWord>,
    /// Only these operations, separated by commas: parse, absent, late, iterate, read, encode [default: all]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub(crate) operation: Vec<Operation>,
    /// Only shapes with TEXT in their name; repeatable [default: all]
    #[arg(long, value_name = "TEXT")]
    pub(crate) shape: Vec<String>,
    /// Number of shapes drawn at random [default: 50, or 0 with --shape]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(..=100_000))]
    pub(crate) draws: Option<u32>,
    /// Number that the first shape is drawn from; the others follow
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) first_draw: u64,
    /// Rounds in which each side has a turn
    #[arg(long, value_name = "N", default_value_t = 15,
          value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) rounds: u32,
    /// Seed of messages and turns
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Measure no further shape after TIME
    #[arg(long, value_name = "TIME", default_value = "30m", value_parser = units::duration)]
    pub(crate) max_time: Duration,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// A word of `--isa`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum IsaWord {
    /// All that this processor has.
    Each,
    One(Isa),
}

impl std::str::FromStr for IsaWord {
    type Err = UnknownName;

    fn from_str(word: &str) -> Result<Self, UnknownName> {
        match word {
            "each" => Ok(Self::Each),
            name => name.parse().map(Self::One),
        }
    }
}

impl FixBenchPart {
    /// What it stands for.
    pub(crate) fn parts(self) -> Vec<Part> {
        vec![match self {
            Self::Scan => Part::Scan,
            Self::Parse => Part::Parse,
            Self::Encode => Part::Encode,
            Self::Transport => Part::Transport,
            Self::Techniques => Part::Techniques,
            Self::Store => Part::Store,
            Self::Spsc => Part::Spsc,
            Self::Deferred => Part::Deferred,
            Self::All => return Part::ALL.to_vec(),
        }]
    }
}

impl FixBenchArgs {
    /// What it reads and writes. A store in `--store-dir` gets a directory of its own.
    pub(crate) fn files(&self) -> Files<'_> {
        match &self.command {
            Some(FixBenchCommand::Shapes(args)) => {
                return args.output.files().stdout(Stdout::Report);
            }
            Some(FixBenchCommand::Session(args)) => {
                return args.output.files().stdout(Stdout::Report);
            }
            None => {}
        }
        self.output
            .files()
            .reads_some("--messages", &self.messages)
            .stdout(Stdout::Report)
    }
}
