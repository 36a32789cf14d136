//! One pass over the bytes of a message: where fields end, where values begin, what the bytes sum to.
//!
//! Each instruction set has a file of its own and gives the same answer; [`Scanner`] chooses one.
//! What a field may be is no business of this module: it finds separators in any bytes, and marks a
//! message that needs a careful look. That look is in the decoder.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512bw;
#[cfg(target_arch = "x86_64")]
mod avx512vbmi2;
mod block;
mod index;
mod scalar;
mod scanner;
#[cfg(target_arch = "x86_64")]
mod sse2;
mod swar;

pub use index::{Index, Separators};
pub(crate) use index::{Marks, digits, read_digits};
pub(crate) use scanner::FRONT_TAGS;
pub use scanner::Scanner;

/// The end of a field.
pub const SOH: u8 = 1;

/// Messages are shorter than this: positions are numbers of 32 bits, with room to add to them.
pub const MESSAGE_BYTES_MAX: usize = 1 << 28;

/// Tags that a decoder must not pass over, one bit for each residue of 1024: bit `(tag >> 7) & 7` of
/// byte `tag & 127`.
#[derive(Debug, Clone, PartialEq, Eq)]
#[repr(align(64))]
pub(crate) struct Watch(pub(crate) [u8; 128]);

impl Watch {
    pub(crate) const fn new() -> Self {
        Self([0; 128])
    }

    pub(crate) const fn add(&mut self, tag: u32) {
        self.0[(tag & 127) as usize] |= 1 << ((tag >> 7) & 7);
    }

    #[inline]
    pub(crate) fn has(&self, tag: u32) -> bool {
        self.0[(tag & 127) as usize] >> ((tag >> 7) & 7) & 1 != 0
    }
}
