//! What a matcher shares with its writer, and what it learns from it.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use arc_swap::ArcSwap;
use betree::{Priorities, Snapshot};

use crate::change::{Applied, ChangeError};
use crate::error::Result;
use crate::rows::Rows;
use crate::texts::Texts;
use crate::trouble::Observer;

/// What the writer and its users share.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) current: ArcSwap<Published>,
    pub(crate) texts: Mutex<Texts>,
    pub(crate) rows: Rows,
    pub(crate) counts: Counts,
    pub(crate) waiting_bytes: AtomicUsize,
    pub(crate) closed: AtomicBool,
    pub(crate) writer: Mutex<Option<JoinHandle<Result<()>>>>,
    pub(crate) durable: bool,
    pub(crate) observer: Option<Observer>,
}

/// What searches see.
#[derive(Debug)]
pub(crate) struct Published {
    pub(crate) snapshot: Arc<Snapshot>,
    /// `None`: all are 0.
    pub(crate) priorities: Option<Priorities>,
}

/// What was counted so far.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    pub(crate) changes: AtomicU64,
    pub(crate) refused: AtomicU64,
    pub(crate) publications: AtomicU64,
    pub(crate) merges: AtomicU64,
    pub(crate) snapshots: AtomicU64,
    pub(crate) snapshot_failures: AtomicU64,
    /// When the newest was written, in seconds since 1970; 0 if there is none.
    pub(crate) snapshot_time: AtomicU64,
    pub(crate) last: AtomicU64,
    pub(crate) saved: AtomicU64,
    pub(crate) log_bytes: AtomicU64,
    pub(crate) log_failed: AtomicBool,
}

/// A snapshot that is durable in the directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Saved {
    /// The number of its last change.
    pub sequence: u64,
    /// How long its file is; 0 if there was nothing new to write.
    pub bytes: u64,
}

/// Why no snapshot is written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SaveError {
    /// The matcher has no directory.
    #[error("there is no directory for snapshots: start with one")]
    NoDirectory,
    /// Another snapshot is being written.
    #[error("a snapshot is being written: try again when it is done")]
    Busy,
    /// Writing failed. The snapshot before it and its logs are still there.
    #[error("{0}")]
    Failed(Arc<str>),
    /// The matcher is closing, which writes a snapshot.
    #[error("the matcher is closing")]
    Closed,
}

/// The outcome of every change, in their order.
pub type Outcomes = Vec<std::result::Result<Applied, ChangeError>>;

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
