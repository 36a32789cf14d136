//! Flags of `fix-bench session`.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

#[cfg(target_os = "linux")]
use bench::fix::session::Transport;
use clap::Args;

use crate::args::output::OutputArgs;
use crate::args::units;

/// Measure sessions: an acceptor that returns orders, compared with a plain loop.
///
/// Starts an acceptor of the session library on a port of 127.0.0.1, opens sessions of FIX 4.4, and sends orders, which
/// come back. It checks every answer: the same fields, numbers in order. The rival `raw` returns the same bytes without
/// an engine, from a thread that never sleeps. All sides take turns in random order.
///
/// First, each session has one order in flight. Then orders are due at a fixed rate for all sessions together: service
/// is the time from sending to the answer, response the time from when the order was due, hold how long one call kept
/// the acceptor's thread. Last, one session asks for everything again, out of a durable store.
///
/// --connect adds another engine. It must accept 49=C1, C2 and so on with 56=SERVER and 141=Y, and return
/// NewOrderSingle (35=D) with its fields by ascending tag.
#[derive(Debug, Clone, Args)]
#[command(after_long_help = "Examples:
  perfkit fix-bench session
  perfkit fix-bench session --sessions 1 --transport busy,busy-uring --cpu 0,1
  perfkit fix-bench session --sessions 64 --rate 50000 --duration 5s --resend 0
  perfkit fix-bench session --connect 127.0.0.1:9880 --name QuickFIX")]
pub(crate) struct SessionArgs {
    /// Numbers of sessions, separated by commas
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "1,64,1000",
          value_parser = clap::value_parser!(u32).range(1..=4000))]
    pub(crate) sessions: Vec<u32>,
    /// epoll, uring, busy or busy-uring (the thread never sleeps), separated by commas [default: all]
    #[cfg(target_os = "linux")]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub(crate) transport: Vec<Transport>,
    /// Measure the engine that listens here, too
    #[arg(long, value_name = "HOST:PORT")]
    pub(crate) connect: Option<SocketAddr>,
    /// Its name in tables
    #[arg(
        long,
        value_name = "NAME",
        default_value = "other",
        requires = "connect"
    )]
    pub(crate) name: String,
    /// Its process, to measure memory
    #[arg(long, value_name = "PID", requires = "connect")]
    pub(crate) pid: Option<u32>,
    /// Messages of a turn
    #[arg(long, value_name = "N", default_value_t = 20_000,
          value_parser = clap::value_parser!(u32).range(1..=100_000_000))]
    pub(crate) messages: u32,
    /// Rounds in which each side has a turn
    #[arg(long, value_name = "N", default_value_t = 7,
          value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) rounds: u32,
    /// Messages per second of the open loop; 0 leaves it out
    #[arg(long, value_name = "RATE", default_value_t = 10_000)]
    pub(crate) rate: u32,
    /// How long a turn of the open loop takes
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = units::duration)]
    pub(crate) duration: Duration,
    /// Messages that are sent again; 0 leaves it out
    #[arg(long, value_name = "N", default_value_t = 10_000,
          value_parser = clap::value_parser!(u32).range(..=1_000_000))]
    pub(crate) resend: u32,
    /// Keep all messages in a durable store
    #[arg(long)]
    pub(crate) durable: bool,
    /// Where to create stores [default: the directory for temporary files]
    #[arg(long, value_name = "DIR")]
    pub(crate) store_dir: Option<PathBuf>,
    /// Seed of the turns
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}
