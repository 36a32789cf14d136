//! 32 bytes at a time by AVX2.

#![allow(unsafe_code, reason = "vector loads of whole arrays")]

use std::arch::x86_64::{
    __m256i, _mm_add_epi64, _mm_cvtsi128_si64, _mm_unpackhi_epi64, _mm256_add_epi64,
    _mm256_castsi256_si128, _mm256_cmpeq_epi8, _mm256_cmpeq_epi32, _mm256_extracti128_si256,
    _mm256_loadu_si256, _mm256_movemask_epi8, _mm256_sad_epu8, _mm256_set1_epi8, _mm256_set1_epi32,
    _mm256_setzero_si256,
};

use super::block::{self, Found, Masks};
use crate::frame::SOH;

#[inline]
#[target_feature(enable = "avx2")]
fn load(bytes: &[u8; 32]) -> __m256i {
    // SAFETY: 32 bytes; the load needs no alignment.
    unsafe { _mm256_loadu_si256(bytes.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx2")]
fn bits(part: __m256i, is: u8) -> u64 {
    let is = _mm256_cmpeq_epi8(part, _mm256_set1_epi8(is.cast_signed()));
    u64::from(_mm256_movemask_epi8(is) as u32)
}

#[inline]
#[target_feature(enable = "avx2")]
fn total(sums: __m256i) -> u32 {
    let sums = _mm_add_epi64(
        _mm256_castsi256_si128(sums),
        _mm256_extracti128_si256(sums, 1),
    );
    _mm_cvtsi128_si64(_mm_add_epi64(sums, _mm_unpackhi_epi64(sums, sums))) as u32
}

#[inline]
#[target_feature(enable = "avx2")]
fn halves(block: &[u8; 64]) -> [__m256i; 2] {
    let (parts, _) = block.as_chunks::<32>();
    [load(&parts[0]), load(&parts[1])]
}

#[inline]
#[target_feature(enable = "avx2")]
fn masks(block: &[u8; 64]) -> Masks {
    let [low, high] = halves(block);
    Masks {
        soh: bits(low, SOH) | bits(high, SOH) << 32,
        equals: bits(low, b'=') | bits(high, b'=') << 32,
    }
}

#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
pub(super) fn positions(bytes: &[u8], soh: &mut [u32]) -> Option<usize> {
    block::positions(bytes, soh, |block| {
        let [low, high] = halves(block);
        bits(low, SOH) | bits(high, SOH) << 32
    })
}

#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
pub(super) fn separators(bytes: &[u8], soh: &mut [u32], equals: &mut [u32]) -> Option<Found> {
    let mut sums = _mm256_setzero_si256();
    let add = |block: &[u8; 64]| {
        for part in halves(block) {
            sums = _mm256_add_epi64(sums, _mm256_sad_epu8(part, _mm256_setzero_si256()));
        }
    };
    let mut found = block::separators(bytes, soh, equals, |block| masks(block), add)?;
    found.sum = total(sums).wrapping_add(sum(bytes.as_chunks::<64>().1));
    Some(found)
}

#[target_feature(enable = "avx2")]
pub(super) fn sum(bytes: &[u8]) -> u32 {
    let (parts, rest) = bytes.as_chunks::<32>();
    let mut sums = _mm256_setzero_si256();
    for part in parts {
        sums = _mm256_add_epi64(sums, _mm256_sad_epu8(load(part), _mm256_setzero_si256()));
    }
    total(sums).wrapping_add(super::swar::sum(rest))
}

/// The place of the first tag that is `tag`.
#[target_feature(enable = "avx2,bmi1")]
pub(super) fn find(tags: &[u32], tag: u32) -> Option<usize> {
    let (eights, rest) = tags.as_chunks::<8>();
    for (at, eight) in eights.iter().enumerate() {
        // SAFETY: eight numbers are 32 bytes; the load needs no alignment.
        let eight = unsafe { _mm256_loadu_si256(eight.as_ptr().cast()) };
        let is = _mm256_movemask_epi8(_mm256_cmpeq_epi32(
            eight,
            _mm256_set1_epi32(tag.cast_signed()),
        ));
        if is != 0 {
            return Some(8 * at + is.trailing_zeros() as usize / 4);
        }
    }
    let found = rest.iter().position(|other| *other == tag)?;
    Some(8 * eights.len() + found)
}
