//! Changes of a set of expressions, and why one is refused.

use std::sync::Arc;

use betree::{Constants, SubscriptionId};

/// The longest expression, in bytes.
pub const EXPRESSION_BYTES_MAX: usize = 1 << 20;
/// Most changes that one call hands to the writer.
pub const CHANGES_MAX: usize = 1024;

/// A change of one subscription.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// Adds a subscription, or replaces its expression.
    Put(SubscriptionId, Put),
    /// Removes a subscription.
    Delete(SubscriptionId),
}

/// An expression as it was written, the ids that its frequency caps count by, and its priority.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Put {
    /// The expression in betree's language.
    pub expression: Arc<str>,
    /// The ids that its frequency caps count by.
    pub constants: Constants,
    /// Of matches that a search for the best ones takes, those with the highest priorities.
    pub priority: i64,
}

impl Change {
    /// Adds a subscription without constants, or replaces its expression.
    #[must_use]
    pub fn put(id: SubscriptionId, expression: &str) -> Self {
        let put = Put {
            expression: expression.into(),
            constants: Constants::default(),
            priority: 0,
        };
        Self::Put(id, put)
    }

    /// The subscription.
    #[must_use]
    pub fn id(&self) -> SubscriptionId {
        match self {
            Self::Put(id, _) | Self::Delete(id) => *id,
        }
    }

    /// Bytes that it has, about.
    pub(crate) fn bytes(&self) -> usize {
        match self {
            Self::Put(_, put) => 64 + put.expression.len(),
            Self::Delete(_) => 16,
        }
    }
}

/// A change that is in the log by its policy, and visible to every search that starts from now on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Applied {
    /// The number of the change: each has the next one.
    pub sequence: u64,
    /// Whether the subscription is new.
    pub created: bool,
}

/// Why a change is not made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ChangeError {
    /// The expression or the id: nothing changed.
    #[error(transparent)]
    Refused(#[from] betree::Error),
    /// The expression is longer than [`EXPRESSION_BYTES_MAX`]: nothing changed.
    #[error("the expression has {bytes} bytes, at most {EXPRESSION_BYTES_MAX} are allowed")]
    TooLong {
        /// Its length.
        bytes: usize,
    },
    /// Too many changes wait: nothing changed.
    #[error("too many changes wait to be made: try again later")]
    Busy,
    /// The log could not be written, now or before. This change may or may not be there after a restart; no
    /// change is taken until then.
    #[error("the log of changes failed, and no change is taken: {0}")]
    LogFailed(Arc<str>),
    /// The matcher is closing: nothing changed.
    #[error("the matcher is closing")]
    Closed,
}
