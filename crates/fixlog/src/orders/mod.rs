//! The lives of orders: what each message of a log says about which order, from the first message to the last.

mod batch;
mod book;
mod event;
mod hop;
mod keys;
mod life;
mod open;
mod text;
mod wait;

pub use batch::{Batch, Merge};
pub use book::Book;
pub use event::OrderPart;
pub use hop::{Hop, HopCount};
pub use life::{Life, State, Step, StepKind};
pub use text::LifeLines;
pub use wait::{Wait, Watch};

pub use crate::stamp::time;

#[cfg(test)]
mod tests;
