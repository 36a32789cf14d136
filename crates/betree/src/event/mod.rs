//! Events as searches see them: for each attribute whether it is defined and its value; for lists, which of the
//! elements they have that some expression uses.
//!
//! [`reader`] reads events from JSON; `eval` evaluates tests on them.

mod json;
mod order;
mod reader;
mod sparse;
mod values;

pub use reader::{EventId, EventReader};
pub(crate) use values::{EventValues, signature};

/// The longest text of an event.
pub(crate) const TEXT_BYTES_MAX: usize = 1 << 16;

/// An event, read for one state of a tree.
#[derive(Debug, Clone, PartialEq)]
pub struct Event(pub(crate) Box<EventValues>);
