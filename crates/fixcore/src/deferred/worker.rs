//! The queue to a thread that handles messages, and that thread.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use super::options::{Options, Stall};
use super::overflow::{Overflow, messages};
use crate::spsc::{Consumer, Producer, Refused, queue};

/// How many messages are handled before their room is given back.
const BATCH: usize = 64;
/// How many messages whose handler panicked are kept, and how many bytes of them.
const FAILED_MAX: usize = 1024;
const FAILED_BYTES_MAX: usize = 1 << 20;

/// What happened to a submitted message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub enum Fate {
    /// It is in the queue.
    Queued,
    /// It is in the overflow.
    Spilled,
    /// It was dropped and counted.
    Dropped,
}

/// What happened to all submitted messages.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finished {
    /// Messages whose handler returned.
    pub handled: u64,
    /// Messages whose handler panicked.
    pub panicked: u64,
    /// The first of these messages, with their stamps.
    pub failed: Vec<(u64, Vec<u8>)>,
    /// Messages that were dropped.
    pub dropped: u64,
    /// Messages that went through the overflow.
    pub spilled: u64,
    /// How often spilled messages could not be read back. Those messages are lost.
    pub spill_errors: u64,
}

/// A thread that handles messages, and the queue to it.
#[doc(alias = "background thread")]
pub struct Deferred {
    /// `Some` until the end.
    queue: Option<Producer>,
    thread: Option<JoinHandle<Finished>>,
    overflow: Option<Arc<Overflow>>,
    is_blocking: bool,
    dropped: u64,
    spilled: u64,
}

impl Deferred {
    /// Starts the thread.
    ///
    /// # Errors
    ///
    /// The file of [`Spill::File`](super::Spill::File) or the thread cannot be created.
    pub fn start(
        options: &Options,
        handler: impl FnMut(u64, &[u8]) + Send + 'static,
    ) -> io::Result<Self> {
        let overflow = match &options.stall {
            Stall::Spill { to, bytes_max } => Some(Arc::new(Overflow::new(to, *bytes_max)?)),
            Stall::Block | Stall::Drop => None,
        };
        let (producer, consumer) = queue(options.buffer_bytes, options.wait);
        let mut worker = Worker {
            handler,
            overflow: overflow.clone(),
            finished: Finished::default(),
            failed_bytes: 0,
        };
        let thread = thread::Builder::new()
            .name("deferred".to_owned())
            .spawn(move || {
                worker.run(consumer);
                worker.finished
            })?;
        Ok(Self {
            queue: Some(producer),
            thread: Some(thread),
            overflow,
            is_blocking: options.stall == Stall::Block,
            dropped: 0,
            spilled: 0,
        })
    }

    /// Submits a message.
    ///
    /// # Errors
    ///
    /// [`Refused::TooLong`]: the message was not accepted and is not counted.
    #[inline]
    pub fn submit(&mut self, stamp: u64, bytes: &[u8]) -> Result<Fate, Refused> {
        let Some(queue) = &mut self.queue else {
            return Err(Refused::Closed);
        };
        let goes_around = self.overflow.as_ref().is_some_and(|over| over.is_used());
        if !goes_around && queue.push(stamp, bytes).is_ok() {
            return Ok(Fate::Queued);
        }
        self.stalled(stamp, bytes)
    }

    #[cold]
    fn stalled(&mut self, stamp: u64, bytes: &[u8]) -> Result<Fate, Refused> {
        let Some(queue) = &mut self.queue else {
            return Err(Refused::Closed);
        };
        let bytes_max = queue.bytes_max();
        if bytes.len() > bytes_max {
            let bytes = bytes.len();
            return Err(Refused::TooLong { bytes, bytes_max });
        }
        if self.is_blocking {
            loop {
                match queue.push(stamp, bytes) {
                    Ok(()) => return Ok(Fate::Queued),
                    Err(Refused::Full) => queue.wait(),
                    Err(refused) => return Err(refused),
                }
            }
        }
        let overflow = self.overflow.as_ref();
        if overflow.is_some_and(|overflow| overflow.push(stamp, bytes)) {
            self.spilled += 1;
            // Wakes the thread, which then looks into the overflow.
            queue.publish();
            return Ok(Fate::Spilled);
        }
        self.dropped += 1;
        Ok(Fate::Dropped)
    }

    /// How many messages were dropped so far.
    #[must_use]
    pub fn dropped(&self) -> u64 {
        self.dropped
    }

    /// How many messages went through the overflow so far.
    #[must_use]
    pub fn spilled(&self) -> u64 {
        self.spilled
    }

    /// Waits until all accepted messages are handled, and reports on them.
    #[must_use]
    pub fn finish(mut self) -> Finished {
        self.end()
    }

    fn end(&mut self) -> Finished {
        drop(self.queue.take());
        let joined = self.thread.take().map(JoinHandle::join);
        let mut finished = joined.and_then(Result::ok).unwrap_or_default();
        finished.dropped += self.dropped;
        finished.spilled = self.spilled;
        finished
    }
}

impl Drop for Deferred {
    fn drop(&mut self) {
        self.end();
    }
}

/// The other thread.
struct Worker<H> {
    handler: H,
    overflow: Option<Arc<Overflow>>,
    finished: Finished,
    failed_bytes: usize,
}

impl<H: FnMut(u64, &[u8])> Worker<H> {
    fn run(&mut self, mut queue: Consumer) {
        let mut taken = Vec::new();
        loop {
            // The order matters: messages in the queue are older than spilled ones, and all were put
            // there before the other side was dropped.
            let is_closed = queue.is_closed();
            let is_spilled = self.overflow.as_ref().is_some_and(|over| over.is_used());
            let mut any = 0;
            while let messages @ 1.. = queue.drain(BATCH, |stamp, bytes| self.handle(stamp, bytes))
            {
                any += messages;
            }
            if is_spilled {
                self.spilled(&mut taken);
            } else if any == 0 && is_closed {
                return;
            } else if any == 0 {
                let overflow = self.overflow.as_ref();
                queue.wait(|| overflow.is_some_and(|over| over.is_used()));
            }
        }
    }

    /// Handles spilled messages until none are left.
    fn spilled(&mut self, taken: &mut Vec<u8>) {
        let Some(overflow) = self.overflow.clone() else {
            return;
        };
        loop {
            if overflow.take(taken).is_err() {
                self.finished.spill_errors += 1;
                return;
            }
            if taken.is_empty() {
                return;
            }
            for (stamp, bytes) in messages(taken) {
                self.handle(stamp, bytes);
            }
        }
    }

    #[inline]
    fn handle(&mut self, stamp: u64, bytes: &[u8]) {
        // The handler's own state may be inconsistent after a panic; nothing in here is.
        let handler = AssertUnwindSafe(|| (self.handler)(stamp, bytes));
        match catch_unwind(handler) {
            Ok(()) => self.finished.handled += 1,
            Err(_) => self.panicked(stamp, bytes),
        }
    }

    #[cold]
    fn panicked(&mut self, stamp: u64, bytes: &[u8]) {
        self.finished.panicked += 1;
        let has_room = self.failed_bytes + bytes.len() <= FAILED_BYTES_MAX;
        if self.finished.failed.len() < FAILED_MAX && has_room {
            self.failed_bytes += bytes.len();
            self.finished.failed.push((stamp, bytes.to_vec()));
        }
    }
}
