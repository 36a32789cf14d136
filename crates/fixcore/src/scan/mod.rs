//! One pass over the bytes of a message: where fields end, where values begin, and the sum of all
//! bytes.
//!
//! Each instruction set has its own file and gives the same answer; [`Scanner`] chooses one. A scan stops
//! at a field that is not well-formed, or whose tag is watched: the decoder reads that one, and the scan
//! goes on after it.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512bw;
#[cfg(target_arch = "x86_64")]
mod avx512vbmi2;
mod block;
mod data_fields;
mod fields;
mod find;
mod index;
#[cfg(all(target_arch = "aarch64", target_endian = "little"))]
mod neon;
mod scalar;
mod scanner;
mod singly;
#[cfg(target_arch = "x86_64")]
mod sse2;
mod tags;
mod watch;

pub(crate) use data_fields::data_fields;
pub(crate) use index::{FRONT_TAGS, last_digits, read_digits};
pub use index::{Index, Separators};
pub(crate) use scalar::field;
pub use scanner::Scanner;
pub(crate) use watch::Watch;
