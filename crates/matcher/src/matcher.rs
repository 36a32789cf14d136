//! The handle of a running matcher: searches take its current state, changes go to its writer.

use std::path::PathBuf;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use arc_swap::ArcSwap;
use betree::{Priorities, Snapshot, SubscriptionId};
use latency::Recording;

use crate::change::{CHANGES_MAX, Change, ChangeError, EXPRESSION_BYTES_MAX, Put};
use crate::error::{Error, Result};
use crate::first::First;
use crate::log::Sync;
use crate::ranks::Ranks;
use crate::rows::{Live, Rows, Specs};
use crate::shared::{Counts, Outcomes, Published, SaveError, Saved, Shared, lock};
use crate::store::{Recovery, Store};
use crate::trouble::Observer;
use crate::writer::{Message, Saves, Writer};

/// Bytes of changes that may wait for the writer.
const WAITING_BYTES_MAX: usize = 64 << 20;

/// How a matcher is run.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Options {
    /// Where the snapshot and the log of changes are kept. Without one, changes end with the process.
    pub directory: Option<PathBuf>,
    /// When changes are durable.
    pub sync: Sync,
    /// How long a log becomes before a new snapshot replaces it; `None` leaves that to
    /// [`Matcher::save`].
    pub snapshot_log_bytes: Option<u64>,
    /// The pause before a snapshot that failed is tried again; twice as long after each further failure, up to
    /// 64 times.
    pub snapshot_retry: Duration,
    /// Who is told of failures that no caller waits for.
    pub observer: Option<Observer>,
    /// The most expressions of an index that is built while changes wait. More make searches faster, and
    /// publication slower: about 10 microseconds each.
    pub merged_max: usize,
    /// What is recorded.
    pub specs: Specs,
    /// The zero of all recorders.
    pub start: Instant,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            directory: None,
            sync: Sync::Always,
            snapshot_log_bytes: Some(64 << 20),
            snapshot_retry: Duration::from_secs(10),
            observer: None,
            merged_max: 128,
            specs: Specs::default(),
            start: Instant::now(),
        }
    }
}

/// A running matcher. Clones are handles of the same; it closes by itself when the last of them is dropped, but
/// only [`Matcher::close`] waits for it.
///
/// Searches take the state as it is ([`Matcher::snapshot`]) and never wait for changes. Changes are made by one
/// thread in the order of their arrival. A change is acknowledged when it is in the log by the policy
/// ([`Sync`]) and published: every search whose snapshot is taken afterwards sees it.
///
/// ```
/// use betree::{BeTree, Domain, SubscriptionId, Undefined};
/// use matcher::{Change, Error, First, Matcher, Options, Texts};
///
/// let domain = Domain::parse("age|integer|true|0|120\n")?;
/// let first = || Ok::<_, Error>(First { tree: BeTree::new(domain, Undefined::False), texts: Texts::default() });
/// let (matcher, _) = Matcher::open(Options::default(), first)?;
///
/// let applied = matcher.change(vec![Change::put(SubscriptionId(7), "age >= 18")]);
/// assert!(applied[0].as_ref().is_ok_and(|applied| applied.created));
///
/// let snapshot = matcher.snapshot();
/// let event = snapshot.event(r#"{"age": 30}"#)?;
/// assert_eq!(snapshot.search(&event)?, [SubscriptionId(7)]);
/// matcher.close()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Matcher {
    pub(crate) shared: Arc<Shared>,
    handle: Arc<Handle>,
}

/// The way to the writer, which closes when no one has it any more.
#[derive(Debug)]
struct Handle(Sender<Message>);

impl Drop for Handle {
    fn drop(&mut self) {
        let _ = self.0.send(Message::Close);
    }
}

/// The state of a matcher in numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Status {
    /// Expressions that searches see.
    pub expressions: u64,
    /// Changes that were made.
    pub changes: u64,
    /// Changes that were refused.
    pub refused: u64,
    /// States that were published.
    pub publications: u64,
    /// Indexes that were merged by a thread of their own.
    pub merges: u64,
    /// Snapshots that were written.
    pub snapshots: u64,
    /// Snapshots that could not be written.
    pub snapshot_failures: u64,
    /// When the newest snapshot was written, in seconds since 1970; 0 if there is none.
    pub snapshot_time: u64,
    /// The number of the last change.
    pub sequence: u64,
    /// The number of the last change of the newest snapshot in the directory.
    pub saved_sequence: u64,
    /// How long the logs are that a start would read; 0 without one.
    pub log_bytes: u64,
    /// Bytes of changes that wait for the writer.
    pub waiting_bytes: u64,
    /// Whether the log failed, so that no change is taken.
    pub log_failed: bool,
}

impl Matcher {
    /// Reads the state of the directory and starts; without a directory, or with an empty one, `first` gives
    /// the state to start from.
    ///
    /// # Errors
    /// Those of `first`; a directory that cannot be read, is in use, or whose files are damaged.
    pub fn open<E: From<Error>>(
        options: Options,
        first: impl FnOnce() -> std::result::Result<First, E>,
    ) -> std::result::Result<(Self, Recovery), E> {
        let counts = Counts::default();
        let mut older_log_bytes = 0;
        let (first, store, last, base, recovery) = match &options.directory {
            Some(directory) => {
                let opened = Store::open(directory, options.sync, first)?;
                let store = Some((opened.store, opened.log));
                let (last, base) = (opened.last, opened.base);
                older_log_bytes = opened.older_log_bytes;
                counts.snapshot_time.store(opened.snapshot_time, Relaxed);
                (opened.first, store, last, base, opened.recovery)
            }
            None => (first()?, None, 0, 0, Recovery::default()),
        };
        let First { mut tree, texts } = first;
        let mut ranks = Ranks::new(&texts);
        counts.last.store(last, Relaxed);
        counts.saved.store(base, Relaxed);
        let (sender, receiver) = channel();
        let shared = Arc::new(Shared {
            current: ArcSwap::from_pointee(ranks.publish(tree.snapshot())),
            texts: Mutex::new(texts),
            rows: Rows::new(options.specs, options.start),
            counts,
            waiting_bytes: AtomicUsize::new(0),
            closed: AtomicBool::new(false),
            writer: Mutex::new(None),
            durable: store.is_some(),
            observer: options.observer,
        });
        let writer = Writer::new(
            (tree, ranks),
            store,
            Arc::clone(&shared),
            receiver,
            sender.clone(),
            Saves::new(
                options.snapshot_log_bytes,
                options.snapshot_retry,
                older_log_bytes,
            ),
            options.merged_max,
        );
        let thread = std::thread::Builder::new()
            .name("matcher-writer".to_owned())
            .spawn(move || writer.run())
            .map_err(Error::Thread)?;
        *lock(&shared.writer) = Some(thread);
        let handle = Arc::new(Handle(sender));
        Ok((Self { shared, handle }, recovery))
    }

    /// The state to search: all changes that were acknowledged, and perhaps some more.
    #[must_use]
    pub fn snapshot(&self) -> Arc<Snapshot> {
        Arc::clone(&self.published().snapshot)
    }

    /// The same with the priorities of its expressions, for [`Snapshot::top_k`]. `None`: all are 0.
    #[must_use]
    pub fn ranked(&self) -> (Arc<Snapshot>, Option<Priorities>) {
        let published = self.published();
        (
            Arc::clone(&published.snapshot),
            published.priorities.clone(),
        )
    }

    pub(crate) fn published(&self) -> Arc<Published> {
        // Not a guard: what replaces the state frees it only when no reader has it any more.
        self.shared.current.load_full()
    }

    /// The expression of a subscription as it was written. `None`: there is no such subscription.
    /// `Some(None)`: its text is not known, for it came from a snapshot.
    #[must_use]
    pub fn expression(&self, id: SubscriptionId) -> Option<Option<Put>> {
        let text = lock(&self.shared.texts).get(id).cloned();
        let there = text.is_some() || self.snapshot().contains(id);
        there.then_some(text)
    }

    /// The expressions of these subscriptions as they were written, as far as known.
    #[must_use]
    pub fn texts(&self, ids: &[SubscriptionId]) -> Vec<Option<Put>> {
        let texts = lock(&self.shared.texts);
        ids.iter().map(|id| texts.get(*id).cloned()).collect()
    }

    /// Makes changes and waits until they are acknowledged. Those that are refused do not prevent the others.
    #[must_use]
    pub fn change(&self, changes: Vec<Change>) -> Outcomes {
        let (sender, receiver) = channel();
        let count = changes.len();
        let sent = self.submit(changes, move |outcomes| drop(sender.send(outcomes)));
        match sent.map(|()| receiver.recv()) {
            Ok(Ok(outcomes)) => outcomes,
            Ok(Err(_)) => vec![Err(ChangeError::Closed); count],
            Err(error) => vec![Err(error); count],
        }
    }

    /// Hands over changes, at most [`CHANGES_MAX`], without waiting. `reply` is called by the writer when they are acknowledged;
    /// it is dropped without being called if the matcher closes before.
    ///
    /// # Errors
    /// Too many changes wait, or the matcher is closing: nothing changes then.
    pub fn submit(
        &self,
        changes: Vec<Change>,
        reply: impl FnOnce(Outcomes) + Send + 'static,
    ) -> std::result::Result<(), ChangeError> {
        if self.shared.closed.load(Relaxed) {
            return Err(ChangeError::Closed);
        }
        for change in &changes {
            if let Change::Put(_, put) = change
                && put.expression.len() > EXPRESSION_BYTES_MAX
            {
                let bytes = put.expression.len();
                return Err(ChangeError::TooLong { bytes });
            }
        }
        let bytes = changes.iter().map(Change::bytes).sum();
        let before = self.shared.waiting_bytes.fetch_add(bytes, Relaxed);
        if before + bytes > WAITING_BYTES_MAX && before > 0 || changes.len() > CHANGES_MAX {
            self.shared.waiting_bytes.fetch_sub(bytes, Relaxed);
            return Err(ChangeError::Busy);
        }
        let message = Message::Changes {
            changes,
            bytes,
            reply: Box::new(reply),
            arrived: Instant::now(),
        };
        self.handle.0.send(message).map_err(|_| ChangeError::Closed)
    }

    /// Writes a snapshot to the directory without holding up changes, and calls `reply` when it is durable.
    ///
    /// # Errors
    /// There is no directory, or the matcher is closing.
    pub fn save(
        &self,
        reply: impl FnOnce(std::result::Result<Saved, SaveError>) + Send + 'static,
    ) -> std::result::Result<(), SaveError> {
        if !self.shared.durable {
            return Err(SaveError::NoDirectory);
        }
        let sent = self.handle.0.send(Message::Save(Box::new(reply)));
        sent.map_err(|_| SaveError::Closed)
    }

    /// The state in numbers.
    #[must_use]
    pub fn status(&self) -> Status {
        let counts = &self.shared.counts;
        Status {
            expressions: self.snapshot().len() as u64,
            changes: counts.changes.load(Relaxed),
            refused: counts.refused.load(Relaxed),
            publications: counts.publications.load(Relaxed),
            merges: counts.merges.load(Relaxed),
            snapshots: counts.snapshots.load(Relaxed),
            snapshot_failures: counts.snapshot_failures.load(Relaxed),
            snapshot_time: counts.snapshot_time.load(Relaxed),
            sequence: counts.last.load(Relaxed),
            saved_sequence: counts.saved.load(Relaxed),
            log_bytes: counts.log_bytes.load(Relaxed),
            waiting_bytes: self.shared.waiting_bytes.load(Relaxed) as u64,
            log_failed: counts.log_failed.load(Relaxed),
        }
    }

    /// The distributions so far.
    #[must_use]
    pub fn live(&self) -> Live {
        self.shared.rows.live()
    }

    /// Makes the changes that wait, writes a snapshot if there is a directory, and stops the writer. Searches
    /// of snapshots go on; later changes are refused. Returns what was recorded.
    ///
    /// # Errors
    /// The snapshot could not be written; the log has all that was acknowledged.
    pub fn close(&self) -> Result<Vec<Recording>> {
        self.shared.closed.store(true, Relaxed);
        let _ = self.handle.0.send(Message::Close);
        let thread = lock(&self.shared.writer).take();
        match thread.map(JoinHandle::join) {
            None | Some(Ok(Ok(()))) => Ok(self.shared.rows.finish()),
            Some(Ok(Err(error))) => Err(error),
            Some(Err(_)) => Err(Error::Panicked("the writer")),
        }
    }
}
