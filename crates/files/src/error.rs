//! What can go wrong with a file, with its path and what was tried.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use crate::conflicts::Conflict;

/// Results of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// What was tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Operation {
    /// To open or read.
    Read,
    /// To create, write or rename.
    Write,
    /// To start the thread that reads.
    StartReading,
}

impl Operation {
    /// The word for it, as in "cannot read".
    #[must_use]
    pub fn verb(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::StartReading => "start reading",
        }
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.verb())
    }
}

/// Why a file could not be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The system, or a server, refused.
    #[error("cannot {operation} {}: {}", named(path), reason(source))]
    Io {
        /// What was tried.
        operation: Operation,
        /// The file, a URL, `-`, or the name of a standard stream.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// There is a file of that name, which is not to be replaced.
    #[error("'{}' exists already", path.display())]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// A file is needed.
    #[error("'{}' is a directory", path.display())]
    IsDirectory {
        /// What was to be done with it.
        operation: Operation,
        /// The directory.
        path: PathBuf,
    },
    /// A target with an empty name.
    #[error("the target has no name")]
    Unnamed,
    /// What is on a device would be overwritten.
    #[error("'{}' is a block device: what is on it would be overwritten", path.display())]
    BlockDevice {
        /// The device.
        path: PathBuf,
    },
    /// One target was named for several sources that are not joined.
    #[error("one target is named for {sources} sources")]
    OneTarget {
        /// How many.
        sources: usize,
    },
    /// The target of a source has no name, since the source is called `.zst`.
    #[error("'{}' is nothing but a suffix, so its target has no name", path.display())]
    OnlySuffix {
        /// The source.
        path: PathBuf,
    },
    /// The target of a source has no name, since the source has another suffix.
    #[error("'{}' does not end in .zst, .gz, .xz, .lzma or .lz4, so its target has no name", path.display())]
    NoSuffix {
        /// The source.
        path: PathBuf,
    },
    /// The path of a source has `..` in it and cannot be repeated below another directory.
    #[error("'{}' cannot be mirrored: its path leads upwards", path.display())]
    LeadsUp {
        /// The source.
        path: PathBuf,
    },
    /// A walk through a directory came to what cannot be read.
    #[error("cannot read '{}': {}", path.display(), reason.as_ref().map_or_else(
        || "it cannot be walked".to_owned(), reason_of))]
    Walk {
        /// Where that was.
        path: PathBuf,
        /// What the system says; `None`: a loop of links.
        #[source]
        reason: Option<io::Error>,
    },
    /// A URL that does not end in a name.
    #[error("'{url}' ends in no name of a file")]
    UrlUnnamed {
        /// The URL.
        url: String,
    },
    /// A URL, where this crate was built without them.
    #[error("cannot {operation} '{url}': built without the feature 'remote'")]
    UrlUnsupported {
        /// What was tried.
        operation: Operation,
        /// The URL.
        url: String,
    },
    /// What is written is also read, or written twice.
    #[error(transparent)]
    Conflict(#[from] Conflict),
}

impl Error {
    /// The system's refusal to read `path`.
    #[must_use]
    pub fn read(path: impl Into<PathBuf>, source: io::Error) -> Self {
        Self::Io {
            operation: Operation::Read,
            path: path.into(),
            source,
        }
    }

    /// The system's refusal to write `path`.
    #[must_use]
    pub fn write(path: impl Into<PathBuf>, source: io::Error) -> Self {
        Self::Io {
            operation: Operation::Write,
            path: path.into(),
            source,
        }
    }

    /// Whether a set [`Cancel`](crate::Cancel) flag ended this.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        matches!(self, Self::Io { source, .. } if crate::is_cancelled(source))
    }
}

/// `-` and the names of the standard streams stand for these; other names are quoted.
fn named(path: &Path) -> String {
    match path.to_str() {
        Some("-") => "standard input".to_owned(),
        Some(stream @ ("standard output" | "standard error")) => stream.to_owned(),
        _ => format!("'{}'", path.display()),
    }
}

/// The system's words for an error, in lower case and without the number.
#[must_use]
pub fn reason(error: &io::Error) -> String {
    let text = error.to_string();
    let text = text.split(" (os error").next().unwrap_or(&text);
    let mut chars = text.chars();
    match chars.next() {
        Some(first) => first.to_lowercase().chain(chars).collect(),
        None => "unknown error".to_owned(),
    }
}

fn reason_of(error: &io::Error) -> String {
    reason(error)
}
