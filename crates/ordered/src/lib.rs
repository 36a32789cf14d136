//! Ordered workers: items are fetched in order, worked on by several threads, and received in order.
//! What items are, where they come from and what becomes of them is the caller's.
//!
#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod error;
mod pool;

pub use error::Error;
pub use pool::{Ended, Pool, Stop};
