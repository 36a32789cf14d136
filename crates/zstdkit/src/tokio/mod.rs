//! Compression inside a tokio runtime, without holding its workers.
//!
//! A [`Scheduler`] decides call by call what runs at once, what is sliced with others in between
//! and what goes to the offload threads; [`AsyncEncoder`] and [`AsyncDecoder`] do the same for
//! streams. They are shells: the logic is that of `sliced`, `schedule` and the pool.
//!
//! These shells are the one place of the crate that reads a clock. They time their own calls and
//! teach the cost model, so that it stays right for the machine and the data at hand.
//!
//! Every future may be dropped at any time: contexts go back to the pool or are thrown away,
//! queued work is taken out, and work that runs owns all that it touches.

mod decoder;
mod encoder;
mod turn;
mod whole;

use std::io;
use std::num::NonZero;
use std::sync::Arc;
use std::time::Instant;

use ::tokio::io::{AsyncRead, AsyncWrite};

pub use decoder::AsyncDecoder;
pub use encoder::AsyncEncoder;

use crate::encoder::Encoder;
use crate::error::Error;
use crate::options::{DecoderOptions, EncoderOptions};
use crate::pool::{Pool, Pooled};
use crate::schedule::{CostModel, Decision, Offload};
use crate::sliced::SlicedEncoder;

/// What is offloaded at a time: one block as the format has them.
const CHUNK_BYTES: usize = 128 << 10;

/// A sliced encoder out of a pool.
type PooledEncoder = SlicedEncoder<Pooled<Encoder>>;

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

    /// A writer that compresses into `writer`, one frame of this size (`None`: not known).
    pub fn encoder<W: AsyncWrite + Unpin>(
        &self,
        writer: W,
        options: &EncoderOptions,
        content_bytes: Option<u64>,
    ) -> Result<AsyncEncoder<W>, Error> {
        AsyncEncoder::new(self.clone(), writer, options, content_bytes)
    }

    /// A reader of the content of the frames in `reader`.
    pub fn decoder<R: AsyncRead + Unpin>(
        &self,
        reader: R,
        options: &DecoderOptions,
    ) -> Result<AsyncDecoder<R>, Error> {
        AsyncDecoder::new(self.clone(), reader, options)
    }

    /// An encoder out of the pool with a frame begun: sliced where that is the decision, with
    /// whole blocks where chunks are offloaded.
    fn pooled_encoder(
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
fn timed<T>(work: impl FnOnce() -> T) -> (T, u64) {
    let start = Instant::now();
    let value = work();
    let ns = u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX);
    (value, ns)
}
