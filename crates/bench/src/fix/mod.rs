//! What fixcore takes: nanoseconds for each message by every instruction set, stores, queues, transports,
//! and five techniques off and on. Every answer is compared with that of plain code first.
//!
//! `batches` times batches of operations, `sides` two ways of doing the same in turns; what is timed has
//! a file for each part, and [`run()`] connects them. [`shapes`] compares with a naive parser and encoder.

mod batches;
mod deferred;
mod encode;
mod parse;
mod plan;
mod run;
mod scan;
#[cfg(target_os = "linux")]
pub mod session;
pub mod shapes;
mod sides;
mod spsc;
mod store;
mod techniques;
#[cfg(target_os = "linux")]
mod transport;
mod words;

pub use plan::{Part, Plan};
pub use run::run;
