//! Why a log was not read, or not to its end.

use std::io;

/// Why a log was not read, or not to its end.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A log was not opened.
    #[error("cannot open log {log}: {error}")]
    Open {
        /// Which log, counted from 0.
        log: usize,
        /// What [`Logs::open`](crate::Logs::open) returned.
        error: io::Error,
    },
    /// A log was not read to its end.
    #[error("cannot read log {log} at byte {offset}: {error}")]
    Read {
        /// Which log, counted from 0.
        log: usize,
        /// How many bytes of it were read.
        offset: u64,
        /// What [`Source::read`](crate::Source::read) returned.
        error: io::Error,
    },
}

impl Error {
    /// The same error of another log.
    #[must_use]
    pub fn of_log(self, log: usize) -> Self {
        match self {
            Self::Open { error, .. } => Self::Open { log, error },
            Self::Read { offset, error, .. } => Self::Read { log, offset, error },
        }
    }
}
