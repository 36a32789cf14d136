//! The scheduler: a cost model, a pool and offload threads that work together.

use std::io;
use std::num::NonZero;
use std::sync::Arc;

use crate::decoder::{Decoder, Suspended};
use crate::encoder::Encoder;
use crate::error::Error;
use crate::options::{DecoderOptions, EncoderOptions};
use crate::pool::{Pool, PoolOptions, Pooled};
use crate::schedule::{CostModel, Offload};
use crate::sliced::{SlicedDecoder, SlicedEncoder};

/// The content that is offloaded at a time: one block of the format.
pub(super) const CHUNK_BYTES: usize = 128 << 10;

/// To free this much takes as long as to decode a block.
const LARGE_BYTES: usize = 1 << 20;

/// A sliced encoder from a pool.
pub(super) type PooledEncoder = SlicedEncoder<Pooled<Encoder>>;

/// Runs compression and decompression where it disturbs other tasks least. Clones share it.
///
/// ```
/// # ::tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// use zstdkit::tokio::Scheduler;
/// use zstdkit::{DecoderOptions, Recipe};
///
/// let scheduler = Scheduler::with_defaults()?;
/// let content = b"to be or not to be ".repeat(10_000);
/// let frame = scheduler.compress_recipe(content.clone(), Recipe::Text).await?;
/// assert_eq!(scheduler.decompress(frame, &DecoderOptions::default()).await?, content);
/// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
/// ```
#[derive(Debug, Clone)]
pub struct Scheduler(Arc<Parts>);

#[derive(Debug)]
struct Parts {
    model: Arc<CostModel>,
    pool: Pool,
    offload: Offload,
}

impl Scheduler {
    /// A scheduler with these parts. The threshold is that of the model.
    pub fn new(model: impl Into<Arc<CostModel>>, pool: Pool, offload: Offload) -> Self {
        Self(Arc::new(Parts {
            model: model.into(),
            pool,
            offload,
        }))
    }

    /// A scheduler with an untrained model, a pool of its own, whose contexts may hold 256 MiB together, and one offload
    /// thread per CPU.
    pub fn with_defaults() -> io::Result<Self> {
        Self::with_pool(Pool::default())
    }

    /// The same with contexts that may hold this much memory together, in bytes: those of encoders and of decoders. Streams
    /// and calls that need more wait for each other; one that needs more than all of it fails.
    ///
    /// While none gives memory back for two seconds, as slow clients do that keep their streams open, those who wait are served
    /// beyond it, one after another, until contexts hold twice as much; then who finds none fails
    /// ([`Error::is_pool_exhausted`]), and a server answers 503.
    /// [`Pool`](Pool#when-the-budget-is-used-up) says more, and has a setting for the limit.
    ///
    /// ```
    /// let scheduler = zstdkit::tokio::Scheduler::with_memory_budget_bytes(4 << 30)?;
    /// assert_eq!(scheduler.pool().stats().budget_bytes, 4 << 30);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn with_memory_budget_bytes(bytes: u64) -> io::Result<Self> {
        let options = PoolOptions::default().with_memory_budget_bytes(bytes);
        Self::with_pool(Pool::new(options))
    }

    fn with_pool(pool: Pool) -> io::Result<Self> {
        let threads = std::thread::available_parallelism().map_or(1, NonZero::get);
        let offload = Offload::new(threads)?;
        Ok(Self::new(CostModel::default(), pool, offload))
    }

    /// The cost model.
    pub fn model(&self) -> &CostModel {
        &self.0.model
    }

    /// The pool of contexts.
    pub fn pool(&self) -> &Pool {
        &self.0.pool
    }

    /// The offload threads.
    pub fn offload(&self) -> &Offload {
        &self.0.offload
    }

    /// An encoder from the pool with a frame open, and whether its tables are made already. Its blocks are whole: a
    /// slice ends the block that it is in.
    pub(super) fn pooled_encoder(
        &self,
        options: &EncoderOptions,
        content_bytes: Option<u64>,
    ) -> Result<(PooledEncoder, bool), Error> {
        let encoder = self.pool().encoder(options, content_bytes)?;
        let made = encoder.was_used();
        Ok((SlicedEncoder::with_encoder(encoder, options), made))
    }

    /// Drops content that is done with: if it is large, on another thread, as that takes long.
    pub(super) fn discard<C: AsRef<[u8]> + Send + 'static>(&self, content: C) {
        if content.as_ref().len() >= LARGE_BYTES {
            self.offload().discard(content);
        }
    }

    /// A decoder from the pool, at the start of a stream or where another one had to stop.
    pub(super) fn pooled_decoder(
        &self,
        options: &DecoderOptions,
        suspended: Option<Suspended>,
    ) -> Result<PooledDecoder, Error> {
        let mut decoder = self.pool().decoder(options)?;
        match suspended {
            Some(suspended) => suspended.go_on(&mut decoder)?,
            None => decoder.suspend_frames(),
        }
        Ok(SlicedDecoder::with_decoder(decoder))
    }
}

/// A sliced decoder from a pool.
pub(super) type PooledDecoder = SlicedDecoder<Pooled<Decoder>>;
