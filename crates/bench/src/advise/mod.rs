//! What may run in an event loop on this machine, and what it does to one.
//!
//! `data` is what is compressed, `cost` the tables of times and verdicts, `stall` the measurement in a
//! runtime under load, `streams` that of streams at once, with advice; both look at a `probe`. Nothing here decides
//! for a program; that is `zstdkit::schedule`.

mod cost;
mod data;
mod plan;
#[cfg(feature = "async")]
mod probe;
mod run;
#[cfg(feature = "async")]
mod stall;
#[cfg(feature = "async")]
mod streams;

pub use data::Data;
pub use plan::{Plan, Streams};
pub use run::run;
