//! Tags one by one: those that a scan by blocks cannot read, and those at which it stops.

use std::ops::Range;

use super::index::{Index, last_digits, read_tag};
use super::watch::Watch;
use crate::frame::bytes_before;

/// Reads the tags of these fields that may have more than four digits. Shortens the index to the fields
/// before one that is watched or not valid, and returns whether there is one.
#[cold]
#[inline(never)]
pub(super) fn read_long(
    bytes: &[u8],
    watch: &Watch,
    index: &mut Index,
    fields: Range<usize>,
) -> bool {
    let mut start = index.start_of(fields.start);
    let first = fields.start;
    let (Some(tags), Some(ends)) = (index.tags.get_mut(fields.clone()), index.ends.get(fields))
    else {
        return false;
    };
    for (at, (tag, end)) in tags.iter_mut().zip(ends).enumerate() {
        // The number of the first four digits.
        if *tag >= 1000 {
            *tag = long_tag(bytes, start);
            if *tag == 0 || watch.has(*tag) {
                index.len = first + at;
                return true;
            }
        }
        start = *end as usize + 1;
    }
    false
}

/// The tag of the field that begins here, 0 if it is not valid.
#[inline(always)]
fn long_tag(bytes: &[u8], start: usize) -> u32 {
    let Some(word) = bytes.get(start..).and_then(<[u8]>::first_chunk) else {
        return tag_at(bytes, start).0;
    };
    let word = u64::from_le_bytes(*word);
    match bytes_before(word, b'=') {
        digits @ 1..8 => last_digits(word << (64 - 8 * digits), digits as u32).unwrap_or(0),
        _ => {
            let eight = last_digits(word, 8).filter(|tag| *tag > 0);
            match (eight, bytes.get(start + 8..start + 10)) {
                (Some(tag), Some([b'=', _])) => tag,
                (Some(tag), Some([digit @ b'0'..=b'9', b'='])) => {
                    tag * 10 + u32::from(digit - b'0')
                }
                _ => 0,
            }
        }
    }
}

/// Reads tags from a field on, and shortens the index to the fields before one that is watched or not
/// well-formed. Returns whether there is one; the tag after the last one is its own then, 0 if it is not valid.
#[cold]
#[inline(never)]
pub(super) fn settle(bytes: &[u8], first: usize, watch: &Watch, index: &mut Index) -> bool {
    let mut start = index.start_of(first);
    if let Some(tag) = index.tags().get(first)
        && *tag > 0
        && watch.has(*tag)
        && bytes.get(start + tag.ilog10() as usize + 1) == Some(&b'=')
    {
        index.len = first;
        return true;
    }
    for field in first..index.len {
        let (tag, value) = match bytes.get(start) {
            Some(b'1'..=b'9') => tag_at(bytes, start),
            _ => (0, start),
        };
        let end = index.ends[field] as usize;
        index.tags[field] = tag;
        if tag == 0 || value >= end || watch.has(tag) {
            index.len = field;
            return true;
        }
        start = end + 1;
    }
    false
}

/// The tag of the field that begins here, 0 if it is not valid, and the start of its value.
#[inline]
pub(super) fn tag_at(bytes: &[u8], start: usize) -> (u32, usize) {
    let head = bytes.get(start..).unwrap_or(&[]);
    let before = head.iter().take(10).position(|byte| *byte == b'=');
    let equals = start + before.unwrap_or(0);
    (read_tag(bytes, start, equals), equals + 1)
}
