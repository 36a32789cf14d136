//! Compression as this crate uses it: whole buffers, stitched chunks, and streams to be read.
//!
//! The codecs are those of `deflate`, libdeflate and libzstd; contexts are made at first use
//! and kept. Nothing here knows a header.

pub(crate) mod chunk;
pub(crate) mod content;
mod detect;
#[cfg(feature = "zstd")]
pub(crate) mod frames;
#[cfg(feature = "methods")]
pub(crate) mod read_only_methods;
pub(crate) mod whole;

use crate::crypt::Encryption;
use crate::error::{Error, ErrorKind};

/// A library below failed although nothing was wrong with the input.
pub(crate) fn internal(what: &'static str) -> Error {
    Error::new(ErrorKind::Internal, what)
}

/// The compressing contexts of one thread, and its copy of the password.
#[derive(Default)]
pub(crate) struct Engines {
    pub(crate) whole: whole::Whole,
    #[cfg(feature = "zstd")]
    pub(crate) frames: frames::Frames,
    /// What entries are encrypted with.
    pub(crate) encryption: Option<Encryption>,
    pub(crate) chunks: chunk::Chunks,
}
