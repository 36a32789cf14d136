//! A checksum that the caller computes. libzstd writes a frame without one; this module sets the flag
//! in its header and appends the checksum. The rest of the frame format is in `format`.

use crate::format::{CHECKSUM_BYTES, HEADER_PREFIX_BYTES};

/// The bit of a frame's descriptor that announces a checksum.
const CHECKSUM_BIT: u8 = 0x04;

/// The state of the checksum while its frame is written.
#[derive(Debug, Default)]
pub(crate) struct ExternalChecksum {
    /// Bytes of the frame written so far.
    written_bytes: u64,
    hash: Option<u64>,
    /// Bytes of the checksum written so far.
    sealed_bytes: usize,
}

impl ExternalChecksum {
    /// Sets the XXH64 of the content.
    pub(crate) fn set_content_hash(&mut self, xxh64: u64) {
        self.hash = Some(xxh64);
    }

    pub(crate) fn has_content_hash(&self) -> bool {
        self.hash.is_some()
    }

    /// Sets the checksum flag of the header if these next bytes of libzstd contain it.
    pub(crate) fn announce_in_header(&mut self, output: &mut [u8]) {
        let before = self.written_bytes;
        self.written_bytes += output.len() as u64;
        let at = (HEADER_PREFIX_BYTES as u64 - 1).checked_sub(before);
        let descriptor = at
            .and_then(|at| usize::try_from(at).ok())
            .and_then(|at| output.get_mut(at));
        if let Some(descriptor) = descriptor {
            *descriptor |= CHECKSUM_BIT;
        }
    }

    /// Writes the checksum that follows the last block, as far as there is room. Returns the bytes
    /// written, and whether it is complete.
    pub(crate) fn write(&mut self, room: &mut [u8]) -> (usize, bool) {
        // The low half of the hash is the checksum (RFC 8878, section 3.1.1).
        let checksum = (self.hash.unwrap_or_default() as u32).to_le_bytes();
        let rest = &checksum[self.sealed_bytes.min(CHECKSUM_BYTES)..];
        let count = rest.len().min(room.len());
        room[..count].copy_from_slice(&rest[..count]);
        self.sealed_bytes += count;
        (count, count == rest.len())
    }
}
