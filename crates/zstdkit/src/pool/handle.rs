//! The pool itself: options, statistics, and how a context is found or made.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use super::guard::{Pooled, PooledContext};
use super::store::Store;
use crate::decoder::Decoder;
use crate::encoder::Encoder;
use crate::error::Error;
use crate::oneshot::{Compressor, Decompressor};
use crate::options::{DecoderOptions, EncoderOptions};
#[cfg(feature = "tokio")]
use crate::reservation::Ledger;

/// How much a [`Pool`] may keep.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct PoolOptions {
    /// Bytes of memory that all contexts may hold together, those in use included. By default 256 MiB.
    pub memory_budget_bytes: u64,
    /// The most that they hold while streams and calls of the module `tokio` wait for each other: see
    /// [what happens then](Pool#when-the-budget-is-used-up). `None`: twice the budget.
    pub memory_limit_bytes: Option<u64>,
    /// Idle contexts that a thread keeps for itself. 0: all go to the shared cache.
    pub per_thread_cached: usize,
    /// Idle contexts in the shared cache, the spill, for any thread.
    pub spill_max: usize,
}

/// Setters, one for each field.
impl PoolOptions {
    /// Sets [`memory_budget_bytes`](Self::memory_budget_bytes).
    #[must_use]
    pub fn with_memory_budget_bytes(mut self, memory_budget_bytes: u64) -> Self {
        self.memory_budget_bytes = memory_budget_bytes;
        self
    }

    /// Sets [`memory_limit_bytes`](Self::memory_limit_bytes). The budget itself, or less: nothing is served beyond it.
    #[must_use]
    pub fn with_memory_limit_bytes(mut self, memory_limit_bytes: u64) -> Self {
        self.memory_limit_bytes = Some(memory_limit_bytes);
        self
    }

    /// The limit in use.
    fn limit_bytes(&self) -> u64 {
        let twice = self.memory_budget_bytes.saturating_mul(2);
        self.memory_limit_bytes.unwrap_or(twice)
    }

    /// Sets [`per_thread_cached`](Self::per_thread_cached).
    #[must_use]
    pub fn with_per_thread_cached(mut self, per_thread_cached: usize) -> Self {
        self.per_thread_cached = per_thread_cached;
        self
    }

    /// Sets [`spill_max`](Self::spill_max).
    #[must_use]
    pub fn with_spill_max(mut self, spill_max: usize) -> Self {
        self.spill_max = spill_max;
        self
    }
}

impl Default for PoolOptions {
    /// 256 MiB, 8 contexts per thread, 32 shared.
    fn default() -> Self {
        Self {
            memory_budget_bytes: 256 << 20,
            memory_limit_bytes: None,
            per_thread_cached: 8,
            spill_max: 32,
        }
    }
}

/// What a [`Pool`] has done and holds. Exact if no thread uses the pool at the same time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct PoolStats {
    /// Contexts found in the cache of the thread.
    pub hits_thread: u64,
    /// Contexts found in the spill, and large ones in the cache of another thread.
    pub hits_spill: u64,
    /// Contexts made because no idle one fitted.
    pub misses: u64,
    /// Idle contexts dropped to make room or to keep to the budget, or by [`Pool::trim`] or [`Pool::clear`].
    pub evictions: u64,
    /// Contexts thrown away after an error or a panic.
    pub discarded: u64,
    /// Requests for more than the budget.
    pub refused: u64,
    /// Contexts in use.
    pub in_use: u64,
    /// Idle contexts.
    pub idle: u64,
    /// Bytes reserved for all contexts.
    pub held_bytes: u64,
    /// Bytes reserved for idle contexts.
    pub idle_bytes: u64,
    /// The memory budget.
    pub budget_bytes: u64,
    /// The most that is held beyond it: [`PoolOptions::memory_limit_bytes`].
    pub limit_bytes: u64,
    /// Streams and calls of a runtime that wait for memory now (feature `tokio`; so are the next four).
    pub waiting: u64,
    /// How many have waited for memory, those that wait now included.
    pub waited: u64,
    /// The longest of these waits, in nanoseconds.
    pub longest_wait_ns: u64,
    /// How many were served beyond the budget, because no memory came back for two seconds.
    pub beyond_budget: u64,
    /// How many failed, because there was none beyond the budget either.
    pub exhausted: u64,
}

/// A pool of contexts to borrow. Clones share it.
///
/// Making a context and its tables takes several microseconds, most of the time of a small call. A pool
/// hands out a context that was made before with the same options for about the same content size:
/// from the cache of the calling thread, or from a cache that all threads share (the spill), or a new
/// one. A context of a megabyte and more is taken from the cache of another thread before a new one is made.
///
/// # Memory
/// Memory is reserved before a context is made, and before it grows: for larger content than was
/// stated, a larger frame, or the window that a frame needs. If the budget is exceeded, idle contexts
/// are dropped, the longest unused first. If that is not enough, the call fails at once with
/// [`ErrorKind::MemoryLimit`](crate::ErrorKind::MemoryLimit); the streams and calls of the module `tokio` wait in
/// line instead, in order of arrival. Dictionaries are shared between contexts
/// and not counted.
///
/// # When the budget is used up
/// Streams and calls of the module `tokio` wait until others give memory back. Where none comes back for two seconds (a
/// task may hold one stream and wait for a second one), the first of them is served beyond the budget, and the next ones 25 ms
/// apart until some comes back; so is the first one where none in line got any for twenty seconds, although some came back. All contexts together then hold twice the budget at most, or what
/// [`memory_limit_bytes`](PoolOptions::memory_limit_bytes) says. Who finds no memory within that limit either fails with an
/// error whose [`is_pool_exhausted`](crate::Error::is_pool_exhausted) is true: a server answers 503 and serves those
/// who have memory. So every wait ends, and memory is bounded. Idle contexts beyond the budget are dropped at once. Inside of a
/// runtime (feature `tokio`) those of 2 MiB or more are off the account at once, too, and a thread of its own frees them: that takes
/// milliseconds for large ones.
///
/// ```
/// use zstdkit::{DecoderOptions, EncoderOptions, Pool, PoolOptions};
///
/// let pool = Pool::new(PoolOptions::default());
/// let content = b"hello hello";
/// for _ in 0..3 {
///     let size = Some(content.len() as u64);
///     let frame = pool.compressor(&EncoderOptions::default(), size)?.compress(content)?;
///     let back = pool.decompressor(&DecoderOptions::default())?.decompress(&frame)?;
///     assert_eq!(back, content);
/// }
/// assert_eq!((pool.stats().misses, pool.stats().hits_thread), (2, 4));
/// # Ok::<(), zstdkit::Error>(())
/// ```
#[derive(Clone)]
#[doc(alias = "context_pool")]
pub struct Pool(Arc<Store>);

impl Pool {
    /// An empty pool.
    pub fn new(options: PoolOptions) -> Self {
        let memory = (options.memory_budget_bytes, options.limit_bytes());
        Self(Store::new(
            memory,
            options.per_thread_cached,
            options.spill_max,
        ))
    }

    /// A compressor for content of about this size. It also takes larger content, if the budget
    /// allows.
    ///
    /// `None` means any size: the context may have grown for large content or shrink for small content. It is borrowed
    /// with little memory then, and each call reserves what its content needs, or fails where that is more than the budget.
    /// State a size if it is known.
    pub fn compressor(
        &self,
        options: &EncoderOptions,
        content_bytes: Option<u64>,
    ) -> Result<Pooled<Compressor>, Error> {
        self.get(options, content_bytes)
    }

    /// An encoder with a frame open, pledged to be of this size as by [`Encoder::begin`].
    pub fn encoder(
        &self,
        options: &EncoderOptions,
        content_bytes: Option<u64>,
    ) -> Result<Pooled<Encoder>, Error> {
        self.get(options, content_bytes)
    }

    /// A decompressor.
    pub fn decompressor(&self, options: &DecoderOptions) -> Result<Pooled<Decompressor>, Error> {
        self.get(options, None)
    }

    /// A decoder at the start of a stream.
    pub fn decoder(&self, options: &DecoderOptions) -> Result<Pooled<Decoder>, Error> {
        self.get(options, None)
    }

    /// Drops the idle contexts that were not used since the last call. Call it from time to time to let
    /// the pool shrink after a peak.
    pub fn trim(&self) {
        self.0.trim();
    }

    /// Drops all idle contexts, including those of other threads.
    pub fn clear(&self) {
        self.0.clear();
    }

    /// Its statistics.
    pub fn stats(&self) -> PoolStats {
        let ledger = &self.0.ledger;
        let census = self.0.census();
        PoolStats {
            hits_thread: census.hits_thread,
            hits_spill: ledger.hits_spill.load(Relaxed),
            misses: ledger.misses.load(Relaxed),
            evictions: ledger.evictions.load(Relaxed),
            discarded: ledger.discarded.load(Relaxed),
            refused: ledger.refused.load(Relaxed),
            in_use: ledger.contexts.load(Relaxed).saturating_sub(census.idle),
            idle: census.idle,
            held_bytes: ledger.held_bytes.load(Relaxed),
            idle_bytes: census.idle_bytes,
            budget_bytes: ledger.budget_bytes,
            limit_bytes: ledger.limit_bytes,
            ..self.waits()
        }
    }

    /// The part of the statistics that is about waiting.
    #[cfg(feature = "tokio")]
    fn waits(&self) -> PoolStats {
        let waits = self.0.ledger.line.waits();
        PoolStats {
            waiting: waits.waiting,
            waited: waits.waited,
            longest_wait_ns: waits.longest_ns,
            beyond_budget: waits.beyond_budget,
            exhausted: waits.exhausted,
            ..PoolStats::default()
        }
    }

    #[cfg(not(feature = "tokio"))]
    fn waits(&self) -> PoolStats {
        PoolStats::default()
    }

    /// The account of its memory.
    #[cfg(feature = "tokio")]
    pub(crate) fn ledger(&self) -> &Arc<Ledger> {
        &self.0.ledger
    }

    fn get<T: PooledContext>(
        &self,
        options: &T::Options,
        content_bytes: Option<u64>,
    ) -> Result<Pooled<T>, Error> {
        let class = T::class(options, content_bytes);
        let cache = self.0.cache();
        let fits = |item: &_| T::fits(item, options, class);
        let found = cache.take(fits).or_else(|| {
            let found = self.0.spill.take(fits);
            let found = found.or_else(|| self.0.take_elsewhere(fits))?;
            self.0.ledger.hits_spill.fetch_add(1, Relaxed);
            Some(found)
        });
        let found = found.and_then(T::unwrap);
        let used = found.is_some();
        let context = match found {
            Some(context) => context,
            None => {
                let context = Box::new(T::make(options, content_bytes, &self.0.ledger)?);
                self.0.ledger.misses.fetch_add(1, Relaxed);
                self.0.ledger.age.fetch_add(1, Relaxed);
                context
            }
        };
        let mut pooled = Pooled::new(context, cache, used);
        pooled.prepare(content_bytes)?;
        Ok(pooled)
    }
}

impl Default for Pool {
    fn default() -> Self {
        Self::new(PoolOptions::default())
    }
}

impl std::fmt::Debug for Pool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Pool").field(&self.stats()).finish()
    }
}
