//! The lives of orders: what each message of a log says about which order, from the first message to the last.

mod back;
mod batch;
mod book;
mod ended;
mod event;
mod find;
mod follow;
mod hop;
mod keys;
mod life;
mod open;
mod reason;
mod slots;
mod text;
mod wait;
mod who;
mod window;

pub use back::Back;
pub use batch::{Batch, Merge};
pub use book::Book;
pub use event::OrderPart;
pub use hop::{Hop, HopCount};
pub use life::{Life, State, Step, StepKind};
pub use reason::Reason;
pub use text::LifeLines;
pub use wait::{Wait, Watch};
pub use window::Unordered;

pub use crate::stamp::time;

#[cfg(test)]
mod tests;
