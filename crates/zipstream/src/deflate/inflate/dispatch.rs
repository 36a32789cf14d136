//! Runs the fast loop as it was compiled for the instructions that the processor has.

#![allow(
    unsafe_code,
    reason = "a function that needs an instruction set is called only where it was found"
)]

use super::fast::{self, Stop};
use super::source::Source;
use super::table::Codes;

/// The instructions that the fast loop is compiled for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Isa {
    /// What all of the crate is compiled for.
    Portable,
    /// BMI2, which shifts by any number of bits in one step, and AVX2.
    #[cfg(target_arch = "x86_64")]
    Bmi2,
}

impl Isa {
    /// The best that the processor has.
    pub(super) fn detect() -> Self {
        #[cfg(target_arch = "x86_64")]
        if Self::has_bmi2() {
            return Self::Bmi2;
        }
        Self::Portable
    }

    #[cfg(target_arch = "x86_64")]
    fn has_bmi2() -> bool {
        is_x86_feature_detected!("bmi1")
            && is_x86_feature_detected!("bmi2")
            && is_x86_feature_detected!("avx2")
    }
}

/// Does what is far from the end of input and room, see [`fast::run`].
pub(super) fn run<const PACKED: bool>(
    isa: Isa,
    codes: &Codes,
    source: &mut Source<'_>,
    out: &mut [u8],
    at: &mut usize,
) -> Stop {
    let stop;
    (*at, stop) = match isa {
        #[cfg(target_arch = "x86_64")]
        Isa::Bmi2 if Isa::has_bmi2() => {
            // SAFETY: BMI1, BMI2 and AVX2 were found.
            unsafe { run_bmi2::<PACKED>(codes, source, out, *at) }
        }
        _ => run_portable::<PACKED>(codes, source, out, *at),
    };
    stop
}

#[inline(never)]
fn run_portable<const PACKED: bool>(
    codes: &Codes,
    source: &mut Source<'_>,
    out: &mut [u8],
    at: usize,
) -> (usize, Stop) {
    fast::run::<PACKED>(codes, source, out, at)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "bmi1,bmi2,avx2")]
fn run_bmi2<const PACKED: bool>(
    codes: &Codes,
    source: &mut Source<'_>,
    out: &mut [u8],
    at: usize,
) -> (usize, Stop) {
    fast::run::<PACKED>(codes, source, out, at)
}
