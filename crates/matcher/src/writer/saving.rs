//! Snapshots of the writer: when the log is long, on request, and at the end.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant, SystemTime};

use super::{Message, SaveReply, Waiting, Writer};
use crate::error::{Error, Result};
use crate::log::LogFile;
use crate::shared::{SaveError, Saved, lock};
use crate::store::{Store, unix_seconds};
use crate::trouble::Trouble;

/// Pauses become at most this many times as long as the first.
const PAUSES_MAX: u32 = 64;

/// When snapshots are written, and what waits for one.
pub(crate) struct Saves {
    /// How long logs become before a snapshot replaces them.
    log_bytes_max: Option<u64>,
    /// The first pause after a failure.
    pause: Duration,
    /// Pauses of the next failure.
    pauses: u32,
    /// When a snapshot that failed is tried again.
    retry: Option<Instant>,
    /// The logs since the newest snapshot, but the last.
    pub(super) older_log_bytes: u64,
    /// Who waits for the snapshot that is being written.
    waiting: Option<Vec<SaveReply>>,
}

impl Saves {
    pub(crate) fn new(log_bytes_max: Option<u64>, pause: Duration, older_log_bytes: u64) -> Self {
        Self {
            log_bytes_max,
            pause,
            pauses: 1,
            retry: None,
            older_log_bytes,
            waiting: None,
        }
    }

    /// When the next one is due, if one failed.
    pub(super) fn due(&self) -> Option<Instant> {
        self.retry.filter(|_| self.waiting.is_none())
    }
}

/// What work comes to, or that it panicked.
fn heard<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    let panicked = Error::Panicked("the thread of a snapshot");
    catch_unwind(AssertUnwindSafe(work)).unwrap_or(Err(panicked))
}

impl Writer {
    pub(super) fn save_if_long(&mut self) {
        let saves = &self.saves;
        let long = |(_, log): &(Store, LogFile)| {
            let bytes = saves.older_log_bytes + log.bytes();
            saves.log_bytes_max.is_some_and(|most| bytes > most)
        };
        let free = saves.waiting.is_none() && saves.retry.is_none() && self.failed.is_none();
        if free && self.store.as_ref().is_some_and(long) {
            self.save(Box::new(drop));
        }
        self.save_if_due(Instant::now());
    }

    /// Tries a snapshot that failed once more.
    pub(super) fn save_if_due(&mut self, now: Instant) {
        if self.saves.due().is_some_and(|due| due <= now) {
            self.save(Box::new(drop));
        }
    }

    /// No snapshot was written: says so, and when it is tried again.
    fn save_failed(&mut self, reason: &Arc<str>) {
        let counts = &self.shared.counts;
        counts.snapshot_failures.fetch_add(1, Relaxed);
        let automatic = self.saves.log_bytes_max.is_some() && self.failed.is_none();
        let pause = automatic.then(|| self.saves.pause.saturating_mul(self.saves.pauses));
        self.saves.pauses = (self.saves.pauses * 2).min(PAUSES_MAX);
        self.saves.retry = pause.and_then(|pause| Instant::now().checked_add(pause));
        // A failed log was told of already.
        if self.failed.is_none()
            && let Some(observer) = &self.shared.observer
        {
            observer.tell(&Trouble::Snapshot {
                reason: Arc::clone(reason),
                retry: pause,
            });
        }
    }

    /// Begins the next log, and writes a snapshot of the state before it on another thread.
    pub(super) fn save(&mut self, reply: SaveReply) {
        let sequence = self.last;
        let saved = self.shared.counts.saved.load(Relaxed);
        let Some((store, log)) = &mut self.store else {
            return reply(Err(SaveError::NoDirectory));
        };
        if let Some(reason) = &self.failed {
            return reply(Err(SaveError::Failed(Arc::clone(reason))));
        }
        if self.saves.waiting.is_some() {
            return reply(Err(SaveError::Busy));
        }
        if sequence == saved {
            return reply(Ok(Saved { sequence, bytes: 0 }));
        }
        // The old log is whole before the new one exists.
        let begun = match log.sync_now() {
            // After a failed snapshot of the same state, its log is there.
            Ok(()) if store.is_log_since(log, sequence) => Ok(None),
            Ok(()) => store.begin_log(sequence).map(Some),
            Err(error) => Err(Error::io("sync", log.path())(error)),
        };
        let saving = store.saving(sequence);
        self.saves.retry = None;
        match begun {
            Ok(None) => {}
            Ok(Some(next)) => {
                self.saves.older_log_bytes += log.bytes();
                *log = next;
            }
            Err(error) => {
                self.fail(error);
                let reason = self.failed.clone().unwrap_or_default();
                self.save_failed(&reason);
                return reply(Err(SaveError::Failed(reason)));
            }
        }
        let bytes = self.saves.older_log_bytes + log.bytes();
        self.shared.counts.log_bytes.store(bytes, Relaxed);
        let state = self.shared.current.load_full();
        let texts = lock(&self.shared.texts).clone();
        let sender = self.sender.clone();
        let work = move || {
            // Whatever happens here, the writer is told: until then it begins no other snapshot, and does not close.
            let result = heard(|| saving.run(&state.snapshot, &texts));
            drop((state, texts));
            drop(sender.send(Message::Saved(sequence, result)));
        };
        let thread = std::thread::Builder::new().name("matcher-snapshot".to_owned());
        match thread.spawn(work) {
            Ok(_) => self.saves.waiting = Some(vec![reply]),
            // The logs go on from the older snapshot.
            Err(error) => {
                let reason = error.to_string().into();
                self.save_failed(&reason);
                reply(Err(SaveError::Failed(reason)));
            }
        }
    }

    pub(super) fn saved(&mut self, sequence: u64, result: &Result<u64>) {
        let replies = self.saves.waiting.take().unwrap_or_default();
        let outcome = match result {
            Ok(bytes) => {
                self.count_saved(sequence);
                self.saves.pauses = 1;
                self.saves.older_log_bytes = 0;
                let log = self.store.as_ref().map_or(0, |(_, log)| log.bytes());
                self.shared.counts.log_bytes.store(log, Relaxed);
                Ok(Saved {
                    sequence,
                    bytes: *bytes,
                })
            }
            Err(error) => {
                let reason = error.to_string().into();
                self.save_failed(&reason);
                Err(SaveError::Failed(reason))
            }
        };
        for reply in replies {
            reply(outcome.clone());
        }
    }

    /// Makes what still waits, and writes the last snapshot.
    pub(super) fn close(mut self) -> Result<()> {
        while let Ok(message) = self.receiver.try_recv() {
            match message {
                Message::Changes {
                    changes,
                    reply,
                    arrived,
                    ..
                } => self.batch(vec![Waiting {
                    outcomes: Vec::with_capacity(changes.len()),
                    changes,
                    reply,
                    arrived,
                }]),
                Message::Save(reply) => reply(Err(SaveError::Closed)),
                Message::Saved(sequence, result) => self.saved(sequence, &result),
                Message::Merged(_) | Message::Close => {}
            }
        }
        // A snapshot that is being written is of an earlier state.
        while self.saves.waiting.is_some() {
            match self.receiver.recv() {
                Ok(Message::Saved(sequence, result)) => self.saved(sequence, &result),
                Ok(_) => {}
                Err(_) => break,
            }
        }
        let Some((store, log)) = &mut self.store else {
            return Ok(());
        };
        if self.failed.is_some() {
            return Ok(());
        }
        log.sync_now().map_err(Error::io("sync", log.path()))?;
        if self.last == self.shared.counts.saved.load(Relaxed) {
            return Ok(());
        }
        // The next start finds a log without records.
        drop(store.begin_log(self.last)?);
        let texts = lock(&self.shared.texts).clone();
        let state = self.shared.current.load_full();
        store.saving(self.last).run(&state.snapshot, &texts)?;
        self.count_saved(self.last);
        Ok(())
    }

    fn count_saved(&self, sequence: u64) {
        let counts = &self.shared.counts;
        counts.saved.store(sequence, Relaxed);
        counts.snapshots.fetch_add(1, Relaxed);
        counts
            .snapshot_time
            .store(unix_seconds(SystemTime::now()), Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_a_failure_that_is_heard() {
        assert_eq!(heard(|| Ok(7)).ok(), Some(7));
        let failed = heard::<()>(|| panic!("injected"));
        let text = failed.map_err(|error| error.to_string());
        assert!(text.is_err_and(|text| text.contains("panicked")));
    }
}
