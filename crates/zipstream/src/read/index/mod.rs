//! Random access into one large deflate stream: an index of the places from which it can be decoded.
//!
//! [`builder`] makes an index while a stream is decoded once, [`format`] is its form as bytes, and
//! [`deflate_index`] reads and checks it. [`indexed`] reads any range of a content with an index,
//! [`part`] decodes what lies between two places, [`parallel`] does that on several threads. [`entry`]
//! connects all this to the entries of an archive.

mod builder;
mod deflate_index;
mod entry;
mod format;
mod indexed;
#[cfg(feature = "parallel")]
mod parallel;
mod part;

pub use builder::IndexBuilder;
pub use deflate_index::DeflateIndex;
pub use indexed::IndexedReader;
