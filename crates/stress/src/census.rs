//! Counts contexts and their memory: a context counts from its creation until it is dropped. One that is
//! leaked stays counted.

use std::ops::{Deref, DerefMut};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::codec::{Compress, Decompress};

/// The contexts of one direction, and their bytes.
#[derive(Debug, Default)]
pub(crate) struct Census {
    alive: AtomicU64,
    alive_max: AtomicU64,
    made: AtomicU64,
    discarded: AtomicU64,
    bytes: AtomicU64,
    bytes_max: AtomicU64,
}

impl Census {
    pub(crate) fn alive(&self) -> u64 {
        self.alive.load(Relaxed)
    }

    pub(crate) fn alive_max(&self) -> u64 {
        self.alive_max.load(Relaxed)
    }

    pub(crate) fn made(&self) -> u64 {
        self.made.load(Relaxed)
    }

    /// Contexts that were dropped after an error or a panic.
    pub(crate) fn discarded(&self) -> u64 {
        self.discarded.load(Relaxed)
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.bytes.load(Relaxed)
    }

    pub(crate) fn bytes_max(&self) -> u64 {
        self.bytes_max.load(Relaxed)
    }

    fn hold(&self, bytes: u64) {
        let now = self.bytes.fetch_add(bytes, Relaxed) + bytes;
        self.bytes_max.fetch_max(now, Relaxed);
    }
}

/// A context of either direction that reports its memory.
pub(crate) trait Held: Send {
    fn held_bytes(&self) -> u64;
}

impl Held for Box<dyn Compress> {
    fn held_bytes(&self) -> u64 {
        self.memory_bytes() as u64
    }
}

impl Held for Box<dyn Decompress> {
    fn held_bytes(&self) -> u64 {
        self.memory_bytes() as u64
    }
}

/// A context that is counted.
pub(crate) struct Counted<C> {
    context: C,
    bytes: u64,
    /// Whether it may be used again.
    sound: bool,
    census: Arc<Census>,
}

impl<C: Held> Counted<C> {
    pub(crate) fn new(context: C, census: &Arc<Census>) -> Self {
        let bytes = context.held_bytes();
        census.made.fetch_add(1, Relaxed);
        let alive = census.alive.fetch_add(1, Relaxed) + 1;
        census.alive_max.fetch_max(alive, Relaxed);
        census.hold(bytes);
        Self {
            context,
            bytes,
            sound: true,
            census: census.clone(),
        }
    }

    /// Call before each use: until [`Counted::settle`] the context counts as unsound.
    pub(crate) fn begin(&mut self) {
        self.sound = false;
    }

    /// Call after each successful use: updates its memory.
    pub(crate) fn settle(&mut self) {
        self.sound = true;
        let bytes = self.context.held_bytes();
        if bytes > self.bytes {
            self.census.hold(bytes - self.bytes);
        } else if bytes < self.bytes {
            self.census.bytes.fetch_sub(self.bytes - bytes, Relaxed);
        }
        self.bytes = bytes;
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }
}

impl<C> Deref for Counted<C> {
    type Target = C;

    fn deref(&self) -> &C {
        &self.context
    }
}

impl<C> DerefMut for Counted<C> {
    fn deref_mut(&mut self) -> &mut C {
        &mut self.context
    }
}

impl<C> Drop for Counted<C> {
    fn drop(&mut self) {
        self.census.alive.fetch_sub(1, Relaxed);
        self.census.bytes.fetch_sub(self.bytes, Relaxed);
        if !self.sound {
            self.census.discarded.fetch_add(1, Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Grows(u64);

    impl Held for Grows {
        fn held_bytes(&self) -> u64 {
            self.0
        }
    }

    #[test]
    fn what_a_context_holds_is_counted_until_it_is_dropped() {
        let census = Arc::new(Census::default());
        let mut first = Counted::new(Grows(100), &census);
        let second = Counted::new(Grows(10), &census);
        first.begin();
        first.0 = 250;
        first.settle();
        assert_eq!((census.alive(), census.bytes()), (2, 260));
        drop(first);
        assert_eq!(
            (census.alive(), census.bytes(), census.bytes_max()),
            (1, 10, 260)
        );
        std::mem::forget(second);
        assert_eq!(
            (census.alive(), census.bytes(), census.discarded()),
            (1, 10, 0)
        );
    }

    #[test]
    fn one_that_was_not_settled_was_discarded() {
        let census = Arc::new(Census::default());
        let mut context = Counted::new(Grows(1), &census);
        context.begin();
        drop(context);
        assert_eq!(
            (census.alive(), census.bytes(), census.discarded()),
            (0, 0, 1)
        );
    }
}
