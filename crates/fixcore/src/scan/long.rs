//! Fields with long values, one by one: blocks of bytes without a separator have nothing to turn into fields.

use memchr::memchr;

use super::index::Index;
use super::scalar::TAG_DIGITS_MAX;
use super::watch::Watch;
use crate::frame::{SOH, TRAILER_BYTES};

/// Shorter fields are read faster by the block.
pub(super) const LONG_BYTES: usize = 48;
/// Adds long fields from the start of one on. Returns the start of the first one that is not long, is
/// watched, or is not well-formed. After this many blocks of a value memchr takes over.
#[inline(always)]
pub(super) fn long_fields(
    bytes: &[u8],
    mut at: usize,
    watch: &Watch,
    index: &mut Index,
    soh: impl Fn(&[u8; 64]) -> u64,
    blocks: usize,
) -> usize {
    while let Some((tag, end)) = long_field(bytes, at, watch, &soh, blocks) {
        index.push(tag, end as u32);
        at = end + 1;
        if bytes.len() - at == TRAILER_BYTES && index.push_trailer(bytes, at, watch) {
            return bytes.len();
        }
    }
    at
}

#[inline(always)]
fn long_field(
    bytes: &[u8],
    at: usize,
    watch: &Watch,
    soh: impl Fn(&[u8; 64]) -> u64,
    blocks: usize,
) -> Option<(u32, usize)> {
    let rest = bytes.get(at..)?;
    let is_soh = soh(rest.first_chunk()?);
    let short = is_soh.trailing_zeros() as usize;
    if short < LONG_BYTES {
        return None;
    }
    let tag = tag(rest).filter(|tag| !watch.has(*tag))?;
    let length = match is_soh {
        0 => end_of(rest, soh, blocks)?,
        _ => short,
    };
    Some((tag, at + length))
}

/// The tag at the start of a field, digit by digit, like the portable path: how many there are is foreseen.
#[inline(always)]
fn tag(field: &[u8]) -> Option<u32> {
    let mut tag = 0;
    for (digits, byte) in field.iter().take(TAG_DIGITS_MAX + 1).enumerate() {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            let is_tag = *byte == b'=' && digits > 0 && field.first() != Some(&b'0');
            return is_tag.then_some(tag);
        }
        tag = u32::wrapping_add(tag.wrapping_mul(10), digit.into());
    }
    None
}

/// The first separator behind a block.
#[inline(always)]
fn end_of(bytes: &[u8], soh: impl Fn(&[u8; 64]) -> u64, blocks: usize) -> Option<usize> {
    let mut at = 64;
    for block in bytes.as_chunks::<64>().0.iter().skip(1).take(blocks) {
        let is_soh = soh(block);
        if is_soh != 0 {
            return Some(at + is_soh.trailing_zeros() as usize);
        }
        at += 64;
    }
    Some(at + memchr(SOH, bytes.get(at..)?)?)
}
