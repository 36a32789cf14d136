//! The scheduler: a cost model, a pool and offload threads that work together.

use std::io;
use std::num::NonZero;
use std::sync::Arc;
use std::time::Instant;

use crate::encoder::Encoder;
use crate::error::Error;
use crate::options::EncoderOptions;
use crate::pool::{Pool, Pooled};
use crate::schedule::{CostModel, Decision, Offload};
use crate::sliced::SlicedEncoder;

/// What is offloaded at a time: one block as the format has them.
pub(super) const CHUNK_BYTES: usize = 128 << 10;

/// A sliced encoder out of a pool.
pub(super) type PooledEncoder = SlicedEncoder<Pooled<Encoder>>;

/// Runs compression and decompression where it disturbs least. Cloning shares it.
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
    /// Of these parts. The threshold is the model's.
    pub fn new(model: impl Into<Arc<CostModel>>, pool: Pool, offload: Offload) -> Self {
        Self(Arc::new(Parts {
            model: model.into(),
            pool,
            offload,
        }))
    }

    /// With a model that has yet to learn, a pool of its own and an offload thread a processor.
    pub fn with_defaults() -> io::Result<Self> {
        let threads = std::thread::available_parallelism().map_or(1, NonZero::get);
        let offload = Offload::new(threads, 4 * threads)?;
        Ok(Self::new(CostModel::default(), Pool::default(), offload))
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

    /// An encoder out of the pool with a frame begun: sliced where that is the decision, with
    /// whole blocks where chunks are offloaded.
    pub(super) fn pooled_encoder(
        &self,
        options: &EncoderOptions,
        content_bytes: Option<u64>,
        decision: Decision,
    ) -> Result<PooledEncoder, Error> {
        let own = match decision {
            Decision::Sliced { .. } => SlicedEncoder::options(options)?,
            _ => options.clone(),
        };
        let encoder = self.pool().encoder(&own, content_bytes)?;
        Ok(SlicedEncoder::over(encoder, &own))
    }
}

/// What was done, and the nanoseconds it took.
pub(super) fn timed<T>(work: impl FnOnce() -> T) -> (T, u64) {
    let start = Instant::now();
    let value = work();
    let ns = u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX);
    (value, ns)
}
