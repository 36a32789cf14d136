//! 16 bytes at a time by NEON, on 64-bit ARM.

#![allow(unsafe_code, reason = "vector loads of whole arrays")]

use std::arch::aarch64::{
    uint8x16_t, uint32x4_t, vaddlvq_u8, vaddq_u8, vaddvq_u32, vandq_u8, vandq_u16, vandq_u32,
    vceqq_u8, vceqq_u32, vceqzq_u32, vclzq_u32, vdupq_n_u8, vdupq_n_u16, vdupq_n_u32, veorq_u8,
    vgetq_lane_u64, vld1q_u8, vld1q_u32, vmaxvq_u32, vmlaq_n_u16, vmlaq_n_u32, vmvnq_u32,
    vorrq_u32, vpaddq_u8, vqsubq_u8, vqtbl1q_u8, vreinterpretq_s32_u32, vreinterpretq_u8_u32,
    vreinterpretq_u16_u8, vreinterpretq_u32_u8, vreinterpretq_u32_u16, vreinterpretq_u64_u8,
    vshlq_u32, vshrq_n_u16, vshrq_n_u32, vst1q_u32, vsubq_u32,
};

use super::block::{self, Found, Masks};
use super::fields::{self, Marks, Steps};
use super::index::Index;
use super::singly::{Blocks, Singly, WordsAndBlocks};
use super::watch::Watch;
use crate::frame::SOH;

/// A bit for each byte of a half register.
const BITS: [u8; 16] = [1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128];
/// A bit for each number.
const LANES: [u32; 4] = [1, 2, 4, 8];

type Parts = [uint8x16_t; 4];

#[inline]
#[target_feature(enable = "neon")]
fn load(bytes: &[u8; 16]) -> uint8x16_t {
    // SAFETY: 16 bytes; the load needs no alignment.
    unsafe { vld1q_u8(bytes.as_ptr()) }
}

#[inline]
#[target_feature(enable = "neon")]
fn numbers(quad: &[u32; 4]) -> uint32x4_t {
    // SAFETY: four numbers; the load needs no alignment beyond theirs.
    unsafe { vld1q_u32(quad.as_ptr()) }
}

#[inline]
#[target_feature(enable = "neon")]
fn parts(block: &[u8; 64]) -> Parts {
    let (parts, _) = block.as_chunks::<16>();
    [
        load(&parts[0]),
        load(&parts[1]),
        load(&parts[2]),
        load(&parts[3]),
    ]
}

/// Which bytes of a block equal this one: a bit is kept of each, and neighbours are added three times.
#[inline]
#[target_feature(enable = "neon")]
fn bits(parts: Parts, is: u8) -> u64 {
    let (is, bits) = (vdupq_n_u8(is), load(&BITS));
    let [a, b, c, d] = parts.map(|part| vandq_u8(vceqq_u8(part, is), bits));
    let sums = vpaddq_u8(vpaddq_u8(a, b), vpaddq_u8(c, d));
    vgetq_lane_u64::<0>(vreinterpretq_u64_u8(vpaddq_u8(sums, sums)))
}

/// The bits of lanes that are all ones or zeros.
#[inline]
#[target_feature(enable = "neon")]
fn lanes(is: uint32x4_t) -> u32 {
    vaddvq_u32(vandq_u32(is, numbers(&LANES)))
}

#[target_feature(enable = "neon")]
pub(super) fn positions(bytes: &[u8], soh: &mut [u32]) -> Option<usize> {
    block::positions(bytes, soh, |block| bits(parts(block), SOH))
}

#[target_feature(enable = "neon")]
pub(super) fn separators(bytes: &[u8], soh: &mut [u32], equals: &mut [u32]) -> Option<Found> {
    let masks = |block: &[u8; 64]| {
        let parts = parts(block);
        Masks {
            soh: bits(parts, SOH),
            equals: bits(parts, b'='),
        }
    };
    let mut found = block::separators(bytes, soh, equals, masks, |_| ())?;
    found.sum = sum(bytes);
    Some(found)
}

/// Adds fields: see [`fields::fields`].
#[target_feature(enable = "neon")]
pub(super) fn fields(bytes: &[u8], from: usize, watch: &Watch, index: &mut Index) -> usize {
    let soh = |block: &[u8; 64]| bits(parts(block), SOH);
    let steps = Steps {
        marks: |block: &[u8; 64]| {
            let parts = parts(block);
            Marks {
                soh: bits(parts, SOH),
                equals: bits(parts, b'='),
                zeros: 0,
            }
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
#[target_feature(enable = "neon")]
fn tags(words: &mut [u32], count: usize, watch: &Watch) -> Option<usize> {
    let (quads, _) = words.as_chunks_mut::<4>();
    let near = watch.digits.map(|row| load(&row));
    for (at, quad) in quads.iter_mut().take(count.div_ceil(4)).enumerate() {
        let bytes = vreinterpretq_u8_u32(numbers(quad));
        // Ones below the first `=`.
        let equals = vreinterpretq_u32_u8(vceqq_u8(bytes, vdupq_n_u8(b'=')));
        let first = vandq_u32(equals, vsubq_u32(vdupq_n_u32(0), equals));
        let own = vsubq_u32(first, vdupq_n_u32(1));
        let digits = veorq_u8(bytes, vdupq_n_u8(b'0'));
        let digits = vandq_u32(vreinterpretq_u32_u8(digits), own);
        let no_first = vceqzq_u32(vandq_u32(digits, vdupq_n_u32(0xff)));
        // Up to the last byte. No byte is left of an empty tag: a shift by 32 makes zeros.
        let shift = vreinterpretq_s32_u32(vclzq_u32(own));
        let digits = vreinterpretq_u8_u32(vshlq_u32(digits, shift));
        let halves = vreinterpretq_u16_u8(digits);
        let tens = vandq_u16(halves, vdupq_n_u16(0xff));
        let pairs = vreinterpretq_u32_u16(vmlaq_n_u16(vshrq_n_u16::<8>(halves), tens, 10));
        let hundreds = vandq_u32(pairs, vdupq_n_u32(0xffff));
        let tags = vmlaq_n_u32(vshrq_n_u32::<16>(pairs), hundreds, 100);
        // SAFETY: four numbers; the store needs no alignment beyond theirs.
        unsafe { vst1q_u32(quad.as_mut_ptr(), tags) };
        let [a, b, c, d] = near.map(|row| vreinterpretq_u32_u8(vqtbl1q_u8(row, digits)));
        let ab = vandq_u32(a, vshrq_n_u32::<8>(b));
        let cd = vandq_u32(c, vshrq_n_u32::<8>(d));
        let near = vandq_u32(vandq_u32(ab, vshrq_n_u32::<16>(cd)), vdupq_n_u32(0xff));
        let above = vreinterpretq_u32_u8(vqsubq_u8(digits, vdupq_n_u8(9)));
        let wrong = vorrq_u32(above, no_first);
        if vmaxvq_u32(vorrq_u32(wrong, near)) != 0 {
            let wrong = lanes(vmvnq_u32(vceqzq_u32(wrong)));
            let is_strange = |(lane, tag): (usize, &u32)| wrong >> lane & 1 != 0 || watch.has(*tag);
            // Tags behind the last one only lead to a closer look.
            let valid = quad.iter().take(count - 4 * at).enumerate();
            if let Some(lane) = valid.map(is_strange).position(|is| is) {
                return Some(4 * at + lane);
            }
        }
    }
    None
}

/// The sum, modulo 256.
#[target_feature(enable = "neon")]
pub(super) fn sum(bytes: &[u8]) -> u32 {
    let (blocks, rest) = bytes.as_chunks::<64>();
    let (some, rest) = rest.as_chunks::<16>();
    let mut sums = [vdupq_n_u8(0); 4];
    for block in blocks {
        for (sum, part) in sums.iter_mut().zip(parts(block)) {
            *sum = vaddq_u8(*sum, part);
        }
    }
    for (sum, part) in sums.iter_mut().zip(some) {
        *sum = vaddq_u8(*sum, load(part));
    }
    let [a, b, c, d] = sums;
    let sums = vaddq_u8(vaddq_u8(a, b), vaddq_u8(c, d));
    u32::from(vaddlvq_u8(sums)).wrapping_add(super::scalar::word_sums(rest))
}

/// The place of the first tag that is `tag`.
#[target_feature(enable = "neon")]
pub(super) fn find(tags: &[u32], tag: u32) -> Option<usize> {
    let wanted = vdupq_n_u32(tag);
    super::find::find(tags, tag, |quad: &[u32; 4]| {
        lanes(vceqq_u32(numbers(quad), wanted))
    })
}
