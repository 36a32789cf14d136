//! The fields of a text log, as its separator ends them, and messages made of them: up to a place, or up to CheckSum.

use std::ops::{ControlFlow, Range};

use super::overlap;
use crate::frame::SOH;

/// Fields up to this long are copied in one go.
const COPY_BYTES: usize = 32;
/// Bytes that are searched for separators at once.
const BLOCK_BYTES: usize = 64;

/// A field that ends with a separator.
struct Field {
    part: Range<usize>,
    /// Where the next one begins.
    next: usize,
    /// Whether another separator overlaps this one, so that either may end the field.
    is_doubtful: bool,
}

/// Calls `visit` with each field that begins before `limit`, until it breaks. The field ends there if it says so, and goes
/// on if not.
#[inline(always)]
fn each<T>(
    text: &[u8],
    limit: usize,
    separator: &[u8],
    visit: impl FnMut(Field) -> ControlFlow<T, bool>,
) -> Option<T> {
    match *separator {
        [first, other] if first != other => {
            let is_at = |at: usize| text.get(at + 1) == Some(&other);
            each_at(
                text,
                limit,
                first,
                2,
                |at| is_at(at).then_some(false),
                visit,
            )
        }
        [first, ..] => {
            let is_at = |at: usize| {
                text.get(at..)
                    .is_some_and(|rest| rest.starts_with(separator))
            };
            let overlap = overlap(separator);
            let found = |at: usize| is_at(at).then(|| overlap.is_some_and(|by| is_at(at + by)));
            each_at(text, limit, first, separator.len(), found, visit)
        }
        [] => None,
    }
}

/// The same, where a separator has this first byte and `separator_bytes` in all; `found` says whether it is at a place, and then
/// whether another one overlaps it.
#[inline(always)]
fn each_at<T>(
    text: &[u8],
    limit: usize,
    first: u8,
    separator_bytes: usize,
    found: impl Fn(usize) -> Option<bool>,
    mut visit: impl FnMut(Field) -> ControlFlow<T, bool>,
) -> Option<T> {
    let (mut from, mut block) = (0, 0);
    while block < limit {
        let mut places = places(text, block, first);
        while places != 0 {
            let at = block + places.trailing_zeros() as usize;
            places &= places - 1;
            if at < from {
                continue;
            }
            let Some(is_doubtful) = found(at) else {
                continue;
            };
            let next = at + separator_bytes;
            let part = from..at;
            match visit(Field {
                part,
                next,
                is_doubtful,
            }) {
                ControlFlow::Break(found) => return Some(found),
                ControlFlow::Continue(true) => from = next,
                ControlFlow::Continue(false) => {}
            }
        }
        block += BLOCK_BYTES;
    }
    None
}

/// Writes the fields of a text with the byte 1 behind each, until `wanted` bytes are written. Returns where the next field
/// begins in the text.
///
/// `None` if no field ends there, or only one at or behind the byte `limit`, if separators overlap (see [`overlap`]), or if
/// `out` is too short. What `out` holds behind the wanted bytes is overwritten.
///
/// ```
/// use fixcore::separator::fields_to_soh;
///
/// let (text, mut out) = (b"8=FIX.4.4\\x019=5\\x0135=0\\x0110=163", [0; 19]);
/// assert_eq!(fields_to_soh(text, text.len(), b"\\x01", 19, &mut out), Some(28));
/// assert_eq!(&out, b"8=FIX.4.4\x019=5\x0135=0\x01");
/// assert_eq!(fields_to_soh(text, text.len(), b"\\x01", 18, &mut out), None);
/// ```
#[inline]
#[must_use]
pub fn fields_to_soh(
    text: &[u8],
    limit: usize,
    separator: &[u8],
    wanted: usize,
    out: &mut [u8],
) -> Option<usize> {
    let mut end = 0;
    let taken = each(text, limit, separator, |field| {
        let at = field.part.end;
        if field.is_doubtful || end + field.part.len() >= wanted || at >= limit {
            return ControlFlow::Break(None);
        }
        let Some(behind) = put(text, field.part, out, end) else {
            return ControlFlow::Break(None);
        };
        end = behind;
        match end == wanted {
            true => ControlFlow::Break(Some(field.next)),
            false => ControlFlow::Continue(true),
        }
    });
    taken.flatten()
}

/// Writes the message at the start of a text with the byte 1 as separator, and nothing of what follows
/// the message. What `out` held before is dropped.
///
/// The message ends with its first CheckSum (10), with or without a separator after it. Returns how
/// many bytes of the text the message has; `None` if the text ends before CheckSum.
///
/// ```
/// use fixcore::separator::to_soh;
///
/// let mut message = Vec::new();
/// assert_eq!(to_soh(b"8=FIX.4.4|9=5|35=0|10=163| ok", b"|", &mut message), Some(26));
/// assert_eq!(message, b"8=FIX.4.4\x019=5\x0135=0\x0110=163\x01");
/// ```
pub fn to_soh(text: &[u8], separator: &[u8], out: &mut Vec<u8>) -> Option<usize> {
    out.clear();
    // Never longer than the text, but for the last separator, and for copies of one size.
    out.resize(text.len() + 1 + COPY_BYTES, 0);
    let (mut from, mut end) = (0, 0);
    let sum = each(text, text.len(), separator, |field| {
        let value = text.get(field.part.clone()).unwrap_or(&[]);
        if value.starts_with(b"10=") {
            return ControlFlow::Break((field.part, field.next));
        }
        if !field.is_doubtful
            && let Some(behind) = put(text, field.part, out, end)
        {
            (from, end) = (field.next, behind);
        }
        ControlFlow::Continue(!field.is_doubtful)
    });
    out.truncate(end);
    let (sum, taken) = sum.unwrap_or((from..text.len(), text.len()));
    let sum = text.get(sum)?.strip_prefix(b"10=")?;
    out.extend_from_slice(b"10=");
    out.extend_from_slice(sum.trim_ascii());
    out.push(SOH);
    Some(taken)
}

/// Copies a part of a text to a place, as a copy of one size where there is room, and the byte 1 behind it; the place behind
/// that.
#[inline(always)]
fn put(text: &[u8], part: Range<usize>, out: &mut [u8], at: usize) -> Option<usize> {
    let length = part.len();
    let whole = text.get(part.start..part.start + COPY_BYTES);
    match (whole, out.get_mut(at..at + COPY_BYTES)) {
        (Some(from), Some(to)) if length <= COPY_BYTES => to.copy_from_slice(from),
        _ => out
            .get_mut(at..at + length)?
            .copy_from_slice(text.get(part)?),
    }
    *out.get_mut(at + length)? = SOH;
    Some(at + length + 1)
}

/// Where a byte is among the 64 from `start` on: a bit for each.
///
/// A search that begins anew at each separator costs more than the few bytes of a field.
#[inline]
fn places(text: &[u8], start: usize, byte: u8) -> u64 {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_of_a_byte_are_those_that_a_loop_finds() {
        let mut state = 7_u64;
        let mut below = move |limit: u64| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            ((state >> 33) % limit) as usize
        };
        for length in 0..140 {
            let text: Vec<u8> = (0..length)
                .map(|_| [b'^', b'_', b'^' ^ 0x80, 0, 255][below(5)])
                .collect();
            for byte in [b'^', 0, 255] {
                for start in [0, 1, 64, 130] {
                    let mut expected = 0;
                    for (at, other) in text.iter().skip(start).take(64).enumerate() {
                        expected |= u64::from(*other == byte) << at;
                    }
                    assert_eq!(places(&text, start, byte), expected);
                }
            }
        }
    }

    /// Byte by byte: what both functions have to do.
    fn plainly(text: &[u8], separator: &[u8]) -> Vec<(Vec<u8>, usize, bool)> {
        let (mut fields, mut field, mut at) = (Vec::new(), Vec::new(), 0);
        let overlap = overlap(separator);
        while at < text.len() {
            if !text[at..].starts_with(separator) {
                field.push(text[at]);
                at += 1;
                continue;
            }
            let is_doubtful = overlap.is_some_and(|by| {
                text.get(at + by..)
                    .is_some_and(|rest| rest.starts_with(separator))
            });
            if is_doubtful && !field.starts_with(b"10=") {
                fields.push((field.clone(), at, true));
                field.push(text[at]);
                at += 1;
                continue;
            }
            at += separator.len();
            fields.push((std::mem::take(&mut field), at, is_doubtful));
        }
        fields.push((field, text.len(), false));
        fields
    }

    #[test]
    fn texts_of_any_pieces_are_read_as_byte_by_byte() {
        let mut state = 3_u64;
        let mut below = move |limit: usize| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (state >> 33) as usize % limit
        };
        let separators: [&[u8]; 7] = [b"|", b"||", b" | ", b"^A", b"\\x01", b"aa", b"aaa"];
        for case in 0..20_000 {
            let separator = separators[case % separators.len()];
            let long = [b'x'; 40];
            let pieces: [&[u8]; 9] = [
                separator, separator, b"|", b"10=", b"a", b" ", b"58=x", &long, b"\\",
            ];
            let mut text = Vec::new();
            for _ in 0..below(14) {
                text.extend_from_slice(pieces[below(pieces.len())]);
            }
            let fields = plainly(&text, separator);
            // Up to CheckSum.
            let mut expected = Vec::new();
            let sum = fields.iter().find(|(field, _, is_doubtful)| {
                let is_sum = field.starts_with(b"10=");
                if !is_sum && !is_doubtful {
                    expected.extend_from_slice(field);
                    expected.push(SOH);
                }
                is_sum
            });
            let mut out = Vec::new();
            let taken = to_soh(&text, separator, &mut out);
            assert_eq!(
                taken,
                sum.map(|(_, next, _)| *next),
                "{}",
                text.escape_ascii()
            );
            if let Some((sum, _, _)) = sum {
                expected.extend_from_slice(b"10=");
                expected.extend_from_slice(sum[3..].trim_ascii());
                expected.push(SOH);
                assert_eq!(out, expected, "{}", text.escape_ascii());
            }
            // Up to every place.
            for wanted in 0..=text.len() + 1 {
                let mut written = Vec::new();
                let mut found = None;
                for (field, next, is_doubtful) in &fields[..fields.len() - 1] {
                    if *is_doubtful {
                        break;
                    }
                    written.extend_from_slice(field);
                    written.push(SOH);
                    if written.len() >= wanted {
                        found = (written.len() == wanted).then_some(*next);
                        break;
                    }
                }
                let mut out = vec![0; wanted];
                let taken = fields_to_soh(&text, text.len(), separator, wanted, &mut out);
                assert_eq!(taken, found, "{wanted} of {}", text.escape_ascii());
                if taken.is_some() {
                    assert_eq!(out, written);
                }
            }
        }
    }
}
