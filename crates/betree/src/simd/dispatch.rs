//! Safe calls into the instruction sets: each asks whether the processor has what it needs, and runs
//! plain code otherwise.

#![allow(
    unsafe_code,
    reason = "a function that needs an instruction set is called only where it was found"
)]

use super::blocks::{Block, Row, Truth};
use super::slices::{self, Slice, Step};
use super::spread::{self, Spread};
use super::tiles::{self, Join, TILE_WORDS};
use super::{Isa, scalar};
use crate::SubscriptionId;

/// Runs blocks; `matches` gets one bit per lane. Uses plain code when the instruction set is missing.
#[inline]
pub(crate) fn run(
    isa: Isa,
    rows: &[Row],
    blocks: &[Block],
    truth: &Truth,
    wide: bool,
    matches: &mut [u64],
) {
    match isa {
        #[cfg(target_arch = "x86_64")]
        Isa::Avx2 if isa.is_available() => {
            // SAFETY: AVX2 was found.
            unsafe { super::avx2::run(rows, blocks, truth, matches) }
        }
        #[cfg(target_arch = "x86_64")]
        Isa::Avx512 if isa.is_available() => {
            // SAFETY: AVX-512 F, BW and VBMI were found.
            unsafe {
                if wide {
                    super::avx512::run::<true>(rows, blocks, truth, matches);
                } else {
                    super::avx512::run::<false>(rows, blocks, truth, matches);
                }
            }
        }
        _ => scalar::run(rows, blocks, truth, matches),
    }
}

/// Adds the bits of lanes to the words of their slots, which begin at slot `base`.
#[inline]
pub(crate) fn spread(
    isa: Isa,
    (lanes, base, slots): (&Spread, u32, &[u32]),
    found: u64,
    words: &mut [u64; spread::WORDS],
) {
    match isa {
        #[cfg(target_arch = "x86_64")]
        Isa::Avx512 if isa.is_available() => {
            // SAFETY: AVX-512 F, BW and VBMI were found.
            unsafe { super::avx512::spread(lanes, found, words) }
        }
        _ => spread::scatter(base, slots, found, words),
    }
}

/// Evaluates an expression over many events at once; see [`slices`].
#[inline]
pub(crate) fn sliced(isa: Isa, code: &[Step], rows: &mut [Slice]) -> Slice {
    match isa {
        #[cfg(target_arch = "x86_64")]
        Isa::Avx2 if isa.is_available() => {
            // SAFETY: AVX2 was found.
            unsafe { slices::avx2(code, rows) }
        }
        #[cfg(target_arch = "x86_64")]
        Isa::Avx512 if isa.is_available() => {
            // SAFETY: AVX-512 F was found.
            unsafe { slices::avx512(code, rows) }
        }
        _ => slices::scalar(code, rows),
    }
}

/// Writes those of at most 64 ids whose bit is set, in order. Returns their number. `out` needs room for 64
/// more.
#[inline]
pub(crate) fn compress(
    isa: Isa,
    ids: &[SubscriptionId],
    bits: u64,
    out: &mut [SubscriptionId],
) -> usize {
    #[cfg(target_arch = "x86_64")]
    if isa == Isa::Avx512
        && let Ok(ids) = ids.try_into()
        && isa.is_available()
    {
        // SAFETY: AVX-512 F was found.
        return unsafe { super::avx512::compress(ids, bits, out) };
    }
    let mut left = bits;
    let mut count = 0;
    while left != 0 {
        let id = ids.get(left.trailing_zeros() as usize);
        if let (Some(id), Some(place)) = (id, out.get_mut(count)) {
            *place = *id;
            count += 1;
        }
        left &= left - 1;
    }
    count
}

/// Joins one tile of the rows of a plan; see [`tiles`].
#[inline]
pub(crate) fn scan(
    isa: Isa,
    plan: &[Join],
    rows: &[Vec<u64>],
    tile: usize,
) -> ([u64; TILE_WORDS], usize) {
    match isa {
        #[cfg(target_arch = "x86_64")]
        Isa::Avx2 if isa.is_available() => {
            // SAFETY: AVX2 was found.
            unsafe { tiles::avx2(plan, rows, tile) }
        }
        #[cfg(target_arch = "x86_64")]
        Isa::Avx512 if isa.is_available() => {
            // SAFETY: AVX-512 F was found.
            unsafe { tiles::avx512(plan, rows, tile) }
        }
        _ => tiles::scalar(plan, rows, tile),
    }
}
