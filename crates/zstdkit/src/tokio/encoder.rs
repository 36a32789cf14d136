//! A writer that compresses.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use ::tokio::io::AsyncWrite;

use super::scheduler::{CHUNK_BYTES, PooledEncoder, Scheduler, timed};
use super::turn::{self, Turn};
use crate::error::Error;
use crate::options::EncoderOptions;
use crate::schedule::{CostKey, Decision, OffloadFuture};
use crate::sliced::{Budget, SLICE_BYTES};
use crate::step::{Operation, State};

impl Scheduler {
    /// A writer that compresses into `writer`, one frame of this size (`None`: not known).
    pub fn encoder<W: AsyncWrite + Unpin>(
        &self,
        writer: W,
        options: &EncoderOptions,
        content_bytes: Option<u64>,
    ) -> Result<AsyncEncoder<W>, Error> {
        AsyncEncoder::new(self.clone(), writer, options, content_bytes)
    }
}

/// Compresses everything written to it into one frame, which goes to another writer.
///
/// A write takes at most one slice, or copies into a chunk of 128 KiB that is compressed on another
/// thread. No call works for longer than a slice. A flush writes out everything that was taken, so that a
/// reader can decode it; it compresses less. Only a shutdown ends the frame.
///
/// Dropping it at any time loses only what was not yet written. After a compression error every call
/// fails with that error. An error of the writer is passed on, and the call may be repeated.
#[derive(Debug)]
pub struct AsyncEncoder<W> {
    writer: W,
    scheduler: Scheduler,
    options: EncoderOptions,
    content_bytes: Option<u64>,
    engine: Engine,
    /// Whether slices are compressed on this thread.
    sliced: bool,
    /// Whether another thread is still to make the tables of the frame.
    to_open: bool,
    stage: Stage,
    /// Whether content was taken that a reader may not be able to decode yet.
    unflushed: bool,
    /// Compressed bytes, and how many of them were written.
    output: Vec<u8>,
    written: usize,
    /// Content for the next chunk, if chunks are offloaded.
    chunk: Vec<u8>,
    turn: Turn,
}

#[derive(Debug)]
enum Engine {
    Local(Box<PooledEncoder>),
    Offloaded(OffloadFuture<Box<Job>>),
    Failed(Error),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    Open,
    /// The frame has ended, but is not yet written out.
    Ended,
    Shut,
}

/// A chunk that another thread compresses, with everything that this touches.
#[derive(Debug)]
struct Job {
    encoder: Box<PooledEncoder>,
    chunk: Vec<u8>,
    output: Vec<u8>,
    operation: Operation,
    open: bool,
    result: Result<(), Error>,
    ns: u64,
}

impl<W: AsyncWrite + Unpin> AsyncEncoder<W> {
    fn new(
        scheduler: Scheduler,
        writer: W,
        options: &EncoderOptions,
        content_bytes: Option<u64>,
    ) -> Result<Self, Error> {
        let decision = scheduler.model().decide_stream(options, content_bytes);
        let encoder = scheduler.pooled_encoder(options, content_bytes, decision)?;
        Ok(Self {
            writer,
            options: options.clone(),
            content_bytes,
            engine: Engine::Local(Box::new(encoder)),
            sliced: matches!(decision, Decision::Sliced { .. }),
            to_open: scheduler.model().opens_slowly(options, content_bytes),
            scheduler,
            stage: Stage::Open,
            unflushed: false,
            output: Vec::new(),
            written: 0,
            chunk: Vec::new(),
            turn: Turn::default(),
        })
    }

    /// The writer.
    pub fn get_ref(&self) -> &W {
        &self.writer
    }

    /// The writer. The frame is complete only after a shutdown.
    pub fn into_inner(self) -> W {
        self.writer
    }

    /// Waits for the job on another thread, then writes out what is compressed.
    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
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
        if !job.open && job.chunk.len() > SLICE_BYTES {
            let key = CostKey::compress_slice(&self.options, self.content_bytes);
            self.scheduler.model().observe(key, job.chunk.len(), job.ns);
        }
        if !self.sliced {
            job.chunk.clear();
            self.chunk = job.chunk;
        }
        self.output = job.output;
        Engine::Local(job.encoder)
    }

    /// Sends the current chunk, or only the opening of the frame, to another thread.
    fn send(&mut self, operation: Operation, open: bool, context: &mut Context<'_>) {
        let stopped = || Engine::Failed(crate::schedule::OffloadError::Stopped.into());
        let encoder = match std::mem::replace(&mut self.engine, stopped()) {
            Engine::Local(encoder) => encoder,
            other => {
                self.engine = other;
                return;
            }
        };
        let job = Box::new(Job {
            encoder,
            chunk: if open {
                Vec::new()
            } else {
                std::mem::take(&mut self.chunk)
            },
            output: std::mem::take(&mut self.output),
            operation,
            open,
            result: Ok(()),
            ns: 0,
        });
        let mut running = self.scheduler.offload().run(move || job.run());
        // The first poll queues it. If it has already finished, take the result.
        self.engine = match Pin::new(&mut running).poll(context) {
            Poll::Pending => Engine::Offloaded(running),
            Poll::Ready(Ok(job)) => self.take_back(*job),
            Poll::Ready(Err(error)) => Engine::Failed(error.into()),
        };
    }

    /// Compresses one slice on this thread. Returns how much of the input it took and what is left to do.
    fn slice(&mut self, input: &[u8], operation: Operation) -> io::Result<(usize, State)> {
        let Engine::Local(encoder) = &mut self.engine else {
            return Ok((0, State::MoreOutput));
        };
        let mut rest = input;
        let before = encoder.gathered();
        let output = &mut self.output;
        let (state, ns) =
            timed(|| encoder.step_into(&mut rest, output, operation, &mut Budget::slices(1)));
        turn::held(ns);
        let state = state.inspect_err(|error| {
            self.engine = Engine::Failed(error.clone());
        })?;
        let taken = input.len() - rest.len();
        let whole_block = before == 0 && taken == SLICE_BYTES;
        // The first slice also makes the tables.
        if whole_block && self.unflushed {
            let key = CostKey::compress_slice(&self.options, self.content_bytes);
            self.scheduler.model().observe(key, SLICE_BYTES, ns);
        }
        Ok((taken, state))
    }

    fn poll_turn(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let model = self.scheduler.model();
        let key = CostKey::compress_slice(&self.options, self.content_bytes);
        let next_ns = model.predict_ns(key, SLICE_BYTES);
        self.turn.poll_take(context, next_ns, model.threshold_ns())
    }

    /// Ready to compress: no job on another thread, nothing to write, tables made, no need to yield.
    fn poll_prepared(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_ready(context))?;
        if self.to_open && self.stage == Stage::Open {
            self.to_open = false;
            self.send(Operation::Continue, true, context);
            ready!(self.poll_ready(context))?;
        }
        if self.sliced {
            ready!(self.poll_turn(context));
        }
        Poll::Ready(Ok(()))
    }

    /// Compresses everything that was taken, with this operation, and writes it out.
    fn poll_complete(
        &mut self,
        operation: Operation,
        context: &mut Context<'_>,
    ) -> Poll<io::Result<()>> {
        ready!(self.poll_prepared(context))?;
        if !self.sliced {
            self.send(operation, false, context);
        } else {
            while self.slice(&[], operation)?.1 == State::MoreOutput {
                ready!(self.poll_turn(context));
            }
        }
        self.unflushed = false;
        if operation == Operation::End {
            self.stage = Stage::Ended;
        }
        self.poll_ready(context)
    }
}

impl Job {
    fn run(mut self: Box<Self>) -> Box<Self> {
        let (result, ns) = timed(|| {
            if self.open {
                return self.encoder.open();
            }
            let (mut rest, mut budget) = (&self.chunk[..], Budget::slices(u32::MAX));
            let (encoder, output) = (&mut self.encoder, &mut self.output);
            encoder
                .step_into(&mut rest, output, self.operation, &mut budget)
                .map(drop)
        });
        self.result = result;
        self.ns = ns;
        self
    }
}

impl<W: AsyncWrite + Unpin> AsyncWrite for AsyncEncoder<W> {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        input: &[u8],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        if let Engine::Failed(error) = &this.engine {
            return Poll::Ready(Err(error.clone().into()));
        }
        if this.stage != Stage::Open {
            return Poll::Ready(Err(io::Error::new(
                io::ErrorKind::BrokenPipe,
                "write after the end of the frame",
            )));
        }
        ready!(this.poll_prepared(context))?;
        if input.is_empty() {
            return Poll::Ready(Ok(0));
        }
        if this.sliced {
            let (taken, _) = this.slice(input, Operation::Continue)?;
            this.unflushed = true;
            return Poll::Ready(Ok(taken));
        }
        let count = input.len().min(CHUNK_BYTES - this.chunk.len());
        this.chunk.extend_from_slice(&input[..count]);
        this.unflushed = true;
        if this.chunk.len() == CHUNK_BYTES {
            this.send(Operation::Continue, false, context);
        }
        Poll::Ready(Ok(count))
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        ready!(this.poll_ready(context))?;
        if this.unflushed && this.stage == Stage::Open {
            ready!(this.poll_complete(Operation::Flush, context))?;
        }
        Pin::new(&mut this.writer).poll_flush(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if this.stage == Stage::Shut {
            return Poll::Ready(Ok(()));
        }
        if this.stage == Stage::Open {
            ready!(this.poll_complete(Operation::End, context))?;
        }
        ready!(this.poll_ready(context))?;
        ready!(Pin::new(&mut this.writer).poll_shutdown(context))?;
        this.stage = Stage::Shut;
        Poll::Ready(Ok(()))
    }
}
