//! Files as the commands use them: the library `files`, with what this program provides to it.
//!
//! [`context`] has the flag of interrupts and the filter of terminals, [`open`] waits with it, `verify`
//! decodes what is written, and `failures` has the words for errors.

mod context;
#[cfg(test)]
mod declared;
mod failures;
pub(crate) mod open;
#[cfg(feature = "cloud")]
pub(crate) mod spans;
pub(crate) mod verify;

pub(crate) use context::{cancel, context};
#[cfg(feature = "cloud")]
pub(crate) use files::remote;
pub(crate) use files::{BUFFER_BYTES, INLINE_BYTES, POLL, is_cancelled as is_interrupt};
pub(crate) use files::{conflicts, output, plan, sink, source, standard, target, targets, url};
