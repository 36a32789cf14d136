//! What may run in an event loop on this machine, and what it does to one.
//!
//! `data` is what is compressed, `cost` the tables of times and verdicts, `stall` the measurement in a
//! runtime under load. Nothing here decides for a program; that is `zstdkit::schedule`.

mod cost;
mod data;
mod plan;
mod run;
#[cfg(feature = "async")]
mod stall;

pub use data::Data;
pub use plan::Plan;
pub use run::run;
