//! The instruction sets, and which of them this processor has. Nothing else asks the processor.

use std::fmt;
use std::str::FromStr;

/// An instruction set that searches can use.
///
/// ```
/// use betree::Isa;
///
/// assert!(Isa::detect().is_available() && Isa::Scalar.is_available());
/// assert_eq!("avx2".parse(), Ok(Isa::Avx2));
/// assert_eq!(Isa::Avx512.to_string(), "avx512");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Isa {
    /// One lane at a time, on any processor.
    Scalar,
    /// 32 lanes at a time.
    Avx2,
    /// 64 lanes at a time.
    Avx512,
}

impl Isa {
    /// All instruction sets, the fastest last.
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

    /// The name that [`FromStr`] reads and reports show.
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

impl fmt::Display for Isa {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// The text is not the name of an instruction set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("unknown instruction set: expected scalar, avx2 or avx512")]
pub struct ParseIsaError;

impl FromStr for Isa {
    type Err = ParseIsaError;

    fn from_str(name: &str) -> Result<Self, ParseIsaError> {
        let found = Self::ALL.into_iter().find(|isa| isa.name() == name);
        found.ok_or(ParseIsaError)
    }
}
