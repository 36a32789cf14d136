//! Where idle contexts wait: a cache for each thread and one spill for all. What a context is, and
//! how it is made fit for its next user, is in `guard`.
//!
//! A thread's cache has a lock which only its thread takes, and takes without waiting, so that it
//! costs a few nanoseconds; it is there for the other threads that must drop idle contexts when
//! memory is short, or when the pool goes away.

use std::cell::RefCell;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError, Weak};

use super::guard::Item;
use super::ledger::Ledger;

/// A context that waits for its next user.
pub(crate) struct Idle {
    pub(super) item: Item,
    /// The age of the ledger when it came here.
    since: u64,
}

impl Idle {
    pub(super) fn new(item: Item, ledger: &Ledger) -> Self {
        Self {
            item,
            since: ledger.age.load(Relaxed),
        }
    }
}

/// Some idle contexts, the longest unused first.
pub(crate) struct Shelf {
    contexts_max: usize,
    /// Whether all threads share it and may wait for it, briefly.
    shared: bool,
    store: Weak<Store>,
    pub(super) ledger: Arc<Ledger>,
    content: Mutex<Content>,
}

#[derive(Default)]
struct Content {
    idle: Vec<Idle>,
    hits: u64,
    /// Its thread has ended or its pool is gone: nothing is put here any more.
    closed: bool,
}

impl Shelf {
    fn new(contexts_max: usize, shared: bool, ledger: &Arc<Ledger>, store: &Weak<Store>) -> Self {
        Self {
            contexts_max,
            shared,
            store: store.clone(),
            ledger: ledger.clone(),
            content: Mutex::new(Content::default()),
        }
    }

    /// Its content, or `None` where waiting would be needed on a thread's own path.
    fn open(&self) -> Option<MutexGuard<'_, Content>> {
        if self.shared {
            return Some(self.lock());
        }
        match self.content.try_lock() {
            Ok(content) => Some(content),
            Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    fn lock(&self) -> MutexGuard<'_, Content> {
        self.content.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes out the most recently used context that fits.
    pub(super) fn take(&self, fits: impl Fn(&Item) -> bool) -> Option<Item> {
        let mut content = self.open()?;
        let at = content.idle.iter().rposition(|idle| fits(&idle.item))?;
        content.hits += 1;
        Some(content.idle.remove(at).item)
    }

    /// Puts a context here, and what has no room in the spill.
    pub(super) fn put(&self, idle: Idle) {
        let surplus = match self.open() {
            Some(mut content) if !content.closed && self.contexts_max > 0 => {
                let full = content.idle.len() >= self.contexts_max;
                let oldest = full.then(|| content.idle.remove(0));
                content.idle.push(idle);
                oldest
            }
            _ => Some(idle),
        };
        if let Some(surplus) = surplus {
            self.spill(surplus);
        }
    }

    fn spill(&self, idle: Idle) {
        self.ledger.age.fetch_add(1, Relaxed);
        match self.store.upgrade() {
            Some(store) if !self.shared => store.spill.put(idle),
            _ => {
                self.ledger.evictions.fetch_add(1, Relaxed);
                drop(idle);
            }
        }
    }

    /// Closes it and hands out what was in it.
    fn close(&self) -> Vec<Idle> {
        let mut content = self.lock();
        content.closed = true;
        std::mem::take(&mut content.idle)
    }

    fn drain(&self) -> Vec<Idle> {
        std::mem::take(&mut self.lock().idle)
    }

    fn oldest(&self) -> Option<u64> {
        self.lock().idle.iter().map(|idle| idle.since).min()
    }

    fn remove_oldest(&self) -> Option<Idle> {
        let mut content = self.lock();
        let ages = content.idle.iter().map(|idle| idle.since).enumerate();
        let (at, _) = ages.min_by_key(|&(_, since)| since)?;
        Some(content.idle.remove(at))
    }
}

/// The part of a pool that its clones share.
pub(crate) struct Store {
    id: u64,
    per_thread_cached: usize,
    pub(super) ledger: Arc<Ledger>,
    pub(super) spill: Arc<Shelf>,
    threads: Mutex<Vec<Arc<Shelf>>>,
    /// Hits in the caches of threads that have ended.
    hits_ended: AtomicU64,
    /// The age at the last trim.
    trimmed: AtomicU64,
}

/// What a look through all shelves finds.
pub(super) struct Census {
    pub(super) hits_thread: u64,
    pub(super) idle: u64,
    pub(super) idle_bytes: u64,
}

impl Store {
    pub(super) fn new(budget_bytes: u64, per_thread_cached: usize, spill_max: usize) -> Arc<Self> {
        static NEXT_ID: AtomicU64 = AtomicU64::new(0);
        Arc::new_cyclic(|store| {
            let ledger = Arc::new(Ledger::new(budget_bytes, store.clone()));
            Self {
                id: NEXT_ID.fetch_add(1, Relaxed),
                per_thread_cached,
                spill: Arc::new(Shelf::new(spill_max, true, &ledger, store)),
                ledger,
                threads: Mutex::new(Vec::new()),
                hits_ended: AtomicU64::new(0),
                trimmed: AtomicU64::new(0),
            }
        })
    }

    /// The cache of this thread. While the thread ends it has none, and the spill stands in.
    pub(super) fn home(self: &Arc<Self>) -> Arc<Shelf> {
        HOMES
            .try_with(|homes| Some(homes.try_borrow_mut().ok()?.of(self)))
            .ok()
            .flatten()
            .unwrap_or_else(|| self.spill.clone())
    }

    fn threads(&self) -> MutexGuard<'_, Vec<Arc<Shelf>>> {
        self.threads.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Every shelf, so that no lock is held while contexts are dropped.
    fn shelves(&self) -> Vec<Arc<Shelf>> {
        let mut shelves = self.threads().clone();
        shelves.push(self.spill.clone());
        shelves
    }

    /// Drops the context that has been idle for the longest. `false`: there is none.
    pub(super) fn evict_oldest(&self) -> bool {
        let shelves = self.shelves();
        let oldest = shelves
            .iter()
            .filter_map(|shelf| Some((shelf.oldest()?, shelf)))
            .min_by_key(|(since, _)| *since);
        // Its thread may have taken it in between; then any other will do.
        let removed = oldest
            .and_then(|(_, shelf)| shelf.remove_oldest())
            .or_else(|| shelves.iter().find_map(|shelf| shelf.remove_oldest()));
        self.ledger.age.fetch_add(1, Relaxed);
        let evicted = removed.is_some();
        self.ledger.evictions.fetch_add(u64::from(evicted), Relaxed);
        evicted
    }

    /// Drops idle contexts that no one has used since the last call.
    pub(super) fn trim(&self) {
        let now = self.ledger.age.fetch_add(1, Relaxed) + 1;
        let last = self.trimmed.swap(now, Relaxed);
        for shelf in self.shelves() {
            let mut content = shelf.lock();
            let idle = std::mem::take(&mut content.idle);
            let (old, kept): (Vec<_>, _) = idle.into_iter().partition(|idle| idle.since < last);
            content.idle = kept;
            drop(content);
            self.ledger.evictions.fetch_add(old.len() as u64, Relaxed);
        }
    }

    /// Drops all idle contexts.
    pub(super) fn clear(&self) {
        for shelf in self.shelves() {
            let idle = shelf.drain();
            self.ledger.evictions.fetch_add(idle.len() as u64, Relaxed);
        }
    }

    pub(super) fn census(&self) -> Census {
        let mut census = Census {
            hits_thread: self.hits_ended.load(Relaxed),
            idle: 0,
            idle_bytes: 0,
        };
        for shelf in self.shelves() {
            let content = shelf.lock();
            if !shelf.shared {
                census.hits_thread += content.hits;
            }
            census.idle += content.idle.len() as u64;
            census.idle_bytes += content
                .idle
                .iter()
                .map(|idle| idle.item.share_bytes())
                .sum::<u64>();
        }
        census
    }

    fn open_home(self: &Arc<Self>) -> Arc<Shelf> {
        let store = Arc::downgrade(self);
        let shelf = Shelf::new(self.per_thread_cached, false, &self.ledger, &store);
        let shelf = Arc::new(shelf);
        self.threads().push(shelf.clone());
        shelf
    }

    /// The thread of this shelf ends: others may have what it kept.
    fn close_home(&self, home: &Arc<Shelf>) {
        let idle = home.close();
        self.threads().retain(|shelf| !Arc::ptr_eq(shelf, home));
        self.hits_ended.fetch_add(home.lock().hits, Relaxed);
        for idle in idle {
            self.spill.put(idle);
        }
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        for shelf in self.shelves() {
            drop(shelf.close());
        }
    }
}

thread_local! {
    static HOMES: RefCell<Homes> = const { RefCell::new(Homes(Vec::new())) };
}

/// The caches of a thread, one a pool that it has used.
struct Homes(Vec<(u64, Arc<Shelf>)>);

impl Homes {
    fn of(&mut self, store: &Arc<Store>) -> Arc<Shelf> {
        if let Some((_, home)) = self.0.iter().find(|(id, _)| *id == store.id) {
            return home.clone();
        }
        self.0.retain(|(_, home)| home.store.strong_count() > 0);
        let home = store.open_home();
        self.0.push((store.id, home.clone()));
        home
    }
}

impl Drop for Homes {
    fn drop(&mut self) {
        for (_, home) in self.0.drain(..) {
            if let Some(store) = home.store.upgrade() {
                store.close_home(&home);
            }
        }
    }
}
