//! Where contexts wait between calls: six kinds of pools, one of them wrong on purpose.
//!
//! A pool gives a context to one call at a time. After an error or a panic it drops the context. It makes a
//! context when none is available, so no call waits for one.

use std::fmt;
use std::str::FromStr;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crossbeam_queue::ArrayQueue;

use crate::census::{Census, Counted, Held};
use crate::error::CodecError;

/// Most contexts that wait in a queue.
const QUEUE_CONTEXTS_MAX: usize = 64;
/// The leaking pool loses a context once in this many calls.
const LEAK_EVERY: u64 = 256;
/// The leaking pool stops leaking after this much per direction: it is there to be detected, not to take the
/// machine down.
const LEAK_BYTES_MAX: u64 = 128 << 20;

/// How contexts are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum PoolKind {
    /// No pool: a new context for each call.
    Fresh,
    /// One context per thread.
    ThreadLocal,
    /// A stack behind one lock.
    Mutex,
    /// A bounded lock-free queue; contexts that do not fit are dropped.
    Queue,
    /// A stack per thread, each behind a lock; a thread with an empty stack takes from the others.
    Sharded,
    /// A stack behind one lock that loses one context in 256 calls: shows that leaks are detected.
    Leaking,
}

impl PoolKind {
    /// Every kind, the leaking one last.
    pub const ALL: [Self; 6] = [
        Self::Fresh,
        Self::ThreadLocal,
        Self::Mutex,
        Self::Queue,
        Self::Sharded,
        Self::Leaking,
    ];

    /// The name that [`FromStr`] reads.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Fresh => "fresh",
            Self::ThreadLocal => "thread-local",
            Self::Mutex => "mutex",
            Self::Queue => "queue",
            Self::Sharded => "sharded",
            Self::Leaking => "leaking",
        }
    }
}

impl fmt::Display for PoolKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// The text is not the name of a pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("expected one of {}", PoolKind::ALL.map(PoolKind::name).join(", "))]
pub struct ParsePoolKindError;

impl FromStr for PoolKind {
    type Err = ParsePoolKindError;

    fn from_str(name: &str) -> Result<Self, ParsePoolKindError> {
        let found = Self::ALL.into_iter().find(|kind| kind.name() == name);
        found.ok_or(ParsePoolKindError)
    }
}

type Make<C> = Box<dyn Fn() -> Result<C, CodecError> + Send + Sync>;

/// The contexts of one direction.
pub(crate) struct Pool<C> {
    kind: PoolKind,
    make: Make<C>,
    census: Arc<Census>,
    /// One stack, or one per seat.
    stacks: Vec<Mutex<Vec<Counted<C>>>>,
    queue: ArrayQueue<Counted<C>>,
    given_back: AtomicU64,
    lost_bytes: AtomicU64,
}

/// A thread's place at a pool.
pub(crate) struct Seat<C> {
    index: usize,
    own: Option<Counted<C>>,
}

impl<C> Seat<C> {
    pub(crate) fn new(index: usize) -> Self {
        Self { index, own: None }
    }
}

impl<C: Held> Pool<C> {
    /// An empty pool for this many threads.
    pub(crate) fn new(
        kind: PoolKind,
        threads: usize,
        census: Arc<Census>,
        make: impl Fn() -> Result<C, CodecError> + Send + Sync + 'static,
    ) -> Self {
        let stacks = if kind == PoolKind::Sharded {
            threads
        } else {
            1
        };
        Self {
            kind,
            make: Box::new(make),
            census,
            stacks: (0..stacks.max(1)).map(|_| Mutex::default()).collect(),
            queue: ArrayQueue::new(QUEUE_CONTEXTS_MAX),
            given_back: AtomicU64::new(0),
            lost_bytes: AtomicU64::new(0),
        }
    }

    /// Calls `work` with a context. After an error or a panic the context is dropped.
    pub(crate) fn with<R>(
        &self,
        seat: &mut Seat<C>,
        work: impl FnOnce(&mut C) -> Result<R, CodecError>,
    ) -> Result<R, CodecError> {
        let mut context = match self.take(seat) {
            Some(context) => context,
            None => Counted::new((self.make)()?, &self.census),
        };
        context.begin();
        let result = work(&mut context)?;
        context.settle();
        self.put(seat, context);
        Ok(result)
    }

    fn stack(&self, index: usize) -> MutexGuard<'_, Vec<Counted<C>>> {
        // Nothing can panic while a stack is locked.
        let stack = &self.stacks[index % self.stacks.len()];
        stack.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(&self, seat: &mut Seat<C>) -> Option<Counted<C>> {
        match self.kind {
            PoolKind::Fresh => None,
            PoolKind::ThreadLocal => seat.own.take(),
            PoolKind::Queue => self.queue.pop(),
            PoolKind::Mutex | PoolKind::Leaking => self.stack(0).pop(),
            PoolKind::Sharded => {
                let around = 0..self.stacks.len();
                around
                    .map(|step| seat.index + step)
                    .find_map(|index| self.stack(index).pop())
            }
        }
    }

    fn put(&self, seat: &mut Seat<C>, context: Counted<C>) {
        match self.kind {
            PoolKind::Fresh => drop(context),
            PoolKind::ThreadLocal => seat.own = Some(context),
            PoolKind::Queue => drop(self.queue.push(context)),
            PoolKind::Mutex => self.stack(0).push(context),
            PoolKind::Sharded => self.stack(seat.index).push(context),
            PoolKind::Leaking => {
                let calls = self.given_back.fetch_add(1, Relaxed) + 1;
                let room = self.lost_bytes.load(Relaxed) < LEAK_BYTES_MAX;
                if calls.is_multiple_of(LEAK_EVERY) && room {
                    self.lost_bytes.fetch_add(context.bytes(), Relaxed);
                    std::mem::forget(context);
                } else {
                    self.stack(0).push(context);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::*;

    struct Fixed(u64);

    impl Held for Fixed {
        fn held_bytes(&self) -> u64 {
            1000
        }
    }

    fn pool(kind: PoolKind) -> (Pool<Fixed>, Arc<Census>) {
        let census = Arc::new(Census::default());
        let numbers = AtomicU64::new(0);
        let make = move || Ok(Fixed(numbers.fetch_add(1, Relaxed)));
        (Pool::new(kind, 3, census.clone(), make), census)
    }

    #[test]
    fn sound_pools_hold_no_more_than_is_in_use_at_once_and_end_empty() {
        for kind in PoolKind::ALL
            .into_iter()
            .filter(|kind| *kind != PoolKind::Leaking)
        {
            let (pool, census) = pool(kind);
            let mut seats: Vec<_> = (0..3).map(Seat::new).collect();
            for _ in 0..400 {
                for seat in &mut seats {
                    pool.with(seat, |_| Ok(())).unwrap();
                }
            }
            let made = match kind {
                PoolKind::Fresh => 1200,
                PoolKind::ThreadLocal => 3,
                _ => 1,
            };
            assert_eq!(census.made(), made, "{kind:?}");
            drop((pool, seats));
            assert_eq!((census.alive(), census.bytes()), (0, 0), "{kind:?}");
        }
    }

    #[test]
    fn the_leaking_pool_loses_one_in_256_and_stops_somewhere() {
        let (pool, census) = pool(PoolKind::Leaking);
        let mut seat = Seat::new(0);
        for _ in 0..1024 {
            pool.with(&mut seat, |_| Ok(())).unwrap();
        }
        pool.lost_bytes.store(LEAK_BYTES_MAX, Relaxed);
        for _ in 0..1024 {
            pool.with(&mut seat, |_| Ok(())).unwrap();
        }
        drop((pool, seat));
        assert_eq!((census.alive(), census.bytes()), (4, 4000));
    }

    #[test]
    fn a_context_that_saw_an_error_or_a_panic_is_not_given_again() {
        for kind in PoolKind::ALL {
            let (pool, census) = pool(kind);
            let mut seat = Seat::new(1);
            let first = pool.with(&mut seat, |context| Ok(context.0)).unwrap();
            let failed = pool.with(&mut seat, |_| {
                Err::<(), _>(CodecError::refused("test", "on purpose"))
            });
            assert!(failed.is_err());
            let panicked = catch_unwind(AssertUnwindSafe(|| {
                pool.with(&mut seat, |_| -> Result<(), CodecError> {
                    std::panic::resume_unwind(Box::new("on purpose"))
                })
            }));
            assert!(panicked.is_err());
            let later = pool.with(&mut seat, |context| Ok(context.0)).unwrap();
            assert!(later >= first + 2, "{kind:?}: {first} then {later}");
            assert_eq!(census.discarded(), 2, "{kind:?}");
        }
    }

    #[test]
    fn names_are_read_back() {
        for kind in PoolKind::ALL {
            assert_eq!(kind.name().parse(), Ok(kind));
        }
        assert!("none".parse::<PoolKind>().is_err());
    }
}
