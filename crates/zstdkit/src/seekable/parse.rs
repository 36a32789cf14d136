//! Reads an untrusted seek table: every number is checked against the size of the file before anything
//! is allocated for it.

use super::layout::{
    CHECKSUM_FLAG, FOOTER_BYTES, FOOTER_MAGIC, FRAMES_MAX, RESERVED_BITS, TABLE_MAGIC,
};
use super::table::SeekTable;
use crate::error::{Error, Repr};
use crate::format::{BLOCK_BYTES_MAX, SKIPPABLE_HEADER_BYTES, little_endian};

/// The shortest frame, a skippable one without content.
const FRAME_BYTES_MIN: u64 = SKIPPABLE_HEADER_BYTES as u64;
/// The shortest block that can hold a full block of content: a repeated byte.
const BLOCK_STORED_BYTES_MIN: u64 = 4;

/// The end of a file with a seek table.
///
/// ```
/// use zstdkit::seekable::{FOOTER_BYTES, Footer, SeekTable, SeekTableBuilder};
///
/// let mut file = zstdkit::compress(b"content", &Default::default())?;
/// let mut builder = SeekTableBuilder::new(false);
/// builder.push(file.len() as u64, 7, None)?;
/// file.extend(builder.finish());
///
/// // A program reads the end of the file, then the table, then the frames it needs.
/// let size = file.len() as u64;
/// let tail = &file[file.len() - FOOTER_BYTES..];
/// let footer = Footer::parse(tail, size)?.expect("a table");
/// let table = &file[footer.table_offset() as usize..];
/// assert_eq!(SeekTable::parse(table, size)?.content_bytes(), 7);
/// # Ok::<(), zstdkit::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Footer {
    frames: u32,
    checksums: bool,
    file_bytes: u64,
}

impl Footer {
    /// Parses the last bytes of a file of `file_bytes`: at least [`FOOTER_BYTES`], unless the file is
    /// shorter. `None`: there is no seek table.
    pub fn parse(tail: &[u8], file_bytes: u64) -> Result<Option<Self>, Error> {
        let Some((_, footer)) = tail.split_last_chunk::<FOOTER_BYTES>() else {
            return Ok(None);
        };
        if little_endian(&footer[5..]) as u32 != FOOTER_MAGIC || file_bytes < tail.len() as u64 {
            return Ok(None);
        }
        let (frames, descriptor) = (little_endian(&footer[..4]) as u32, footer[4]);
        let offset = file_bytes - FOOTER_BYTES as u64;
        let refused = |offset, reason| Err(Repr::SeekTable { offset, reason }.into());
        if descriptor & RESERVED_BITS != 0 {
            return refused(offset + 4, "a reserved bit is set");
        }
        if frames > FRAMES_MAX {
            return refused(offset, "too many frames");
        }
        let found = Self {
            frames,
            checksums: descriptor & CHECKSUM_FLAG != 0,
            file_bytes,
        };
        // A frame takes its entry in the table, and its own bytes in front of the table.
        let needed = found.table_bytes() + u64::from(frames) * FRAME_BYTES_MIN;
        if needed > file_bytes {
            return refused(offset, "more frames than the file can hold");
        }
        Ok(Some(found))
    }

    /// The number of frames.
    pub fn frames(&self) -> u32 {
        self.frames
    }

    /// The size of the table, from the magic number of its frame to the end of the file.
    pub fn table_bytes(&self) -> u64 {
        (SKIPPABLE_HEADER_BYTES + FOOTER_BYTES) as u64
            + u64::from(self.frames) * self.entry_bytes() as u64
    }

    /// The byte of the file where the table begins.
    pub fn table_offset(&self) -> u64 {
        self.file_bytes - self.table_bytes()
    }

    fn entry_bytes(&self) -> usize {
        if self.checksums { 12 } else { 8 }
    }
}

impl SeekTable {
    /// Parses the table at the end of a file of `file_bytes`. `table` is the last
    /// [`Footer::table_bytes`] bytes of the file.
    ///
    /// The listed frames must fill the file up to the table. (Two concatenated files with tables are
    /// therefore refused, not misread.)
    pub fn parse(table: &[u8], file_bytes: u64) -> Result<Self, Error> {
        let refused = |offset, reason| Err(Repr::SeekTable { offset, reason }.into());
        let Some(footer) = Footer::parse(table, file_bytes)? else {
            return refused(file_bytes, "no footer");
        };
        let start = footer.table_offset();
        if table.len() as u64 != footer.table_bytes() {
            return refused(start, "truncated");
        }
        let (header, rest) = table.split_at(SKIPPABLE_HEADER_BYTES);
        if little_endian(&header[..4]) as u32 != TABLE_MAGIC {
            return refused(start, "its frame does not begin where its size implies");
        }
        if little_endian(&header[4..]) != rest.len() as u64 {
            return refused(start + 4, "its frame has a wrong size");
        }
        let entries = &rest[..rest.len() - FOOTER_BYTES];
        let count = footer.frames as usize;
        // At most 20 bytes for each entry of at least 8 bytes that was read.
        let mut ends = Vec::with_capacity(count);
        let mut checksums = footer.checksums.then(|| Vec::with_capacity(count));
        let (mut stored_end, mut content_end) = (0_u64, 0_u64);
        let mut offset = start + SKIPPABLE_HEADER_BYTES as u64;
        for entry in entries.chunks_exact(footer.entry_bytes()) {
            let stored = little_endian(&entry[..4]);
            let content = little_endian(&entry[4..8]);
            if stored < FRAME_BYTES_MIN {
                return refused(offset, "a frame is shorter than any frame can be");
            }
            if content > stored / BLOCK_STORED_BYTES_MIN * u64::from(BLOCK_BYTES_MAX) {
                return refused(offset + 4, "more content than a frame of its size can hold");
            }
            // No overflow: sums of at most 2^27 numbers of 32 bits.
            stored_end += stored;
            content_end += content;
            if stored_end > start {
                return refused(offset, "a frame reaches into the table");
            }
            ends.push((stored_end, content_end));
            if let Some(sums) = &mut checksums {
                sums.push(little_endian(&entry[8..]) as u32);
            }
            offset += entry.len() as u64;
        }
        if stored_end != start {
            return Err(Repr::SeekTableBytes {
                offset: start,
                what: "frames",
                stated: stored_end,
                found: start,
            }
            .into());
        }
        Ok(Self {
            ends,
            checksums,
            checksums_offset: start + SKIPPABLE_HEADER_BYTES as u64 + 8,
            open: false,
        })
    }

    /// Finds and parses the table of a whole file. `None`: it has none.
    pub fn find(file: &[u8]) -> Result<Option<Self>, Error> {
        let size = file.len() as u64;
        match Footer::parse(file, size)? {
            // The footer was checked against the size of the file.
            Some(footer) => Self::parse(&file[footer.table_offset() as usize..], size).map(Some),
            None => Ok(None),
        }
    }
}
