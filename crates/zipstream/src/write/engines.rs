//! What one thread compresses and encrypts with.

use crate::crypt::Encryption;
#[cfg(feature = "zstd")]
use crate::engine::frames::Frames;
use crate::engine::{chunk::Chunks, whole::Whole};

/// The compression contexts of one thread, and its copy of the password.
#[derive(Default)]
pub(crate) struct Engines {
    pub(crate) whole: Whole,
    #[cfg(feature = "zstd")]
    pub(crate) frames: Frames,
    pub(crate) chunks: Chunks,
    /// How entries are encrypted.
    pub(crate) encryption: Option<Encryption>,
}
