//! What is measured, wholly in memory: contents in parts, cut into blocks.

use std::ops::Range;

use zstdkit::{Decoder, Error};

use super::codec::{Frame, decode};

/// What keeping track of a part or a block takes, roughly.
pub const PART_BYTES: usize = 256;

/// One input: a content, or several that are measured as one.
#[derive(Debug)]
pub struct Data {
    /// What it is called in tables, unlike any other.
    pub name: String,
    /// The content of all its files, one after the other.
    pub(crate) bytes: Vec<u8>,
    /// Its files, or its frames.
    parts: Vec<Part>,
    /// The frames, when the input is zstd and measured as it is, one a part.
    pub(crate) frames: Option<Vec<Frame>>,
}

#[derive(Debug)]
struct Part {
    name: String,
    range: Range<usize>,
}

/// What one operation works on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Block {
    /// Where it is in the content of the input.
    pub(crate) range: Range<usize>,
    part: usize,
}

#[cfg(test)]
impl Block {
    pub(crate) fn test(range: Range<usize>) -> Self {
        Self { range, part: 0 }
    }
}

impl Data {
    /// The memory that measuring in blocks of this size takes beside the data itself.
    pub(crate) fn overhead_bytes(&self, block_bytes: Option<usize>) -> u64 {
        let cut = block_bytes.map_or(0, |size| self.bytes.len() / size.max(1));
        (self.parts.len() as u64).saturating_add(cut as u64) * PART_BYTES as u64
    }

    /// The operations: blocks of this size, of which the last of a file may be smaller, or whole
    /// files. Frames are taken whole.
    pub(crate) fn blocks(&self, block_bytes: Option<usize>) -> Vec<Block> {
        let size = block_bytes.filter(|_| self.frames.is_none());
        let mut blocks = Vec::new();
        for (part, Part { range, .. }) in self.parts.iter().enumerate() {
            let step = size.unwrap_or(range.len()).max(1);
            let starts = range.clone().step_by(step);
            blocks.extend(starts.map(|start| Block {
                range: start..range.end.min(start + step),
                part,
            }));
        }
        blocks
    }

    /// What a block is, for the list of the slowest.
    pub(crate) fn describe(&self, block: &Block) -> String {
        let part = &self.parts[block.part];
        let at = block.range.start - part.range.start;
        format!("{}, byte {at}", part.name)
    }

    /// An input without content.
    #[must_use]
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            bytes: Vec::new(),
            parts: Vec::new(),
            frames: None,
        }
    }

    /// Adds a content, which blocks end with. `part` names it in the list of the slowest.
    pub fn push(&mut self, part: impl Into<String>, content: &[u8]) {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(content);
        self.parts.push(Part {
            name: part.into(),
            range: start..self.bytes.len(),
        });
    }

    /// Adds a zstd frame that is measured as it is, with its content, to which answers are compared.
    pub fn push_frame(&mut self, part: impl Into<String>, frame: &[u8], content: &[u8]) {
        self.push(part, content);
        let frames = self.frames.get_or_insert_default();
        frames.push(Frame::of(frame));
    }

    /// Whether there is no content.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Whether it is frames that are measured as they are.
    #[must_use]
    pub fn is_frames(&self) -> bool {
        self.frames.is_some()
    }
}

/// Decodes a frame by itself, block by block.
///
/// # Errors
///
/// Those of the decoder.
pub fn decode_frame(decoder: &mut Decoder, frame: &[u8]) -> Result<Vec<u8>, Error> {
    let mut content = Vec::new();
    decode(decoder, frame, &mut content, None, 0)?;
    Ok(content)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_end_with_their_file() {
        let mut data = Data::new("d");
        data.push("a", &[0; 15]);
        data.push("b", &[0; 10]);
        let ranges = |size| -> Vec<Range<usize>> {
            data.blocks(size).into_iter().map(|b| b.range).collect()
        };
        assert_eq!(ranges(None), [0..15, 15..25]);
        assert_eq!(ranges(Some(10)), [0..10, 10..15, 15..25]);
        assert_eq!(data.describe(&data.blocks(Some(5))[4]), "b, byte 5");
    }
}
