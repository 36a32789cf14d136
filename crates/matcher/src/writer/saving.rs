//! Snapshots of the writer: when the log is long, on request, and at the end.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use super::{Message, SaveReply, Waiting, Writer};
use crate::error::{Error, Result};
use crate::log::LogFile;
use crate::shared::{SaveError, Saved, lock};
use crate::store::Store;

impl Writer {
    pub(super) fn save_if_long(&mut self) {
        let long = |(_, log): &(Store, LogFile)| {
            self.snapshot_log_bytes
                .is_some_and(|most| log.bytes() > most)
        };
        if self.saving.is_none() && self.store.as_ref().is_some_and(long) {
            self.save(Box::new(drop));
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
        if self.saving.is_some() {
            return reply(Err(SaveError::Busy));
        }
        if sequence == saved {
            return reply(Ok(Saved { sequence, bytes: 0 }));
        }
        // The old log is whole before the new one exists.
        let begun = match log.sync_now() {
            Ok(()) => store.begin_log(sequence),
            Err(error) => Err(Error::io("sync", log.path())(error)),
        };
        let saving = store.saving(sequence);
        match begun {
            Ok(next) => *log = next,
            Err(error) => {
                self.fail(error);
                let reason = self.failed.clone().unwrap_or_default();
                return reply(Err(SaveError::Failed(reason)));
            }
        }
        self.shared.counts.log_bytes.store(log.bytes(), Relaxed);
        let state = self.shared.current.load_full();
        let texts = lock(&self.shared.texts).clone();
        let sender = self.sender.clone();
        let work = move || {
            let result = saving.run(&state, &texts);
            drop((state, texts));
            drop(sender.send(Message::Saved(sequence, result)));
        };
        let thread = std::thread::Builder::new().name("matcher-snapshot".to_owned());
        match thread.spawn(work) {
            Ok(_) => self.saving = Some(vec![reply]),
            // The logs go on from the older snapshot.
            Err(error) => reply(Err(SaveError::Failed(error.to_string().into()))),
        }
    }

    pub(super) fn saved(&mut self, sequence: u64, result: &Result<u64>) {
        let replies = self.saving.take().unwrap_or_default();
        let outcome = match result {
            Ok(bytes) => {
                self.shared.counts.saved.store(sequence, Relaxed);
                self.shared.counts.snapshots.fetch_add(1, Relaxed);
                Ok(Saved {
                    sequence,
                    bytes: *bytes,
                })
            }
            Err(error) => Err(SaveError::Failed(error.to_string().into())),
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
        while self.saving.is_some() {
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
        let snapshot = self.shared.current.load_full();
        store.saving(self.last).run(&snapshot, &texts)?;
        self.shared.counts.saved.store(self.last, Relaxed);
        self.shared.counts.snapshots.fetch_add(1, Relaxed);
        Ok(())
    }
}
