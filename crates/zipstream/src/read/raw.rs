//! Entries without decoding: to copy them, or to compare their headers with the directory.

use super::entry::Entry;
use super::reader::{ArchiveReader, Scratch};
use super::source::ReadAt;
use super::strict::agree;
use crate::error::Error;
use crate::format::local::{LOCAL_BYTES, Local, total_bytes};
use crate::raw_entry::RawEntry;

/// Bytes per piece.
const PIECE_BYTES: usize = 128 << 10;

impl<R: ReadAt> ArchiveReader<R> {
    /// What the headers of an entry say, for [`start_raw`](crate::ArchiveEncoder::start_raw).
    pub fn raw(&self, entry: &Entry<'_>, scratch: &mut Scratch) -> Result<RawEntry, Error> {
        let (central, wide) = (entry.central(), entry.wide());
        let raw = self.local(entry, scratch, |local| {
            RawEntry::new(central, wide, local.extra)
        })?;
        raw.map_err(|error| {
            let error = error.entry(entry.name_lossy());
            error.at(entry.record_offset())
        })
    }

    /// What `take` takes of the local header of an entry.
    pub(super) fn local<T>(
        &self,
        entry: &Entry<'_>,
        scratch: &mut Scratch,
        take: impl FnOnce(&Local<'_>) -> T,
    ) -> Result<T, Error> {
        let named = |error: Error| error.entry(entry.name_lossy());
        self.locate(entry, scratch).map_err(named)?;
        let (source, end) = (self.source(), self.directory().start());
        let (window, offset) = (&mut scratch.window, entry.offset());
        let held = window.get(source, offset, LOCAL_BYTES, end);
        let bytes = held.map_err(named)?.first_chunk();
        let bytes = bytes.map_or(LOCAL_BYTES, total_bytes);
        let held = window.get(source, offset, bytes, end).map_err(named)?;
        let local = Local::parse(&held[..bytes]);
        let local = local.ok_or_else(|| named(Error::corrupt(offset, "no local header")))?;
        Ok(take(&local))
    }

    /// Compares the local header of an entry with the directory, as the strict profile does for
    /// every entry. The error says what a program sees that trusts the local header.
    pub fn compare_headers(&self, entry: &Entry<'_>, scratch: &mut Scratch) -> Result<(), Error> {
        let agreed = self.local(entry, scratch, |local| agree(entry, local));
        agreed
            .and_then(|agreed| agreed)
            .map_err(|error| error.at(entry.offset()).entry(entry.name_lossy()))
    }

    /// Passes the bytes of an entry to `sink` unchanged: compressed, encrypted, unverified.
    pub fn copy_raw<E: From<Error>>(
        &self,
        entry: &Entry<'_>,
        scratch: &mut Scratch,
        sink: &mut impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        let named = |error: Error| E::from(error.entry(entry.name_lossy()));
        let mut at = self.locate(entry, scratch).map_err(named)?;
        // The entry was checked to end before the directory.
        let end = at + entry.compressed_bytes();
        while at < end {
            let left = usize::try_from(end - at).unwrap_or(usize::MAX);
            let held = scratch
                .window
                .get(self.source(), at, left.min(PIECE_BYTES), end);
            let piece = held.map_err(named)?;
            let piece = &piece[..piece.len().min(left).min(PIECE_BYTES)];
            sink(piece)?;
            at += piece.len() as u64;
        }
        Ok(())
    }
}
