//! A matcher under load: events at a fixed rate and changes at another, over HTTP, from outside of its process.
//!
//! `load` sends and times, `client` speaks HTTP, `run` loads expressions, compares answers with those of an
//! index that shares no code with betree, and makes the report.

mod client;
mod load;
mod plan;
mod run;

pub use plan::Plan;
pub use run::{domains, run};
