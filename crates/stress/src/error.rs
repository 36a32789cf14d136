//! What can go wrong: with one block in a codec, and with a run as a whole.

/// Why a codec could not be set up, or would not take a block.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CodecError {
    /// zstd, with the byte where it knows one.
    #[error("zstd: {0}")]
    Zstd(#[from] zstdkit::Error),
    /// Another codec refused.
    #[error("{codec}: {reason}")]
    Refused {
        /// Which.
        codec: &'static str,
        /// In its own words.
        reason: String,
    },
    /// The block holds more content than a block of this run may.
    #[error("{codec}: a block of more than {limit_bytes} bytes of content")]
    TooLarge {
        /// Which.
        codec: &'static str,
        /// The limit.
        limit_bytes: usize,
    },
    /// There is no codec of that name, or it has no such setting.
    #[error("unknown codec '{name}': {expected}")]
    Unknown {
        /// What was asked for.
        name: String,
        /// What there is.
        expected: String,
    },
}

impl CodecError {
    pub(crate) fn refused(codec: &'static str, reason: impl std::fmt::Display) -> Self {
        Self::Refused {
            codec,
            reason: reason.to_string(),
        }
    }
}

/// Why a run did not take place, or cannot be believed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A codec that cannot be had, or cannot make a context.
    #[error(transparent)]
    Codec(#[from] CodecError),
    /// A plan that cannot be carried out.
    #[error("{what}: {reason}")]
    Plan {
        /// The field of the plan.
        what: &'static str,
        /// What is wrong with it.
        reason: String,
    },
    /// A rate that no loop can have.
    #[error(transparent)]
    Rate(#[from] latency::RateError),
    /// Recorders of threads that do not fit together, which is a bug here.
    #[error(transparent)]
    Merge(#[from] latency::MergeError),
    /// The system has no thread to spare.
    #[error("cannot start a thread: {0}")]
    Thread(#[from] std::io::Error),
    /// A thread of the run ended by a panic outside of a worker, which is a bug here.
    #[error("thread {0} of the run panicked outside of its workers")]
    Panicked(usize),
}

impl Error {
    pub(crate) fn plan(what: &'static str, reason: impl Into<String>) -> Self {
        Self::Plan {
            what,
            reason: reason.into(),
        }
    }
}
