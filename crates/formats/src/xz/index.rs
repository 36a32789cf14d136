//! One index, in any cut.

use super::NUMBER_MAX;
use super::error::XzFlaw;

/// The smallest block without its padding: a header of four bytes, and one byte.
const UNPADDED_BYTES_MIN: u64 = 5;
const CHECKSUM_BYTES: u64 = 4;
/// A number has seven bits a byte.
const NUMBER_BYTES_MAX: u32 = 9;

/// What an index says of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct XzBlock {
    /// Size in the file in bytes: header, compressed data and check, without the padding between them.
    pub unpadded_bytes: u64,
    /// Size of its content in bytes.
    pub content_bytes: u64,
}

impl XzBlock {
    /// Size in the file in bytes, with its padding to a multiple of four.
    pub fn total_bytes(&self) -> u64 {
        self.unpadded_bytes.div_ceil(4) * 4
    }
}

/// What comes next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Indicator,
    Count,
    Unpadded,
    Content { unpadded_bytes: u64 },
    Padding,
    Checksum,
}

/// Reads one index of a known size. Its memory does not depend on that.
#[derive(Debug, Clone)]
pub struct XzIndex {
    part: Part,
    bytes: u64,
    read: u64,
    /// The number so far, and its bytes.
    number: u64,
    number_bytes: u32,
    /// Blocks that are still to come.
    blocks: u64,
    sum: crc32fast::Hasher,
    stated: u32,
}

impl XzIndex {
    /// For an index of this size in bytes, with its checksum.
    pub fn new(bytes: u64) -> Self {
        Self {
            part: Part::Indicator,
            bytes,
            read: 0,
            number: 0,
            number_bytes: 0,
            blocks: 0,
            sum: crc32fast::Hasher::new(),
            stated: 0,
        }
    }

    /// Reads on; `each` gets the blocks in order.
    ///
    /// # Errors
    ///
    /// What is wrong with the index. Its checksum is known only at its end: until [`XzIndex::finish`] agrees, blocks
    /// may not be what was written.
    pub fn push(&mut self, bytes: &[u8], each: &mut dyn FnMut(XzBlock)) -> Result<(), XzFlaw> {
        let left = self.bytes - self.read;
        if bytes.len() as u64 > left {
            return Err(XzFlaw::IndexSize);
        }
        let summed = left.saturating_sub(CHECKSUM_BYTES).min(bytes.len() as u64);
        self.sum.update(&bytes[..summed as usize]);
        for &byte in bytes {
            // All before the checksum has to end where that begins.
            if (self.part == Part::Checksum) != (self.bytes - self.read <= CHECKSUM_BYTES) {
                return Err(XzFlaw::IndexSize);
            }
            self.read += 1;
            self.take(byte, each)?;
        }
        Ok(())
    }

    /// Verifies that the index is complete, and its checksum.
    ///
    /// # Errors
    ///
    /// It is not.
    pub fn finish(&self) -> Result<(), XzFlaw> {
        if self.read != self.bytes || self.part != Part::Checksum {
            return Err(XzFlaw::IndexSize);
        }
        match self.sum.clone().finalize() {
            computed if computed == self.stated => Ok(()),
            computed => Err(XzFlaw::Checksum {
                of: "index",
                stated: self.stated,
                computed,
            }),
        }
    }

    fn take(&mut self, byte: u8, each: &mut dyn FnMut(XzBlock)) -> Result<(), XzFlaw> {
        match self.part {
            Part::Indicator if byte == 0 => self.part = Part::Count,
            Part::Indicator => return Err(XzFlaw::NoIndex),
            Part::Count => {
                if let Some(blocks) = self.number(byte)? {
                    self.blocks = blocks;
                    self.next_block();
                }
            }
            Part::Unpadded => {
                if let Some(unpadded_bytes) = self.number(byte)? {
                    if !(UNPADDED_BYTES_MIN..=NUMBER_MAX & !3).contains(&unpadded_bytes) {
                        return Err(XzFlaw::Size {
                            stated: unpadded_bytes,
                        });
                    }
                    self.part = Part::Content { unpadded_bytes };
                }
            }
            Part::Content { unpadded_bytes } => {
                if let Some(content_bytes) = self.number(byte)? {
                    each(XzBlock {
                        unpadded_bytes,
                        content_bytes,
                    });
                    self.blocks -= 1;
                    self.next_block();
                }
            }
            Part::Padding => {
                if byte != 0 {
                    return Err(XzFlaw::IndexSize);
                }
                self.pad();
            }
            Part::Checksum => self.stated = self.stated >> 8 | u32::from(byte) << 24,
        }
        Ok(())
    }

    fn next_block(&mut self) {
        match self.blocks {
            0 => self.pad(),
            _ => self.part = Part::Unpadded,
        }
    }

    fn pad(&mut self) {
        self.part = match self.read % 4 {
            0 => Part::Checksum,
            _ => Part::Padding,
        };
    }

    /// Adds a byte to the number; returns it if that was its last.
    fn number(&mut self, byte: u8) -> Result<Option<u64>, XzFlaw> {
        self.number |= u64::from(byte & 0x7f) << (7 * self.number_bytes);
        self.number_bytes += 1;
        if byte & 0x80 != 0 {
            return match self.number_bytes {
                NUMBER_BYTES_MAX => Err(XzFlaw::Number),
                _ => Ok(None),
            };
        }
        if byte == 0 && self.number_bytes > 1 {
            return Err(XzFlaw::Number);
        }
        self.number_bytes = 0;
        Ok(Some(std::mem::take(&mut self.number)))
    }
}
