//! What this program provides to the library `files`.
//!
//! [`context`] has the flag of interrupts and the filter of terminals, [`open`] waits with it, `parts` opens archives
//! with all their parts, `ready` is the file that says that a server answers, `verify` decodes what is written, and `failures` has the words for errors.

mod context;
#[cfg(test)]
mod declared;
pub(crate) mod failures;
pub(crate) mod listed;
pub(crate) mod open;
pub(crate) mod parts;
pub(crate) mod ready;
#[cfg(feature = "cloud")]
pub(crate) mod spans;
pub(crate) mod verify;

pub(crate) use context::{cancel, context};
