//! Walks the records of a segment, whatever its bytes are: finds records, damaged places and where
//! records continue after them, and a torn end.
//!
//! A place without a record is **damaged** if a later record states that the place was synced when that
//! record was written, else **torn**. The work is linear in the bytes: the search after damage has a limit.

use super::error::Damage;
use super::record::{self, ALIGN, At, Record, RecordKind, is_zero};
use super::segment::{ENTRY_BYTES, HEADER_BYTES, Header, fits};

/// How many numbers one record may skip: each takes an index entry.
pub(super) const SKIP_MAX: u64 = 4096;
/// How many numbers may be missing after damage.
const LOST_MAX: u64 = 1 << 20;

/// What a step found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step<'a> {
    /// A message. The `skipped` numbers before it have none.
    Message {
        offset: usize,
        number: u64,
        skipped: u64,
        content: &'a [u8],
    },
    /// A record that set a next number. The `skipped` numbers have no message.
    Numbers { skipped: u64 },
    /// Bytes that should be records and are not. Records follow.
    Damaged {
        offset: usize,
        bytes: usize,
        damage: Damage,
    },
    /// Bytes after the last record that are not zeros. No records follow.
    Torn { offset: usize, bytes: usize },
}

/// A walk over a segment.
#[derive(Debug)]
pub(super) struct Walk<'a> {
    bytes: &'a [u8],
    salt: u32,
    /// Where the file should end.
    whole: usize,
    at: usize,
    /// Where the last accepted record ends.
    end: usize,
    pub(super) next_sender: u64,
    pub(super) next_target: u64,
    entries: usize,
    /// Numbers may be missing before the next record.
    is_lost: bool,
    is_done: bool,
    /// Everything before this place was synced, as a record states.
    synced: usize,
    /// How many bytes a search for records may still checksum.
    search_bytes: usize,
}

impl<'a> Walk<'a> {
    /// A walk over the bytes of a file with this header.
    pub(super) fn new(bytes: &'a [u8], header: &Header) -> Self {
        let whole = usize::try_from(header.bytes).unwrap_or(usize::MAX);
        Self {
            bytes: bytes.get(..whole).unwrap_or(bytes),
            salt: header.salt,
            whole,
            at: HEADER_BYTES,
            end: HEADER_BYTES,
            next_sender: header.first,
            next_target: header.next_target,
            entries: 0,
            is_lost: false,
            is_done: false,
            synced: 0,
            search_bytes: bytes.len().saturating_mul(4),
        }
    }

    /// Where the last accepted record ends.
    pub(super) fn end(&self) -> usize {
        self.end
    }

    /// How many entries the index must have so far.
    pub(super) fn entries(&self) -> usize {
        self.entries
    }

    fn rest(&self) -> &'a [u8] {
        self.bytes.get(self.at..).unwrap_or_default()
    }

    /// The next record, or what is in its place.
    pub(super) fn step(&mut self) -> Option<Step<'a>> {
        if self.is_done {
            return None;
        }
        let damage = match record::read(self.rest(), self.salt) {
            At::Record(record) => match self.accept(&record) {
                Some(step) => return Some(step),
                None => Damage::Order,
            },
            At::End if self.is_zero() => {
                self.is_done = true;
                return None;
            }
            At::End => Damage::Missing,
            At::Header => Damage::Record,
            At::Checksum => Damage::Checksum,
        };
        Some(self.beyond(damage))
    }

    /// Accepts a record that is in order and for whose entries there is room.
    fn accept(&mut self, record: &Record<'a>) -> Option<Step<'a>> {
        let offset = self.at;
        let lost_max = if self.is_lost { LOST_MAX } else { 0 };
        let (skip_max, own) = match record.kind {
            RecordKind::NextTarget => (u64::MAX, 0),
            RecordKind::Message | RecordKind::MessageAndTarget => (lost_max, 1),
            RecordKind::NextSender => (lost_max + SKIP_MAX, 0),
        };
        let next_sender = match record.kind {
            RecordKind::NextTarget => self.next_sender,
            _ => record.number,
        };
        let skipped = next_sender.checked_sub(self.next_sender)?;
        if skipped > skip_max {
            return None;
        }
        let entries = self.entries + skipped as usize + own;
        if !fits(offset + record.size(), entries, self.whole) {
            return None;
        }
        self.next_sender = next_sender.checked_add(own as u64)?;
        self.entries = entries;
        self.at += record.size();
        self.end = self.at;
        let (content, target) = record.message();
        self.next_target = target.unwrap_or(self.next_target);
        if record.kind == RecordKind::NextTarget {
            self.next_target = record.number;
        } else {
            self.is_lost = false;
        }
        Some(match record.kind {
            RecordKind::Message | RecordKind::MessageAndTarget => Step::Message {
                offset,
                number: record.number,
                skipped,
                content,
            },
            RecordKind::NextTarget | RecordKind::NextSender => Step::Numbers { skipped },
        })
    }

    /// Whether the rest is zeros up to the index.
    fn is_zero(&self) -> bool {
        let index = self.whole.saturating_sub(ENTRY_BYTES * self.entries);
        let to = index.clamp(self.at, self.bytes.len().max(self.at));
        is_zero(self.bytes.get(self.at..to).unwrap_or_default())
    }

    /// Searches for records after a place that is not one.
    fn beyond(&mut self, damage: Damage) -> Step<'a> {
        let offset = self.at;
        let end = self.bytes.len();
        let torn = Step::Torn {
            offset,
            bytes: end.saturating_sub(offset),
        };
        let Some(found) = self.search(offset + ALIGN).map(|(found, _)| found) else {
            self.is_done = true;
            return torn;
        };
        if !self.was_synced(offset, found) {
            self.is_done = true;
            return torn;
        }
        self.at = found;
        self.is_lost = true;
        Step::Damaged {
            offset,
            bytes: found - offset,
            damage,
        }
    }

    /// Whether a place had been synced when a later record was written; the first of those is at
    /// `found`.
    fn was_synced(&mut self, offset: usize, mut found: usize) -> bool {
        while self.synced <= offset {
            let Some((at, record)) = self.search(found) else {
                return false;
            };
            let unsynced = usize::try_from(record.unsynced_bytes).unwrap_or(usize::MAX);
            self.synced = self.synced.max(at.saturating_sub(unsynced));
            found = at + record.size();
        }
        true
    }

    /// The first record from here on with a possible number.
    fn search(&mut self, from: usize) -> Option<(usize, Record<'a>)> {
        let window = self.next_sender..=self.next_sender.saturating_add(LOST_MAX);
        for at in (from..self.bytes.len()).step_by(ALIGN) {
            let rest = self.bytes.get(at..).unwrap_or_default();
            let Some((kind, number, size)) = record::claim(rest) else {
                continue;
            };
            if kind != RecordKind::NextTarget && !window.contains(&number) {
                continue;
            }
            self.search_bytes = self.search_bytes.checked_sub(size)?;
            if let At::Record(record) = record::read(rest, self.salt) {
                return Some((at, record));
            }
        }
        None
    }
}
