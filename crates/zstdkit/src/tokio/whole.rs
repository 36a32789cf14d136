//! Whole buffers that are compressed: each call inline, sliced or offloaded, as the model decides.

use std::future::poll_fn;
use std::sync::Arc;

use turns::{Keeps, Turn, timed};

use super::memory::{Memory, Need};
use super::pace::Pace;
use super::room;
use super::scheduler::{CHUNK_BYTES, PooledEncoder, Scheduler};
use crate::error::{Error, Repr};
use crate::oneshot::compress_bound;
use crate::options::EncoderOptions;
use crate::recipe::Recipe;
use crate::schedule::{CostKey, Decision};
use crate::sliced::SLICE_BYTES;
use crate::step::{Operation, State};

/// Work that moves between tasks and offload threads, with everything that it touches.
struct Chunks<C> {
    encoder: PooledEncoder,
    content: C,
    at: usize,
    frame: Vec<u8>,
    done: bool,
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
            Decision::Sliced { .. } => self.sliced(content, options).await,
            Decision::Offload if bytes <= CHUNK_BYTES || options.workers > 0 => {
                self.offloaded(content, options).await
            }
            Decision::Offload => self.offloaded_chunks(content, options).await,
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
        turn.take(predicted_ns, self.model().threshold_ns(), Keeps::Nothing)
            .await;
        let size = Some(content.len() as u64);
        let need = Need {
            bytes: options.one_shot_estimate_bytes(size),
            brief: true,
        };
        let call = || timed(|| self.pool().compressor(options, size)?.compress(content));
        let timed = self.with_memory(need, || {
            let (frame, ns) = call();
            turn.held(ns);
            frame.map(|frame| (frame, ns))
        });
        let (frame, ns) = timed.await?;
        self.model().observe(key, content.len(), ns);
        Ok(frame)
    }

    async fn sliced<C>(&self, content: C, options: &EncoderOptions) -> Result<Vec<u8>, Error>
    where
        C: AsRef<[u8]> + Send + 'static,
    {
        let bytes = content.as_ref().len();
        let slice = CostKey::compress_slice(options, Some(bytes as u64));
        let (mut turn, mut at, mut total_ns) = (Turn::new(), 0, 0_u64);
        let mut pace = Pace::default();
        // Calls that wait for their turn have no context: thousands may.
        let first_ns = self.model().predict_ns(slice, bytes.min(SLICE_BYTES));
        turn.take(first_ns, self.model().threshold_ns(), Keeps::NewContext)
            .await;
        let mut encoder = self.open(options, bytes, &mut turn).await?;
        let mut frame = room(compress_bound(bytes))?;
        loop {
            let rest = bytes - at;
            let cut = match self
                .model()
                .decide_slice(slice, self.model().threshold_ns())
            {
                Decision::Sliced { slice_bytes } => rest.min(slice_bytes),
                // It was expected to fit when this began.
                _ => rest.min(SLICE_BYTES),
            };
            let predicted_ns = self.model().predict_ns(slice, cut);
            turn.take(predicted_ns, self.model().threshold_ns(), Keeps::Context)
                .await;
            let input = &content.as_ref()[at..at + cut];
            let operation = match cut == rest {
                true => Operation::End,
                false => Operation::Flush,
            };
            let (step, ns) = timed(|| room::compress(&mut encoder, input, &mut frame, operation));
            turn.held(ns);
            let step = step?;
            if at > 0 && cut >= SLICE_BYTES && step.consumed == cut {
                self.model().observe(slice, cut, ns);
                pace.observe(self.model(), slice, cut, ns);
            }
            at += step.consumed;
            total_ns = total_ns.saturating_add(ns);
            if step.state == State::Done {
                self.model()
                    .observe(CostKey::compress(options, bytes), bytes, total_ns);
                self.discard(content);
                frame.shrink_to_fit();
                return Ok(frame);
            }
        }
    }

    /// An encoder whose tables are made, on this or another thread. While it waits others may work.
    async fn open(
        &self,
        options: &EncoderOptions,
        bytes: usize,
        turn: &mut Turn,
    ) -> Result<PooledEncoder, Error> {
        let size = Some(bytes as u64);
        let need = Need {
            bytes: options.memory_estimate_bytes(size),
            brief: false,
        };
        let mut memory = Memory::default();
        let opened = poll_fn(|context| {
            let make = || self.pooled_encoder(options, size);
            let (made, ns) = timed(|| memory.poll_take(self, need, context, make));
            turn.held(ns);
            if made.is_pending() {
                turn.give_back();
            }
            made
        });
        let (mut encoder, tables_made) = opened.await?;
        let slowly = match tables_made {
            true => self.model().opens_again_slowly(options, size),
            false => self.model().opens_slowly(options, size),
        };
        if !slowly {
            return Ok(encoder);
        }
        turn.pause();
        let opened = self.offload().run(move || {
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
        let size = Some(bytes as u64);
        let (pool, own) = (self.pool().clone(), options.clone());
        let ledger = pool.ledger().clone();
        // Jobs that wait for their thread need no memory. They take it there, if none waits for it.
        let done = self.offload().run(move || {
            let compressor = match ledger.line.is_empty() {
                true => pool.compressor(&own, size),
                false => return Err(content),
            };
            match compressor {
                Err(error) if error.is_pool_exhausted() => {
                    ledger.excuse();
                    Err(content)
                }
                compressor => Ok(timed(|| compressor?.compress(content.as_ref()))),
            }
        });
        let (frame, ns) = match done.await? {
            Ok(done) => done,
            Err(content) => {
                let need = Need {
                    bytes: options.one_shot_estimate_bytes(size),
                    brief: false,
                };
                let make = || self.pool().compressor(options, size);
                let mut compressor = self.with_memory(need, make).await?;
                let done = self.offload();
                let done = done.run(move || timed(|| compressor.compress(content.as_ref())));
                done.await?
            }
        };
        let frame = frame?;
        self.learn(options, bytes, bytes, ns);
        Ok(frame)
    }

    async fn offloaded_chunks<C>(
        &self,
        content: C,
        options: &EncoderOptions,
    ) -> Result<Vec<u8>, Error>
    where
        C: AsRef<[u8]> + Send + 'static,
    {
        let bytes = content.as_ref().len();
        let mut work = Chunks {
            encoder: self.open(options, bytes, &mut Turn::new()).await?,
            content,
            at: 0,
            frame: room(compress_bound(bytes))?,
            done: false,
        };
        // Dropped with this future. The thread that compresses the chunks checks it between two chunks.
        let wanted = Arc::new(());
        while !work.done {
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
            if self.done || scheduler.offload().queued() > 0 || !wanted() {
                return Ok(self);
            }
        }
    }

    fn chunk(&mut self) -> Result<(), Error> {
        let rest = &self.content.as_ref()[self.at..];
        let (chunk, after) = rest.split_at(rest.len().min(CHUNK_BYTES));
        let operation = match after.is_empty() {
            true => Operation::End,
            false => Operation::Continue,
        };
        room::compress_all(&mut self.encoder, chunk, &mut self.frame, operation)?;
        self.at += chunk.len();
        self.done = after.is_empty();
        Ok(())
    }
}

fn room(bytes: usize) -> Result<Vec<u8>, Error> {
    let mut buffer = Vec::new();
    buffer
        .try_reserve_exact(bytes)
        .map_err(|_| out_of_memory(bytes))?;
    Ok(buffer)
}

pub(super) fn out_of_memory(bytes: usize) -> Error {
    Repr::Memory {
        bytes: Some(bytes as u64),
        what: "the output",
    }
    .into()
}
