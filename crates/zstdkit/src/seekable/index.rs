//! An index for files without a seek table, from their frame headers.

use super::table::SeekTable;
use crate::frame::FrameInfo;

/// Makes a [`SeekTable`] of the frames that a [`Scanner`](crate::frame::Scanner) finds.
///
/// Most frames state their size. The index ends at the first one that does not, and is
/// [open](SeekTable::is_open): everything after it can only be read by decoding from there.
///
/// ```
/// use zstdkit::{frame, seekable::Indexer};
///
/// let stream = [b"one", b"two"].map(|c| zstdkit::compress(c, &Default::default()).unwrap());
/// let stream = stream.concat();
/// let mut indexer = Indexer::default();
/// for found in frame::frames(&stream) {
///     if !indexer.push(&found?) {
///         break;
///     }
/// }
/// assert_eq!(indexer.finish().frames_for(4..5), 1..2);
/// # Ok::<(), zstdkit::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Indexer {
    ends: Vec<(u64, u64)>,
    /// The number of frames that share an entry.
    stride: u64,
    /// The number of frames in the last entry.
    in_last: u64,
    open: bool,
}

/// The most entries of an index. With more frames several share an entry, so that memory is bounded.
const ENTRIES_MAX: usize = 1 << 20;

impl Default for Indexer {
    fn default() -> Self {
        Self {
            ends: Vec::new(),
            stride: 1,
            in_last: 0,
            open: false,
        }
    }
}

impl Indexer {
    /// Adds the next frame. `false`: the index ends before it, and further frames are ignored.
    pub fn push(&mut self, frame: &FrameInfo) -> bool {
        let (stored, content) = self.ends.last().copied().unwrap_or_default();
        // The decoder will refuse inconsistent sizes.
        let end = frame
            .content_size
            .filter(|&size| size <= frame.content_bound)
            .and_then(|size| content.checked_add(size))
            .filter(|_| stored == frame.offset && !self.open);
        let Some(content) = end else {
            self.open = true;
            return false;
        };
        let end = (stored.saturating_add(frame.compressed_bytes), content);
        match self.ends.last_mut() {
            Some(last) if self.in_last < self.stride => {
                *last = end;
                self.in_last += 1;
            }
            _ => {
                self.thin_out();
                self.ends.push(end);
                self.in_last = 1;
            }
        }
        true
    }

    /// Merges pairs of entries if there are too many.
    fn thin_out(&mut self) {
        if self.ends.len() < ENTRIES_MAX {
            return;
        }
        let mut index = 0;
        self.ends.retain(|_| {
            index += 1;
            index % 2 == 0
        });
        self.stride *= 2;
    }

    /// Ends the index, because something other than a complete frame follows, for example in a truncated
    /// file. Decoding from there reports the error.
    pub fn end_early(&mut self) {
        self.open = true;
    }

    /// The number of entries so far.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether it has no entries.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Bytes of content of the frames so far.
    pub fn content_bytes(&self) -> u64 {
        self.ends.last().map_or(0, |end| end.1)
    }

    /// The index of the frames so far.
    pub fn finish(self) -> SeekTable {
        SeekTable {
            ends: self.ends,
            checksums: None,
            checksums_offset: 0,
            open: self.open,
        }
    }
}
