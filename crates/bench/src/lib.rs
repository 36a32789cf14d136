//! Measuring several ways of doing one thing in a single run, and the benchmarks of perfkit's libraries.
//!
#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

#[cfg(feature = "compress")]
pub mod advise;
#[cfg(feature = "betree")]
pub mod betree;
mod checks;
#[cfg(feature = "compress")]
pub mod compress;
mod error;
#[cfg(feature = "fix")]
pub mod fix;
mod order;
mod paired;
#[cfg(feature = "programs")]
pub mod programs;
#[cfg(all(
    feature = "async",
    any(feature = "betree", feature = "compress", feature = "zip")
))]
mod runtime;
#[cfg(feature = "stress")]
pub mod stress;
#[cfg(all(feature = "async", any(feature = "betree", feature = "zip")))]
mod ticker;
mod watch;
#[cfg(any(feature = "betree", feature = "zip"))]
mod words;
#[cfg(feature = "zip")]
pub mod zip;

pub use checks::Checks;
pub use error::Error;
pub use latency::compare::Names;
pub use latency::report::Comparison;
pub use order::Order;
pub use paired::{Paired, Turn, paired, paired_until};
/// The run that a benchmark is a part of, and its report.
pub use report;
pub use watch::{Context, Watch};
