//! Eight bytes at a time in a general register, without vector instructions.

use super::block::{self, Found, Masks};
use crate::frame::SOH;

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGHS: u64 = 0x8080_8080_8080_8080;

/// A bit for each byte of a word that equals `is`.
#[inline(always)]
fn bits(word: u64, is: u8) -> u64 {
    let differs = word ^ (ONES * u64::from(is));
    // Sets the highest bit of each zero byte. This is exact, because no borrow leaves a byte.
    let zero = !(((differs & !HIGHS) + !HIGHS) | differs) & HIGHS;
    (zero >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56
}

/// The sum of the bytes of a word.
#[inline(always)]
pub(super) fn word_sum(word: u64) -> u32 {
    let pairs = (word & 0x00ff_00ff_00ff_00ff) + (word >> 8 & 0x00ff_00ff_00ff_00ff);
    (pairs.wrapping_mul(0x0001_0001_0001_0001) >> 48) as u32
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

pub(super) fn sum(bytes: &[u8]) -> u32 {
    let (words, rest) = bytes.as_chunks::<8>();
    let add = |sum: u32, word: &[u8; 8]| sum.wrapping_add(word_sum(u64::from_le_bytes(*word)));
    words.iter().fold(super::scalar::sum(rest), add)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scan::scalar;

    #[test]
    fn masks_are_exact_for_every_byte_beside_every_other() {
        for a in 0..=255_u8 {
            for b in 0..=255_u8 {
                let mut block = [a; 64];
                block.iter_mut().step_by(3).for_each(|byte| *byte = b);
                let (is, should) = (masks(&block), scalar::masks(&block));
                assert_eq!((is.soh, is.equals), (should.soh, should.equals));
                assert_eq!(sum(&block), scalar::sum(&block));
            }
        }
    }
}
