//! Copies the fields of a message, with the byte 1 in place of a separator of two bytes or more.

use fixcore::SOH;
use fixcore::separator::overlap;

/// Fields up to this long are copied in one go.
pub(super) const COPY_BYTES: usize = 32;
/// Bytes that are searched for separators at once.
const BLOCK_BYTES: usize = 64;

/// Writes a text up to CheckSum, which begins at `sum_at` of the message. Returns where it begins in the
/// text, before `limit`; `None` if no field ends there, or if separators overlap. Bytes behind the limit are
/// copied at most.
#[inline]
pub(super) fn fields_to_soh(
    text: &[u8],
    limit: usize,
    separator: &[u8],
    sum_at: usize,
    out: &mut [u8],
) -> Option<usize> {
    match *separator {
        [first, other] if first != other => {
            let follows = |at: usize| Some(text.get(at + 1) == Some(&other));
            fields_until(text, limit, first, 2, follows, sum_at, out)
        }
        [first, ..] => {
            let is_at = |at: usize| {
                text.get(at..)
                    .is_some_and(|rest| rest.starts_with(separator))
            };
            let overlap = overlap(separator);
            let follows = |at: usize| match is_at(at) {
                true if overlap.is_some_and(|by| is_at(at + by)) => None,
                follows => Some(follows),
            };
            fields_until(text, limit, first, separator.len(), follows, sum_at, out)
        }
        [] => None,
    }
}

/// The same, where a separator has this first byte and so many in all, and `follows` says whether the
/// others follow it; `None` where the next one overlaps it, so that either may end the field.
#[inline(always)]
fn fields_until(
    text: &[u8],
    limit: usize,
    first: u8,
    separator_bytes: usize,
    follows: impl Fn(usize) -> Option<bool>,
    sum_at: usize,
    out: &mut [u8],
) -> Option<usize> {
    let (mut from, mut end, mut block) = (0, 0, 0);
    while block < limit {
        let mut found = places(text, block, first);
        while found != 0 {
            let at = block + found.trailing_zeros() as usize;
            found &= found - 1;
            if at < from || !follows(at)? {
                continue;
            }
            let length = at - from;
            if end + length >= sum_at || at >= limit {
                return None;
            }
            let whole = text.get(from..from + COPY_BYTES);
            match (whole, out.get_mut(end..end + COPY_BYTES)) {
                (Some(from), Some(to)) if length <= COPY_BYTES => to.copy_from_slice(from),
                _ => out
                    .get_mut(end..end + length)?
                    .copy_from_slice(text.get(from..at)?),
            }
            end += length + 1;
            *out.get_mut(end - 1)? = SOH;
            from = at + separator_bytes;
            if end == sum_at {
                return Some(from);
            }
        }
        block += BLOCK_BYTES;
    }
    None
}

/// Where a byte is among the 64 from `start` on: a bit for each.
///
/// A search that begins anew at each separator costs more than the few bytes of a field.
#[inline]
pub(super) fn places(text: &[u8], start: usize, byte: u8) -> u64 {
    const LOW: u64 = 0x7f7f_7f7f_7f7f_7f7f;
    let rest = text.get(start..).unwrap_or(&[]);
    let mut last = [byte ^ 1; BLOCK_BYTES];
    let block = match rest.first_chunk::<BLOCK_BYTES>() {
        Some(block) => block,
        None => {
            if let Some(to) = last.get_mut(..rest.len()) {
                to.copy_from_slice(rest);
            }
            &last
        }
    };
    let wanted = u64::from_le_bytes([byte; 8]);
    let mut bits = 0;
    for (number, word) in block.as_chunks::<8>().0.iter().enumerate() {
        let other = u64::from_le_bytes(*word) ^ wanted;
        // The highest bit of each byte that is 0.
        let zero = !(((other & LOW) + LOW) | other | LOW);
        bits |= zero >> (7 - number);
    }
    // Byte n has the bits of the bytes n of all words: a square of bits, which is mirrored.
    let mut swap = (bits ^ (bits >> 7)) & 0x00aa_00aa_00aa_00aa;
    bits ^= swap ^ (swap << 7);
    swap = (bits ^ (bits >> 14)) & 0x0000_cccc_0000_cccc;
    bits ^= swap ^ (swap << 14);
    swap = (bits ^ (bits >> 28)) & 0x0000_0000_f0f0_f0f0;
    bits ^ swap ^ (swap << 28)
}
