//! Checks one whole message and looks up its fields without a copy.
//!
//! The scan finds tags and ends, and marks what is unusual. A message without marks only needs its
//! frame checked; one with data fields or errors is read again by `diagnose`, which reports what is
//! wrong.

mod diagnose;
mod group;
mod lenient;
mod message;
mod parse;
mod parsed;

pub use group::{Entries, Entry};
pub use lenient::LenientMessage;
pub use message::{Field, Fields, Message};
pub use parse::Decoder;
