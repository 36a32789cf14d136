//! Writes messages: the frame around a body, the header in its order, other fields in the order in
//! which they are given.
//!
//! An [`Encoder`] writes field by field; a [`Template`] has the constant part of a message ready.

#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(target_arch = "x86_64")]
mod digits_ifma;
mod header;
mod message_writer;
#[cfg(target_arch = "x86_64")]
mod overwrite;
mod pen;
mod prefix;
mod scalar;
mod skeleton;
#[cfg(target_arch = "x86_64")]
mod spot;
#[cfg(target_arch = "x86_64")]
mod sums;
mod tags;
mod template;
mod text;

#[cfg(feature = "workload")]
pub(crate) use header::is_header;
pub use message_writer::{Encoder, MessageWriter};
pub use skeleton::Slot;
pub use template::{Template, TemplateBuilder};
