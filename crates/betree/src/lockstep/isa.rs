//! Which instruction set runs blocks: found out here and nowhere else, or forced by the caller.

#![allow(
    unsafe_code,
    reason = "a function that needs an instruction set is called only where it was found"
)]

use super::spread::{self, Spread};
use super::{Block, Row, Truth, scalar};
use crate::SubscriptionId;
use crate::batch::kernel::{self, Slice, Step};
use crate::index::columns::{Join, TILE_WORDS, scan};

/// An instruction set that blocks of programs can be run with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Isa {
    /// One lane at a time, on any processor.
    Scalar,
    /// 32 lanes at a time.
    Avx2,
    /// 64 lanes at a time.
    Avx512,
}

impl Isa {
    /// All of them, the fastest last.
    pub const ALL: [Self; 3] = [Self::Scalar, Self::Avx2, Self::Avx512];

    /// Whether this processor has it.
    #[must_use]
    pub fn is_available(self) -> bool {
        match self {
            Self::Scalar => true,
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => std::arch::is_x86_feature_detected!("avx2"),
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => {
                std::arch::is_x86_feature_detected!("avx512f")
                    && std::arch::is_x86_feature_detected!("avx512bw")
                    && std::arch::is_x86_feature_detected!("avx512vbmi")
            }
            #[cfg(not(target_arch = "x86_64"))]
            _ => false,
        }
    }

    /// The fastest that this processor has.
    #[must_use]
    pub fn detect() -> Self {
        let found = Self::ALL.into_iter().rev().find(|isa| isa.is_available());
        found.unwrap_or(Self::Scalar)
    }

    /// Its name in reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Scalar => "scalar",
            Self::Avx2 => "avx2",
            Self::Avx512 => "avx512",
        }
    }
}

impl Default for Isa {
    fn default() -> Self {
        Self::detect()
    }
}

/// Runs blocks; in `matches` a bit a lane. An instruction set that is not there is not used.
#[inline]
pub(super) fn run(
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

/// Adds the bits of lanes to those of their slots in words that begin at a slot.
#[inline]
pub(super) fn spread(
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

/// Evaluates an expression over many events at once; see [`crate::batch`].
#[inline]
pub(crate) fn sliced(isa: Isa, code: &[Step], rows: &mut [Slice]) -> Slice {
    match isa {
        #[cfg(target_arch = "x86_64")]
        Isa::Avx2 if isa.is_available() => {
            // SAFETY: AVX2 was found.
            unsafe { kernel::avx2(code, rows) }
        }
        #[cfg(target_arch = "x86_64")]
        Isa::Avx512 if isa.is_available() => {
            // SAFETY: AVX-512 F was found.
            unsafe { kernel::avx512(code, rows) }
        }
        _ => kernel::scalar(code, rows),
    }
}

/// Writes those of at most 64 ids whose bit is set, in order; their number. `out` has room for 64
/// more than that.
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

/// Joins one tile of the rows of a plan; see [`crate::index::columns`].
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
            unsafe { scan::avx2(plan, rows, tile) }
        }
        #[cfg(target_arch = "x86_64")]
        Isa::Avx512 if isa.is_available() => {
            // SAFETY: AVX-512 F was found.
            unsafe { scan::avx512(plan, rows, tile) }
        }
        _ => scan::scalar(plan, rows, tile),
    }
}
