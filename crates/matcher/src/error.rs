//! Why a matcher cannot be opened, or cannot write.

use std::io;
use std::path::{Path, PathBuf};

use crate::log::LogError;

/// Results of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// Why a matcher cannot be opened, or cannot write.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file or directory.
    #[error("cannot {what} '{}': {error}", path.display())]
    Io {
        /// What was tried.
        what: &'static str,
        /// The file or directory.
        path: PathBuf,
        /// What the system says.
        error: io::Error,
    },
    /// A target that is written.
    #[error(transparent)]
    File(#[from] files::Error),
    /// A log that cannot be continued from.
    #[error("cannot read the log '{}': {error}", path.display())]
    Log {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        error: LogError,
    },
    /// A snapshot that cannot be read.
    #[error("cannot read the snapshot '{}': {error}", path.display())]
    Snapshot {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        error: betree::Error,
    },
    /// A change of the log that the tree refuses.
    #[error("cannot repeat change {sequence} of the log '{}': {error}", path.display())]
    Replay {
        /// The file.
        path: PathBuf,
        /// The change.
        sequence: u64,
        /// Why.
        error: betree::Error,
    },
    /// Logs that do not follow on each other.
    #[error("the log '{}' begins after change {found}, but the files before it end at change {ended}: a file is missing", path.display())]
    Gap {
        /// The file.
        path: PathBuf,
        /// The change before its first.
        found: u64,
        /// The last change before.
        ended: u64,
    },
    /// Files of a state without its snapshot.
    #[error("'{}' has '{}' but no snapshot: a file is missing", directory.display(), found.display())]
    NoSnapshot {
        /// The directory.
        directory: PathBuf,
        /// A file that is there.
        found: PathBuf,
    },
    /// Another process has the directory.
    #[error("'{}' is in use by another process", path.display())]
    Locked {
        /// The directory.
        path: PathBuf,
    },
    /// A thread panicked.
    #[error("{0} panicked")]
    Panicked(&'static str),
    /// A thread could not be started.
    #[error("cannot start a thread: {0}")]
    Thread(io::Error),
}

impl Error {
    pub(crate) fn io(what: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_path_buf();
        move |error| Self::Io { what, path, error }
    }
}
