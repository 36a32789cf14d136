//! One segment: a file with a header, records that grow from its beginning and an index that grows
//! from its end.
//!
//! ```text
//! 0    magic, number of the segment, epoch, number of its first message, next number of the other
//!      side, bytes of the file, entries and end of the segment before, salt, when the numbers began;
//!      checksum at 124
//! 128  records
//! …    zeros, eight at least
//! …    the index: entry n is the u32 that ends 4n bytes before the file does, and holds where
//!      message n of the segment begins, in units of 8 bytes
//! ```
//!
//! Opening a store rebuilds the index of the last segment and checks the others. A segment without
//! magic was never used.

use std::path::{Path, PathBuf};
use std::sync::atomic::{Ordering, compiler_fence};

use super::error::{Damage, StoreError, StoreResult};
use super::files::{self, BEGINNING_BYTES};
use super::map::Map;
use super::record::{self, At, RecordKind, u32_at, u64_at};
use crate::Timestamp;

/// The size of the header.
pub(super) const HEADER_BYTES: usize = 128;
/// The size of an index entry.
pub(super) const ENTRY_BYTES: usize = 4;
/// The entry of a number without a message.
pub(super) const ABSENT: u32 = u32::MAX;
/// Zeros between records and the index, which mark the end of the records.
const GAP_BYTES: usize = record::ALIGN;
const MAGIC: &[u8; 8] = b"PKFIXST1";
const SUM_AT: usize = 124;

/// The header of a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Header {
    /// Counted from 1.
    pub(super) number: u64,
    /// Grows with each reset; segments of older epochs are dropped.
    pub(super) epoch: u64,
    /// The next number to send when the segment began.
    pub(super) first: u64,
    /// The next number expected when the segment began.
    pub(super) next_target: u64,
    /// The size of the file.
    pub(super) bytes: u64,
    /// The number of entries of the previous segment, and where its records end.
    pub(super) before: (u64, u64),
    /// The start value of checksums.
    pub(super) salt: u32,
    /// When the numbers began, in nanoseconds since 1970; 0 if that was not stated.
    pub(super) created_ns: i64,
}

impl Header {
    /// The header at the beginning of a segment.
    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        let head = bytes.first_chunk::<HEADER_BYTES>()?;
        let right =
            head.starts_with(MAGIC) && crc32c::crc32c(&head[..SUM_AT]) == u32_at(head, SUM_AT);
        right.then(|| Self {
            number: u64_at(head, 8),
            epoch: u64_at(head, 16),
            first: u64_at(head, 24),
            next_target: u64_at(head, 32),
            bytes: u64_at(head, 40),
            before: (u64_at(head, 48), u64_at(head, 56)),
            salt: u32_at(head, 64),
            created_ns: u64_at(head, 72).cast_signed(),
        })
    }

    /// When the numbers began, if that was stated.
    pub(super) fn created(&self) -> Option<Timestamp> {
        (self.created_ns != 0).then_some(Timestamp(self.created_ns))
    }

    /// The header as bytes.
    pub(super) fn bytes(&self) -> [u8; HEADER_BYTES] {
        let mut head = [0; HEADER_BYTES];
        head[..8].copy_from_slice(MAGIC);
        let words = [
            self.number,
            self.epoch,
            self.first,
            self.next_target,
            self.bytes,
            self.before.0,
            self.before.1,
            u64::from(self.salt),
            self.created_ns.cast_unsigned(),
        ];
        for (place, word) in head[8..].chunks_exact_mut(8).zip(words) {
            place.copy_from_slice(&word.to_le_bytes());
        }
        let sum = crc32c::crc32c(&head[..SUM_AT]);
        head[SUM_AT..].copy_from_slice(&sum.to_le_bytes());
        head
    }

    /// Whether a segment that begins like this was created and never used. If only its first page was
    /// lost, records follow.
    pub(super) fn is_unused(path: &Path, beginning: &[u8]) -> StoreResult<bool> {
        let magic = beginning.iter().take(MAGIC.len());
        let records = beginning.iter().skip(HEADER_BYTES);
        let begins =
            beginning.len() >= BEGINNING_BYTES && magic.chain(records).all(|byte| *byte == 0);
        Ok(begins && files::is_zero_behind_beginning(path)?)
    }
}

/// The longest content of a record in a segment of this size.
pub(super) fn content_bytes_max(segment_bytes: usize) -> usize {
    let fixed = HEADER_BYTES + record::size(0) + ENTRY_BYTES + GAP_BYTES + record::ALIGN;
    segment_bytes
        .saturating_sub(fixed)
        .min(record::CONTENT_BYTES_MAX)
}

/// Whether records up to `end` and this many index entries fit into a segment.
#[inline]
pub(super) fn fits(end: usize, entries: usize, segment_bytes: usize) -> bool {
    end + GAP_BYTES + ENTRY_BYTES * entries <= segment_bytes
}

/// An open segment.
#[derive(Debug)]
pub(super) struct Segment {
    pub(super) path: PathBuf,
    pub(super) map: Map,
    pub(super) header: Header,
    /// Where records end.
    pub(super) end: usize,
    /// How many entries the index has.
    pub(super) entries: usize,
    /// How far its memory is populated.
    pub(super) populated: usize,
}

impl Segment {
    /// Begins a segment in a file of zeros.
    pub(super) fn begin(path: PathBuf, mut map: Map, header: Header, populated: usize) -> Self {
        let head = header.bytes();
        // The magic is written last: where it is, the header is complete.
        let magic = MAGIC.len();
        if let Some(place) = map.get_mut(magic..HEADER_BYTES) {
            place.copy_from_slice(&head[magic..]);
        }
        compiler_fence(Ordering::SeqCst);
        if let Some(place) = map.get_mut(..magic) {
            place.copy_from_slice(&head[..magic]);
        }
        Self {
            path,
            map,
            header,
            end: HEADER_BYTES,
            entries: 0,
            populated,
        }
    }

    /// Whether records of this size with this many entries fit.
    #[inline]
    pub(super) fn has_room(&self, bytes: usize, entries: usize) -> bool {
        fits(self.end + bytes, self.entries + entries, self.map.len())
    }

    /// Adds a record for which there is room. The synced part ends at `synced`.
    #[inline]
    pub(super) fn push(
        &mut self,
        kind: RecordKind,
        number: u64,
        synced: usize,
        content: (Option<u64>, &[u8]),
    ) {
        let start = self.end;
        let target_bytes = content.0.map_or(0, |_| record::TARGET_BYTES);
        let end = start + record::size(target_bytes + content.1.len());
        let unsynced = start.saturating_sub(synced) / record::ALIGN;
        let salt = self.header.salt;
        if let Some(out) = self.map.get_mut(start..end) {
            record::write(out, salt, kind, number, unsynced as u32, content);
        }
        self.end = end;
        if kind.is_message() {
            self.push_entry((start / record::ALIGN) as u32);
        }
    }

    /// Adds an entry to the index.
    #[inline]
    pub(super) fn push_entry(&mut self, entry: u32) {
        self.entries += 1;
        let at = self.map.len().saturating_sub(ENTRY_BYTES * self.entries);
        let place = self
            .map
            .get_mut(at..)
            .and_then(|rest| rest.first_chunk_mut());
        if let Some(place) = place.filter(|place| **place != entry.to_le_bytes()) {
            *place = entry.to_le_bytes();
        }
    }

    /// An entry of the index, from 0.
    #[inline]
    pub(super) fn entry(&self, index: usize) -> u32 {
        u32_at(
            &self.map,
            self.map.len().saturating_sub(ENTRY_BYTES * (index + 1)),
        )
    }

    /// Where the message of a number begins; `None` if there is none here.
    #[inline]
    fn place(&self, number: u64) -> Option<usize> {
        let index = number.checked_sub(self.header.first)?;
        if index >= self.entries as u64 {
            return None;
        }
        let entry = self.entry(index as usize);
        (entry != ABSENT).then_some(entry as usize * record::ALIGN)
    }

    /// Prefetches the message of a number that will be read soon.
    #[inline]
    pub(super) fn fetch(&self, number: u64) {
        let index = number.wrapping_sub(self.header.first);
        if index < self.entries as u64 {
            self.map
                .fetch(self.entry(index as usize) as usize * record::ALIGN);
        }
    }

    /// The message of a number; its checksum is not verified.
    #[inline]
    pub(super) fn get(&self, number: u64) -> StoreResult<Option<&[u8]>> {
        let Some(place) = self.place(number) else {
            return Ok(None);
        };
        let rest = self.map.get(place..).unwrap_or_default();
        match record::content(rest, number) {
            Some(content) => Ok(Some(content)),
            None => Err(StoreError::damaged(&self.path, place, Damage::Index)),
        }
    }

    /// The message of a number, with its checksum verified.
    pub(super) fn verified(&self, number: u64) -> StoreResult<Option<&[u8]>> {
        let Some(place) = self.place(number) else {
            return Ok(None);
        };
        let rest = self.map.get(place..).unwrap_or_default();
        let damage = match record::read(rest, self.header.salt) {
            At::Record(record) if record.kind.is_message() && record.number == number => {
                return Ok(Some(record.message().0));
            }
            At::Record(_) | At::End => Damage::Index,
            At::Header => Damage::Record,
            At::Checksum => Damage::Checksum,
        };
        Err(StoreError::damaged(&self.path, place, damage))
    }

    /// Whether every index entry points into the records, each farther than the one before.
    pub(super) fn is_index_sane(&self) -> bool {
        let mut least = HEADER_BYTES / record::ALIGN;
        (0..self.entries)
            .map(|index| self.entry(index))
            .all(|entry| {
                let right = entry == ABSENT
                    || (entry as usize >= least && (entry as usize) * record::ALIGN < self.end);
                if right && entry != ABSENT {
                    least = entry as usize + 1;
                }
                right
            })
    }

    /// Waits until a range is on the disk.
    pub(super) fn sync(&self, from: usize, to: usize) -> StoreResult<()> {
        let failed = |error| StoreError::io("sync", &self.path, error);
        self.map.sync(from, to.saturating_sub(from)).map_err(failed)
    }
}

/// The header of the segment at a path, which must match the name.
pub(super) fn checked_header(path: &Path, bytes: &[u8], number: u64) -> StoreResult<Header> {
    Header::read(bytes)
        .filter(|header| header.number == number)
        .ok_or_else(|| StoreError::damaged(path, 0, Damage::Header))
}
