//! Separators of two bytes to and from the byte 1, by AVX-512 VBMI2: 64 bytes of a text are packed at
//! once, whatever fields they belong to.

#![allow(
    unsafe_code,
    reason = "masked vector loads within a slice, stores into whole arrays"
)]

use std::arch::x86_64::{
    __m512i, _bzhi_u64, _mm512_cmpeq_epi8_mask, _mm512_mask_blend_epi8, _mm512_maskz_compress_epi8,
    _mm512_maskz_expand_epi8, _mm512_maskz_loadu_epi8, _mm512_set1_epi8, _mm512_storeu_si512,
    _pdep_u64, _pext_u64,
};

use super::TWO_BYTES_ROOM as BLOCK_BYTES;
use crate::frame::SOH;
use crate::isa::Isa;

/// Every other bit, from the lowest on.
const EVEN: u64 = 0x5555_5555_5555_5555;

/// Proof that the processor has AVX-512 F, BW, VL, VBMI and VBMI2, BMI1, BMI2 and POPCNT: only `detect`
/// makes one.
#[derive(Debug, Clone, Copy)]
pub(super) struct Vbmi2(());

impl Vbmi2 {
    pub(super) fn detect() -> Option<Self> {
        Isa::Avx512Vbmi2.is_available().then_some(Self(()))
    }

    /// See [`TwoBytes::to_soh`](super::TwoBytes::to_soh).
    #[inline]
    pub(super) fn to_soh(
        self,
        text: &[u8],
        separator: [u8; 2],
        wanted: usize,
        out: &mut [u8],
    ) -> Option<usize> {
        // SAFETY: a `Vbmi2` proves that the processor has all features that `packed` is compiled for.
        unsafe { packed(text, separator, wanted, out) }
    }

    /// Writes a message with a separator of two bytes in place of each byte 1, to `out`, which has twice
    /// the bytes of the message and `BLOCK_BYTES`. Returns how many bytes were written.
    #[inline]
    pub(super) fn spread(self, message: &[u8], separator: [u8; 2], out: &mut [u8]) -> usize {
        // SAFETY: a `Vbmi2` proves that the processor has all features that `spread_out` is compiled for.
        unsafe { spread_out(message, separator, out) }
    }
}

/// Up to `most` bytes, at most 64, followed by zeros, and a bit for each.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,bmi2")]
fn load(bytes: &[u8], most: usize) -> (__m512i, u64) {
    let mask = _bzhi_u64(!0, bytes.len().min(most) as u32);
    // SAFETY: the mask has a bit for each of at most 64 bytes of the slice; no other byte is read.
    let some = unsafe { _mm512_maskz_loadu_epi8(mask, bytes.as_ptr().cast()) };
    (some, mask)
}

/// Writes 64 bytes at a place, if there is room.
#[inline]
#[target_feature(enable = "avx512f")]
fn store(out: &mut [u8], at: usize, block: __m512i) -> Option<()> {
    let room: &mut [u8; BLOCK_BYTES] = out.get_mut(at..)?.first_chunk_mut()?;
    // SAFETY: the array has 64 bytes; the store needs no alignment.
    unsafe { _mm512_storeu_si512(room.as_mut_ptr().cast(), block) };
    Some(())
}

#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi1,bmi2,popcnt")]
fn packed(text: &[u8], [first, second]: [u8; 2], wanted: usize, out: &mut [u8]) -> Option<usize> {
    let (firsts, seconds) = (
        _mm512_set1_epi8(first as i8),
        _mm512_set1_epi8(second as i8),
    );
    let soh = _mm512_set1_epi8(SOH as i8);
    // Whether the byte before the block began a separator.
    let (mut at, mut written, mut began) = (0, 0, 0);
    while at < text.len() {
        let (block, here) = load(&text[at..], BLOCK_BYTES);
        let (next, _) = load(&text[at + 1..], BLOCK_BYTES);
        let begins =
            _mm512_cmpeq_epi8_mask(block, firsts) & _mm512_cmpeq_epi8_mask(next, seconds) & here;
        let kept = here & !(begins << 1 | began);
        began = begins >> (BLOCK_BYTES - 1);
        let respelled = _mm512_mask_blend_epi8(begins, block, soh);
        store(out, written, _mm512_maskz_compress_epi8(kept, respelled))?;
        let count = kept.count_ones() as usize;
        if written + count >= wanted {
            // The place of the last byte that is wanted.
            let last = _pdep_u64(1_u64.checked_shl((wanted - written - 1) as u32)?, kept);
            let ends = if last & begins == 0 { 1 } else { 2 };
            return Some(at + last.trailing_zeros() as usize + ends);
        }
        written += count;
        at += BLOCK_BYTES;
    }
    None
}

#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi1,bmi2,popcnt")]
fn spread_out(message: &[u8], [first, second]: [u8; 2], out: &mut [u8]) -> usize {
    let (firsts, seconds) = (
        _mm512_set1_epi8(first as i8),
        _mm512_set1_epi8(second as i8),
    );
    let soh = _mm512_set1_epi8(SOH as i8);
    let (mut at, mut written) = (0, 0);
    while at < message.len() {
        let (block, here) = load(&message[at..], BLOCK_BYTES / 2);
        let begins = _mm512_cmpeq_epi8_mask(block, soh) & here;
        // Each byte has a pair of bits: itself, and whether a second one follows.
        let doubled = _pdep_u64(begins, !EVEN);
        let both = _pdep_u64(here, EVEN) | doubled;
        let ends = _pext_u64(doubled, both);
        let count = both.count_ones() as usize;
        let respelled = _mm512_mask_blend_epi8(begins, block, firsts);
        let kept = _bzhi_u64(!ends, count as u32);
        let all = _mm512_mask_blend_epi8(ends, _mm512_maskz_expand_epi8(kept, respelled), seconds);
        if store(out, written, all).is_none() {
            return written;
        }
        written += count;
        at += BLOCK_BYTES / 2;
    }
    written
}
