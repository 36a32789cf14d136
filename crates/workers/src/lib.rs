//! Workers on a broker that exists: blocks of lines come from a stream, are answered, and each answer is stored once.
//!
#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod block;
mod cutter;
mod engine;
mod error;
mod in_flight;
#[cfg(feature = "kafka")]
pub mod kafka;
mod known;
mod life;
mod lines;
mod lost;
mod merge;
#[cfg(feature = "nats")]
pub mod nats;
pub mod settings;
#[cfg(feature = "simulation")]
pub mod simulation;
#[cfg(feature = "nats")]
mod subjects;
mod work;

pub use block::{
    Block, BlockId, CARRIED_BYTES_MAX, CARRIED_MAX, Delivery, LABEL_BYTES_MAX, Labels, Message,
    Place, Steps, WHOLE, token,
};
pub use cutter::{BLOCK_BYTES, Cut, Cutter, LongLine};
pub use engine::{Engine, Published, To, Verdict};
pub use error::{Error, Result};
pub use in_flight::Bounds;
pub use known::Known;
pub use life::{Action, Fate, Fault, Life, Limits, Reason, pause};
pub use lines::join_lines;
pub use lost::Lost;
pub use merge::{Merge, MergeError, Merged, Pushed};
pub use settings::Once;
pub use work::{Answer, Matching, Options, Tally, Trouble, Watch, work};
