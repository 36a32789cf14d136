//! Reads LZ4 files: frames, frames of the legacy format, skippable frames.
//!
//! [`Lz4Decoder`] reads, [`Lz4Flaw`] says what is wrong.

mod decoder;
mod error;
#[cfg(test)]
mod tests;

pub use decoder::{LEGACY_MAGIC, Lz4Decoder, Lz4Step, MAGIC};
pub use error::{Lz4Error, Lz4Flaw};
