//! The caches of idle contexts: one for each thread, and one that all threads share, the spill. How a
//! context is prepared for its next user is in `guard`.
//!
//! Each cache has a lock. On the fast path only its own thread takes it, without waiting, which costs a
//! few nanoseconds. Other threads take it to drop idle contexts when memory is short or the pool is
//! dropped, and to get a large context that they would have to make.

use std::cell::RefCell;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError, Weak};

use super::item::Item;
use crate::reservation::{EvictOldest, Ledger};

/// A context of so much memory is rather taken from another thread than made anew: its pages alone take longer.
const LARGE_BYTES: u64 = 1 << 20;

/// A context that no one uses.
pub(crate) struct Idle {
    pub(super) item: Item,
    /// The age of the ledger when it became idle.
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

/// Idle contexts, the longest unused first.
pub(crate) struct IdleCache {
    contexts_max: usize,
    /// Whether all threads share it. They may wait for its lock briefly.
    shared: bool,
    store: Weak<Store>,
    pub(super) ledger: Arc<Ledger>,
    content: Mutex<Content>,
}

#[derive(Default)]
struct Content {
    idle: Vec<Idle>,
    hits: u64,
    /// Its thread has ended or its pool was dropped: it takes no more contexts.
    closed: bool,
}

impl IdleCache {
    fn new(contexts_max: usize, shared: bool, ledger: &Arc<Ledger>, store: &Weak<Store>) -> Self {
        Self {
            contexts_max,
            shared,
            store: store.clone(),
            ledger: ledger.clone(),
            content: Mutex::new(Content::default()),
        }
    }

    /// Locks its content. `None`: that would mean waiting, on the fast path of a thread.
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

    /// Takes out a large context that fits, for another thread: of those the longest unused one.
    fn give(&self, fits: impl Fn(&Item) -> bool) -> Option<Item> {
        let mut content = self.lock();
        let large = |item: &Item| item.reserved_bytes() >= LARGE_BYTES;
        let fits = |idle: &Idle| large(&idle.item) && fits(&idle.item);
        let at = content.idle.iter().position(fits)?;
        Some(content.idle.remove(at).item)
    }

    /// Puts a context here. One that has no room goes to the spill.
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
                idle.item.free();
            }
        }
    }

    /// Closes it and returns its contexts.
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
    pub(super) spill: Arc<IdleCache>,
    threads: Mutex<Vec<Arc<IdleCache>>>,
    /// Hits in the caches of threads that have ended.
    hits_ended: AtomicU64,
    /// The age at the last [`trim`](Store::trim).
    trimmed: AtomicU64,
}

/// Totals over all caches.
pub(super) struct Census {
    pub(super) hits_thread: u64,
    pub(super) idle: u64,
    pub(super) idle_bytes: u64,
}

impl Store {
    pub(super) fn new(
        (budget_bytes, limit_bytes): (u64, u64),
        per_thread_cached: usize,
        spill_max: usize,
    ) -> Arc<Self> {
        static NEXT_ID: AtomicU64 = AtomicU64::new(0);
        Arc::new_cyclic(|store| {
            let ledger = Arc::new(Ledger::new(
                budget_bytes,
                limit_bytes,
                store.clone() as Weak<dyn EvictOldest>,
            ));
            Self {
                id: NEXT_ID.fetch_add(1, Relaxed),
                per_thread_cached,
                spill: Arc::new(IdleCache::new(spill_max, true, &ledger, store)),
                ledger,
                threads: Mutex::new(Vec::new()),
                hits_ended: AtomicU64::new(0),
                trimmed: AtomicU64::new(0),
            }
        })
    }

    /// The cache of this thread, or the spill while the thread is ending.
    pub(super) fn cache(self: &Arc<Self>) -> Arc<IdleCache> {
        THREAD_CACHES
            .try_with(|caches| Some(caches.try_borrow_mut().ok()?.of(self)))
            .ok()
            .flatten()
            .unwrap_or_else(|| self.spill.clone())
    }

    /// A large context that fits, which another thread keeps for itself.
    pub(super) fn take_elsewhere(&self, fits: impl Fn(&Item) -> bool) -> Option<Item> {
        let threads = self.threads().clone();
        threads.iter().find_map(|cache| cache.give(&fits))
    }

    fn threads(&self) -> MutexGuard<'_, Vec<Arc<IdleCache>>> {
        self.threads.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Every cache. A copy, so that no lock is held while contexts are dropped.
    fn caches(&self) -> Vec<Arc<IdleCache>> {
        let mut caches = self.threads().clone();
        caches.push(self.spill.clone());
        caches
    }

    /// Drops idle contexts that were not used since the last call.
    pub(super) fn trim(&self) {
        let now = self.ledger.age.fetch_add(1, Relaxed) + 1;
        let last = self.trimmed.swap(now, Relaxed);
        for cache in self.caches() {
            let mut content = cache.lock();
            let idle = std::mem::take(&mut content.idle);
            let (old, kept): (Vec<_>, _) = idle.into_iter().partition(|idle| idle.since < last);
            content.idle = kept;
            drop(content);
            self.ledger.evictions.fetch_add(old.len() as u64, Relaxed);
            free_all(old);
        }
    }

    /// Drops all idle contexts.
    pub(super) fn clear(&self) {
        for cache in self.caches() {
            let idle = cache.drain();
            self.ledger.evictions.fetch_add(idle.len() as u64, Relaxed);
            free_all(idle);
        }
    }

    pub(super) fn census(&self) -> Census {
        let mut census = Census {
            hits_thread: self.hits_ended.load(Relaxed),
            idle: 0,
            idle_bytes: 0,
        };
        for cache in self.caches() {
            let content = cache.lock();
            if !cache.shared {
                census.hits_thread += content.hits;
            }
            census.idle += content.idle.len() as u64;
            census.idle_bytes += content
                .idle
                .iter()
                .map(|idle| idle.item.reserved_bytes())
                .sum::<u64>();
        }
        census
    }

    fn open_thread_cache(self: &Arc<Self>) -> Arc<IdleCache> {
        let store = Arc::downgrade(self);
        let cache = IdleCache::new(self.per_thread_cached, false, &self.ledger, &store);
        let cache = Arc::new(cache);
        self.threads().push(cache.clone());
        cache
    }

    /// The thread of this cache ends: its idle contexts move to the spill.
    fn close_thread_cache(&self, cache: &Arc<IdleCache>) {
        let idle = cache.close();
        self.threads().retain(|other| !Arc::ptr_eq(other, cache));
        self.hits_ended.fetch_add(cache.lock().hits, Relaxed);
        for idle in idle {
            self.spill.put(idle);
        }
    }
}

impl EvictOldest for Store {
    fn evict_oldest(&self) -> bool {
        let caches = self.caches();
        let oldest = caches
            .iter()
            .filter_map(|cache| Some((cache.oldest()?, cache)))
            .min_by_key(|(since, _)| *since);
        // Its thread may have taken it in the meantime: then any other will do.
        let removed = oldest
            .and_then(|(_, cache)| cache.remove_oldest())
            .or_else(|| caches.iter().find_map(|cache| cache.remove_oldest()));
        self.ledger.age.fetch_add(1, Relaxed);
        let evicted = removed.is_some();
        free_all(removed);
        self.ledger.evictions.fetch_add(u64::from(evicted), Relaxed);
        evicted
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        for cache in self.caches() {
            free_all(cache.close());
        }
    }
}

fn free_all(idle: impl IntoIterator<Item = Idle>) {
    idle.into_iter().for_each(|idle| idle.item.free());
}

thread_local! {
    static THREAD_CACHES: RefCell<ThreadCaches> = const { RefCell::new(ThreadCaches(Vec::new())) };
}

/// The caches of a thread, one for each pool that it has used.
struct ThreadCaches(Vec<(u64, Arc<IdleCache>)>);

impl ThreadCaches {
    fn of(&mut self, store: &Arc<Store>) -> Arc<IdleCache> {
        if let Some((_, cache)) = self.0.iter().find(|(id, _)| *id == store.id) {
            return cache.clone();
        }
        self.0.retain(|(_, cache)| cache.store.strong_count() > 0);
        let cache = store.open_thread_cache();
        self.0.push((store.id, cache.clone()));
        cache
    }
}

impl Drop for ThreadCaches {
    fn drop(&mut self) {
        for (_, cache) in self.0.drain(..) {
            if let Some(store) = cache.store.upgrade() {
                store.close_thread_cache(&cache);
            }
        }
    }
}
