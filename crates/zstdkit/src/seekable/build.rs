//! Writes a seek table. The caller writes the frames.

use super::layout::{CHECKSUM_FLAG, FOOTER_MAGIC, FRAMES_MAX, TABLE_MAGIC};
use crate::error::{Error, Repr};
use crate::format::SKIPPABLE_HEADER_BYTES;

/// Collects the entries of a seek table.
///
/// Add all frames in the order of the file, from its first byte and without gaps. Skippable frames count as
/// frames without content.
#[derive(Debug, Clone)]
pub struct SeekTableBuilder {
    /// Room for the header, then the entries.
    table: Vec<u8>,
    frames: u32,
    checksums: bool,
}

impl SeekTableBuilder {
    /// An empty table. `checksums`: whether each entry has the low half of the XXH64 of its content.
    pub fn new(checksums: bool) -> Self {
        Self {
            table: vec![0; SKIPPABLE_HEADER_BYTES],
            frames: 0,
            checksums,
        }
    }

    /// Adds the next frame: its size in the file, the size of its content, and the checksum of the
    /// content. A table with checksums stores 0 if none is given.
    pub fn push(&mut self, stored: u64, content: u64, checksum: Option<u32>) -> Result<(), Error> {
        let refused = |bytes, max| Err(Repr::SeekTableEntry { bytes, max }.into());
        let (Ok(stored_field), Ok(content_field)) = (u32::try_from(stored), u32::try_from(content))
        else {
            return refused(stored.max(content), u32::MAX.into());
        };
        if self.frames == FRAMES_MAX {
            return refused(stored, 0);
        }
        self.table.extend(stored_field.to_le_bytes());
        self.table.extend(content_field.to_le_bytes());
        if self.checksums {
            self.table.extend(checksum.unwrap_or(0).to_le_bytes());
        }
        self.frames += 1;
        Ok(())
    }

    /// The number of frames so far.
    pub fn frames(&self) -> u32 {
        self.frames
    }

    /// The table as a skippable frame. It must be the end of the file.
    pub fn finish(&self) -> Vec<u8> {
        self.clone().take()
    }

    /// The same without a copy, which takes its time for many frames. No frames are left.
    pub(crate) fn take(&mut self) -> Vec<u8> {
        let mut table = std::mem::replace(&mut self.table, vec![0; SKIPPABLE_HEADER_BYTES]);
        table.extend(std::mem::take(&mut self.frames).to_le_bytes());
        table.push(if self.checksums { CHECKSUM_FLAG } else { 0 });
        table.extend(FOOTER_MAGIC.to_le_bytes());
        // Fits: at most 12 bytes for each of `FRAMES_MAX` frames.
        let payload = (table.len() - SKIPPABLE_HEADER_BYTES) as u32;
        table[..4].copy_from_slice(&TABLE_MAGIC.to_le_bytes());
        table[4..SKIPPABLE_HEADER_BYTES].copy_from_slice(&payload.to_le_bytes());
        table
    }
}
