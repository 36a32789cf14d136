//! One guard that every run passes before it starts: nothing that is written may be what is read, or
//! be written twice.
//!
//! [`Files`] says what a run reads and writes, and [checks](Files::check) it; jobs, whose targets are
//! known once directories have been walked, are part of it. A file that exists is known by its device
//! and inode, one that does not by its directory and name: two spellings, a symbolic link or a second
//! mount do not hide that two names are one file. What stands behind standard output and standard
//! error is written, too.

mod check;
mod conflict;
mod files;
mod identity;

pub use conflict::Conflict;
pub use files::{Files, Flagged, Stdout};
pub use identity::{Written, written};

#[cfg(test)]
mod tests;
