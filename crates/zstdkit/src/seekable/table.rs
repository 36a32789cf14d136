//! The index itself: which frame holds which part of the content.

use std::ops::Range;

/// A frame's position in the file, and the part of the content that it holds.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SeekFrame {
    /// The bytes of the file that it occupies.
    pub stored: Range<u64>,
    /// The bytes of the content that it holds.
    pub content: Range<u64>,
    /// The low half of the XXH64 of that content, if the table has it.
    pub checksum: Option<u32>,
}

/// An index of the frames of a file. The frames are adjacent and lie within the file. Their content is
/// checked only by decoding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeekTable {
    /// The end of each frame in the file and in the content.
    pub(super) ends: Vec<(u64, u64)>,
    pub(super) checksums: Option<Vec<u32>>,
    /// The position of the first checksum in the file.
    pub(super) checksums_offset: u64,
    /// Whether frames of unknown size follow the last entry.
    pub(super) open: bool,
}

impl SeekTable {
    /// The number of frames.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether it has no frames.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Bytes of content in all frames of the table.
    pub fn content_bytes(&self) -> u64 {
        self.ends.last().map_or(0, |end| end.1)
    }

    /// Bytes of the file in all frames of the table.
    pub fn stored_bytes(&self) -> u64 {
        self.ends.last().map_or(0, |end| end.0)
    }

    /// Whether the table has checksums.
    pub fn has_checksums(&self) -> bool {
        self.checksums.is_some()
    }

    /// Whether content follows the last frame of the index, because a later frame does not state its
    /// size. Always false for a table that was read from the file.
    pub fn is_open(&self) -> bool {
        self.open
    }

    /// The frame with this index.
    pub fn frame(&self, index: usize) -> Option<SeekFrame> {
        let end = self.ends.get(index)?;
        let start = self.start(index);
        Some(SeekFrame {
            stored: start.0..end.0,
            content: start.1..end.1,
            checksum: self
                .checksums
                .as_ref()
                .and_then(|sums| sums.get(index).copied()),
        })
    }

    /// The frames in order.
    pub fn iter(&self) -> impl Iterator<Item = SeekFrame> {
        (0..self.len()).filter_map(|index| self.frame(index))
    }

    /// The indexes of the frames that hold this range of the content. Empty if the content range is empty
    /// or lies beyond the end.
    pub fn frames_for(&self, content: Range<u64>) -> Range<usize> {
        let first = self.ends.partition_point(|end| end.1 <= content.start);
        if content.end <= content.start || first == self.len() {
            return first..first;
        }
        // The last frame is the first one that reaches the end of the range.
        let end = content.end.min(self.content_bytes());
        first..self.ends.partition_point(|one| one.1 < end) + 1
    }

    /// Bytes of memory that the table takes.
    pub fn memory_bytes(&self) -> usize {
        let sums = self.checksums.as_ref().map_or(0, Vec::capacity);
        self.ends.capacity() * size_of::<(u64, u64)>() + sums * size_of::<u32>()
    }

    /// The start of a frame in the file and in the content.
    pub(super) fn start(&self, index: usize) -> (u64, u64) {
        match index.checked_sub(1) {
            Some(before) => self.ends.get(before).copied().unwrap_or_default(),
            None => (0, 0),
        }
    }
}
