//! One new archive: the ranges to copy, and what follows them.

use std::io::Write;
use std::ops::Range;

use super::copy::copy;
use crate::error::{Error, ErrorKind};
use crate::format::end;
use crate::read::ReadAt;
use crate::write::Totals;

/// Bytes of one of the combined archives.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Piece {
    /// The number of the archive, from 0, in the order in which they were added.
    pub source: usize,
    /// Its bytes to copy.
    pub range: Range<u64>,
}

impl Piece {
    fn bytes(&self) -> u64 {
        self.range.end - self.range.start
    }
}

/// A new archive: pieces of other archives, then a directory and an end record.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct NewArchive {
    pieces: Vec<Piece>,
    /// The directory, and once it is complete the end record.
    tail: Vec<u8>,
    /// Bytes of the pieces.
    copied: u64,
    totals: Totals,
}

impl NewArchive {
    /// What to copy, in order. Neighbours in an archive are one piece.
    pub fn pieces(&self) -> &[Piece] {
        &self.pieces
    }

    /// What follows the pieces: the directory and the end record.
    pub fn tail(&self) -> &[u8] {
        &self.tail
    }

    /// The number of entries, their content, and the size of the archive.
    pub fn totals(&self) -> Totals {
        self.totals
    }

    /// Copies the pieces from the sources, in the order in which their directories were added, and writes the
    /// rest. The sink is not flushed.
    ///
    /// # Errors
    /// A source or the sink fails, or a source is shorter than it was.
    pub fn write_to<R: ReadAt>(&self, sources: &[R], sink: &mut impl Write) -> Result<(), Error> {
        let mut buffer = Vec::new();
        for piece in &self.pieces {
            let Some(source) = sources.get(piece.source) else {
                let what = "fewer sources than directories";
                return Err(Error::new(ErrorKind::Order, what));
            };
            copy(source, piece.range.clone(), sink, &mut buffer)?;
        }
        sink.write_all(&self.tail)
            .map_err(|error| Error::io(&error))
    }

    /// Where the next entry starts.
    pub(super) fn offset(&self) -> u64 {
        self.copied
    }

    /// Whether an entry of this many bytes and such a record still fits.
    pub(super) fn fits(&self, bytes: u64, record: usize, most: (u64, u64), comment: &[u8]) -> bool {
        let (archive_bytes, archive_entries) = most;
        let entries = self.totals.entries + 1;
        let offset = self.copied.saturating_add(bytes);
        let directory = (self.tail.len() + record) as u64;
        let end = end::bytes(entries, offset, directory) + comment.len() as u64;
        let total = offset.saturating_add(directory).saturating_add(end);
        entries <= archive_entries && total <= archive_bytes
    }

    /// Adds an entry; its record is at the end of the directory already.
    pub(super) fn push(&mut self, piece: Piece, content_bytes: u64) {
        self.copied = self.copied.saturating_add(piece.bytes());
        self.totals.entries += 1;
        self.totals.content_bytes = self.totals.content_bytes.saturating_add(content_bytes);
        match self.pieces.last_mut() {
            Some(last) if last.source == piece.source && last.range.end == piece.range.start => {
                last.range.end = piece.range.end;
            }
            _ => self.pieces.push(piece),
        }
    }

    /// The directory, for the next record.
    pub(super) fn records(&mut self) -> &mut Vec<u8> {
        &mut self.tail
    }

    pub(super) fn is_empty(&self) -> bool {
        self.totals.entries == 0
    }

    /// Ends the archive.
    pub(super) fn close(mut self, comment: &[u8]) -> Self {
        let bytes = self.tail.len() as u64;
        end::put(
            &mut self.tail,
            self.totals.entries,
            self.copied,
            bytes,
            comment,
        );
        self.totals.archive_bytes = self.copied.saturating_add(self.tail.len() as u64);
        self
    }
}
