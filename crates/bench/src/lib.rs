//! Measuring several ways of doing one thing in a single run, and the benchmarks of perfkit's libraries.
//!
#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

#[cfg(feature = "compress")]
pub mod advise;
mod checks;
#[cfg(feature = "compress")]
pub mod compress;
mod error;
#[cfg(feature = "fix")]
pub mod fix;
mod order;
mod paired;
#[cfg(feature = "stress")]
pub mod stress;
mod watch;

pub use checks::Checks;
pub use error::Error;
pub use latency::compare::Names;
pub use latency::report::Comparison;
pub use order::Order;
pub use paired::{Paired, Turn, paired};
pub use watch::{Context, Watch};
