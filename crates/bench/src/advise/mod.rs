//! What may run in an event loop on this machine, and what it does to one.
//!
//! `data` is what is compressed, `times` what calls took, `answer` the advice in sentences, `cost` the tables
//! for zstd, `deflate` and `fix` those for ZIP and FIX, `stall` the measurement in a runtime under load, `streams`
//! that of streams at once, with advice; both look at a `probe`. Nothing here decides for a program; that is
//! `zstdkit::schedule`.

mod answer;
mod cost;
mod data;
#[cfg(feature = "zip")]
mod deflate;
#[cfg(feature = "fix")]
mod fix;
mod plan;
#[cfg(feature = "async")]
mod probe;
mod run;
#[cfg(feature = "async")]
mod stall;
#[cfg(feature = "async")]
mod streams;
mod times;

/// Tokio code that does what is advised, by [`zstdkit::tokio`]. It is an example of this crate, and so compiles.
pub const TOKIO_CODE: &str = include_str!("../../examples/advised.rs");

pub use data::Data;
pub use plan::{Plan, Streams};
pub use run::run;
