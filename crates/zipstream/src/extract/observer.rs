//! What is seen of an extraction while it runs: for progress, times and messages.

use std::borrow::Cow;

use super::report::Failed;
use crate::read::{Entry, StreamEntry};

/// An entry that is extracted.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum Item<'a> {
    /// By the directory.
    Entry(&'a Entry<'a>),
    /// As it comes from a pipe.
    Stream(&'a StreamEntry),
}

impl Item<'_> {
    /// Its name.
    #[must_use]
    pub fn name(&self) -> Cow<'_, str> {
        match self {
            Self::Entry(entry) => entry.name_lossy(),
            Self::Stream(entry) => Cow::Borrowed(&entry.name),
        }
    }
}

/// Sees an extraction; each thread has an [`ExtractWorker`] of its own.
pub trait ExtractObserver: Sync {
    /// A thread starts.
    fn worker(&self) -> Box<dyn ExtractWorker + '_>;
}

/// Sees what one thread does to files; it is dropped when the thread ends. Every method does nothing by
/// default.
pub trait ExtractWorker: Send {
    /// Work on an entry starts.
    fn started(&mut self, item: Item<'_>) {
        let _ = item;
    }

    /// The next `bytes` of its content are decoded.
    fn decoded(&mut self, item: Item<'_>, bytes: u64) {
        let _ = (item, bytes);
    }

    /// They are written.
    fn written(&mut self, item: Item<'_>, bytes: u64) {
        let _ = (item, bytes);
    }

    /// The entry is complete and verified; it has `bytes` of content.
    fn done(&mut self, item: Item<'_>, bytes: u64) {
        let _ = (item, bytes);
    }

    /// The entry failed while its content was extracted. Those that fail before, by their names, are in the
    /// report only.
    fn failed(&mut self, failed: &Failed) {
        let _ = failed;
    }
}

/// Sees nothing.
pub(super) struct Unobserved;

impl ExtractWorker for Unobserved {}
