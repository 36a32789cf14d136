//! 32 bytes at a time by AVX2.

#![allow(unsafe_code, reason = "vector loads of whole arrays")]

use std::arch::x86_64::{
    __m256i, _bzhi_u32, _mm_add_epi64, _mm_cvtsi128_si64, _mm_loadu_si128, _mm_unpackhi_epi64,
    _mm256_add_epi8, _mm256_add_epi32, _mm256_add_epi64, _mm256_and_si256,
    _mm256_broadcastsi128_si256, _mm256_castsi256_ps, _mm256_castsi256_si128, _mm256_cmpeq_epi8,
    _mm256_cmpeq_epi32, _mm256_extracti128_si256, _mm256_loadu_si256, _mm256_madd_epi16,
    _mm256_maddubs_epi16, _mm256_movemask_epi8, _mm256_movemask_ps, _mm256_or_si256,
    _mm256_sad_epu8, _mm256_set1_epi8, _mm256_set1_epi16, _mm256_set1_epi32, _mm256_setzero_si256,
    _mm256_shuffle_epi8, _mm256_sllv_epi32, _mm256_srli_epi32, _mm256_storeu_si256,
    _mm256_sub_epi32, _mm256_subs_epu8, _mm256_xor_si256,
};

use super::block::{self, Found, Masks};
use super::fields::{self, Marks, Steps};
use super::index::Index;
use super::singly::{Blocks, Singly};
use super::watch::Watch;
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

/// Adds fields: see [`fields::fields`].
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn fields(bytes: &[u8], from: usize, watch: &Watch, index: &mut Index) -> usize {
    let soh = |block: &[u8; 64]| {
        let [low, high] = halves(block);
        bits(low, SOH) | bits(high, SOH) << 32
    };
    let steps = Steps {
        marks: |block: &[u8; 64]| {
            let [low, high] = halves(block);
            Marks {
                soh: bits(low, SOH) | bits(high, SOH) << 32,
                equals: bits(low, b'=') | bits(high, b'=') << 32,
                zeros: bits(low, b'0') | bits(high, b'0') << 32,
            }
        },
        singly: Singly {
            soh,
            ends: Blocks { soh, most: 6 },
            worth: 40,
            near: 4,
        },
        tags: |words: &mut [u32], count: usize| tags(words, count, watch),
    };
    fields::fields(bytes, from, watch, index, steps, |bytes| sum(bytes))
}

/// Turns the first four bytes of fields into tags of up to four digits: see [`Steps::tags`].
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2")]
pub(super) fn tags(words: &mut [u32], count: usize, watch: &Watch) -> Option<usize> {
    let (eights, _) = words.as_chunks_mut::<8>();
    let (ones, none) = (_mm256_set1_epi32(-1), _mm256_setzero_si256());
    // One by one: `map` of an array has not the features of this function, so that its closures become calls.
    let [a, b, c, d] = &watch.digits;
    let [a, b, c, d] = [twice(a), twice(b), twice(c), twice(d)];
    for (at, eight) in eights.iter_mut().take(count.div_ceil(8)).enumerate() {
        // SAFETY: eight numbers are 32 bytes; the load needs no alignment.
        let bytes = unsafe { _mm256_loadu_si256(eight.as_ptr().cast()) };
        // Ones below the first `=`.
        let equals = _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8(b'=' as i8));
        let first = _mm256_and_si256(equals, _mm256_sub_epi32(none, equals));
        let own = _mm256_add_epi32(first, ones);
        let digits = _mm256_and_si256(_mm256_xor_si256(bytes, _mm256_set1_epi8(b'0' as i8)), own);
        // Up to the last byte. Each byte of ones counts as eight less.
        let less = _mm256_maddubs_epi16(_mm256_set1_epi8(8), own);
        let less = _mm256_madd_epi16(less, _mm256_set1_epi16(1));
        let digits = _mm256_sllv_epi32(digits, _mm256_add_epi32(less, _mm256_set1_epi32(32)));
        let pairs = _mm256_maddubs_epi16(digits, _mm256_set1_epi16(0x010a));
        let tags = _mm256_madd_epi16(pairs, _mm256_set1_epi32(0x0001_0064));
        // SAFETY: as above.
        unsafe { _mm256_storeu_si256(eight.as_mut_ptr().cast(), tags) };
        let second = _mm256_srli_epi32(_mm256_shuffle_epi8(b, digits), 8);
        let ab = _mm256_and_si256(_mm256_shuffle_epi8(a, digits), second);
        let fourth = _mm256_srli_epi32(_mm256_shuffle_epi8(d, digits), 8);
        let cd = _mm256_and_si256(_mm256_shuffle_epi8(c, digits), fourth);
        let near = _mm256_and_si256(ab, _mm256_srli_epi32(cd, 16));
        let near = _mm256_and_si256(near, _mm256_set1_epi32(0xff));
        let above = _mm256_subs_epu8(digits, _mm256_set1_epi8(9));
        let plain = _mm256_cmpeq_epi32(_mm256_or_si256(above, near), none);
        let plain = _mm256_movemask_ps(_mm256_castsi256_ps(plain)).cast_unsigned();
        let strange = _bzhi_u32(!plain & 0xff, (count - 8 * at) as u32);
        if strange != 0 {
            let right = _mm256_cmpeq_epi32(above, none);
            let wrong = !_mm256_movemask_ps(_mm256_castsi256_ps(right)).cast_unsigned();
            if let Some(lane) = strange_lane(eight, strange, wrong, watch) {
                return Some(8 * at + lane);
            }
        }
    }
    None
}

/// 16 bytes, twice.
#[inline]
#[target_feature(enable = "avx2")]
fn twice(bytes: &[u8; 16]) -> __m256i {
    // SAFETY: 16 bytes; the load needs no alignment.
    _mm256_broadcastsi128_si256(unsafe { _mm_loadu_si128(bytes.as_ptr().cast()) })
}

/// The first of these lanes that has something other than digits or is watched.
#[cold]
fn strange_lane(tags: &[u32; 8], strange: u32, wrong: u32, watch: &Watch) -> Option<usize> {
    let mut lanes = tags.iter().enumerate();
    let is_strange = |(lane, tag): (usize, &u32)| {
        strange >> lane & 1 != 0 && (wrong >> lane & 1 != 0 || watch.has(*tag))
    };
    lanes.position(is_strange)
}

/// The sum, modulo 256.
#[target_feature(enable = "avx2")]
pub(super) fn sum(bytes: &[u8]) -> u32 {
    let (blocks, rest) = bytes.as_chunks::<128>();
    let (parts, rest) = rest.as_chunks::<32>();
    let mut sums = [_mm256_setzero_si256(); 4];
    for block in blocks {
        for (sum, part) in sums.iter_mut().zip(block.as_chunks::<32>().0) {
            *sum = _mm256_add_epi8(*sum, load(part));
        }
    }
    for (sum, part) in sums.iter_mut().zip(parts) {
        *sum = _mm256_add_epi8(*sum, load(part));
    }
    let [a, b, c, d] = sums;
    let sums = _mm256_add_epi8(_mm256_add_epi8(a, b), _mm256_add_epi8(c, d));
    total(_mm256_sad_epu8(sums, _mm256_setzero_si256()))
        .wrapping_add(super::scalar::word_sums(rest))
}

/// The place of the first tag that is `tag`.
#[target_feature(enable = "avx2,bmi1")]
pub(super) fn find(tags: &[u32], tag: u32) -> Option<usize> {
    let wanted = _mm256_set1_epi32(tag.cast_signed());
    super::find::find(tags, tag, |eight: &[u32; 8]| {
        // SAFETY: eight numbers are 32 bytes; the load needs no alignment.
        let eight = unsafe { _mm256_loadu_si256(eight.as_ptr().cast()) };
        let is = _mm256_cmpeq_epi32(eight, wanted);
        _mm256_movemask_ps(_mm256_castsi256_ps(is)).cast_unsigned()
    })
}
