//! Why a benchmark could not go on.

use std::io;
use std::path::{Path, PathBuf};

/// Why a benchmark could not go on.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The caller asked for it, by [`crate::Watch::is_stopped`].
    #[error("interrupted")]
    Stopped,
    /// What was asked for cannot be measured.
    #[error("{message}")]
    Settings {
        /// What cannot be, and why.
        message: String,
    },
    /// The system refused something with a file or a folder.
    #[error("cannot {verb} '{}': {error}", path.display())]
    Io {
        /// What was tried, as in `write`.
        verb: &'static str,
        /// With what.
        path: PathBuf,
        /// Why not.
        #[source]
        error: io::Error,
    },
    /// What is measured failed, or something that measuring needs was refused.
    #[error("{message}")]
    Failed {
        /// What failed, and why.
        message: String,
        /// What to do about it, where that is known.
        help: Option<String>,
    },
}

impl Error {
    /// A failure of which this is known.
    #[must_use]
    pub fn new(message: impl Into<String>) -> Self {
        Self::Failed {
            message: message.into(),
            help: None,
        }
    }

    /// Settings that cannot be measured, for this reason.
    #[must_use]
    pub fn settings(message: impl Into<String>) -> Self {
        Self::Settings {
            message: message.into(),
        }
    }

    /// A benchmark that cannot go on for a reason that no caller can mend.
    #[must_use]
    pub fn broken(error: impl std::fmt::Display) -> Self {
        Self::new(format!("the benchmark failed: {error}"))
            .help("please report this as a bug, with the output of `perfkit env`")
    }

    /// The system refused this with a file or a folder.
    #[must_use]
    pub fn io(verb: &'static str, path: &Path, error: io::Error) -> Self {
        Self::Io {
            verb,
            path: path.to_owned(),
            error,
        }
    }

    /// Adds what to do about a failure.
    #[must_use]
    pub fn help(self, text: impl Into<String>) -> Self {
        match self {
            Self::Failed { message, .. } => Self::Failed {
                message,
                help: Some(text.into()),
            },
            other => other,
        }
    }
}

#[cfg(feature = "compress")]
impl From<zstdkit::Error> for Error {
    fn from(error: zstdkit::Error) -> Self {
        Self::new(error.to_string())
    }
}
