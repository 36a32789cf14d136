//! A writer that compresses: what is gathered, and where it is compressed. How it is written to is in `writer`.

mod rest;
mod writer;

use std::cell::RefCell;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use ::tokio::io::AsyncWrite;
use turns::{Keeps, Turn, timed};

use super::berth::Berth;
use super::job::{Job, Task};
use super::memory::{Memory, Need};
use super::scheduler::{CHUNK_BYTES, PooledEncoder, Scheduler};
use super::tiny::{TINY_BYTES, Tiny};
use crate::error::Error;
use crate::options::EncoderOptions;
use crate::schedule::{CostKey, Decision, OffloadError, OffloadFuture};
use crate::sliced::{Budget, ROOM_BYTES, SLICE_BYTES};
use crate::step::{Operation, State};

thread_local! {
    /// Where slices are compressed to, before what they gave is kept with its stream.
    static ROOM: RefCell<Box<[u8]>> = RefCell::new(vec![0; ROOM_BYTES].into());
}

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

/// Compresses everything written to it into one frame, which goes to another writer.
///
/// Writes are gathered up to a slice, or to a chunk of 128 KiB that is compressed on another thread. No call
/// works for longer than a slice. A flush writes out everything that was taken, so that a reader can decode
/// it; it compresses less. What little it finds it compresses at once. Only a shutdown ends the frame.
///
/// A context is taken from the pool with the first slice, not before, and given back with the last. Content
/// of unknown size that ends within 128 KiB is compressed as content of that size: it needs less memory, and
/// the frame states its size. A stream that needs more memory than the budget of the pool has left waits for it,
/// in order of arrival; one that needs more than the whole budget fails with its first write that needs a context.
///
/// While others wait for memory, a stream of unknown size that is not called for ten milliseconds or more gives its
/// context back. Its frame ends there, and what follows is another frame: decoders read them as one content.
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
    /// The cost of a slice, and whether it was opened by one before.
    key: CostKey,
    warm: bool,
    stage: Stage,
    /// Whether content was taken that a reader may not be able to decode yet.
    unflushed: bool,
    /// Content that was taken, and how much of it the engine has.
    gathered: Vec<u8>,
    given: usize,
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
            warm: false,
            key: CostKey::compress_slice(options, content_bytes),
            scheduler,
            stage: Stage::Fresh,
            unflushed: false,
            gathered: Vec::new(),
            given: 0,
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
            Decision::Sliced { .. } => SLICE_BYTES,
            _ => CHUNK_BYTES,
        }
    }

    /// Waits for the job on another thread, then writes out what is compressed.
    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
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
            if bytes > SLICE_BYTES {
                self.scheduler.model().observe(self.key, bytes, job.ns);
            }
            job.chunk.clear();
            // More may have been gathered meanwhile.
            if self.gathered.is_empty() {
                self.gathered = job.chunk;
            }
        }
        self.output = job.output;
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
                std::mem::take(&mut self.gathered),
                Task::Compress(std::mem::take(&mut self.given), operation),
            ),
        };
        let job = Box::new(Job::new(
            encoder,
            chunk,
            std::mem::take(&mut self.output),
            task,
            self.turn.away(),
        ));
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
        // Making tables is work, too.
        let next_ns = if to_open {
            0
        } else {
            model.predict_ns(self.key, SLICE_BYTES)
        };
        let threshold_ns = model.threshold_ns();
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
        let make = || scheduler.pooled_encoder(options, bytes, decision);
        let made = self.memory.poll_take(scheduler, need, context, make);
        let encoder = match ready!(made) {
            Ok(encoder) => encoder,
            Err(error) => return Poll::Ready(Err(self.fail(error))),
        };
        self.decision = decision;
        self.engine = Engine::Local(Box::new(encoder));
        self.stage = Stage::Open;
        if to_open {
            self.send(None, context);
        }
        self.poll_ready(context)
    }

    fn fail(&mut self, error: Error) -> io::Error {
        self.engine = Engine::Failed(error.clone());
        error.into()
    }

    /// Compresses content of at most a slice on this thread. Returns how much of it was taken and what is left
    /// to do.
    fn slice(&mut self, content: Slice<'_>, operation: Operation) -> io::Result<(usize, State)> {
        let Engine::Local(encoder) = &mut self.engine else {
            return Ok((0, State::MoreOutput));
        };
        let input = match content {
            Slice::Given(input) => input,
            Slice::Gathered(to) => &self.gathered[self.given..to],
        };
        let output = &mut self.output;
        let step = || {
            ROOM.with_borrow_mut(|room| {
                let step = encoder.step(input, room, operation, &mut Budget::slices(1))?;
                output.extend_from_slice(&room[..step.produced]);
                Ok::<_, Error>(step)
            })
        };
        let (step, ns) = match input.len() < TINY_BYTES {
            true => self.tiny.timed(step),
            false => timed(step),
        };
        self.turn.held(ns);
        let step = match step {
            Ok(step) => step,
            Err(error) => return Err(self.fail(error)),
        };
        // The first slice also makes the tables.
        if step.consumed == SLICE_BYTES && self.warm && self.slices() {
            self.scheduler.model().observe(self.key, SLICE_BYTES, ns);
        }
        self.warm = true;
        if let Slice::Gathered(_) = content {
            self.given += step.consumed;
        }
        Ok((step.consumed, step.state))
    }

    fn poll_turn(&mut self, bytes: usize, context: &mut Context<'_>) -> Poll<()> {
        let model = self.scheduler.model();
        let tiny_ns = self.tiny.expected_ns().filter(|_| bytes < TINY_BYTES);
        let next_ns = tiny_ns.unwrap_or_else(|| model.predict_ns(self.key, bytes));
        self.turn
            .poll_take(context, next_ns, model.threshold_ns(), Keeps::Context)
    }

    /// Gives the engine what is gathered, with this operation: here, slice by slice, or on another thread,
    /// which may still work when this is ready.
    fn poll_give(
        &mut self,
        operation: Operation,
        context: &mut Context<'_>,
    ) -> Poll<io::Result<()>> {
        ready!(self.poll_ready(context))?;
        if self.split && self.stage == Stage::Fresh && self.gathered.is_empty() {
            // All of it is in frames that have ended.
            return Poll::Ready(Ok(()));
        }
        ready!(self.poll_open(operation, context))?;
        loop {
            let rest = self.gathered.len() - self.given;
            if self.decision == Decision::Offload && !self.fits(rest) {
                self.send(Some(operation), context);
                return Poll::Ready(Ok(()));
            }
            let cut = rest.min(SLICE_BYTES);
            let last = cut == rest;
            ready!(self.poll_turn(cut, context));
            let operation = if last { operation } else { Operation::Continue };
            let (taken, state) = self.slice(Slice::Gathered(self.given + cut), operation)?;
            if last && taken == cut && state != State::MoreOutput {
                self.gathered.clear();
                self.given = 0;
                if self.slices() {
                    self.gathered.shrink_to(SLICE_BYTES);
                }
                return Poll::Ready(Ok(()));
            }
            ready!(self.poll_ready(context))?;
        }
    }

    /// Whether content is compressed in slices, here.
    fn slices(&self) -> bool {
        matches!(self.decision, Decision::Sliced { .. })
    }

    /// Whether this much is compressed here, although chunks are compressed on another thread.
    fn fits(&self, bytes: usize) -> bool {
        let model = self.scheduler.model();
        self.options.workers == 0
            && bytes <= SLICE_BYTES
            && model.predict_ns(self.key, bytes) <= model.threshold_ns()
    }
}

/// What a slice compresses.
enum Slice<'a> {
    Given(&'a [u8]),
    /// What is gathered, up to this byte.
    Gathered(usize),
}
