//! What became of the sessions of a log: gaps and how they were filled, resend requests and storms, connections
//! and how they ended, heartbeats and test requests, rejects by reason, messages a minute.
//!
//! [`HealthPart`] is gathered from a block by any thread, [`Health`] adds parts up in the order of the log.

mod connection;
mod direction;
mod event;
mod gaps;
mod rows;
mod skew;
mod total;
mod values;

pub use event::HealthPart;
pub use rows::{
    Connection, Direction, Duplicate, Finding, Gap, Rejects, Request, Silence, Skew, Spot, Storm,
    Test,
};
pub use total::{Health, Watch, without_digits};
pub use values::{Row, Value};

#[cfg(test)]
mod tests;
