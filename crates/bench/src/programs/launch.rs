//! One run of a process, as the runner sees it.

use std::io;
use std::process::Command;

/// What one run of a process took.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Ran {
    /// From just before its start to just after its end.
    pub wall_ns: f64,
    /// Processor time in its own code.
    pub user_ns: f64,
    /// Processor time in the system.
    pub system_ns: f64,
    /// Peak of its memory.
    pub rss_max_bytes: u64,
    /// Its exit code, or 128 and the number of the signal that ended it, as shells count.
    pub exit_code: Option<i32>,
    /// Whether it ended by itself, with the exit code 0.
    pub succeeded: bool,
    /// Whether a signal ended it.
    pub signalled: bool,
}

impl Ran {
    /// Without what the shell took to start, and never below 0.
    #[must_use]
    pub(super) fn less(self, overhead: &Self) -> Self {
        Self {
            wall_ns: (self.wall_ns - overhead.wall_ns).max(0.0),
            user_ns: (self.user_ns - overhead.user_ns).max(0.0),
            system_ns: (self.system_ns - overhead.system_ns).max(0.0),
            ..self
        }
    }
}

/// Who starts processes.
pub trait Launch {
    /// Runs a command to its end. If its standard output is a pipe, reads it to its end. `None` if the caller
    /// asked to stop.
    ///
    /// # Errors
    ///
    /// Those of the system, where the process cannot be started.
    fn launch(&mut self, command: &mut Command) -> io::Result<Option<Ran>>;
}
