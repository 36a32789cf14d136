//! Compression codecs and their context pools under load: every block verified, latency by direction, leak
//! detection.
//!
//! A [`Plan`] states what producers and consumers do: how many there are, what blocks contain, how contexts
//! are pooled, when blocks are due, and which faults to inject. [`run`] carries it out with any [`Codec`],
//! built-in or your own, and returns a [`Finding`]: the fate of every block, four latency distributions, the
//! memory of the contexts, and whether anything leaked.
//!
//! Producers and consumers are tasks on a few threads. The run counts what contexts hold, including the C
//! heap of a codec as far as its contexts report it.
//!
//! Each codec is a feature of its own name; all but `brotli` are on by default. `none` is always there.
//!
//! ```
//! use perfkit_stress::{Plan, PoolKind, codec};
//!
//! let plan = Plan::default()
//!     .pool(PoolKind::Queue)
//!     .producers(4)
//!     .consumers(4)
//!     .threads(2)
//!     .blocks_max(Some(200));
//! let found = perfkit_stress::run(&plan, codec::by_name("zstd:1")?, &mut |_| true)?;
//! assert_eq!(found.counts.verified, 200);
//! assert!(found.counts.balanced() && !found.leak.left());
//! # Ok::<(), perfkit_stress::Error>(())
//! ```
//!
//! Not in this crate: command-line parsing, terminals, files, and the layout of reports.
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
pub use data::{Data, DataKind, ParseDataKindError};
pub use engine::run;
pub use error::{CodecError, Error};
pub use fault::Faults;
pub use finding::{Contexts, Finding, Latencies, Progress, Volume};
pub use latency::{BOUNDS_NS, Buckets};
pub use leak::{Growth, Leak, Quantity, Trend, judge};
pub use live::Live;
pub use plan::{HeldOutside, Loop, Pace, ParseLoopError, Plan};
pub use pool::{ParsePoolKindError, PoolKind};
pub use samples::Sample;
pub use slope::{Slope, theil_sen};

/// Runs the example of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
