//! Codecs as archives use them: whole contents, chunks of one stream, and decoding.
//!
//! The codecs are `deflate`, libdeflate and libzstd; contexts are created at first use and kept.
//! Nothing here knows headers.

pub(crate) mod bounds;
pub(crate) mod chunk;
pub(crate) mod content;
mod detect;
#[cfg(feature = "zstd")]
pub(crate) mod frames;
#[cfg(feature = "methods")]
pub(crate) mod read_only_methods;
pub(crate) mod whole;
