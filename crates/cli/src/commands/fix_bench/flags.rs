//! Flags of `fix-bench`.

use std::path::PathBuf;

use bench::fix::Part;
use clap::{Args, ValueEnum};
use files::conflicts::{Files, Stdout};
use fixcore::Isa;

use crate::args::output::OutputArgs;

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
    /// Five techniques, each off and on
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
/// one). techniques measures five techniques off and on: io_uring flags, a vector scanner, a Swiss
/// table, a pinned thread, deferred work. Both compare variants in random order, with a control, on two
/// threads; --cpu 0,1 pins those, which may or may not help.
#[derive(Debug, Clone, Args)]
#[command(after_long_help = "Examples:
  perfkit fix-bench
  perfkit fix-bench scan --isa avx2
  perfkit fix-bench transport --cpu 0,1 --report markdown")]
pub(crate) struct FixBenchArgs {
    /// scan, parse, encode, store, spsc, deferred, transport, techniques or all
    #[arg(value_enum, default_value_t = FixBenchPart::All, hide_possible_values = true)]
    pub(crate) part: FixBenchPart,
    /// Measure the messages of FILE instead
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
    /// Messages of the largest store
    #[arg(long, value_name = "N", default_value_t = 10_000_000, hide_short_help = true,
          value_parser = clap::value_parser!(u64).range(1000..=100_000_000))]
    pub(crate) store_messages: u64,
    /// Where to create stores [default: the directory for temporary files]
    #[arg(long, value_name = "DIR", hide_short_help = true)]
    pub(crate) store_dir: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
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
        self.output
            .files()
            .reads_some("--messages", &self.messages)
            .stdout(Stdout::Report)
    }
}
