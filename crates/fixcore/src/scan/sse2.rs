//! 16 bytes at a time by SSE2.

#![allow(unsafe_code, reason = "vector loads of whole arrays")]

use std::arch::x86_64::{
    __m128i, _mm_add_epi8, _mm_add_epi16, _mm_add_epi32, _mm_add_epi64, _mm_and_si128,
    _mm_andnot_si128, _mm_castsi128_ps, _mm_cmpeq_epi8, _mm_cmpeq_epi32, _mm_cvtsi128_si64,
    _mm_loadu_si128, _mm_madd_epi16, _mm_movemask_epi8, _mm_movemask_ps, _mm_mullo_epi16,
    _mm_or_si128, _mm_packs_epi16, _mm_packs_epi32, _mm_sad_epu8, _mm_set1_epi8, _mm_set1_epi16,
    _mm_set1_epi32, _mm_setzero_si128, _mm_slli_epi32, _mm_srli_epi16, _mm_srli_epi32,
    _mm_storeu_si128, _mm_sub_epi32, _mm_subs_epu8, _mm_unpackhi_epi64, _mm_xor_si128,
};

use super::block::{self, Found, Masks};
use super::fields::{self, Marks, Steps};
use super::index::{FRONT_TAGS, Index};
use super::singly::{Blocks, Singly, WordsAndBlocks};
use super::watch::Watch;
use crate::frame::SOH;

#[inline]
#[target_feature(enable = "sse2")]
fn load(bytes: &[u8; 16]) -> __m128i {
    // SAFETY: 16 bytes; the load needs no alignment.
    unsafe { _mm_loadu_si128(bytes.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "sse2")]
fn total(sums: __m128i) -> u32 {
    let sums = _mm_add_epi64(sums, _mm_unpackhi_epi64(sums, sums));
    _mm_cvtsi128_si64(sums) as u32
}

#[inline]
#[target_feature(enable = "sse2")]
fn masks(block: &[u8; 64]) -> Masks {
    Masks {
        soh: bits(block, SOH),
        equals: bits(block, b'='),
    }
}

/// Which bytes of a block equal this one.
#[inline]
#[target_feature(enable = "sse2")]
fn bits(block: &[u8; 64], is: u8) -> u64 {
    let (parts, _) = block.as_chunks::<16>();
    let bits = |at: usize| {
        let is = _mm_cmpeq_epi8(load(&parts[at]), _mm_set1_epi8(is.cast_signed()));
        u64::from(_mm_movemask_epi8(is) as u32)
    };
    bits(0) | bits(1) << 16 | bits(2) << 32 | bits(3) << 48
}

/// 16 at a time: without POPCNT it is slow to count the bits of a mask of 64.
#[target_feature(enable = "sse2")]
pub(super) fn positions(bytes: &[u8], soh: &mut [u32]) -> Option<usize> {
    let is_soh = |part: &[u8; 16]| {
        let is = _mm_cmpeq_epi8(load(part), _mm_set1_epi8(SOH as i8));
        _mm_movemask_epi8(is) as u32
    };
    let (parts, rest) = bytes.as_chunks::<16>();
    let (mut count, mut base) = (0, 0);
    for part in parts {
        count = put(is_soh(part), base, soh, count)?;
        base += 16;
    }
    if let (Some(last), false) = (bytes.last_chunk(), rest.is_empty()) {
        // Everything before the rest was found above.
        return put(is_soh(last) >> (16 - rest.len()), base, soh, count);
    }
    for (at, byte) in (base..).zip(rest) {
        if *byte == SOH {
            *soh.get_mut(count)? = at;
            count += 1;
        }
    }
    Some(count)
}

/// Writes the positions of the bits of a mask from a place on. Returns the place after them.
#[inline(always)]
fn put(mut mask: u32, base: u32, out: &mut [u32], mut at: usize) -> Option<usize> {
    while mask != 0 {
        *out.get_mut(at)? = base + mask.trailing_zeros();
        at += 1;
        mask &= mask - 1;
    }
    Some(at)
}

#[target_feature(enable = "sse2")]
pub(super) fn separators(bytes: &[u8], soh: &mut [u32], equals: &mut [u32]) -> Option<Found> {
    let mut sums = _mm_setzero_si128();
    let add = |block: &[u8; 64]| {
        for part in block.as_chunks::<16>().0 {
            sums = _mm_add_epi64(sums, _mm_sad_epu8(load(part), _mm_setzero_si128()));
        }
    };
    let mut found = block::separators(bytes, soh, equals, |block| masks(block), add)?;
    found.sum = total(sums).wrapping_add(sum(bytes.as_chunks::<64>().1));
    Some(found)
}

/// Adds fields: see [`fields::fields`].
#[target_feature(enable = "sse2")]
pub(super) fn fields(bytes: &[u8], from: usize, watch: &Watch, index: &mut Index) -> usize {
    let soh = |block: &[u8; 64]| bits(block, SOH);
    let steps = Steps {
        marks: |block: &[u8; 64]| Marks {
            soh: bits(block, SOH),
            equals: bits(block, b'='),
            zeros: 0,
        },
        singly: Singly {
            soh,
            ends: WordsAndBlocks(Blocks { soh, most: 2 }),
            worth: 40,
            near: 8,
        },
        tags: |words: &mut [u32], count: usize| tags(words, count, watch),
    };
    fields::fields(bytes, from, watch, index, steps, |bytes| sum(bytes))
}

/// Turns the first four bytes of fields into tags of up to four digits: see [`Steps::tags`].
#[inline]
#[target_feature(enable = "sse2")]
fn tags(words: &mut [u32], count: usize, watch: &Watch) -> Option<usize> {
    let (quads, _) = words.as_chunks_mut::<4>();
    let (ones, none) = (_mm_set1_epi32(-1), _mm_setzero_si128());
    for (at, quad) in quads.iter_mut().take(count.div_ceil(4)).enumerate() {
        // SAFETY: four numbers are 16 bytes; the load needs no alignment.
        let bytes = unsafe { _mm_loadu_si128(quad.as_ptr().cast()) };
        // Ones below the first `=`.
        let equals = _mm_cmpeq_epi8(bytes, _mm_set1_epi8(b'=' as i8));
        let first = _mm_and_si128(equals, _mm_sub_epi32(none, equals));
        let own = _mm_add_epi32(first, ones);
        let digits = _mm_and_si128(_mm_xor_si128(bytes, _mm_set1_epi8(b'0' as i8)), own);
        let no_first = _mm_cmpeq_epi32(_mm_and_si128(digits, _mm_set1_epi32(0xff)), none);
        // Up to the last byte, by two and by one.
        let two = _mm_cmpeq_epi32(_mm_srli_epi32(own, 16), none);
        let own = shifted::<16>(own, two);
        let digits = shifted::<16>(digits, two);
        let one = _mm_cmpeq_epi32(_mm_srli_epi32(own, 24), none);
        let digits = shifted::<8>(digits, one);
        let tens = _mm_and_si128(digits, _mm_set1_epi16(0xff));
        let tens = _mm_mullo_epi16(tens, _mm_set1_epi16(10));
        let pairs = _mm_add_epi16(tens, _mm_srli_epi16(digits, 8));
        let tags = _mm_madd_epi16(pairs, _mm_set1_epi32(0x0001_0064));
        // SAFETY: as above.
        unsafe { _mm_storeu_si128(quad.as_mut_ptr().cast(), tags) };
        let above = _mm_subs_epu8(digits, _mm_set1_epi8(9));
        let right = _mm_andnot_si128(no_first, _mm_cmpeq_epi32(above, none));
        // Tags that are not valid only lead to a closer look.
        let valid = (count - 4 * at).min(4);
        let wrong = !lanes(right) & ((1 << valid) - 1);
        if wrong != 0 || quad.iter().any(|tag| watch.has(*tag)) {
            let is_strange = |(lane, tag): (usize, &u32)| wrong >> lane & 1 != 0 || watch.has(*tag);
            let lane = quad.iter().take(valid).enumerate().position(is_strange);
            if let Some(lane) = lane {
                return Some(4 * at + lane);
            }
        }
    }
    None
}

/// The numbers of some lanes, shifted up.
#[inline]
#[target_feature(enable = "sse2")]
fn shifted<const BITS: i32>(numbers: __m128i, lanes: __m128i) -> __m128i {
    let up = _mm_and_si128(lanes, _mm_slli_epi32(numbers, BITS));
    _mm_or_si128(up, _mm_andnot_si128(lanes, numbers))
}

/// The sum, modulo 256.
#[target_feature(enable = "sse2")]
pub(super) fn sum(bytes: &[u8]) -> u32 {
    let (blocks, rest) = bytes.as_chunks::<64>();
    let (parts, rest) = rest.as_chunks::<16>();
    let mut sums = [_mm_setzero_si128(); 4];
    for block in blocks {
        for (sum, part) in sums.iter_mut().zip(block.as_chunks::<16>().0) {
            *sum = _mm_add_epi8(*sum, load(part));
        }
    }
    for (sum, part) in sums.iter_mut().zip(parts) {
        *sum = _mm_add_epi8(*sum, load(part));
    }
    let [a, b, c, d] = sums;
    let sums = _mm_add_epi8(_mm_add_epi8(a, b), _mm_add_epi8(c, d));
    total(_mm_sad_epu8(sums, _mm_setzero_si128())).wrapping_add(super::scalar::word_sums(rest))
}

/// Which of 16 tags equal `tag`, as bits.
#[inline]
#[target_feature(enable = "sse2")]
pub(super) fn which(tags: &[u32; FRONT_TAGS], tag: u32) -> u32 {
    let wanted = _mm_set1_epi32(tag.cast_signed());
    let quad = |at: usize| {
        // SAFETY: four numbers are 16 bytes; the load needs no alignment.
        let quad = unsafe { _mm_loadu_si128(tags.as_ptr().cast::<__m128i>().add(at)) };
        _mm_cmpeq_epi32(quad, wanted)
    };
    let low = _mm_packs_epi32(quad(0), quad(1));
    let high = _mm_packs_epi32(quad(2), quad(3));
    _mm_movemask_epi8(_mm_packs_epi16(low, high)) as u32
}

/// The place of the first tag that is `tag`.
#[target_feature(enable = "sse2")]
pub(super) fn find(tags: &[u32], tag: u32) -> Option<usize> {
    let wanted = _mm_set1_epi32(tag.cast_signed());
    super::find::find(tags, tag, |quad: &[u32; 4]| {
        // SAFETY: four numbers are 16 bytes; the load needs no alignment.
        let quad = unsafe { _mm_loadu_si128(quad.as_ptr().cast()) };
        lanes(_mm_cmpeq_epi32(quad, wanted))
    })
}

/// The highest bit of each number.
#[inline]
#[target_feature(enable = "sse2")]
fn lanes(numbers: __m128i) -> u32 {
    _mm_movemask_ps(_mm_castsi128_ps(numbers)).cast_unsigned()
}
