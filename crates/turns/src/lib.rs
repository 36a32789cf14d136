//! Turns of a worker thread, shared by all tasks on it that compute: those of zstdkit and of zipstream alike.
//! What is computed, and how long it will take, is the caller's to say.
//!
#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod away;
mod berth;
mod content;
mod contexts;
mod discard;
mod gate;
mod idle;
mod keeps;
mod rate;
mod turn;

pub use away::Away;
pub use content::{Content, Join, OutOfMemory, Refuse};
pub use discard::{DISCARD_BYTES, discard};
pub use keeps::Keeps;
pub use rate::Rate;
pub use turn::{Turn, timed};

/// The longest turn that most callers should allow, in nanoseconds: 100 µs.
pub const THRESHOLD_NS: u64 = 100_000;
