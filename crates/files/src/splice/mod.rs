//! A file whose end is replaced where it stands: what comes is written over the old end, which is
//! kept in an [`Undo`] file next to it meanwhile.
//!
//! Nothing is touched before there is room for all of it, and an error puts the old end back. Killed
//! in between, the process leaves the undo file, and the next [`lock`] of the file puts the old end
//! back. That protects against a killed process, not against a power cut: nothing is synced to the disk.

mod bytes;
mod replace;
mod undo;

pub use replace::{lock, replace};
pub use undo::Undo;
