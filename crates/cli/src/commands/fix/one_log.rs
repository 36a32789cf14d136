//! Several files as one log, or each as a log of its own.

use clap::Args;

/// Whether the files are one log.
#[derive(Debug, Default, Clone, Copy, Args)]
pub(crate) struct OneLogArgs {
    /// The files are pieces of one log, as rotation leaves them: day.log*
    ///
    /// They are read in the order of their first times (52), whatever the order of their names; with a pipe among them,
    /// in the order in which they are named. Without this flag each file has sessions of its own, as both parties of a
    /// session may have written one.
    #[arg(long, help_heading = "Sessions")]
    pub(crate) one_log: bool,
}

impl OneLogArgs {
    /// Which files are one log with this one: those of the same number.
    pub(super) fn group(self, log: usize) -> usize {
        match self.one_log {
            true => 0,
            false => log,
        }
    }
}
