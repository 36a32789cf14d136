//! Work that leaves the hot path: submitting a message copies it, and another thread handles it.
//!
//! [`Stall`] decides what happens when that thread does not keep up. Messages are handled in the order
//! of their submission, and every accepted message is handled before [`Deferred::finish`] returns. No
//! clock is read here: the handler gets the stamp that the caller gave with each message.

mod options;
mod overflow;
mod worker;

pub use options::{Options, Stall};
pub use overflow::Spill;
pub use worker::{Deferred, Fate, Finished};
