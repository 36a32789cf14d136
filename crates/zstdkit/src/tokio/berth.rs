//! Where the context of a stream lies between two calls of the stream, so that others can have it when memory is
//! short: the frame then ends there, and the stream goes on with another one.

use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::task::{Context, Poll, Waker};

use super::job::Job;
use super::room;
use super::scheduler::PooledEncoder;
use crate::error::Error;
use crate::reservation::line::{Line, Rests};
use crate::schedule::OffloadFuture;
use crate::step::Operation;

/// The place of a stream's context between its calls.
pub(super) struct Berth {
    line: Arc<Line>,
    /// Its number in the line.
    listed: OnceLock<u64>,
    /// The tick of the last call.
    since: AtomicU64,
    slot: Mutex<Slot>,
}

/// What lies there.
#[derive(Debug)]
pub(super) enum Lying {
    Encoder(Box<PooledEncoder>),
    Job(OffloadFuture<Box<Job>>),
}

enum Slot {
    Empty,
    Lying(Lying),
    /// The frame is being ended, for others.
    Ending(Option<Waker>),
    /// The rest of the frame, or why there is none.
    Ended(Result<Vec<u8>, Error>),
}

/// What a stream finds.
pub(super) enum Found {
    Lying(Lying),
    /// The frame has ended: its rest.
    Ended(Result<Vec<u8>, Error>),
}

impl Berth {
    pub(super) fn new(line: &Arc<Line>) -> Arc<Self> {
        let berth = Arc::new(Self {
            line: line.clone(),
            listed: OnceLock::new(),
            since: AtomicU64::new(0),
            slot: Mutex::new(Slot::Empty),
        });
        let weak: Weak<Self> = Arc::downgrade(&berth);
        let _ = berth.listed.set(line.list(weak));
        berth
    }

    /// Leaves a context here until the next call.
    pub(super) fn put(&self, lying: Lying) {
        self.since.store(self.line.now(), Relaxed);
        *self.lock() = Slot::Lying(lying);
    }

    /// Takes back what is here. Pending while the frame is being ended.
    pub(super) fn poll_take(&self, context: &Context<'_>) -> Poll<Option<Found>> {
        let mut slot = self.lock();
        if let Slot::Ending(waker) = &mut *slot {
            let before = waker.replace(context.waker().clone());
            drop(slot);
            drop(before);
            return Poll::Pending;
        }
        Poll::Ready(match std::mem::replace(&mut *slot, Slot::Empty) {
            Slot::Lying(lying) => Some(Found::Lying(lying)),
            Slot::Ended(rest) => Some(Found::Ended(rest)),
            Slot::Empty | Slot::Ending(_) => None,
        })
    }

    fn lock(&self) -> MutexGuard<'_, Slot> {
        self.slot.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Rests for Berth {
    fn rested(&self) -> Option<u64> {
        matches!(*self.lock(), Slot::Lying(_)).then(|| self.since.load(Relaxed))
    }

    fn give_back(&self) {
        let mut slot = self.lock();
        let lying = match std::mem::replace(&mut *slot, Slot::Ending(None)) {
            Slot::Lying(lying) => lying,
            other => {
                *slot = other;
                return;
            }
        };
        drop(slot);
        let after = match lying {
            Lying::Encoder(encoder) => Slot::Ended(end(*encoder, Vec::new())),
            Lying::Job(mut running) => {
                let mut context = Context::from_waker(Waker::noop());
                match Pin::new(&mut running).poll(&mut context) {
                    // The stream that left it here does not wait for it now: its next poll says how to wake it.
                    Poll::Pending => {
                        self.since.store(self.line.now(), Relaxed);
                        Slot::Lying(Lying::Job(running))
                    }
                    Poll::Ready(Err(error)) => Slot::Ended(Err(error.into())),
                    Poll::Ready(Ok(job)) => {
                        let Job {
                            encoder,
                            output,
                            result,
                            ..
                        } = *job;
                        Slot::Ended(result.and_then(|()| end(*encoder, output)))
                    }
                }
            }
        };
        let ending = std::mem::replace(&mut *self.lock(), after);
        if let Slot::Ending(Some(waker)) = ending {
            waker.wake();
        }
    }
}

/// Ends the frame: what is written before its end, and that. The context goes back to the pool.
fn end(mut encoder: PooledEncoder, mut output: Vec<u8>) -> Result<Vec<u8>, Error> {
    room::compress_all(&mut encoder, &[], &mut output, Operation::End)?;
    Ok(output)
}

impl Drop for Berth {
    fn drop(&mut self) {
        if let Some(number) = self.listed.get() {
            self.line.unlist(*number);
        }
    }
}

impl std::fmt::Debug for Berth {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Berth").finish_non_exhaustive()
    }
}
