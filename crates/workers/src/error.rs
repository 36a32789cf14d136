//! What can go wrong between a worker and a broker.

/// Shorthand for results of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// What went wrong, and whether it is worth trying again.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The broker did not answer, or answered that it cannot now. Trying again later may help.
    #[error("{0}")]
    Later(String),
    /// The message is longer than the broker takes.
    #[error("a message of {bytes} bytes is longer than the server takes ({bytes_max} bytes)")]
    TooLong {
        /// Its length.
        bytes: usize,
        /// What the server takes.
        bytes_max: usize,
    },
    /// Settings of a stream or a consumer break what was promised.
    #[error("{what}: {reason}")]
    Settings {
        /// Which stream or consumer.
        what: String,
        /// Why they do.
        reason: String,
        /// What to do.
        help: String,
    },
    /// A server, a stream or a topic is not there. It may come.
    #[error("{message}")]
    Absent {
        /// What is not there.
        message: String,
        /// What to do.
        help: String,
    },
    /// Something is missing or was refused, and will be at the next attempt.
    #[error("{message}")]
    Refused {
        /// What, and by whom.
        message: String,
        /// What to do.
        help: String,
    },
}

impl Error {
    /// What to do about it, where that is known.
    #[must_use]
    pub fn help(&self) -> Option<&str> {
        match self {
            Self::Settings { help, .. }
            | Self::Absent { help, .. }
            | Self::Refused { help, .. } => Some(help),
            Self::TooLong { .. } => Some(
                "make blocks smaller (`feed --block`), write less per event (`--format ids` or `count`), or raise \
                 max_payload of the server and max_msg_size of the stream (of Kafka: max.message.bytes of the topic)",
            ),
            Self::Later(_) => None,
        }
    }

    /// Whether the same call may succeed later.
    #[must_use]
    pub fn is_passing(&self) -> bool {
        matches!(self, Self::Later(_))
    }

    /// Whether nothing that this process does will succeed before somebody changes something.
    #[must_use]
    pub fn is_for_ever(&self) -> bool {
        matches!(self, Self::Refused { .. } | Self::Settings { .. })
    }

    /// Whether what is not there may come, so that waiting may help.
    #[must_use]
    pub fn is_absence(&self) -> bool {
        matches!(self, Self::Absent { .. })
    }

    #[cfg(any(feature = "kafka", feature = "nats"))]
    pub(crate) fn absent(message: impl Into<String>, help: impl Into<String>) -> Self {
        Self::Absent {
            message: message.into(),
            help: help.into(),
        }
    }

    pub(crate) fn refused(message: impl Into<String>, help: impl Into<String>) -> Self {
        Self::Refused {
            message: message.into(),
            help: help.into(),
        }
    }
}
