//! Pseudonyms under a key: `pseudonyms` replaces the values of fields, [`tags`] says of which, `cipher`
//! makes one value of another of its form, `batch` does so with the messages of a log.

mod batch;
mod cipher;
mod digits;
mod pseudonyms;
mod tags;

pub(crate) use batch::Batch;
pub use pseudonyms::{KeyError, Pseudonyms, Scratch};
pub use tags::{TAGS, is_private};
