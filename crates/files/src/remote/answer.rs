//! How servers answer, noted by the client and read where a request fails.

use std::sync::{Arc, Mutex, PoisonError};

/// How a server answered last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Answer {
    pub(super) code: u16,
    pub(super) reason: &'static str,
}

impl Answer {
    /// Whether there is no content in it.
    pub(super) fn is_refusal(self) -> bool {
        self.code >= 300
    }
}

/// The last answer; `None` when the last request had none.
#[derive(Debug, Clone, Default)]
pub(super) struct Answered(Arc<Mutex<Option<Answer>>>);

impl Answered {
    pub(super) fn last(&self) -> Option<Answer> {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn set(&self, answer: Option<Answer>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = answer;
    }
}
