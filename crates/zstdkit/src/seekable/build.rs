//! Writes a seek table. The caller writes the frames.

use super::layout::{CHECKSUM_FLAG, FOOTER_BYTES, FOOTER_MAGIC, FRAMES_MAX, TABLE_MAGIC};
use crate::error::{Error, Repr};

/// Collects the entries of a seek table.
///
/// Add all frames in the order of the file, from its first byte and without gaps. Skippable frames count as
/// frames without content.
#[derive(Debug, Clone)]
pub struct SeekTableBuilder {
    entries: Vec<u8>,
    frames: u32,
    checksums: bool,
}

impl SeekTableBuilder {
    /// An empty table. `checksums`: whether each entry has the low half of the XXH64 of its content.
    pub fn new(checksums: bool) -> Self {
        Self {
            entries: Vec::new(),
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
        self.entries.extend(stored_field.to_le_bytes());
        self.entries.extend(content_field.to_le_bytes());
        if self.checksums {
            self.entries.extend(checksum.unwrap_or(0).to_le_bytes());
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
        let payload = self.entries.len() + FOOTER_BYTES;
        let mut table = Vec::with_capacity(payload + 8);
        table.extend(TABLE_MAGIC.to_le_bytes());
        // Fits: at most 12 bytes for each of `FRAMES_MAX` frames.
        table.extend((payload as u32).to_le_bytes());
        table.extend_from_slice(&self.entries);
        table.extend(self.frames.to_le_bytes());
        table.push(if self.checksums { CHECKSUM_FLAG } else { 0 });
        table.extend(FOOTER_MAGIC.to_le_bytes());
        table
    }
}
