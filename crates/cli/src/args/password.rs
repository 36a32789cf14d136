//! Where a password comes from. It is never an argument, which everyone on the machine can see.

use std::path::PathBuf;

/// Where a password comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum PasswordSource {
    /// Whoever sits at the terminal.
    Terminal,
    /// A file that holds it, on one line.
    File(PathBuf),
}
