//! What a feeder knows of what it has fed before.

use bytes::Bytes;

/// The last block of a source that the stream has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Known {
    /// The byte of the source at which it starts.
    pub offset: u64,
    /// The number of its first line.
    pub line: u64,
    /// The block itself, to compare it with the source.
    pub bytes: Bytes,
}

impl Known {
    /// Where the next block starts: its byte, and its line.
    #[must_use]
    pub fn end(&self) -> (u64, u64) {
        let lines = memchr::memchr_iter(b'\n', &self.bytes).count() as u64;
        (self.offset + self.bytes.len() as u64, self.line + lines)
    }
}
