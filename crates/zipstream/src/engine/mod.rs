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
