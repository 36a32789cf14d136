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
mod watch;

pub(crate) use index::{FRONT_TAGS, Marks, digits, read_digits};
pub use index::{Index, Separators};
pub use scanner::Scanner;
pub(crate) use watch::Watch;
