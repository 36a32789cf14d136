//! How far a stream was decoded.

#[cfg(feature = "tokio")]
use crate::format::HEADER_BYTES_MAX;

/// Counts of what a decoder has done so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Totals {
    /// Complete zstd frames.
    pub frames: u64,
    /// Complete skippable frames.
    pub skippable_frames: u64,
    /// Bytes taken.
    pub bytes_in: u64,
    /// Bytes produced.
    pub bytes_out: u64,
    /// Frames whose checksum was verified.
    pub checksums_verified: u64,
}

/// The place in a stream where memory for the next frame was short, or between two frames.
#[cfg(feature = "tokio")]
#[derive(Debug, Clone, Copy)]
pub(crate) struct Suspended {
    /// What was decoded before this frame.
    pub(crate) before: Totals,
    /// The memory that it needs, with the context.
    pub(crate) need_bytes: u64,
    /// The header of the frame, if one has begun.
    pub(super) header: [u8; HEADER_BYTES_MAX],
    pub(super) header_bytes: usize,
}
