//! 64 bytes at a time by AVX-512 VBMI and VBMI2: positions are packed and tags read in registers.

#![allow(
    unsafe_code,
    reason = "masked vector loads within a slice, stores within a checked length"
)]

mod fields;

use std::arch::x86_64::{
    __m128i, __m256i, __m512i, _bzhi_u64, _mm_srli_si128, _mm256_add_epi32, _mm256_cvtepu8_epi32,
    _mm256_set1_epi32, _mm256_setzero_si256, _mm256_storeu_si256, _mm512_add_epi8,
    _mm512_add_epi64, _mm512_castsi512_si128, _mm512_cmpeq_epi8_mask, _mm512_load_si512,
    _mm512_loadu_si512, _mm512_maskz_compress_epi8, _mm512_maskz_loadu_epi8,
    _mm512_permutexvar_epi8, _mm512_reduce_add_epi64, _mm512_sad_epu8, _mm512_set1_epi8,
    _mm512_setzero_si512,
};

use super::block::{First, Found};
use crate::frame::SOH;

pub(super) use fields::{fields, near_fields};

/// A constant of 64 bytes.
#[repr(align(64))]
struct Bytes([u8; 64]);

/// 0, 1, 2, …
static COUNT: Bytes = {
    let mut bytes = [0; 64];
    let mut at = 0;
    while at < 64 {
        bytes[at] = at as u8;
        at += 1;
    }
    Bytes(bytes)
};
/// 0, 0, 0, 0, 1, 1, 1, 1, …
static FOURFOLD: Bytes = {
    let mut bytes = [0; 64];
    let mut at = 0;
    while at < 64 {
        bytes[at] = at as u8 / 4;
        at += 1;
    }
    Bytes(bytes)
};
/// For each group of four: the last four places of the first of two vectors.
static BEFORE: Bytes = {
    let mut bytes = [0; 64];
    let mut at = 0;
    while at < 64 {
        bytes[at] = 60 + at as u8 % 4;
        at += 1;
    }
    Bytes(bytes)
};

#[inline]
#[target_feature(enable = "avx512f")]
fn constant(bytes: &Bytes) -> __m512i {
    // SAFETY: 64 bytes that are aligned to 64.
    unsafe { _mm512_load_si512(bytes.0.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn whole(block: &[u8; 64]) -> __m512i {
    // SAFETY: 64 bytes; the load needs no alignment.
    unsafe { _mm512_loadu_si512(block.as_ptr().cast()) }
}

/// Up to 64 bytes from `at` on, followed by zeros, and a bit for each.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,bmi2")]
fn load(bytes: &[u8], at: usize) -> (__m512i, u64) {
    let left = bytes.len().saturating_sub(at).min(64);
    let mask = _bzhi_u64(!0, left as u32);
    // SAFETY: the mask has a bit for each remaining byte and no more; no other byte is read.
    let some = unsafe { _mm512_maskz_loadu_epi8(mask, bytes.as_ptr().wrapping_add(at).cast()) };
    (some, mask)
}

/// The lowest eight bytes as numbers, each added to `base`.
#[inline]
#[target_feature(enable = "avx512f,avx512vl")]
fn widened(packed: __m128i, base: __m256i) -> __m256i {
    _mm256_add_epi32(_mm256_cvtepu8_epi32(packed), base)
}

/// Writes the positions of the bits of a mask. Returns how many there are.
///
/// # Safety
/// There is room for as many numbers as the mask has bits, and 16 more.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,popcnt")]
unsafe fn put(mask: u64, count: __m512i, base: __m256i, to: *mut u32) -> usize {
    let packed = _mm512_maskz_compress_epi8(mask, count);
    let here = mask.count_ones() as usize;
    let low = _mm512_castsi512_si128(packed);
    // SAFETY: there is room for 16.
    unsafe {
        _mm256_storeu_si256(to.cast(), widened(low, base));
        if here > HALF {
            let high = widened(_mm_srli_si128(low, 8), base);
            _mm256_storeu_si256(to.add(HALF).cast(), high);
        }
    }
    if here > 2 * HALF {
        // SAFETY: by the contract of this function.
        unsafe { put_more(packed, base, here, to) };
    }
    here
}

/// Writes the positions after the first 16.
///
/// # Safety
/// There is room for `here` numbers, and 16 more.
#[cold]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi")]
unsafe fn put_more(mut packed: __m512i, base: __m256i, here: usize, to: *mut u32) {
    let rotate = _mm512_add_epi8(constant(&COUNT), _mm512_set1_epi8(HALF as i8));
    let mut done = 0;
    while done < here {
        // SAFETY: `done` is below `here`, and there is room for 16 more.
        unsafe {
            let some = widened(_mm512_castsi512_si128(packed), base);
            _mm256_storeu_si256(to.add(done).cast(), some);
        }
        packed = _mm512_permutexvar_epi8(rotate, packed);
        done += HALF;
    }
}

/// Finds the separators. `None` if there may be more than `soh` holds.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi1,bmi2,popcnt")]
pub(super) fn positions(bytes: &[u8], soh: &mut [u32]) -> Option<usize> {
    if soh.len() < bytes.len() + 16 {
        return None;
    }
    let (count, is) = (constant(&COUNT), _mm512_set1_epi8(SOH as i8));
    let (blocks, rest) = bytes.as_chunks::<64>();
    let (mut base, mut found) = (_mm256_setzero_si256(), 0);
    for block in blocks {
        let mask = _mm512_cmpeq_epi8_mask(whole(block), is);
        // SAFETY: there are at most as many positions as bytes before the end of this block, and
        // `soh` has 16 elements more than there are bytes.
        found += unsafe { put(mask, count, base, soh.as_mut_ptr().add(found)) };
        base = _mm256_add_epi32(base, _mm256_set1_epi32(64));
    }
    if !rest.is_empty() {
        let mask = _mm512_cmpeq_epi8_mask(load(rest, 0).0, is);
        // SAFETY: as above.
        found += unsafe { put(mask, count, base, soh.as_mut_ptr().add(found)) };
    }
    Some(found)
}

/// Finds both kinds of separators, and the sum. `None` if there may be more than the slices hold.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi1,bmi2,popcnt")]
pub(super) fn separators(bytes: &[u8], soh: &mut [u32], equals: &mut [u32]) -> Option<Found> {
    if soh.len().min(equals.len()) < bytes.len() + 16 {
        return None;
    }
    let (count, none) = (constant(&COUNT), _mm512_setzero_si512());
    let (mut base, mut sums, mut at) = (_mm256_setzero_si256(), none, 0);
    let (mut found, mut first) = (Found::default(), First::new());
    while at < bytes.len() {
        let (some, _) = load(bytes, at);
        sums = _mm512_add_epi64(sums, _mm512_sad_epu8(some, none));
        let is_soh = _mm512_cmpeq_epi8_mask(some, _mm512_set1_epi8(SOH as i8));
        let is_equals = _mm512_cmpeq_epi8_mask(some, _mm512_set1_epi8(b'=' as i8));
        let is_first = first.next(is_soh, is_equals);
        // SAFETY: there are at most as many of each as bytes before the end of this block, and both
        // slices have 16 elements more than there are bytes.
        unsafe {
            let to = (soh.as_mut_ptr(), equals.as_mut_ptr());
            found.soh += put(is_soh, count, base, to.0.add(found.soh));
            found.equals += put(is_first, count, base, to.1.add(found.equals));
        }
        base = _mm256_add_epi32(base, _mm256_set1_epi32(64));
        at += 64;
    }
    found.sum = _mm512_reduce_add_epi64(sums) as u32;
    Some(found)
}

/// How many positions and tags are stored at once. More are rare in 64 bytes, and a store of twice as
/// many always crosses a cache line.
const HALF: usize = 8;
