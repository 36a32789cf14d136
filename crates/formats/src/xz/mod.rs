//! The structure of xz files: their streams and blocks, read from the indexes at the ends of streams. No content is
//! decompressed.
//!
//! [`XzStreams`] goes from the end of a file to its beginning, [`XzIndex`] reads one index, and [`XzFlaw`] says what is
//! wrong.

mod error;
mod frame;
mod index;
mod streams;
#[cfg(test)]
mod tests;

pub use error::{XzError, XzFlaw};
pub use frame::Check;
pub use index::{XzBlock, XzIndex};
pub use streams::{XzStream, XzStreams};

/// The largest number that the format has, and the largest size of what an index describes.
const NUMBER_MAX: u64 = u64::MAX >> 1;
