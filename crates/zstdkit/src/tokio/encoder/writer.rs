//! How an encoder is written to, flushed and shut down.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use ::tokio::io::AsyncWrite;
use turns::{Keeps, timed};

use super::slices::Slice;
use super::{AsyncEncoder, Engine, Stage};
use crate::sliced::SLICE_BYTES;
use crate::step::Operation;

/// From this length on a write is compressed without a copy, also where a longer slice could be gathered.
const UNCOPIED_BYTES: usize = 64 << 10;
/// About how long it takes to copy as much as a slice into memory that was not used before.
const GATHER_NS: u64 = 5_000;

impl<W: AsyncWrite + Unpin> AsyncEncoder<W> {
    fn poll_flush_all(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_ready(context))?;
        if self.unflushed && matches!(self.stage, Stage::Fresh | Stage::Open) {
            ready!(self.poll_give(Operation::Flush, context))?;
            self.unflushed = false;
            ready!(self.poll_ready(context))?;
        }
        Poll::Ready(Ok(()))
    }

    /// Waits for a turn each time as much as a slice is gathered for a chunk. Chunks of many streams add up, although
    /// they are only copied.
    fn poll_gather(&mut self, bytes: usize, context: &mut Context<'_>) -> Poll<()> {
        let before = self.gathered.len() / SLICE_BYTES;
        let slices = (self.gathered.len() + bytes) / SLICE_BYTES - before;
        if slices == 0 || self.slices() {
            return Poll::Ready(());
        }
        let keeps = match self.engine {
            Engine::Local(_) => Keeps::Context,
            // What cannot be compressed yet need not be gathered.
            _ if self.stage == Stage::Fresh => Keeps::NewContext,
            _ => Keeps::Nothing,
        };
        let next_ns = GATHER_NS * slices as u64;
        let threshold_ns = self.scheduler.model().slice_threshold_ns();
        ready!(self.turn.poll_take(context, next_ns, threshold_ns, keeps));
        self.turn.held(next_ns);
        Poll::Ready(())
    }

    /// Takes content, while the frame is open.
    fn poll_content(&mut self, input: &[u8], context: &mut Context<'_>) -> Poll<io::Result<usize>> {
        match &self.engine {
            // What is little is only kept.
            Engine::None | Engine::Resting | Engine::Local(_)
                if self.given == 0
                    && self.gathered.len() + input.len() < self.gather_bytes_max() =>
            {
                ready!(self.poll_gather(input.len(), context));
                self.gathered.extend_from_slice(input);
                self.unflushed |= !input.is_empty();
                return Poll::Ready(Ok(input.len()));
            }
            _ if input.is_empty() => return Poll::Ready(Ok(0)),
            _ => {}
        }
        let taken = self.poll_take(input, context);
        self.unflushed |= matches!(taken, Poll::Ready(Ok(_)));
        self.rest(taken.is_ready());
        taken
    }

    fn poll_take(&mut self, input: &[u8], context: &mut Context<'_>) -> Poll<io::Result<usize>> {
        loop {
            ready!(self.poll_room(context))?;
            self.look_for_the_cache(self.gathered.len() + input.len());
            let most = self.gather_bytes_max();
            if self.given > 0 || self.gathered.len() >= most {
                ready!(self.poll_give(Operation::Flush, context))?;
            } else if self.slices()
                && self.gathered.is_empty()
                && input.len() >= most.min(UNCOPIED_BYTES)
            {
                let cut = self.slice_bytes(input.len().min(most));
                ready!(self.poll_turn(cut, context));
                let slice = Slice::Given(&input[..cut]);
                let (taken, _) = self.slice(slice, Operation::Flush)?;
                if taken > 0 {
                    return Poll::Ready(Ok(taken));
                }
            } else {
                let count = input.len().min(most - self.gathered.len());
                ready!(self.poll_gather(count, context));
                self.gathered.extend_from_slice(&input[..count]);
                // Another thread works while the caller makes the next chunk.
                let full = self.gathered.len() == most;
                if full && self.stage == Stage::Open && self.sends(most) {
                    self.send(Some(Operation::Flush), context);
                }
                return Poll::Ready(Ok(count));
            }
        }
    }
}

impl<W: AsyncWrite + Unpin> AsyncWrite for AsyncEncoder<W> {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        input: &[u8],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        match &this.engine {
            Engine::Failed(error) => return Poll::Ready(Err(error.clone().into())),
            _ if matches!(this.stage, Stage::Ended | Stage::Shut) => {
                return Poll::Ready(Err(io::Error::new(
                    io::ErrorKind::BrokenPipe,
                    "write after the end of the frame",
                )));
            }
            _ => this.check_size(input.len())?,
        }
        let taken = this.poll_content(input, context);
        if let Poll::Ready(Ok(count)) = &taken {
            this.taken += *count as u64;
        }
        taken
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let flushed = this.poll_flush_all(context);
        this.rest(flushed.is_ready());
        ready!(flushed)?;
        Pin::new(&mut this.writer).poll_flush(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if this.stage == Stage::Shut {
            return Poll::Ready(Ok(()));
        }
        if this.stage != Stage::Ended {
            ready!(this.poll_give(Operation::End, context))?;
            this.unflushed = false;
            this.stage = Stage::Ended;
        }
        ready!(this.poll_engine(context))?;
        // Others may have the context while the rest is written. If there are enough of them it is freed.
        let ((), ns) = timed(|| this.engine = Engine::None);
        this.turn.held(ns);
        this.turn.give_back();
        (this.gathered, this.spare) = (Vec::new(), Vec::new());
        ready!(this.poll_write_out(context))?;
        ready!(Pin::new(&mut this.writer).poll_shutdown(context))?;
        this.stage = Stage::Shut;
        Poll::Ready(Ok(()))
    }
}
