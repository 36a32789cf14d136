//! Measuring several ways of doing one thing in a single run; what is measured is the caller's.
//!
#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod order;
mod paired;

pub use latency::compare::Names;
pub use latency::report::Comparison;
pub use order::Order;
pub use paired::{Paired, Turn, paired};
