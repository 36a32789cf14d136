//! Instruction sets by name, which of them the processor has, and proofs of that.
//!
//! This is the only file that asks the processor. Code that needs an instruction set takes an [`Isa`]
//! that was checked, or a proof that only a check can make.

use crate::names::named;

/// An instruction set that messages are scanned and written with.
#[doc(alias = "simd")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Isa {
    /// Eight bytes at a time in a general register, on any processor.
    Scalar,
    /// 16 bytes at a time, on 64-bit ARM.
    Neon,
    /// 16 bytes at a time.
    Sse2,
    /// 32 bytes at a time.
    Avx2,
    /// 64 bytes at a time, with AVX-512 F and BW.
    Avx512Bw,
    /// 64 bytes at a time, positions packed by VBMI2 and tags read by VBMI.
    Avx512Vbmi2,
}

named!(Isa, "instruction set");

impl Isa {
    /// All of them, the fastest last.
    pub const ALL: [Self; 6] = [
        Self::Scalar,
        Self::Neon,
        Self::Sse2,
        Self::Avx2,
        Self::Avx512Bw,
        Self::Avx512Vbmi2,
    ];

    /// Whether this processor has it.
    #[must_use]
    pub fn is_available(self) -> bool {
        match self {
            Self::Scalar => true,
            #[cfg(target_arch = "x86_64")]
            Self::Sse2 => x86::has!("sse2"),
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => x86::has_avx2(),
            #[cfg(target_arch = "x86_64")]
            Self::Avx512Bw => x86::has_avx512(),
            #[cfg(target_arch = "x86_64")]
            Self::Avx512Vbmi2 => x86::has_avx512() && x86::has!("avx512vbmi", "avx512vbmi2"),
            #[cfg(all(target_arch = "aarch64", target_endian = "little"))]
            Self::Neon => std::arch::is_aarch64_feature_detected!("neon"),
            #[allow(unreachable_patterns, reason = "some processors have all of theirs")]
            _ => false,
        }
    }

    /// The fastest that this processor has.
    #[must_use]
    pub fn detect() -> Self {
        let found = Self::ALL.into_iter().rev().find(|isa| isa.is_available());
        found.unwrap_or(Self::Scalar)
    }

    /// Its name in reports and flags.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Scalar => "scalar",
            Self::Neon => "neon",
            Self::Sse2 => "sse2",
            Self::Avx2 => "avx2",
            Self::Avx512Bw => "avx512bw",
            Self::Avx512Vbmi2 => "avx512vbmi2",
        }
    }
}

#[cfg(target_arch = "x86_64")]
pub(crate) use x86::{Avx512, Avx512Ifma};

#[cfg(target_arch = "x86_64")]
mod x86 {
    /// Whether the processor has each of these features.
    macro_rules! has {
        ($($feature:tt),+) => {
            $(std::arch::is_x86_feature_detected!($feature))&&+
        };
    }
    pub(super) use has;

    pub(super) fn has_avx2() -> bool {
        has!("avx2", "bmi1", "bmi2", "lzcnt", "popcnt")
    }

    pub(super) fn has_avx512() -> bool {
        has_avx2() && has!("avx512f", "avx512bw", "avx512vl")
    }

    /// Proof that the processor has AVX2, AVX-512 F, BW and VL, BMI1, BMI2, LZCNT and POPCNT. Only
    /// [`detect`](Self::detect) makes one, so whoever holds it may call code that needs them.
    #[derive(Debug, Clone, Copy)]
    pub(crate) struct Avx512(());

    impl Avx512 {
        pub(crate) fn detect() -> Option<Self> {
            has_avx512().then_some(Self(()))
        }
    }

    /// Proof that the processor has all of [`Avx512`], VBMI and IFMA.
    #[derive(Debug, Clone, Copy)]
    pub(crate) struct Avx512Ifma(());

    impl Avx512Ifma {
        pub(crate) fn detect() -> Option<Self> {
            (has_avx512() && has!("avx512vbmi", "avx512ifma")).then_some(Self(()))
        }
    }
}
