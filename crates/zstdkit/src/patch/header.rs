//! The skippable frame before each segment: which ranges of the older file its frame refers back to.
//!
//! All numbers are little-endian. After the magic number `0x184d2a5b` and the length of the rest (4 bytes each):
//!
//! | byte | bytes | field |
//! |---|---|---|
//! | 0 | 8 | `zkpatch`, and the version in one byte: 1 |
//! | 8 | 4 | flags: bit 0, whether this is the last segment |
//! | 12 | 4 | number of ranges, n |
//! | 16 | 8 | length of the older file |
//! | 24 | 8 | where the segment begins in the newer file |
//! | 32 | 8 | content of the segment, in bytes |
//! | 40 | 8 | XXH64 of the ranges, one after the other |
//! | 48 | 16 n | start and length of each range, ascending, with no overlap |
//! | 48 + 16 n | 8 | XXH64 of all before it |

use std::ops::Range;

use twox_hash::XxHash64;

use super::options::{PREFIX_BYTES_MAX, SEGMENT_BYTES_MAX};
use crate::error::{Error, Repr};
use crate::format::{SKIPPABLE_HEADER_BYTES, SKIPPABLE_MAGIC};

/// The most ranges of a segment.
pub const RANGES_MAX: usize = 1024;
/// The longest header, with the eight bytes that any skippable frame begins with.
pub const HEADER_BYTES_MAX: usize = SKIPPABLE_HEADER_BYTES + BODY_BYTES_MAX;

const BODY_BYTES_MAX: usize = FIXED_BYTES + RANGES_MAX * RANGE_BYTES + HASH_BYTES;
const MAGIC: u32 = SKIPPABLE_MAGIC + 11;
const TAG: &[u8; 7] = b"zkpatch";
const VERSION: u8 = 1;
const FIXED_BYTES: usize = 48;
const RANGE_BYTES: usize = 16;
const HASH_BYTES: usize = 8;
const LAST: u32 = 1;

/// What a patch states before the frame of a segment.
///
/// The content of `ranges`, one after the other, is the prefix of the frame: `zstd -d --patch-from` decodes it with a
/// file that has these bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SegmentHeader {
    /// The length of the older file, in bytes.
    pub older_bytes: u64,
    /// Where the segment begins in the newer file.
    pub content_start: u64,
    /// The content of the segment, in bytes.
    pub content_bytes: u64,
    /// Parts of the older file, ascending, with no overlap.
    pub ranges: Vec<Range<u64>>,
    /// XXH64 (seed 0) of the content of the ranges, one after the other.
    pub prefix_xxh64: u64,
    /// Whether no segment follows.
    pub last: bool,
}

impl SegmentHeader {
    /// Whether a stream that begins with these bytes is a patch of segments. 15 bytes decide; fewer may still become
    /// one.
    pub fn is_at(stream: &[u8]) -> bool {
        let agrees = |bytes: &[u8], of: &[u8]| bytes.iter().zip(of).all(|(a, b)| a == b);
        let (magic, rest) = stream.split_at(stream.len().min(4));
        let tag = rest.get(4..).unwrap_or_default();
        agrees(magic, &MAGIC.to_le_bytes()) && agrees(tag, TAG)
    }

    /// The bytes of the ranges together.
    pub fn prefix_bytes(&self) -> u64 {
        self.ranges
            .iter()
            .map(|range| range.end.saturating_sub(range.start))
            .fold(0, u64::saturating_add)
    }

    /// The length of the header that begins with these bytes, and may be longer than they are. `None`: more bytes are
    /// needed, 8 are enough. `offset` is where it begins in the patch, for errors.
    ///
    /// # Errors
    /// These bytes do not begin a header.
    pub fn length(stream: &[u8], offset: u64) -> Result<Option<usize>, Error> {
        if !Self::is_at(stream) {
            return Err(corrupt(offset, "a segment does not begin here"));
        }
        let Some(field) = stream.get(4..8) else {
            return Ok(None);
        };
        let bytes = crate::format::little_endian(field) as usize;
        let ranges = bytes.checked_sub(FIXED_BYTES + HASH_BYTES);
        match ranges {
            Some(rest) if rest % RANGE_BYTES == 0 && bytes <= BODY_BYTES_MAX => {
                Ok(Some(SKIPPABLE_HEADER_BYTES + bytes))
            }
            _ => Err(corrupt(offset, "its length is wrong")),
        }
    }

    /// Reads the header at the start of these bytes, and its length. `offset` is where it begins in the patch, for
    /// errors.
    ///
    /// # Errors
    /// These bytes do not begin with a whole, valid header.
    pub fn parse(stream: &[u8], offset: u64) -> Result<(Self, usize), Error> {
        let length = Self::length(stream, offset)?;
        let whole = length.and_then(|length| stream.get(..length));
        let (Some(length), Some(whole)) = (length, whole) else {
            return Err(corrupt(offset, "it is incomplete"));
        };
        let body = &whole[SKIPPABLE_HEADER_BYTES..];
        let (signed, hash) = body.split_at(body.len() - HASH_BYTES);
        if u64_at(hash, 0) != XxHash64::oneshot(0, signed) {
            return Err(corrupt(offset, "its checksum is wrong"));
        }
        if body[TAG.len()] != VERSION {
            return Err(corrupt(offset, "it is of another version"));
        }
        let (flags, count) = (u64_at(body, 8) as u32, (u64_at(body, 8) >> 32) as usize);
        let listed = &signed[FIXED_BYTES..];
        if flags & !LAST != 0 {
            return Err(corrupt(offset, "a reserved flag is set"));
        }
        if listed.len() != count.saturating_mul(RANGE_BYTES) {
            return Err(corrupt(
                offset,
                "its number of ranges does not fit its length",
            ));
        }
        let header = Self {
            older_bytes: u64_at(body, 16),
            content_start: u64_at(body, 24),
            content_bytes: u64_at(body, 32),
            prefix_xxh64: u64_at(body, 40),
            ranges: ranges(listed).ok_or_else(|| corrupt(offset, "a range has no end"))?,
            last: flags & LAST != 0,
        };
        header.check(offset)?;
        Ok((header, length))
    }

    /// The header as bytes.
    ///
    /// # Errors
    /// [`parse`](Self::parse) would refuse it.
    pub fn to_bytes(&self) -> Result<Vec<u8>, Error> {
        self.check(0)?;
        let body = FIXED_BYTES + self.ranges.len() * RANGE_BYTES + HASH_BYTES;
        let mut bytes = Vec::with_capacity(SKIPPABLE_HEADER_BYTES + body);
        bytes.extend(MAGIC.to_le_bytes());
        bytes.extend((body as u32).to_le_bytes());
        bytes.extend(TAG);
        bytes.push(VERSION);
        bytes.extend(if self.last { LAST } else { 0 }.to_le_bytes());
        bytes.extend((self.ranges.len() as u32).to_le_bytes());
        let fields = [
            self.older_bytes,
            self.content_start,
            self.content_bytes,
            self.prefix_xxh64,
        ];
        bytes.extend(fields.into_iter().flat_map(u64::to_le_bytes));
        for range in &self.ranges {
            bytes.extend(range.start.to_le_bytes());
            bytes.extend((range.end - range.start).to_le_bytes());
        }
        let hash = XxHash64::oneshot(0, &bytes[SKIPPABLE_HEADER_BYTES..]);
        bytes.extend(hash.to_le_bytes());
        Ok(bytes)
    }

    fn check(&self, offset: u64) -> Result<(), Error> {
        if self.ranges.len() > RANGES_MAX {
            return Err(corrupt(offset, "it has too many ranges"));
        }
        let mut before = 0;
        for range in &self.ranges {
            if range.start < before || range.end <= range.start {
                return Err(corrupt(offset, "its ranges are not in ascending order"));
            }
            before = range.end;
        }
        if before > self.older_bytes {
            return Err(corrupt(offset, "a range is outside of the older file"));
        }
        if self.prefix_bytes() > PREFIX_BYTES_MAX {
            return Err(corrupt(offset, "its ranges are too large"));
        }
        if self.content_bytes > SEGMENT_BYTES_MAX
            || self.content_start.checked_add(self.content_bytes).is_none()
        {
            return Err(corrupt(offset, "its segment is too large"));
        }
        Ok(())
    }
}

/// The error for a header at this byte.
pub(super) fn corrupt(offset: u64, reason: &'static str) -> Error {
    Repr::PatchHeader { offset, reason }.into()
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    crate::format::little_endian(bytes.get(at..at + 8).unwrap_or_default())
}

fn ranges(listed: &[u8]) -> Option<Vec<Range<u64>>> {
    listed
        .chunks_exact(RANGE_BYTES)
        .map(|one| {
            let start = u64_at(one, 0);
            Some(start..start.checked_add(u64_at(one, 8))?)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header() -> SegmentHeader {
        SegmentHeader {
            older_bytes: 1 << 33,
            content_start: 1 << 32,
            content_bytes: 1 << 20,
            ranges: vec![5..100, 200..1 << 20],
            prefix_xxh64: 0x1234_5678_9abc_def0,
            last: true,
        }
    }

    #[test]
    fn a_header_reads_as_it_was_written() {
        let mut bytes = header().to_bytes().expect("valid");
        assert_eq!(bytes.len(), 8 + 48 + 32 + 8);
        bytes.extend(b"a frame");
        let (read, length) = SegmentHeader::parse(&bytes, 0).expect("valid");
        assert_eq!((read, length), (header(), 96));
        for end in 0..96 {
            assert!(SegmentHeader::is_at(&bytes[..end]), "{end}");
            assert!(SegmentHeader::parse(&bytes[..end], 0).is_err(), "{end}");
        }
    }

    #[test]
    fn every_changed_bit_is_found() {
        let bytes = header().to_bytes().expect("valid");
        for bit in 0..bytes.len() * 8 {
            let mut changed = bytes.clone();
            changed[bit / 8] ^= 1 << (bit % 8);
            assert!(SegmentHeader::parse(&changed, 0).is_err(), "bit {bit}");
        }
    }

    #[test]
    fn what_could_not_be_true_is_refused() {
        let wrong: [fn(&mut SegmentHeader); 7] = [
            |header| header.ranges = vec![100..200, 50..60],
            |header| header.ranges = vec![100..200, 150..300],
            |header| header.ranges = vec![50..60, 100..100],
            |header| header.older_bytes = 1000,
            |header| header.ranges = vec![0..1, 1..PREFIX_BYTES_MAX + 1],
            |header| header.content_bytes = SEGMENT_BYTES_MAX + 1,
            |header| header.content_start = u64::MAX,
        ];
        for (number, change) in wrong.into_iter().enumerate() {
            let mut header = header();
            change(&mut header);
            assert!(header.to_bytes().is_err(), "{number}");
        }
        let mut header = header();
        header.ranges = (0..=RANGES_MAX as u64)
            .map(|at| at * 2..at * 2 + 1)
            .collect();
        assert!(header.to_bytes().is_err());
    }
}
