//! One pass over the bytes of a message: where fields end, where values begin, and the sum of all
//! bytes.
//!
//! Each instruction set has its own file and gives the same answer; [`Scanner`] chooses one. This
//! module does not validate fields: it finds separators in any bytes, and marks messages that the
//! decoder has to read more closely.

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
