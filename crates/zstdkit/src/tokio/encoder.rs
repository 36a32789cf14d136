//! A writer that compresses: what is gathered, and where it is compressed. How it is written to is in `writer`.

mod rest;
mod slices;
mod writer;

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use ::tokio::io::AsyncWrite;
use turns::{Keeps, Turn, timed};

use self::slices::Slice;
use super::berth::Berth;
use super::job::{Job, Task};
use super::memory::{Memory, Need};
use super::pace::Pace;
use super::scheduler::{CHUNK_BYTES, PooledEncoder, Scheduler};
use super::tiny::Tiny;
use crate::error::{Error, Repr};
use crate::options::EncoderOptions;
use crate::schedule::{CostKey, Decision, OffloadError, OffloadFuture};
use crate::sliced::SLICE_BYTES;
use crate::step::{Operation, State};

/// Compressed bytes that may wait for a slow writer while more is compressed.
const KEPT_BYTES: usize = 32 << 10;
/// After this much content the tables of a context that was used elsewhere are in the cache.
const COLD_BYTES: usize = 128 << 10;

impl Scheduler {
    /// A writer that compresses into `writer`, one frame of this size (`None`: not known).
    pub fn encoder<W: AsyncWrite + Unpin>(
        &self,
        writer: W,
        options: &EncoderOptions,
        content_bytes: Option<u64>,
    ) -> Result<AsyncEncoder<W>, Error> {
        options.validate()?;
        Ok(AsyncEncoder::new(
            self.clone(),
            writer,
            options,
            content_bytes,
        ))
    }
}

/// Compresses everything written to it into one frame (or more of them, where memory is short: see below), which goes to another
/// writer.
///
/// Writes are gathered up to a slice, or to a chunk of 128 KiB that is compressed on another thread. A slice is as
/// long as the scheduler allows, by what slices before it took, the hardest of late included; no call works for longer than one. By
/// default that is
/// 300 µs ([`SLICE_THRESHOLD_NS`](crate::schedule::SLICE_THRESHOLD_NS)), or 800 µs on a runtime of several
/// threads while another one has nothing to do; where a threshold was given, it is that.
///
/// The least slice has 16 KiB, for a block is compressed in one call and smaller ones cost ratio. At slow levels one takes longer
/// than 300 µs: such content is compressed on another thread, once a slice or a chunk has shown it, but here while another
/// thread of the runtime has nothing to do and a slice as hard as the hardest of late ends within 800 µs; where its content is
/// harder than that, it takes longer. [`CostModel::with_threshold_ns`](crate::schedule::CostModel::with_threshold_ns) takes that
/// exception away: whatever takes longer than the threshold, as far as is known, goes to another thread.
///
/// Up to 32 KiB of compressed bytes wait for a slow writer while more is taken. A flush writes out everything that was taken, so that a reader can decode
/// it; it compresses less. What little it finds it compresses at once. Only a shutdown ends the frame.
///
/// A write beyond a size that was stated is an error, and so is a shutdown before it.
///
/// A context is taken from the pool with the first slice, not before, and given back with the last. Content
/// of unknown size that ends within 128 KiB is compressed as content of that size: it needs less memory, and
/// the frame states its size. A stream that needs more memory than the budget of the pool has left waits for it,
/// in order of arrival; one that needs more than the whole budget fails with its first write that needs a context.
///
/// While others wait for memory, a stream of unknown size that is not called for ten milliseconds or more gives its
/// context back. Its frame ends there, and what follows is another frame. [`AsyncDecoder`](super::AsyncDecoder) and the `zstd`
/// command read them as one content; a decoder that stops behind the first frame has to be told to go on
/// (`multiple_members` of async-compression).
///
/// Dropping it at any time loses only what was not yet written. After a compression error every call
/// fails with that error. An error of the writer is passed on, and the call may be repeated.
#[derive(Debug)]
pub struct AsyncEncoder<W> {
    writer: W,
    scheduler: Scheduler,
    options: EncoderOptions,
    /// As it was stated, or as it was found before the frame was opened.
    content_bytes: Option<u64>,
    engine: Engine,
    /// Where content is compressed.
    decision: Decision,
    /// The cost of a slice.
    key: CostKey,
    /// Content that will be compressed slowly, for the context must come to the cache of this thread first.
    cold_bytes: usize,
    pace: Pace,
    /// As long as slices could be after the last one, while another thread had nothing to do. 0: no longer than usual.
    long_bytes: usize,
    stage: Stage,
    /// Content that was stated, and that was taken, in all.
    stated_bytes: Option<u64>,
    taken: u64,
    /// Whether content was taken that a reader may not be able to decode yet.
    unflushed: bool,
    /// Content that was taken, and how much of it the engine has.
    gathered: Vec<u8>,
    given: usize,
    /// Room for the next chunk, while another thread has one.
    spare: Vec<u8>,
    /// Compressed bytes, and how many of them were written.
    output: Vec<u8>,
    written: usize,
    tiny: Tiny,
    turn: Turn,
    memory: Memory,
    /// Where the context lies between calls, once it did.
    berth: Option<Arc<Berth>>,
    /// Whether frames have ended so that others could have the context.
    split: bool,
}

#[derive(Debug)]
enum Engine {
    /// No context yet, or no longer.
    None,
    /// It lies in the berth.
    Resting,
    Local(Box<PooledEncoder>),
    Offloaded(OffloadFuture<Box<Job>>),
    Failed(Error),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// No content was compressed, and no tables are made.
    Fresh,
    Open,
    /// The frame has ended, but is not yet written out.
    Ended,
    Shut,
}

impl<W: AsyncWrite + Unpin> AsyncEncoder<W> {
    fn new(
        scheduler: Scheduler,
        writer: W,
        options: &EncoderOptions,
        content_bytes: Option<u64>,
    ) -> Self {
        Self {
            writer,
            options: options.clone(),
            content_bytes,
            engine: Engine::None,
            decision: Decision::Offload,
            cold_bytes: 0,
            pace: Pace::default(),
            long_bytes: 0,
            key: CostKey::compress_slice(options, content_bytes),
            scheduler,
            stage: Stage::Fresh,
            stated_bytes: content_bytes,
            taken: 0,
            unflushed: false,
            gathered: Vec::new(),
            given: 0,
            spare: Vec::new(),
            output: Vec::new(),
            written: 0,
            tiny: Tiny::default(),
            turn: Turn::new(),
            memory: Memory::default(),
            berth: None,
            split: false,
        }
    }

    /// The writer.
    pub fn get_ref(&self) -> &W {
        &self.writer
    }

    /// The writer. The frame is complete only after a shutdown.
    pub fn into_inner(self) -> W {
        self.writer
    }

    /// How much is gathered before it is compressed.
    fn gather_bytes_max(&self) -> usize {
        match self.decision {
            Decision::Sliced { .. } if self.cold_bytes > 0 => SLICE_BYTES.max(self.long_bytes),
            Decision::Sliced { slice_bytes } => slice_bytes.max(self.long_bytes),
            _ => CHUNK_BYTES,
        }
    }

    /// Waits for the job on another thread, then writes out what is compressed.
    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_engine(context))?;
        self.poll_write_out(context)
    }

    /// Waits for the job on another thread, then writes out so much that little waits for the writer.
    fn poll_room(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_engine(context))?;
        match self.poll_write_out(context) {
            Poll::Pending if self.output.len() - self.written <= KEPT_BYTES => Poll::Ready(Ok(())),
            Poll::Pending => {
                self.turn.pause();
                Poll::Pending
            }
            written => written,
        }
    }

    /// Waits for the job on another thread.
    fn poll_engine(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_resume(context));
        if let Engine::Offloaded(running) = &mut self.engine {
            let job = ready!(Pin::new(running).poll(context));
            self.engine = match job {
                Ok(job) => self.take_back(*job),
                Err(error) => Engine::Failed(error.into()),
            };
        }
        if let Engine::Failed(error) = &self.engine {
            return Poll::Ready(Err(error.clone().into()));
        }
        Poll::Ready(Ok(()))
    }

    fn poll_write_out(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        while self.written < self.output.len() {
            let rest = &self.output[self.written..];
            match ready!(Pin::new(&mut self.writer).poll_write(context, rest))? {
                0 => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                count => self.written += count,
            }
        }
        self.output.clear();
        self.written = 0;
        Poll::Ready(Ok(()))
    }

    fn take_back(&mut self, mut job: Job) -> Engine {
        if let Err(error) = job.result {
            return Engine::Failed(error);
        }
        if let Task::Compress(from, _) = job.task {
            let bytes = job.chunk.len() - from;
            let model = self.scheduler.model();
            // The first chunk makes the tables, or fetches them: without that it takes less.
            let expected_ns = model.predict_ns(self.key, bytes);
            self.cold_bytes = COLD_BYTES;
            let counts = !model.knows(self.key) || job.ns < expected_ns;
            if bytes > SLICE_BYTES && counts {
                model.observe(self.key, bytes, job.ns);
                self.decide();
            }
            job.chunk.clear();
            // More may have been gathered meanwhile.
            match self.gathered.is_empty() {
                true => self.gathered = job.chunk,
                false => self.spare = job.chunk,
            }
        }
        match self.output.is_empty() {
            true => self.output = job.output,
            // The writer has not taken all of what came before.
            false => self.output.extend_from_slice(&job.output),
        }
        Engine::Local(job.encoder)
    }

    /// Sends what is gathered, or only the opening of the frame, to another thread.
    fn send(&mut self, operation: Option<Operation>, context: &mut Context<'_>) {
        let stopped = Engine::Failed(OffloadError::Stopped.into());
        let encoder = match std::mem::replace(&mut self.engine, stopped) {
            Engine::Local(encoder) => encoder,
            other => {
                self.engine = other;
                return;
            }
        };
        let (chunk, task) = match operation {
            None => (Vec::new(), Task::Open),
            Some(operation) => (
                std::mem::replace(&mut self.gathered, std::mem::take(&mut self.spare)),
                Task::Compress(std::mem::take(&mut self.given), operation),
            ),
        };
        let output = match self.output.is_empty() {
            true => std::mem::take(&mut self.output),
            false => Vec::new(),
        };
        let job = Box::new(Job::new(encoder, chunk, output, task, self.turn.away()));
        let mut running = self.scheduler.offload().run(move || job.run());
        // The first poll queues it. If it has already finished, take the result.
        self.engine = match Pin::new(&mut running).poll(context) {
            Poll::Pending => Engine::Offloaded(running),
            Poll::Ready(Ok(job)) => self.take_back(*job),
            Poll::Ready(Err(error)) => Engine::Failed(error.into()),
        };
    }

    /// Takes a context and makes its tables. If this is all of the content, the frame is made for it.
    fn poll_open(
        &mut self,
        operation: Operation,
        context: &mut Context<'_>,
    ) -> Poll<io::Result<()>> {
        if self.stage != Stage::Fresh {
            return Poll::Ready(Ok(()));
        }
        if operation == Operation::End && self.content_bytes.is_none() {
            self.content_bytes = Some(self.gathered.len() as u64);
            self.key = CostKey::compress_slice(&self.options, self.content_bytes);
        }
        let model = self.scheduler.model();
        let (options, bytes) = (&self.options, self.content_bytes);
        let to_open = model.opens_slowly(options, bytes);
        let again = model.opens_again_slowly(options, bytes);
        // Making tables is work, too.
        let next_ns = if to_open {
            0
        } else {
            model.predict_ns(self.key, SLICE_BYTES)
        };
        let threshold_ns = model.slice_threshold_ns();
        if !self.memory.waits() {
            let keeps = Keeps::NewContext;
            ready!(self.turn.poll_take(context, next_ns, threshold_ns, keeps));
        }
        let model = self.scheduler.model();
        let decision = match operation {
            Operation::End if options.workers == 0 => model.decide(options, self.gathered.len()),
            _ => model.decide_stream(options, bytes),
        };
        let need = Need {
            bytes: options.memory_estimate_bytes(bytes),
            brief: false,
        };
        let scheduler = &self.scheduler;
        let make = || scheduler.pooled_encoder(options, bytes);
        let (made, ns) = timed(|| self.memory.poll_take(scheduler, need, context, make));
        self.turn.held(ns);
        if made.is_pending() {
            // Others may work meanwhile, or wait for memory as well.
            self.turn.give_back();
            // Who reads what was written may have memory until the frame that has ended here ends there.
            if self.split
                && let Poll::Ready(flushed) = Pin::new(&mut self.writer).poll_flush(context)
            {
                flushed?;
            }
        }
        let (encoder, tables_made) = match ready!(made) {
            Ok(encoder) => encoder,
            Err(error) => return Poll::Ready(Err(self.fail(error))),
        };
        self.decision = decision;
        self.engine = Engine::Local(Box::new(encoder));
        self.stage = Stage::Open;
        // A chunk that is compressed on another thread anyway opens the frame there.
        let to_open = if tables_made { again } else { to_open };
        if to_open && !self.sends(self.gathered.len()) {
            self.send(None, context);
        }
        self.poll_room(context)
    }

    /// Refuses content beyond the stated size, when it is written and not when the frame ends.
    fn check_size(&mut self, bytes: usize) -> io::Result<()> {
        let given = self.taken.saturating_add(bytes as u64);
        match self.stated_bytes {
            Some(pledged) if given > pledged => {
                let offset = pledged;
                Err(self.fail(
                    Repr::PledgedSize {
                        given,
                        pledged,
                        offset,
                    }
                    .into(),
                ))
            }
            _ => Ok(()),
        }
    }

    fn fail(&mut self, error: Error) -> io::Error {
        self.engine = Engine::Failed(error.clone());
        error.into()
    }

    /// Gives the engine what is gathered, with this operation: here, slice by slice, or on another thread,
    /// which may still work when this is ready. Each slice and chunk ends its block.
    fn poll_give(
        &mut self,
        operation: Operation,
        context: &mut Context<'_>,
    ) -> Poll<io::Result<()>> {
        ready!(self.poll_room(context))?;
        if self.split && self.stage == Stage::Fresh && self.gathered.is_empty() {
            // All of it is in frames that have ended.
            return Poll::Ready(Ok(()));
        }
        ready!(self.poll_open(operation, context))?;
        loop {
            let rest = self.gathered.len() - self.given;
            self.look_for_the_cache(rest);
            let cut = match self.decision {
                Decision::Sliced { .. } => self.slice_bytes(rest),
                Decision::Offload => match self.here_bytes(rest) {
                    Some(here) => here,
                    None => {
                        self.send(Some(operation), context);
                        return Poll::Ready(Ok(()));
                    }
                },
                Decision::Inline => rest,
            };
            let last = cut == rest;
            ready!(self.poll_turn(cut, context));
            let operation = if last { operation } else { Operation::Flush };
            let (taken, state) = self.slice(Slice::Gathered(self.given + cut), operation)?;
            if last && taken == cut && state != State::MoreOutput {
                self.gathered.clear();
                self.given = 0;
                self.gathered.shrink_to(self.gather_bytes_max());
                if self.slices() {
                    self.spare = Vec::new();
                }
                return Poll::Ready(Ok(()));
            }
            ready!(self.poll_room(context))?;
        }
    }
}
