//! The two sides of a queue, and how they wait for each other.

use std::sync::atomic::Ordering;
use std::thread;

use super::ring::{self, Reader, Writer};

/// How a side waits for the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Wait {
    /// It polls, and keeps its processor busy. Publishing is one store.
    Spin,
    /// It polls a number of times, then sleeps. Publishing costs a memory barrier, because the other
    /// side may be asleep.
    Park {
        /// How often it polls before it sleeps.
        spins: u32,
    },
}

/// Why a message was not accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refused {
    /// There is no room now.
    #[error("queue full")]
    Full,
    /// It is longer than half of the ring.
    #[error("message of {bytes} bytes does not fit the queue: the limit is {bytes_max}")]
    TooLong {
        /// Its length.
        bytes: usize,
        /// The longest message that fits.
        bytes_max: usize,
    },
    /// The reader was dropped.
    #[error("queue closed: the reader is gone")]
    Closed,
}

/// The size of the largest ring, in bytes.
pub const BUFFER_BYTES_MAX: usize = 1 << 32;

/// Creates a queue over a ring of this many bytes, rounded up to a power of two.
#[doc(alias = "channel")]
#[must_use]
pub fn queue(buffer_bytes: usize, wait: Wait) -> (Producer, Consumer) {
    let (writer, ring) = ring::pair(buffer_bytes.min(BUFFER_BYTES_MAX));
    let producer = Producer { ring: writer, wait };
    (producer, Consumer { ring, wait })
}

/// The writing side. Dropping it tells the reader that no more messages will come.
pub struct Producer {
    ring: Writer,
    wait: Wait,
}

impl Producer {
    /// Writes a message with a stamp of the caller's, and publishes it.
    ///
    /// # Errors
    ///
    /// [`Refused`]: the message is not in the queue.
    #[inline]
    pub fn push(&mut self, stamp: u64, bytes: &[u8]) -> Result<(), Refused> {
        self.stage(stamp, bytes)?;
        self.publish();
        Ok(())
    }

    /// Writes a message that the reader sees after the next [`Producer::publish`].
    ///
    /// # Errors
    ///
    /// As for [`Producer::push`].
    #[inline]
    pub fn stage(&mut self, stamp: u64, bytes: &[u8]) -> Result<(), Refused> {
        // A message longer than half of the ring may fit now and never again.
        if bytes.len() <= self.bytes_max() && self.ring.write(stamp, bytes) {
            return Ok(());
        }
        Err(self.refused(bytes.len()))
    }

    #[cold]
    fn refused(&self, bytes: usize) -> Refused {
        let bytes_max = self.bytes_max();
        if bytes > bytes_max {
            Refused::TooLong { bytes, bytes_max }
        } else if self.is_closed() {
            Refused::Closed
        } else {
            Refused::Full
        }
    }

    /// Publishes all staged messages.
    #[inline]
    pub fn publish(&mut self) {
        self.ring.publish();
        if self.wait != Wait::Spin {
            self.ring.shared().consumer.wake();
        }
    }

    /// Waits until the reader has freed room since a message was refused, or is gone. Publishes what is staged: the
    /// reader frees no room of messages that it does not see.
    pub fn wait(&mut self) {
        self.publish();
        let (shared, seen) = (self.ring.shared(), self.ring.seen_freed());
        let has_room = || shared.freed() != seen || shared.is_consumer_gone.load(Ordering::Acquire);
        wait(self.wait, has_room, |has| shared.producer.sleep(has));
    }

    /// The longest message, in bytes.
    #[inline]
    #[must_use]
    pub fn bytes_max(&self) -> usize {
        self.ring.shared().bytes_max()
    }

    /// Whether the reader is gone.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.ring.shared().is_consumer_gone.load(Ordering::Acquire)
    }
}

impl Drop for Producer {
    fn drop(&mut self) {
        self.ring.publish();
        let shared = self.ring.shared();
        shared.is_producer_gone.store(true, Ordering::Release);
        shared.consumer.wake();
    }
}

/// The reading side.
pub struct Consumer {
    ring: Reader,
    wait: Wait,
}

impl Consumer {
    /// Reads up to `messages_max` messages, each with its stamp, then frees their room together.
    /// Returns how many there were. A message whose call panics stays in the queue.
    #[inline]
    pub fn drain(&mut self, messages_max: usize, mut each: impl FnMut(u64, &[u8])) -> usize {
        let mut messages = 0;
        while messages < messages_max && self.ring.read(&mut each).is_some() {
            messages += 1;
        }
        if messages > 0 {
            self.ring.free();
            if self.wait != Wait::Spin {
                self.ring.shared().producer.wake();
            }
        }
        messages
    }

    /// Waits until there is a message, the writer is gone, or `has_work` returns true. Whoever makes it
    /// true must call [`Producer::publish`] afterwards, even with nothing staged.
    pub fn wait(&mut self, has_work: impl Fn() -> bool) {
        let (shared, at) = (self.ring.shared(), self.ring.at());
        let is_gone = || shared.is_producer_gone.load(Ordering::Acquire);
        let has_any = || shared.has_beyond(at) || is_gone() || has_work();
        wait(self.wait, has_any, |has| shared.consumer.sleep(has));
    }

    /// Whether the writer is gone: no message follows those in the queue.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.ring.shared().is_producer_gone.load(Ordering::Acquire)
    }
}

impl Drop for Consumer {
    fn drop(&mut self) {
        let shared = self.ring.shared();
        shared.is_consumer_gone.store(true, Ordering::Release);
        shared.producer.wake();
    }
}

/// Waits until `has` returns true, by a policy.
fn wait(wait: Wait, has: impl Fn() -> bool, sleep: impl Fn(&dyn Fn() -> bool)) {
    let spins_max = match wait {
        Wait::Spin => u32::MAX,
        Wait::Park { spins } => spins,
    };
    let mut spins = 0;
    while !has() {
        if spins < spins_max {
            std::hint::spin_loop();
            spins = spins.saturating_add(1);
            // With fewer processors than threads the other side may need this processor.
            if spins.is_multiple_of(1 << 8) {
                thread::yield_now();
            }
        } else if wait == Wait::Spin {
            thread::yield_now();
        } else {
            sleep(&has);
        }
    }
}
