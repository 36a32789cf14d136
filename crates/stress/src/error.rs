//! Errors: of a codec with one block, and of a run as a whole.

/// Why a codec could not be set up, or refused a block.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CodecError {
    /// zstd failed, at a byte where it knows one.
    #[cfg(feature = "zstd")]
    #[error("zstd: {0}")]
    Zstd(#[from] zstdkit::Error),
    /// Another codec refused.
    #[error("{codec}: {reason}")]
    Refused {
        /// The codec.
        codec: &'static str,
        /// The reason in its own words.
        reason: String,
    },
    /// The block holds more content than a block of this run may hold.
    #[error("{codec}: the block holds more than the limit of {limit_bytes} bytes of content")]
    TooLarge {
        /// The codec.
        codec: &'static str,
        /// The limit.
        limit_bytes: usize,
    },
    /// There is no codec of that name, or it has no such setting.
    #[error("unknown codec '{name}': {expected}")]
    Unknown {
        /// The name that was given.
        name: String,
        /// What is valid.
        expected: String,
    },
}

impl CodecError {
    /// Unused where no codec but `none` and zstd is built in.
    #[cfg_attr(
        not(test),
        allow(
            dead_code,
            reason = "codecs are features; without them nothing refuses"
        )
    )]
    pub(crate) fn refused(codec: &'static str, reason: impl std::fmt::Display) -> Self {
        Self::Refused {
            codec,
            reason: reason.to_string(),
        }
    }
}

/// Why a run did not take place, or its result cannot be trusted.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The codec is unknown, or cannot make a context.
    #[error(transparent)]
    Codec(#[from] CodecError),
    /// The plan cannot be carried out.
    #[error("{what}: {reason}")]
    Plan {
        /// The field of the plan.
        what: &'static str,
        /// What is wrong with it.
        reason: String,
    },
    /// A rate out of range.
    #[error(transparent)]
    Rate(#[from] latency::RateError),
    /// Recorders of threads could not be merged, which is a bug in this crate.
    #[error(transparent)]
    Merge(#[from] latency::MergeError),
    /// The system cannot start another thread.
    #[error("cannot start a thread: {0}")]
    Thread(#[from] std::io::Error),
    /// A thread of the run panicked outside of its workers, which is a bug in this crate.
    #[error("thread {0} of the run panicked outside of its workers: please report this bug")]
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
