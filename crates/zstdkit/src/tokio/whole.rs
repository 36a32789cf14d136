//! Whole buffers: each call inline, sliced or offloaded, as the model decides.

use std::sync::Arc;

use super::scheduler::{CHUNK_BYTES, PooledEncoder, Scheduler, timed};
use super::turn::Turn;
use crate::error::{Error, Repr};
use crate::format::{self, BLOCK_BYTES_MAX};
use crate::oneshot::compress_bound;
use crate::options::{DecoderOptions, EncoderOptions};
use crate::recipe::Recipe;
use crate::schedule::{CostKey, Decision};
use crate::sliced::{Budget, SLICE_BYTES, SlicedDecoder};
use crate::step::{Operation, State};

/// The stated content size is allocated at once up to this many times the input, at least up to the first
/// of these sizes, and never beyond the second.
const TRUSTED_RATIO: usize = 64;
const TRUSTED_BYTES: usize = 4 << 20;
const TRUSTED_BYTES_MAX: usize = 64 << 20;
/// The most frames that are examined before decoding.
const FRAMES_MAX: usize = 64;

/// Work that moves between tasks and offload threads, with everything that it touches.
struct Chunks<C> {
    encoder: PooledEncoder,
    content: C,
    at: usize,
    frame: Vec<u8>,
    state: State,
}

impl Scheduler {
    /// Compresses `content` into one frame.
    pub async fn compress<C>(&self, content: C, options: &EncoderOptions) -> Result<Vec<u8>, Error>
    where
        C: AsRef<[u8]> + Send + 'static,
    {
        let bytes = content.as_ref().len();
        let decision = self.model().decide(options, bytes);
        match decision {
            Decision::Inline => self.inline(content.as_ref(), options).await,
            Decision::Sliced { .. } => self.sliced(content, options, decision).await,
            Decision::Offload if bytes <= CHUNK_BYTES || options.workers > 0 => {
                self.offloaded(content, options).await
            }
            Decision::Offload => self.offloaded_chunks(content, options, decision).await,
        }
    }

    /// Compresses `content` by a recipe, which may be [`Recipe::Auto`].
    pub async fn compress_recipe<C>(&self, content: C, recipe: Recipe) -> Result<Vec<u8>, Error>
    where
        C: AsRef<[u8]> + Send + 'static,
    {
        let size = Some(content.as_ref().len() as u64);
        let options = match recipe {
            Recipe::Auto => recipe.options_for(content.as_ref(), size),
            named => named.options(size),
        };
        self.compress(content, &options).await
    }

    async fn inline(&self, content: &[u8], options: &EncoderOptions) -> Result<Vec<u8>, Error> {
        let key = CostKey::compress(options, content.len());
        let predicted_ns = self.model().predict_ns(key, content.len());
        let mut turn = Turn::new();
        turn.take(predicted_ns, self.model().threshold_ns()).await;
        let (frame, ns) = timed(|| {
            let size = Some(content.len() as u64);
            self.pool().compressor(options, size)?.compress(content)
        });
        turn.held(ns);
        let frame = frame?;
        self.model().observe(key, content.len(), ns);
        Ok(frame)
    }

    async fn sliced<C>(
        &self,
        content: C,
        options: &EncoderOptions,
        decision: Decision,
    ) -> Result<Vec<u8>, Error>
    where
        C: AsRef<[u8]> + Send + 'static,
    {
        let bytes = content.as_ref().len();
        let mut encoder = self.open(options, bytes, decision).await?;
        let mut frame = room(compress_bound(bytes))?;
        let slice = CostKey::compress_slice(options, Some(bytes as u64));
        let (mut turn, mut at, mut total_ns) = (Turn::new(), 0, 0_u64);
        loop {
            let predicted_ns = self.model().predict_ns(slice, SLICE_BYTES);
            turn.take(predicted_ns, self.model().threshold_ns()).await;
            let mut rest = &content.as_ref()[at..];
            let (state, ns) = timed(|| {
                encoder.step_into(
                    &mut rest,
                    &mut frame,
                    Operation::End,
                    &mut Budget::slices(1),
                )
            });
            turn.held(ns);
            let state = state?;
            if at > 0 && state != State::Done {
                self.model().observe(slice, SLICE_BYTES, ns);
            }
            at = bytes - rest.len();
            total_ns = total_ns.saturating_add(ns);
            if state == State::Done {
                self.model()
                    .observe(CostKey::compress(options, bytes), bytes, total_ns);
                frame.shrink_to_fit();
                return Ok(frame);
            }
        }
    }

    /// An encoder whose tables are made, on this or another thread.
    async fn open(
        &self,
        options: &EncoderOptions,
        bytes: usize,
        decision: Decision,
    ) -> Result<PooledEncoder, Error> {
        let size = Some(bytes as u64);
        if !self.model().opens_slowly(options, size) {
            return self.pooled_encoder(options, size, decision);
        }
        let (scheduler, options) = (self.clone(), options.clone());
        let opened = self.offload().run(move || {
            let mut encoder = scheduler.pooled_encoder(&options, size, decision)?;
            encoder.open()?;
            Ok(encoder)
        });
        opened.await?
    }

    async fn offloaded<C>(&self, content: C, options: &EncoderOptions) -> Result<Vec<u8>, Error>
    where
        C: AsRef<[u8]> + Send + 'static,
    {
        let bytes = content.as_ref().len();
        let (pool, own) = (self.pool().clone(), options.clone());
        let done = self.offload().run(move || {
            let size = Some(bytes as u64);
            timed(|| pool.compressor(&own, size)?.compress(content.as_ref()))
        });
        let (frame, ns) = done.await?;
        let frame = frame?;
        self.learn(options, bytes, bytes, ns);
        Ok(frame)
    }

    async fn offloaded_chunks<C>(
        &self,
        content: C,
        options: &EncoderOptions,
        decision: Decision,
    ) -> Result<Vec<u8>, Error>
    where
        C: AsRef<[u8]> + Send + 'static,
    {
        let bytes = content.as_ref().len();
        let mut work = Chunks {
            encoder: self.open(options, bytes, decision).await?,
            content,
            at: 0,
            frame: room(compress_bound(bytes))?,
            state: State::NeedInput,
        };
        // Dropped with this future. The thread that compresses the chunks checks it between two chunks.
        let wanted = Arc::new(());
        while work.state != State::Done {
            let (scheduler, options) = (self.clone(), options.clone());
            let watch = Arc::downgrade(&wanted);
            let done = self
                .offload()
                .run(move || work.chunks(&scheduler, &options, || watch.strong_count() > 0));
            work = done.await??;
        }
        let mut frame = work.frame;
        frame.shrink_to_fit();
        Ok(frame)
    }

    /// The time of offloaded work is also an estimate for the same work on this thread.
    fn learn(&self, options: &EncoderOptions, content_bytes: usize, bytes: usize, ns: u64) {
        self.model()
            .observe(CostKey::compress(options, content_bytes), bytes, ns);
        if bytes > SLICE_BYTES {
            let slice = CostKey::compress_slice(options, Some(content_bytes as u64));
            self.model().observe(slice, bytes, ns);
        }
    }

    /// Decompresses all frames of `stream`: inline if they are small, else a block at a time.
    pub async fn decompress<C>(&self, stream: C, options: &DecoderOptions) -> Result<Vec<u8>, Error>
    where
        C: AsRef<[u8]> + Send + 'static,
    {
        let bytes = content_bytes(stream.as_ref());
        match bytes.map(|bytes| (bytes, self.model().decide_decompress(bytes))) {
            Some((bytes, Decision::Inline)) => {
                self.decompress_inline(stream.as_ref(), bytes, options)
                    .await
            }
            _ => self.decompress_sliced(stream, bytes, options).await,
        }
    }

    async fn decompress_inline(
        &self,
        stream: &[u8],
        bytes: usize,
        options: &DecoderOptions,
    ) -> Result<Vec<u8>, Error> {
        let key = CostKey::decompress(bytes);
        let predicted_ns = self.model().predict_ns(key, bytes);
        let mut turn = Turn::new();
        turn.take(predicted_ns, self.model().threshold_ns()).await;
        let (content, ns) = timed(|| self.pool().decompressor(options)?.decompress(stream));
        turn.held(ns);
        let content = content?;
        self.model().observe(key, bytes, ns);
        Ok(content)
    }

    async fn decompress_sliced<C>(
        &self,
        stream: C,
        bytes: Option<usize>,
        options: &DecoderOptions,
    ) -> Result<Vec<u8>, Error>
    where
        C: AsRef<[u8]> + Send + 'static,
    {
        let mut decoder = SlicedDecoder::with_decoder(self.pool().decoder(options)?);
        let trusted = stream.as_ref().len().saturating_mul(TRUSTED_RATIO);
        let trusted = trusted.clamp(TRUSTED_BYTES, TRUSTED_BYTES_MAX);
        // Zeroed allocations are not touched before content is decoded into them.
        let mut content = vec![0; bytes.unwrap_or(0).min(trusted)];
        let (mut turn, mut at, mut filled, mut total_ns) = (Turn::new(), 0, 0, 0_u64);
        loop {
            if filled == content.len() {
                grow(&mut content)?;
            }
            let block = BLOCK_BYTES_MAX as usize;
            let predicted_ns = self.model().predict_ns(CostKey::decompress_slice(), block);
            turn.take(predicted_ns, self.model().threshold_ns()).await;
            let rest = &stream.as_ref()[at..];
            let (step, ns) =
                timed(|| decoder.step(rest, &mut content[filled..], &mut Budget::slices(1)));
            turn.held(ns);
            let step = step?;
            self.learn_block(step.produced, ns);
            at += step.consumed;
            filled += step.produced;
            total_ns = total_ns.saturating_add(ns);
            if step.state != State::MoreOutput {
                break;
            }
        }
        decoder.finish()?;
        self.model()
            .observe(CostKey::decompress(filled), filled, total_ns);
        content.truncate(filled);
        content.shrink_to_fit();
        Ok(content)
    }

    /// Learns from a block, unless it is too small.
    pub(super) fn learn_block(&self, produced: usize, ns: u64) {
        if produced >= SLICE_BYTES {
            self.model()
                .observe(CostKey::decompress_slice(), produced, ns);
        }
    }
}

impl<C: AsRef<[u8]>> Chunks<C> {
    /// Compresses chunk after chunk, as long as the result is wanted and no other job waits for a thread.
    /// Returning to the task after each chunk would cost a wake-up, possibly on the task's own CPU.
    fn chunks(
        mut self,
        scheduler: &Scheduler,
        options: &EncoderOptions,
        wanted: impl Fn() -> bool,
    ) -> Result<Self, Error> {
        let bytes = self.content.as_ref().len();
        loop {
            let before = self.at;
            let (result, ns) = timed(|| self.chunk());
            result?;
            scheduler.learn(options, bytes, self.at - before, ns);
            if self.state == State::Done || scheduler.offload().queued() > 0 || !wanted() {
                return Ok(self);
            }
        }
    }

    fn chunk(&mut self) -> Result<(), Error> {
        let rest = &self.content.as_ref()[self.at..];
        let (mut chunk, after) = rest.split_at(rest.len().min(CHUNK_BYTES));
        let operation = match after.is_empty() {
            true => Operation::End,
            false => Operation::Continue,
        };
        let given = chunk.len();
        let mut budget = Budget::slices(u32::MAX);
        self.state = self
            .encoder
            .step_into(&mut chunk, &mut self.frame, operation, &mut budget)?;
        self.at += given - chunk.len();
        Ok(())
    }
}

/// The content size of a stream, as its frames state it or their blocks bound it, if it can be found
/// quickly. Errors in the stream are left to the decoder.
fn content_bytes(stream: &[u8]) -> Option<usize> {
    let mut rest = stream;
    let mut total = 0_u64;
    for _ in 0..FRAMES_MAX {
        if rest.is_empty() {
            return usize::try_from(total).ok();
        }
        if let Some(after) = format::after_skippable_frame(rest) {
            rest = after;
            continue;
        }
        let (header, body) = format::split_header(rest)?;
        let (bound, after) = match header.content_size {
            // Most streams are one frame, whose header is enough.
            Some(stated) if total == 0 && body.len() > CHUNK_BYTES => {
                return usize::try_from(stated).ok();
            }
            _ => format::measure_blocks(&header, body)?,
        };
        total = total.checked_add(header.content_size.unwrap_or(bound))?;
        rest = after;
    }
    None
}

fn room(bytes: usize) -> Result<Vec<u8>, Error> {
    let mut buffer = Vec::new();
    buffer
        .try_reserve_exact(bytes)
        .map_err(|_| out_of_memory(bytes))?;
    Ok(buffer)
}

/// Makes room for a block. The capacity doubles, but only the block is cleared: clearing more would hold
/// the thread.
fn grow(content: &mut Vec<u8>) -> Result<(), Error> {
    let block = BLOCK_BYTES_MAX as usize;
    if content.capacity() - content.len() < block {
        let more = content.len().max(block);
        content
            .try_reserve(more)
            .map_err(|_| out_of_memory(content.len() + more))?;
    }
    content.resize(content.len() + block, 0);
    Ok(())
}

fn out_of_memory(bytes: usize) -> Error {
    Repr::Memory {
        bytes: Some(bytes as u64),
        what: "the output",
    }
    .into()
}
