//! The instruction sets that there is a path for, by name.

use std::fmt;
use std::str::FromStr;

/// An instruction set that messages can be scanned with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Isa {
    /// A byte at a time, on any processor.
    Scalar,
    /// Eight bytes at a time in a general register, on any processor.
    Swar,
    /// 16 bytes at a time.
    Sse2,
    /// 32 bytes at a time.
    Avx2,
    /// 64 bytes at a time, with AVX-512 F and BW.
    Avx512Bw,
    /// 64 bytes at a time, positions packed by VBMI2 and tags read by VBMI.
    Avx512Vbmi2,
}

impl Isa {
    /// All of them, the fastest last.
    pub const ALL: [Self; 6] = [
        Self::Scalar,
        Self::Swar,
        Self::Sse2,
        Self::Avx2,
        Self::Avx512Bw,
        Self::Avx512Vbmi2,
    ];

    /// Whether this processor has it.
    #[must_use]
    pub fn is_available(self) -> bool {
        match self {
            Self::Scalar | Self::Swar => true,
            #[cfg(target_arch = "x86_64")]
            Self::Sse2 => std::arch::is_x86_feature_detected!("sse2"),
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => has_avx2(),
            #[cfg(target_arch = "x86_64")]
            Self::Avx512Bw => has_avx512bw(),
            #[cfg(target_arch = "x86_64")]
            Self::Avx512Vbmi2 => {
                has_avx512bw()
                    && std::arch::is_x86_feature_detected!("avx512vbmi")
                    && std::arch::is_x86_feature_detected!("avx512vbmi2")
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

    /// Its name in reports and flags.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Scalar => "scalar",
            Self::Swar => "swar",
            Self::Sse2 => "sse2",
            Self::Avx2 => "avx2",
            Self::Avx512Bw => "avx512bw",
            Self::Avx512Vbmi2 => "avx512vbmi2",
        }
    }
}

#[cfg(target_arch = "x86_64")]
fn has_avx2() -> bool {
    std::arch::is_x86_feature_detected!("avx2")
        && std::arch::is_x86_feature_detected!("bmi1")
        && std::arch::is_x86_feature_detected!("bmi2")
        && std::arch::is_x86_feature_detected!("popcnt")
}

#[cfg(target_arch = "x86_64")]
fn has_avx512bw() -> bool {
    has_avx2()
        && std::arch::is_x86_feature_detected!("avx512f")
        && std::arch::is_x86_feature_detected!("avx512bw")
        && std::arch::is_x86_feature_detected!("avx512vl")
}

impl fmt::Display for Isa {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Isa {
    type Err = String;

    /// An instruction set by its name, whether this processor has it or not.
    fn from_str(name: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|isa| isa.name() == name);
        found.ok_or_else(|| {
            let names = Self::ALL.map(Self::name).join(", ");
            format!("no instruction set is called '{name}'; there are {names}")
        })
    }
}
