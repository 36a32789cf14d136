//! Any range of a content that has an index.

use std::io;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use super::super::source::ReadAt;
use super::deflate_index::DeflateIndex;
use super::part::{Decoded, Fetched, decode};
use crate::deflate::Inflater;
use crate::error::Error;

/// Reads any range of a deflate stream by its [index](DeflateIndex), at the cost of the parts that the
/// range touches: about 4 MiB of content each. As a [`ReadAt`] it keeps the part that it used last.
///
/// Nothing is returned before its part is verified. The memory is that of one part, compressed and not.
#[derive(Debug)]
pub struct IndexedReader<'a, R, S = Vec<u8>> {
    pub(super) source: &'a R,
    pub(super) index: &'a DeflateIndex<S>,
    /// Where the stream starts in the source.
    start: u64,
    /// The entry, for errors.
    name: Option<String>,
    fetched_bytes: AtomicU64,
    held: Mutex<Held>,
}

#[derive(Debug, Default)]
struct Held {
    /// The part that `decoded` has.
    number: Option<usize>,
    fetched: Fetched,
    inflater: Inflater,
    decoded: Decoded,
}

impl<'a, R: ReadAt, S: ReadAt> IndexedReader<'a, R, S> {
    /// Reads a stream in `source` from the place that the index states, whatever surrounds it: the member
    /// of a `.gz` file, for example. [`ArchiveReader::indexed`](crate::ArchiveReader::indexed) also compares the
    /// index with an entry.
    ///
    /// # Errors
    /// The source is too short ([`ErrorKind::StaleIndex`](crate::ErrorKind::StaleIndex)).
    pub fn new(source: &'a R, index: &'a DeflateIndex<S>) -> Result<Self, Error> {
        let size = source.size().map_err(|error| Error::io(&error))?;
        let left = size.saturating_sub(index.start());
        if left < index.compressed_bytes() {
            index.bind(left, index.content_bytes(), index.crc32())?;
        }
        Ok(Self::bound(source, index, index.start(), None))
    }

    /// A reader of a stream that the index was compared with, and that starts at byte `start`.
    pub(super) fn bound(
        source: &'a R,
        index: &'a DeflateIndex<S>,
        start: u64,
        name: Option<String>,
    ) -> Self {
        Self {
            source,
            index,
            start,
            name,
            fetched_bytes: AtomicU64::new(0),
            held: Mutex::default(),
        }
    }

    /// The index.
    pub fn index(&self) -> &DeflateIndex<S> {
        self.index
    }

    /// Bytes that were read so far of the source and of the index, without its table.
    pub fn fetched_bytes(&self) -> u64 {
        self.fetched_bytes.load(Ordering::Relaxed)
    }

    /// Reads what a part needs.
    pub(super) fn fetch(&self, number: usize, fetched: &mut Fetched) -> Result<(), Error> {
        fetched.fetch((self.source, self.start), self.index, number)?;
        let bytes = fetched.bytes();
        self.fetched_bytes.fetch_add(bytes, Ordering::Relaxed);
        Ok(())
    }

    /// Adds the entry to an error.
    pub(super) fn named(&self, error: Error) -> Error {
        match &self.name {
            Some(name) => error.entry(name.clone()),
            None => error,
        }
    }

    /// The part of a range that the content has.
    pub(super) fn within(&self, range: Range<u64>) -> Range<u64> {
        let end = range.end.min(self.index.content_bytes());
        range.start.min(end)..end
    }

    /// The parts that a range within the content touches.
    pub(super) fn parts(&self, range: &Range<u64>) -> Range<usize> {
        if range.is_empty() {
            return 0..0;
        }
        let (first, last) = (range.start, range.end - 1);
        self.index.part_of(first)..self.index.part_of(last) + 1
    }

    /// Passes a range of the content to `sink`, as much of it as there is, and returns its size. Each call
    /// of `sink` gets verified bytes of one part.
    ///
    /// # Errors
    /// What the source says, an index or a content that is damaged, and errors of `sink`.
    pub fn read_range<E: From<Error>>(
        &self,
        range: Range<u64>,
        sink: &mut impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<u64, E> {
        let range = self.within(range);
        self.with(|held| {
            for number in self.parts(&range) {
                let piece = self.piece(held, number, &range);
                sink(piece.map_err(|error| self.named(error))?)?;
            }
            Ok(range.end - range.start)
        })
    }

    /// Works with the part that was used last. Calls at the same time have their own memory, and the one
    /// that ends last leaves its part.
    fn with<T>(&self, work: impl FnOnce(&mut Held) -> T) -> T {
        let lock = || self.held.lock().unwrap_or_else(PoisonError::into_inner);
        let mut held = std::mem::take(&mut *lock());
        let done = work(&mut held);
        *lock() = held;
        done
    }

    /// The bytes of a range that a part has.
    fn piece<'h>(
        &self,
        held: &'h mut Held,
        number: usize,
        range: &Range<u64>,
    ) -> Result<&'h [u8], Error> {
        if held.number != Some(number) {
            held.number = None;
            self.fetch(number, &mut held.fetched)?;
            decode(
                self.index,
                &held.fetched,
                &mut held.inflater,
                &mut held.decoded,
            )?;
            held.number = Some(number);
        }
        Ok(held.decoded.slice(range))
    }
}

impl<R: ReadAt, S: ReadAt> ReadAt for IndexedReader<'_, R, S> {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let range = self.within(offset..offset.saturating_add(buffer.len() as u64));
        let Some(number) = self.parts(&range).next() else {
            return Ok(0);
        };
        self.with(|held| {
            let piece = self.piece(held, number, &range);
            let piece = piece.map_err(|error| self.named(error))?;
            buffer[..piece.len()].copy_from_slice(piece);
            Ok(piece.len())
        })
    }

    fn size(&self) -> io::Result<u64> {
        Ok(self.index.content_bytes())
    }
}
