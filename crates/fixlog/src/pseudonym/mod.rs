//! Pseudonyms under a key: `pseudonyms` replaces the values of fields, [`tags`] says of which, `cipher`
//! makes one value of another of its form.

mod cipher;
mod digits;
mod pseudonyms;
mod tags;

pub use pseudonyms::{KeyError, Pseudonyms, Scratch};
pub use tags::TAGS;
