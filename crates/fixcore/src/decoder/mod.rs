//! Checks one whole message and looks up its fields without a copy.
//!
//! The scan finds tags and ends, and stops at what is unusual: a data field, or an error. `reader` reads
//! only that, the scan goes on after it, and `check` compares the frame with what was found.

mod check;
mod fields;
mod group;
mod lenient;
mod message;
mod parse;
mod parsed;
mod reader;
mod start;

pub use fields::{Field, Fields};
pub use group::{Entries, Entry};
pub use lenient::LenientMessage;
pub use message::Message;
pub use parse::Decoder;
