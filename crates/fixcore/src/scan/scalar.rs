//! Eight bytes at a time in a general register, on any processor. Long values are found by memchr, which
//! has vector instructions of its own for some processors, and compilers make some for sums.

use memchr::memchr;

use super::block::{self, Found, Masks};
use super::find;
#[cfg(any(test, not(target_arch = "x86_64")))]
use super::index::FRONT_TAGS;
use super::index::Index;
use super::watch::Watch;
use crate::frame::{SOH, byte_sum, checksum, marked};

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGHS: u64 = 0x8080_8080_8080_8080;
/// From this length on, sums are kept apart, so many of them.
const LONG_BYTES: usize = 512;
const LANES: usize = 64;

/// A bit for each byte of a word that equals `is`.
#[inline(always)]
fn bits(word: u64, is: u8) -> u64 {
    let differs = word ^ (ONES * u64::from(is));
    // Sets the highest bit of each zero byte. This is exact, because no borrow leaves a byte.
    let zero = !(((differs & !HIGHS) + !HIGHS) | differs) & HIGHS;
    (zero >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56
}

#[inline(always)]
fn masks(block: &[u8; 64]) -> Masks {
    let mut is = Masks { soh: 0, equals: 0 };
    for (at, word) in block.as_chunks::<8>().0.iter().enumerate() {
        let word = u64::from_le_bytes(*word);
        is.soh |= bits(word, SOH) << (8 * at);
        is.equals |= bits(word, b'=') << (8 * at);
    }
    is
}

pub(super) fn positions(bytes: &[u8], soh: &mut [u32]) -> Option<usize> {
    block::positions(bytes, soh, |block| masks(block).soh)
}

pub(super) fn separators(bytes: &[u8], soh: &mut [u32], equals: &mut [u32]) -> Option<Found> {
    let mut found = block::separators(bytes, soh, equals, masks, |_| ())?;
    found.sum = sum(bytes);
    Some(found)
}

/// The sum, modulo 256. Compilers make vector instructions of it.
pub(super) fn sum(bytes: &[u8]) -> u32 {
    match bytes.len() {
        ..LONG_BYTES => checksum(bytes).into(),
        _ => long_sum(bytes),
    }
}

/// The same by several sums that do not wait for each other.
#[inline(never)]
fn long_sum(bytes: &[u8]) -> u32 {
    let (blocks, rest) = bytes.as_chunks::<LANES>();
    let mut lanes = [0_u8; LANES];
    for block in blocks {
        for (lane, byte) in lanes.iter_mut().zip(block) {
            *lane = lane.wrapping_add(*byte);
        }
    }
    u32::from(checksum(&lanes)) + u32::from(checksum(rest))
}

/// The place of the first tag that is `tag`.
pub(super) fn find(tags: &[u32], tag: u32) -> Option<usize> {
    let before = find::without::<32>(tags, tag);
    let rest = tags.get(before..)?;
    Some(before + rest.iter().position(|other| *other == tag)?)
}

/// The place of the first of these tags that is `tag`. Compilers make vector instructions of it.
#[cfg(any(test, not(target_arch = "x86_64")))]
#[inline]
pub(super) fn find_in_front(front: &[u32; FRONT_TAGS], tag: u32) -> Option<usize> {
    let is = (0..)
        .zip(front)
        .fold(0_u32, |is, (at, other)| is | u32::from(*other == tag) << at);
    (is != 0).then(|| is.trailing_zeros() as usize)
}

/// The sum of a few bytes.
#[inline(always)]
pub(super) fn word_sums(bytes: &[u8]) -> u32 {
    let (words, rest) = bytes.as_chunks::<8>();
    let words = words.iter().map(|word| byte_sum(u64::from_le_bytes(*word)));
    let rest = rest.iter().map(|byte| u32::from(*byte));
    words.sum::<u32>() + rest.sum::<u32>()
}

/// Digits of the longest tag.
pub(super) const TAG_DIGITS_MAX: usize = 9;

/// Adds fields from the start of one on. Returns where it stopped: at the end, or at the start of a
/// field that is watched or not well-formed.
pub(super) fn fields(bytes: &[u8], from: usize, watch: &Watch, index: &mut Index) -> usize {
    let at = some_fields(bytes, from, watch, index, usize::MAX);
    if at == bytes.len() {
        index.finish(bytes, sum);
    }
    at
}

/// The same for at most this many fields, without the sum.
#[inline(always)]
pub(super) fn some_fields(
    bytes: &[u8],
    from: usize,
    watch: &Watch,
    index: &mut Index,
    most: usize,
) -> usize {
    let (mut at, mut len) = (from, index.len);
    let upto = len.saturating_add(most).min(index.tags.len());
    let slots = (index.tags.get_mut(len..upto), index.ends.get_mut(len..));
    let (Some(tags), Some(ends)) = slots else {
        return from;
    };
    for (to_tag, to_end) in tags.iter_mut().zip(ends) {
        let Some((tag, end)) = field(bytes, at, watch) else {
            break;
        };
        (*to_tag, *to_end) = (tag, end as u32);
        at = end + 1;
        len += 1;
    }
    index.len = len;
    at
}

/// The tag and the end of the field that begins here, if it is well-formed and not watched.
///
/// The digits are read one by one: that the processor predicts how many there are is worth more than
/// reading them at once.
#[inline(always)]
pub(crate) fn field(bytes: &[u8], at: usize, watch: &Watch) -> Option<(u32, usize)> {
    field_by(bytes, at, watch, &Words)
}

/// How the end of a value is found: a trait, for what a closure calls is not always inlined.
pub(super) trait Ends {
    /// How many bytes come before the separator.
    fn length(&self, value: &[u8]) -> Option<usize>;
}

/// By words, and by memchr behind the first ones.
struct Words;

impl Ends for Words {
    #[inline(always)]
    fn length(&self, value: &[u8]) -> Option<usize> {
        length(value)
    }
}

/// The same with another search for the end of a value.
#[inline(always)]
pub(super) fn field_by(
    bytes: &[u8],
    at: usize,
    watch: &Watch,
    ends: &impl Ends,
) -> Option<(u32, usize)> {
    let rest = bytes.get(at..)?;
    let mut tag = 0;
    for (digits, byte) in rest.iter().take(TAG_DIGITS_MAX + 1).enumerate() {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            if *byte != b'=' || digits == 0 || rest.first() == Some(&b'0') || watch.has(tag) {
                return None;
            }
            let length = ends.length(rest.get(digits + 1..)?)?;
            return (length > 0).then_some((tag, at + digits + 1 + length));
        }
        tag = u32::wrapping_add(tag.wrapping_mul(10), digit.into());
    }
    None
}

/// Where a value ends. Most have fewer than 16 bytes, and how many is hard to foresee.
#[inline(always)]
fn length(value: &[u8]) -> Option<usize> {
    match value.first_chunk().map(words_before) {
        Some(Some(short)) => Some(short),
        Some(None) => Some(16 + memchr(SOH, value.get(16..)?)?),
        None => memchr(SOH, value),
    }
}

/// How many bytes come before the separator, if it is here.
#[inline(always)]
pub(super) fn words_before(bytes: &[u8; 16]) -> Option<usize> {
    let (words, _) = bytes.as_chunks::<8>();
    let [low, high] = [words[0], words[1]].map(|word| marked(u64::from_le_bytes(word), SOH));
    let is_soh = u128::from(high) << 64 | u128::from(low);
    (is_soh != 0).then(|| is_soh.trailing_zeros() as usize / 8)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The bit masks of 64 bytes, one by one.
    fn bits_of(block: &[u8; 64], is: u8) -> u64 {
        let bit = |(at, byte): (u32, &u8)| u64::from(*byte == is) << at;
        (0..).zip(block).map(bit).sum()
    }

    #[test]
    fn a_tag_is_found_at_its_first_place_in_front() {
        for place in 0..FRONT_TAGS {
            let mut front = [u32::MAX; FRONT_TAGS];
            front[place..]
                .iter_mut()
                .step_by(3)
                .for_each(|tag| *tag = 58);
            assert_eq!(find_in_front(&front, 58), Some(place));
            let scanner = crate::Scanner::new();
            assert_eq!(scanner.find_in_front(&front, 58), Some(place));
            assert_eq!(find_in_front(&front, 59), None);
        }
    }

    #[test]
    fn masks_are_exact_for_every_byte_next_to_every_other() {
        for a in 0..=255_u8 {
            for b in 0..=255_u8 {
                let mut block = [a; 64];
                block.iter_mut().step_by(3).for_each(|byte| *byte = b);
                let is = masks(&block);
                assert_eq!(is.soh, bits_of(&block, SOH));
                assert_eq!(is.equals, bits_of(&block, b'='));
                let right = block.iter().fold(0_u8, |sum, byte| sum.wrapping_add(*byte));
                assert_eq!(sum(&block) as u8, right);
            }
        }
    }
}
