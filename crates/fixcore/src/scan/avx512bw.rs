//! 64 bytes at a time by AVX-512 F and BW: a mask is one comparison.

#![allow(unsafe_code, reason = "masked vector loads within a slice")]

use std::arch::x86_64::{
    __m512i, _mm512_add_epi8, _mm512_add_epi64, _mm512_cmpeq_epi8_mask, _mm512_cmpeq_epi32_mask,
    _mm512_loadu_si512, _mm512_maskz_loadu_epi8, _mm512_reduce_add_epi64, _mm512_sad_epu8,
    _mm512_set1_epi8, _mm512_set1_epi32, _mm512_setzero_si512,
};

use super::block::{self, Found, Masks};
use super::fields::{self, Marks, Steps};
use super::index::Index;
use super::singly::{Blocks, Singly};
use super::watch::Watch;
use crate::frame::SOH;

#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn load(block: &[u8; 64]) -> __m512i {
    // SAFETY: 64 bytes; the load needs no alignment.
    unsafe { _mm512_loadu_si512(block.as_ptr().cast()) }
}

/// Up to 64 bytes, followed by zeros.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
pub(super) fn load_some(bytes: &[u8]) -> __m512i {
    let there = bytes.len().min(64) as u32;
    let mask = u64::MAX.checked_shr(64 - there).unwrap_or(0);
    // SAFETY: the mask has a bit for each byte of the slice and no more; no other byte is read.
    unsafe { _mm512_maskz_loadu_epi8(mask, bytes.as_ptr().cast()) }
}

#[target_feature(enable = "avx512f,avx512bw,bmi1,bmi2,popcnt")]
pub(super) fn positions(bytes: &[u8], soh: &mut [u32]) -> Option<usize> {
    block::positions(bytes, soh, |block| {
        _mm512_cmpeq_epi8_mask(load(block), _mm512_set1_epi8(SOH as i8))
    })
}

#[target_feature(enable = "avx512f,avx512bw,bmi1,bmi2,popcnt")]
pub(super) fn separators(bytes: &[u8], soh: &mut [u32], equals: &mut [u32]) -> Option<Found> {
    let masks = |block: &[u8; 64]| {
        let block = load(block);
        Masks {
            soh: _mm512_cmpeq_epi8_mask(block, _mm512_set1_epi8(SOH as i8)),
            equals: _mm512_cmpeq_epi8_mask(block, _mm512_set1_epi8(b'=' as i8)),
        }
    };
    let (mut sums, none) = (_mm512_setzero_si512(), _mm512_setzero_si512());
    let add = |block: &[u8; 64]| {
        sums = _mm512_add_epi64(sums, _mm512_sad_epu8(load(block), none));
    };
    let mut found = block::separators(bytes, soh, equals, masks, add)?;
    let rest = load_some(bytes.as_chunks::<64>().1);
    sums = _mm512_add_epi64(sums, _mm512_sad_epu8(rest, none));
    found.sum = _mm512_reduce_add_epi64(sums) as u32;
    Some(found)
}

/// Adds fields: see [`fields::fields`].
#[target_feature(enable = "avx2,avx512f,avx512bw,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn fields(bytes: &[u8], from: usize, watch: &Watch, index: &mut Index) -> usize {
    let soh = |block: &[u8; 64]| _mm512_cmpeq_epi8_mask(load(block), _mm512_set1_epi8(SOH as i8));
    let steps = Steps {
        marks: |block: &[u8; 64]| {
            let block = load(block);
            Marks {
                soh: _mm512_cmpeq_epi8_mask(block, _mm512_set1_epi8(SOH as i8)),
                equals: _mm512_cmpeq_epi8_mask(block, _mm512_set1_epi8(b'=' as i8)),
                zeros: _mm512_cmpeq_epi8_mask(block, _mm512_set1_epi8(b'0' as i8)),
            }
        },
        singly: Singly {
            soh,
            ends: Blocks { soh, most: 6 },
            worth: 40,
            near: 4,
        },
        tags: |words: &mut [u32], count: usize| super::avx2::tags(words, count, watch),
    };
    fields::fields(bytes, from, watch, index, steps, |bytes| sum(bytes))
}

/// The sum, modulo 256.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
pub(super) fn sum(bytes: &[u8]) -> u32 {
    let (blocks, rest) = bytes.as_chunks::<256>();
    let (parts, rest) = rest.as_chunks::<64>();
    let mut sums = [_mm512_setzero_si512(); 4];
    for block in blocks {
        for (sum, part) in sums.iter_mut().zip(block.as_chunks::<64>().0) {
            *sum = _mm512_add_epi8(*sum, load(part));
        }
    }
    for (sum, part) in sums.iter_mut().zip(parts) {
        *sum = _mm512_add_epi8(*sum, load(part));
    }
    let [a, b, c, d] = sums;
    let ab = _mm512_add_epi8(_mm512_add_epi8(a, b), load_some(rest));
    let sums = _mm512_add_epi8(ab, _mm512_add_epi8(c, d));
    _mm512_reduce_add_epi64(_mm512_sad_epu8(sums, _mm512_setzero_si512())) as u32
}

/// The place of the first tag that is `tag`.
#[inline]
#[target_feature(enable = "avx512f,bmi1,bmi2")]
pub(super) fn find(tags: &[u32], tag: u32) -> Option<usize> {
    let wanted = _mm512_set1_epi32(tag.cast_signed());
    super::find::find(tags, tag, |sixteen: &[u32; 16]| {
        // SAFETY: 16 numbers are 64 bytes; the load needs no alignment.
        let sixteen = unsafe { _mm512_loadu_si512(sixteen.as_ptr().cast()) };
        _mm512_cmpeq_epi32_mask(sixteen, wanted).into()
    })
}
