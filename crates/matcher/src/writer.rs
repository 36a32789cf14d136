//! The one thread that changes the tree: it takes what waits, makes the changes, appends one record to the log,
//! publishes the new state and only then acknowledges.
//!
//! Merging of indexes and writing of snapshots run on threads of their own, and tell it when they are done.

mod saving;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::time::Instant;

use betree::{BeTree, Merged};

use crate::change::{Applied, Change, ChangeError};
use crate::error::{Error, Result};
use crate::first::First;
use crate::log::LogFile;
use crate::ranks::Ranks;
use crate::shared::{Outcomes, Published, SaveError, Saved, Shared, lock};
use crate::store::Store;
use crate::trouble::Trouble;

pub(crate) use saving::Saves;

/// Changes that are made together at most, and their bytes.
const BATCH_CHANGES_MAX: usize = 4096;
const BATCH_BYTES_MAX: usize = 8 << 20;

type Reply = Box<dyn FnOnce(Outcomes) + Send>;
type SaveReply = Box<dyn FnOnce(std::result::Result<Saved, SaveError>) + Send>;

/// What the writer is told.
pub(crate) enum Message {
    Changes {
        changes: Vec<Change>,
        bytes: usize,
        reply: Reply,
        arrived: Instant,
    },
    /// Indexes were merged; `None`: they could not be.
    Merged(Option<Box<Merged>>),
    Save(SaveReply),
    /// The snapshot after this change was written, or not.
    Saved(u64, Result<u64>),
    Close,
}

/// Changes and who waits for them.
struct Waiting {
    changes: Vec<Change>,
    outcomes: Outcomes,
    reply: Reply,
    arrived: Instant,
}

pub(crate) struct Writer {
    tree: BeTree,
    ranks: Ranks,
    store: Option<(Store, LogFile)>,
    shared: Arc<Shared>,
    receiver: Receiver<Message>,
    sender: Sender<Message>,
    merged_max: usize,
    saves: Saves,
    last: u64,
    /// Why the log cannot be written any more.
    failed: Option<Arc<str>>,
    /// States that some reader may still have: this thread frees them, not the reader.
    retired: Vec<Arc<Published>>,
}

impl Writer {
    pub(crate) fn new(
        (tree, ranks): (BeTree, Ranks),
        store: Option<(Store, LogFile)>,
        shared: Arc<Shared>,
        receiver: Receiver<Message>,
        sender: Sender<Message>,
        saves: Saves,
        merged_max: usize,
    ) -> Self {
        let last = shared.counts.last.load(Relaxed);
        let bytes = store.as_ref().map_or(0, |(_, log)| log.bytes()) + saves.older_log_bytes;
        shared.counts.log_bytes.store(bytes, Relaxed);
        Self {
            tree,
            ranks,
            store,
            shared,
            receiver,
            sender,
            merged_max,
            saves,
            last,
            failed: None,
            retired: Vec::new(),
        }
    }

    /// Runs until it is told to close.
    pub(crate) fn run(mut self) -> Result<()> {
        let mut closing = false;
        while !closing {
            let Some(message) = self.receive() else {
                continue;
            };
            let mut batch = Vec::new();
            let (mut count, mut size) = (0, 0);
            let mut next = Some(message);
            while let Some(message) = next.take() {
                match message {
                    Message::Changes {
                        changes,
                        bytes,
                        reply,
                        arrived,
                    } => {
                        count += changes.len();
                        size += bytes;
                        batch.push(Waiting {
                            outcomes: Vec::with_capacity(changes.len()),
                            changes,
                            reply,
                            arrived,
                        });
                    }
                    Message::Merged(Some(merged)) => self.adopt(*merged),
                    Message::Merged(None) => self.tree.abandon_merge(),
                    Message::Save(reply) => {
                        // The state of a snapshot has everything that was acknowledged before.
                        self.batch(std::mem::take(&mut batch));
                        self.save(reply);
                    }
                    Message::Saved(sequence, result) => self.saved(sequence, &result),
                    Message::Close => closing = true,
                }
                if count < BATCH_CHANGES_MAX && size < BATCH_BYTES_MAX {
                    next = self.receiver.try_recv().ok();
                }
            }
            self.batch(batch);
            self.shared.waiting_bytes.fetch_sub(size, Relaxed);
            if !closing {
                self.merge();
                self.save_if_long();
            }
            self.retired.retain(|state| {
                Arc::strong_count(state) > 1 || Arc::strong_count(&state.snapshot) > 1
            });
        }
        self.close()
    }

    /// Waits for a message, or until the log must be synced.
    fn receive(&mut self) -> Option<Message> {
        let sync = self.store.as_ref().and_then(|(_, log)| log.sync_due());
        let due = [sync, self.saves.due()].into_iter().flatten().min();
        let Some(due) = due.filter(|_| self.failed.is_none()) else {
            return self.receiver.recv().ok();
        };
        let left = due.saturating_duration_since(Instant::now());
        if !left.is_zero() {
            match self.receiver.recv_timeout(left) {
                Ok(message) => return Some(message),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Some(Message::Close),
            }
        }
        let now = Instant::now();
        if sync.is_some_and(|sync| sync <= now) {
            self.sync();
        }
        self.save_if_due(now);
        None
    }

    fn sync(&mut self) {
        if let Some((_, log)) = &mut self.store
            && let Err(error) = log.sync_now()
        {
            let path = log.path().to_path_buf();
            self.fail(Error::io("sync", &path)(error));
        }
    }

    /// From now on no change is taken: what the log has is not known.
    fn fail(&mut self, error: impl ToString) {
        let reason: Arc<str> = error.to_string().into();
        self.failed = Some(Arc::clone(&reason));
        self.shared.counts.log_failed.store(true, Relaxed);
        if let Some(observer) = &self.shared.observer {
            observer.tell(&Trouble::Log { reason });
        }
    }

    /// Makes changes, records them and publishes them, then tells who waits for them.
    fn batch(&mut self, mut batch: Vec<Waiting>) {
        if batch.is_empty() {
            return;
        }
        let start = Instant::now();
        let before = self.last;
        for waiting in &mut batch {
            for change in &waiting.changes {
                let outcome = self.apply(change);
                waiting.outcomes.push(outcome);
            }
        }
        if self.last > before {
            self.record(before, &mut batch);
        }
        let made = self.last - before;
        if made > 0 && self.failed.is_none() {
            let mut texts = lock(&self.shared.texts);
            for change in made_of(&batch) {
                texts.note(change);
                self.ranks.note(change);
            }
            drop(texts);
            self.publish();
        }
        let end = Instant::now();
        let count: usize = batch.iter().map(|waiting| waiting.changes.len()).sum();
        let counts = &self.shared.counts;
        counts.last.store(self.last, Relaxed);
        counts.changes.fetch_add(made, Relaxed);
        counts.refused.fetch_add(count as u64 - made, Relaxed);
        let arrivals: Vec<Instant> = batch.iter().map(|waiting| waiting.arrived).collect();
        for waiting in batch {
            (waiting.reply)(waiting.outcomes);
        }
        let rows = &self.shared.rows;
        rows.writer.record([(start, end)]);
        rows.acknowledge
            .record(arrivals.into_iter().map(|arrived| (arrived, end)));
    }

    fn apply(&mut self, change: &Change) -> std::result::Result<Applied, ChangeError> {
        if let Some(reason) = &self.failed {
            return Err(ChangeError::LogFailed(Arc::clone(reason)));
        }
        let created = First::change(&mut self.tree, change)?;
        self.last += 1;
        Ok(Applied {
            sequence: self.last,
            created,
        })
    }

    /// Appends the changes that were made to the log. If that fails, none of them is acknowledged, and the tree
    /// is never published again.
    fn record(&mut self, before: u64, batch: &mut [Waiting]) {
        let Some((_, log)) = &mut self.store else {
            return;
        };
        match log.append(before + 1, made_of(batch)) {
            Ok(()) => {
                let bytes = self.saves.older_log_bytes + log.bytes();
                self.shared.counts.log_bytes.store(bytes, Relaxed);
            }
            Err(error) => {
                let path = log.path().to_path_buf();
                self.fail(Error::io("write", &path)(error));
                self.last = before;
                let reason = self.failed.clone().unwrap_or_default();
                let outcomes = batch.iter_mut().flat_map(|waiting| &mut waiting.outcomes);
                for outcome in outcomes.filter(|outcome| outcome.is_ok()) {
                    *outcome = Err(ChangeError::LogFailed(Arc::clone(&reason)));
                }
            }
        }
    }

    /// Hands the tree as it is to readers.
    fn publish(&mut self) {
        let start = Instant::now();
        let snapshot = self.tree.prompt_snapshot(self.merged_max);
        let state = Arc::new(self.ranks.publish(snapshot));
        self.retired.push(self.shared.current.swap(state));
        self.shared.counts.publications.fetch_add(1, Relaxed);
        let rows = &self.shared.rows;
        rows.publication.record([(start, Instant::now())]);
    }

    /// Starts the merge that is due.
    fn merge(&mut self) {
        let Some(merge) = self.tree.merge() else {
            return;
        };
        let sender = self.sender.clone();
        let work = move || {
            give_way();
            // Until the writer hears of it, it begins no other.
            let merged = catch_unwind(AssertUnwindSafe(|| Box::new(merge.run())));
            drop(sender.send(Message::Merged(merged.ok())));
        };
        let thread = std::thread::Builder::new().name("matcher-merge".to_owned());
        if thread.spawn(work).is_err() {
            self.tree.abandon_merge();
        }
    }

    fn adopt(&mut self, merged: Merged) {
        if self.tree.adopt(merged) && self.failed.is_none() {
            self.shared.counts.merges.fetch_add(1, Relaxed);
            self.publish();
        }
    }
}

/// Lowers the priority of this thread, so that searches do not wait for a processor that merges. It keeps a tenth
/// of a busy one: merges that never end would make searches slow. If the system refuses, only the wait is longer.
#[cfg(target_os = "linux")]
fn give_way() {
    const NICENESS: i32 = 10;
    let _ = rustix::process::setpriority_process(Some(rustix::thread::gettid()), NICENESS);
}

#[cfg(not(target_os = "linux"))]
fn give_way() {}

/// The changes that were made, in their order.
fn made_of(batch: &[Waiting]) -> impl Iterator<Item = &Change> {
    batch.iter().flat_map(|waiting| {
        let changes = waiting.changes.iter().zip(&waiting.outcomes);
        changes.filter_map(|(change, outcome)| outcome.is_ok().then_some(change))
    })
}
