//! Failures that no request waits for, and who is told.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// A failure that no caller waits for.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Trouble {
    /// A snapshot could not be written. The one before it and its logs are still there.
    Snapshot {
        /// What failed.
        reason: Arc<str>,
        /// When it is tried again; `None`: only on request.
        retry: Option<Duration>,
    },
    /// The log could not be written: no change is taken until a restart.
    Log {
        /// What failed.
        reason: Arc<str>,
    },
}

/// What is called for each [`Trouble`], by the writer: it should not take long.
#[derive(Clone)]
pub struct Observer(Arc<dyn Fn(&Trouble) + Send + Sync>);

impl Observer {
    /// Calls `tell` for each trouble.
    #[must_use]
    pub fn new(tell: impl Fn(&Trouble) + Send + Sync + 'static) -> Self {
        Self(Arc::new(tell))
    }

    pub(crate) fn tell(&self, trouble: &Trouble) {
        (self.0)(trouble);
    }
}

impl fmt::Debug for Observer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Observer")
    }
}
