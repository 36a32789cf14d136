//! A queue of messages from one thread to another: bounded, without locks, in order.
//!
//! A message is copied into a ring of bytes behind a descriptor of 16 bytes, and read where it lies.
//! Both sides can do many messages for one look at the other's cache line. Nobody sleeps unless the
//! queue was made so: see [`Wait`].

mod ring;
mod sleep;

use std::sync::atomic::Ordering;
use std::thread;

use ring::{Reader, Writer};

/// What a side does that has to wait for the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wait {
    /// It asks again at once, and so keeps its processor. Publishing is one store.
    Spin,
    /// It asks so many times, then sleeps. Each publishing then has a barrier, for the other side
    /// may be asleep.
    Park {
        /// Times before it sleeps.
        spins: u32,
    },
}

/// Why a message was not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refused {
    /// There is no room at the moment.
    #[error("the queue is full")]
    Full,
    /// It is longer than half of the ring.
    #[error("a message of {bytes} bytes is too long for the queue: at most {bytes_max} fit")]
    TooLong {
        /// Its bytes.
        bytes: usize,
        /// What fits.
        bytes_max: usize,
    },
    /// The other side is gone.
    #[error("nobody reads the queue any more")]
    Closed,
}

/// Bytes of the largest ring.
pub const BUFFER_BYTES_MAX: usize = 1 << 32;

/// A queue over a ring of so many bytes, up to the next power of two.
#[must_use]
pub fn queue(buffer_bytes: usize, wait: Wait) -> (Producer, Consumer) {
    let (writer, ring) = ring::pair(buffer_bytes.min(BUFFER_BYTES_MAX));
    let producer = Producer { ring: writer, wait };
    (producer, Consumer { ring, wait })
}

/// The side that puts messages in. Dropping it says that no more will come.
pub struct Producer {
    ring: Writer,
    wait: Wait,
}

impl Producer {
    /// Puts a message in and shows it to the other side, with a stamp of the caller's.
    ///
    /// # Errors
    ///
    /// [`Refused`]; the message is not in the queue.
    #[inline]
    pub fn push(&mut self, stamp: u64, bytes: &[u8]) -> Result<(), Refused> {
        self.stage(stamp, bytes)?;
        self.publish();
        Ok(())
    }

    /// Puts a message in that the other side sees with the next [`Producer::publish`].
    ///
    /// # Errors
    ///
    /// As of [`Producer::push`].
    #[inline]
    pub fn stage(&mut self, stamp: u64, bytes: &[u8]) -> Result<(), Refused> {
        // What is longer than half of the ring may fit now and never again.
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

    /// Shows the other side what was staged.
    #[inline]
    pub fn publish(&mut self) {
        self.ring.publish();
        if self.wait != Wait::Spin {
            self.ring.shared().consumer.wake();
        }
    }

    /// Waits until the other side has freed something since a message was refused, or is gone.
    pub fn wait(&mut self) {
        let (shared, seen) = (self.ring.shared(), self.ring.seen_freed());
        let has_room = || shared.freed() != seen || shared.is_consumer_gone.load(Ordering::Acquire);
        wait(self.wait, has_room, |has| shared.producer.sleep(has));
    }

    /// Longest message, in bytes.
    #[inline]
    #[must_use]
    pub fn bytes_max(&self) -> usize {
        self.ring.shared().bytes_max()
    }

    /// Whether the other side is gone.
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

/// The side that takes messages out.
pub struct Consumer {
    ring: Reader,
    wait: Wait,
}

impl Consumer {
    /// Takes up to so many messages, each with its stamp, and frees them together. Returns how many
    /// there were. One whose call panics is still in the queue.
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

    /// Waits until there is a message, the other side is gone, or `has_work` says so: who makes it
    /// true has to publish something or nothing afterwards.
    pub fn wait(&mut self, has_work: impl Fn() -> bool) {
        let (shared, at) = (self.ring.shared(), self.ring.at());
        let is_gone = || shared.is_producer_gone.load(Ordering::Acquire);
        let has_any = || shared.has_beyond(at) || is_gone() || has_work();
        wait(self.wait, has_any, |has| shared.consumer.sleep(has));
    }

    /// Whether no message will come beyond those in the queue.
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

/// Waits as a policy says until something is there.
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
            // On fewer processors than threads the other side may need this one.
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
