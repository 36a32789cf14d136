//! 16 bytes at a time by SSE2.

#![allow(unsafe_code, reason = "vector loads of whole arrays")]

use std::arch::x86_64::{
    __m128i, _mm_add_epi64, _mm_cmpeq_epi8, _mm_cmpeq_epi32, _mm_cvtsi128_si64, _mm_loadu_si128,
    _mm_movemask_epi8, _mm_packs_epi16, _mm_packs_epi32, _mm_sad_epu8, _mm_set1_epi8,
    _mm_set1_epi32, _mm_setzero_si128, _mm_unpackhi_epi64,
};

use super::SOH;
use super::block::{self, Found, Masks};

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
    let mut is = Masks {
        soh: 0,
        equals: 0,
        sum: 0,
    };
    let mut sums = _mm_setzero_si128();
    for (at, part) in block.as_chunks::<16>().0.iter().enumerate() {
        let part = load(part);
        let soh = _mm_movemask_epi8(_mm_cmpeq_epi8(part, _mm_set1_epi8(SOH as i8)));
        let equals = _mm_movemask_epi8(_mm_cmpeq_epi8(part, _mm_set1_epi8(b'=' as i8)));
        is.soh |= u64::from(soh as u32) << (16 * at);
        is.equals |= u64::from(equals as u32) << (16 * at);
        sums = _mm_add_epi64(sums, _mm_sad_epu8(part, _mm_setzero_si128()));
    }
    is.sum = total(sums);
    is
}

/// For messages of a few fields: no more work than there are bytes.
#[target_feature(enable = "sse2")]
pub(super) fn positions(bytes: &[u8], soh: &mut [u32]) -> Option<usize> {
    let mut count = 0;
    let mut base = 0;
    let (parts, rest) = bytes.as_chunks::<16>();
    for part in parts {
        let is = _mm_cmpeq_epi8(load(part), _mm_set1_epi8(SOH as i8));
        let mut mask = _mm_movemask_epi8(is) as u32;
        while mask != 0 {
            *soh.get_mut(count)? = base + mask.trailing_zeros();
            count += 1;
            mask &= mask - 1;
        }
        base += 16;
    }
    for (at, byte) in (base..).zip(rest) {
        if *byte == SOH {
            *soh.get_mut(count)? = at;
            count += 1;
        }
    }
    Some(count)
}

#[target_feature(enable = "sse2")]
pub(super) fn separators(bytes: &[u8], soh: &mut [u32], equals: &mut [u32]) -> Option<Found> {
    block::separators(bytes, soh, equals, |block| masks(block))
}

#[target_feature(enable = "sse2")]
pub(super) fn sum(bytes: &[u8]) -> u32 {
    let (parts, rest) = bytes.as_chunks::<16>();
    let mut sums = _mm_setzero_si128();
    for part in parts {
        sums = _mm_add_epi64(sums, _mm_sad_epu8(load(part), _mm_setzero_si128()));
    }
    total(sums).wrapping_add(super::swar::sum(rest))
}

/// Which of 16 tags are `tag`, as bits.
#[inline]
#[target_feature(enable = "sse2")]
pub(super) fn which(tags: &[u32; 16], tag: u32) -> u32 {
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

/// The first of the tags that is `tag`.
#[target_feature(enable = "sse2")]
pub(super) fn find(tags: &[u32], tag: u32) -> Option<usize> {
    let (quads, rest) = tags.as_chunks::<4>();
    for (at, quad) in quads.iter().enumerate() {
        // SAFETY: four numbers are 16 bytes; the load needs no alignment.
        let quad = unsafe { _mm_loadu_si128(quad.as_ptr().cast()) };
        let is = _mm_movemask_epi8(_mm_cmpeq_epi32(quad, _mm_set1_epi32(tag.cast_signed())));
        if is != 0 {
            return Some(4 * at + is.trailing_zeros() as usize / 4);
        }
    }
    let found = rest.iter().position(|other| *other == tag)?;
    Some(4 * quads.len() + found)
}
