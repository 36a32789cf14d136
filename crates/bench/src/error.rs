//! Why a benchmark could not go on.

/// Why a benchmark could not go on.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
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

    /// Adds what to do about a failure.
    #[must_use]
    pub fn help(self, text: impl Into<String>) -> Self {
        match self {
            Self::Stopped | Self::Settings { .. } => self,
            Self::Failed { message, .. } => Self::Failed {
                message,
                help: Some(text.into()),
            },
        }
    }
}
