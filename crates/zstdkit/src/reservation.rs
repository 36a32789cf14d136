//! The memory budget of a pool: who holds how much of it, and the pool's counters. Which idle context
//! is dropped when memory is short is decided by the pool.

#[cfg(feature = "tokio")]
pub(crate) mod line;

use std::sync::atomic::{AtomicU64, Ordering::Relaxed, Ordering::SeqCst};
use std::sync::{Arc, Weak};

use crate::error::{Error, Repr};

/// The most contexts dropped to make room for one.
const EVICTIONS_PER_CALL_MAX: usize = 4096;

/// The memory account of a pool. It outlives the pool while contexts are in use.
pub struct Ledger {
    pub(crate) budget_bytes: u64,
    /// The most that is held while streams and calls of a runtime wait for each other.
    pub(crate) limit_bytes: u64,
    /// Never above the budget, except for those who were served beyond it, and for what a context holds beyond its estimate.
    pub(crate) held_bytes: AtomicU64,
    pub(crate) contexts: AtomicU64,
    /// Advances whenever a context is made or leaves a thread's cache. This measures age without a
    /// shared write on the fast path.
    pub(crate) age: AtomicU64,
    pub(crate) hits_spill: AtomicU64,
    pub(crate) misses: AtomicU64,
    pub(crate) evictions: AtomicU64,
    pub(crate) discarded: AtomicU64,
    pub(crate) refused: AtomicU64,
    /// What may be reserved beyond the budget now.
    #[cfg(feature = "tokio")]
    pub(crate) beyond_bytes: AtomicU64,
    /// Who waits for memory.
    #[cfg(feature = "tokio")]
    pub(crate) line: Arc<line::Line>,
    store: Weak<dyn EvictOldest>,
}

/// What a ledger needs of the pool whose account it keeps.
pub(crate) trait EvictOldest: Send + Sync {
    /// Drops the context that has been idle for the longest. `false`: there is none.
    fn evict_oldest(&self) -> bool;
}

impl Ledger {
    pub(crate) fn new(budget_bytes: u64, limit_bytes: u64, store: Weak<dyn EvictOldest>) -> Self {
        Self {
            budget_bytes,
            limit_bytes: limit_bytes.max(budget_bytes),
            held_bytes: AtomicU64::new(0),
            contexts: AtomicU64::new(0),
            age: AtomicU64::new(0),
            hits_spill: AtomicU64::new(0),
            misses: AtomicU64::new(0),
            evictions: AtomicU64::new(0),
            discarded: AtomicU64::new(0),
            refused: AtomicU64::new(0),
            #[cfg(feature = "tokio")]
            beyond_bytes: AtomicU64::new(0),
            #[cfg(feature = "tokio")]
            line: Arc::default(),
            store,
        }
    }

    /// Reserves memory. If it is short, drops idle contexts, the longest unused first.
    fn reserve(&self, bytes: u64) -> Result<(), Error> {
        let store = self.store.upgrade();
        for _ in 0..EVICTIONS_PER_CALL_MAX {
            if self.try_reserve(bytes) {
                return Ok(());
            }
            let evicted = bytes <= self.budget_bytes
                && store.as_ref().is_some_and(|store| store.evict_oldest());
            if !evicted {
                break;
            }
        }
        // Another thread may have returned memory in the meantime.
        if self.try_reserve(bytes) {
            return Ok(());
        }
        self.refused.fetch_add(1, Relaxed);
        Err(Repr::Budget {
            need: bytes,
            held: self.held_bytes.load(Relaxed),
            budget: self.budget_bytes,
        }
        .into())
    }

    fn try_reserve(&self, bytes: u64) -> bool {
        let most = self.budget_bytes.saturating_add(self.beyond_bytes());
        self.held_bytes
            .fetch_update(SeqCst, SeqCst, |held| {
                held.checked_add(bytes).filter(|&sum| sum <= most)
            })
            .is_ok()
    }

    /// Drops idle contexts while more than the budget is held, the longest unused first.
    pub(crate) fn keep_to_budget(&self) {
        for _ in 0..EVICTIONS_PER_CALL_MAX {
            if self.held_bytes.load(Relaxed) <= self.budget_bytes {
                return;
            }
            let store = self.store.upgrade();
            if !store.is_some_and(|store| store.evict_oldest()) {
                return;
            }
        }
    }

    /// Takes memory off the account.
    fn give_back(&self, bytes: u64) {
        self.held_bytes.fetch_sub(bytes, SeqCst);
        self.released();
    }

    /// Tells who waits for memory that there may be some: on the account, or that of a context that is idle now.
    pub(crate) fn released(&self) {
        #[cfg(feature = "tokio")]
        self.line.released();
    }

    /// Takes back that a request was refused: it waits.
    #[cfg(feature = "tokio")]
    pub(crate) fn excuse(&self) {
        self.refused.fetch_sub(1, Relaxed);
    }

    #[cfg(feature = "tokio")]
    fn beyond_bytes(&self) -> u64 {
        self.beyond_bytes.load(Relaxed)
    }

    #[cfg(not(feature = "tokio"))]
    fn beyond_bytes(&self) -> u64 {
        0
    }
}

/// The memory that a context may hold. Reserved before it is allocated, returned on drop.
pub(crate) struct Reservation {
    ledger: Arc<Ledger>,
    bytes: u64,
    /// How many contexts it counts for: 0 for a part of a context.
    contexts: u64,
}

impl Reservation {
    /// The reservation of a new context.
    pub(crate) fn for_context(ledger: &Arc<Ledger>, bytes: u64) -> Result<Self, Error> {
        ledger.reserve(bytes)?;
        ledger.contexts.fetch_add(1, Relaxed);
        Ok(Self {
            ledger: ledger.clone(),
            bytes,
            contexts: 1,
        })
    }

    /// The reservation of a part of the same context.
    pub(crate) fn for_part(&self, bytes: u64) -> Result<Self, Error> {
        self.ledger.reserve(bytes)?;
        Ok(Self {
            ledger: self.ledger.clone(),
            bytes,
            contexts: 0,
        })
    }

    /// Takes back that the last request was refused.
    #[cfg(feature = "tokio")]
    pub(crate) fn excuse(&self) {
        self.ledger.excuse();
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Reserves more, if the context is to hold more.
    pub(crate) fn cover(&mut self, bytes: u64) -> Result<(), Error> {
        if bytes > self.bytes {
            self.ledger.reserve(bytes - self.bytes)?;
            self.bytes = bytes;
        }
        Ok(())
    }

    /// Accounts for what the context actually holds. `false`: that exceeds the budget.
    ///
    /// If it holds less it keeps its reservation, because the next use will need it.
    pub(crate) fn settle(&mut self, bytes: u64) -> bool {
        if bytes <= self.bytes {
            return true;
        }
        let more = bytes - self.bytes;
        self.bytes = bytes;
        let before = self.ledger.held_bytes.fetch_add(more, Relaxed);
        before + more <= self.ledger.budget_bytes
    }

    /// Returns memory that the context no longer holds, if it holds less than half.
    pub(crate) fn shrink(&mut self, bytes: u64) {
        if bytes < self.bytes / 2 {
            let less = self.bytes - bytes;
            self.bytes = bytes;
            self.ledger.give_back(less);
        }
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        self.ledger.contexts.fetch_sub(self.contexts, Relaxed);
        self.ledger.give_back(self.bytes);
    }
}
