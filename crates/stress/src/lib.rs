//! Codecs and their pools under load: every block verified, latency by direction, a verdict on leaks.
//!
//! A [`Plan`] says what producers and consumers do: how many there are, what the blocks hold, how
//! contexts are pooled, how fast blocks are due, what goes wrong on purpose. [`run`] does it with any
//! [`Codec`], the built-in ones or one of your own, and gives a [`Finding`]: what became of every
//! block, four distributions, what the contexts held, and whether anything grew.
//!
//! Producers and consumers are tasks over a few threads. What they count and hold is counted by the
//! run itself, the C heap of a codec included, as far as its contexts say what they hold.
//!
//! ```
//! use perfkit_stress::{Plan, PoolKind, codec};
//!
//! let plan = Plan {
//!     pool: PoolKind::Queue,
//!     producers: 4,
//!     consumers: 4,
//!     threads: 2,
//!     blocks_max: Some(200),
//!     ..Plan::default()
//! };
//! let found = perfkit_stress::run(&plan, codec::by_name("zstd:1")?, &mut |_| true)?;
//! assert_eq!(found.counts.verified, 200);
//! assert!(found.counts.balanced() && !found.leak.found());
//! # Ok::<(), perfkit_stress::Error>(())
//! ```
//!
//! What is not here: clap, a terminal, files, and the form of a report.
#![forbid(unsafe_code)]

mod batch;
mod census;
pub mod codec;
mod counts;
mod data;
mod engine;
mod error;
mod fault;
mod finding;
mod leak;
mod live;
mod plan;
mod pool;
mod random;
mod samples;
mod slope;

pub use codec::{Codec, Compress, Context, Decompress};
pub use counts::Counts;
pub use data::{Data, DataKind};
pub use engine::run;
pub use error::{CodecError, Error};
pub use fault::Faults;
pub use finding::{Contexts, Finding, Latencies, Progress, Volume};
pub use leak::{Growth, Leak, Quantity, Trend, judge};
pub use live::{BOUNDS_NS, Buckets, Live};
pub use plan::{HeldOutside, Loop, Pace, Plan};
pub use pool::PoolKind;
pub use samples::Sample;
pub use slope::{Slope, theil_sen};

/// Runs the example of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
