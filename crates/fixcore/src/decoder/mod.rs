//! One whole message, checked once and looked up without a copy.
//!
//! The scan gives tags and ends, and marks what is out of the ordinary. A message without marks only
//! needs its frame checked; one with data fields or faults is read once more by `diagnose`, which
//! alone says what is wrong.

mod diagnose;
mod group;
mod message;
mod parse;
mod parsed;

pub use group::{Entries, Entry};
pub use message::{Field, Fields, Message};
pub use parse::Decoder;
