//! Where a password comes from. It is never an argument: every user of the machine can see those.

use std::path::PathBuf;

/// Where a password comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum PasswordSource {
    /// The user at the terminal.
    Terminal,
    /// A file that contains it, on one line.
    File(PathBuf),
}
