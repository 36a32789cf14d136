//! 16 bytes at a time by SSE2.

#![allow(unsafe_code, reason = "vector loads of whole arrays")]

use std::arch::x86_64::{
    __m128i, _mm_add_epi64, _mm_cmpeq_epi8, _mm_cmpeq_epi32, _mm_cvtsi128_si64, _mm_loadu_si128,
    _mm_movemask_epi8, _mm_packs_epi16, _mm_packs_epi32, _mm_sad_epu8, _mm_set1_epi8,
    _mm_set1_epi32, _mm_setzero_si128, _mm_unpackhi_epi64,
};

use super::block::{self, Found, Masks};
use super::index::FRONT_TAGS;
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

#[target_feature(enable = "sse2")]
pub(super) fn sum(bytes: &[u8]) -> u32 {
    let (parts, rest) = bytes.as_chunks::<16>();
    let mut sums = _mm_setzero_si128();
    for part in parts {
        sums = _mm_add_epi64(sums, _mm_sad_epu8(load(part), _mm_setzero_si128()));
    }
    total(sums).wrapping_add(super::swar::sum(rest))
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
