//! Slices: what of a stream is compressed where it is written.

use std::io;
use std::task::{Context, Poll};

use ::tokio::io::AsyncWrite;
use turns::{Keeps, timed};

use super::{AsyncEncoder, COLD_BYTES, Engine};
use crate::schedule::Decision;
use crate::sliced::SLICE_BYTES;
use crate::step::{Operation, State};
use crate::tokio::room;
use crate::tokio::tiny::TINY_BYTES;

/// About how many times as long a slice takes that brings the context to the cache.
const COLD_TIMES: usize = 2;

impl<W: AsyncWrite + Unpin> AsyncEncoder<W> {
    /// Decides anew where content is compressed, after something was learned.
    pub(super) fn decide(&mut self) {
        let options = &self.options;
        if self.decision != Decision::Inline && options.workers == 0 && options.prefix.is_none() {
            let model = self.scheduler.model();
            self.decision = model.decide_slice(self.key, model.slice_threshold_ns());
        }
    }

    /// Compresses content of at most a slice on this thread. Returns how much of it was taken and what is left
    /// to do.
    pub(super) fn slice(
        &mut self,
        content: Slice<'_>,
        operation: Operation,
    ) -> io::Result<(usize, State)> {
        let Engine::Local(encoder) = &mut self.engine else {
            return Ok((0, State::MoreOutput));
        };
        let input = match content {
            Slice::Given(input) => input,
            Slice::Gathered(to) => &self.gathered[self.given..to],
        };
        let output = &mut self.output;
        let bytes = input.len();
        let step = || room::compress(encoder, input, output, operation);
        let (step, ns) = match bytes < TINY_BYTES {
            true => self.tiny.timed(step),
            false => timed(step),
        };
        // Little content uses little of the context: what others left of the cache is still there.
        match bytes < TINY_BYTES {
            true => self.turn.held(ns),
            false => self.turn.held_with(ns, encoder.address()),
        }
        let step = match step {
            Ok(step) => step,
            Err(error) => return Err(self.fail(error)),
        };
        // A slice that brings the context to the cache says little of the others, but when it is too long for any.
        let model = self.scheduler.model();
        let counts = self.cold_bytes == 0
            || ns > model.slice_threshold_ns()
            || ns < model.predict_ns(self.key, bytes);
        match self.cold_bytes {
            0 if bytes >= SLICE_BYTES => self.pace.observe(model, self.key, bytes, ns),
            0 => {}
            _ => self.pace.clear(),
        }
        self.cold_bytes = self.cold_bytes.saturating_sub(bytes);
        if bytes >= SLICE_BYTES && step.consumed == bytes && counts {
            model.observe(self.key, bytes, ns);
            self.decide();
        }
        if bytes >= SLICE_BYTES {
            self.long_bytes = self.longest_bytes();
        }
        if let Slice::Gathered(_) = content {
            self.given += step.consumed;
        }
        Ok((step.consumed, step.state))
    }

    /// If another context was used here since, this one must come to the cache again for this much content: short slices
    /// do that.
    pub(super) fn look_for_the_cache(&mut self, bytes: usize) {
        if bytes >= TINY_BYTES
            && let Engine::Local(encoder) = &self.engine
            && !self.turn.is_warm(encoder.address())
        {
            self.cold_bytes = COLD_BYTES;
        }
    }

    pub(super) fn poll_turn(&mut self, bytes: usize, context: &mut Context<'_>) -> Poll<()> {
        let model = self.scheduler.model();
        let tiny_ns = self.tiny.expected_ns().filter(|_| bytes < TINY_BYTES);
        let next_ns = tiny_ns.unwrap_or_else(|| model.predict_ns(self.key, bytes));
        self.turn
            .poll_take(context, next_ns, model.slice_threshold_ns(), Keeps::Context)
    }

    /// Whether content is compressed in slices, here.
    pub(super) fn slices(&self) -> bool {
        matches!(self.decision, Decision::Sliced { .. })
    }

    /// How much of this is compressed in one call, here: as much as slices have, or more while another thread has nothing
    /// to do.
    pub(super) fn slice_bytes(&self, rest: usize) -> usize {
        let Decision::Sliced { slice_bytes } = self.decision else {
            return rest;
        };
        let (most, times) = match self.cold_bytes {
            0 => (slice_bytes, 1),
            _ => (SLICE_BYTES, COLD_TIMES),
        };
        match rest > most {
            true => rest.min(most.max(self.longest_bytes() / times)),
            false => rest,
        }
    }

    /// The longest slice that there may be while another thread has nothing to do. 0: there is no such thread, it is
    /// not known how long slices take, or the hardest of late took longer than even that thread allows.
    fn longest_bytes(&self) -> usize {
        let model = self.scheduler.model();
        if self.options.prefix.is_some() || !model.is_by_default() {
            return 0;
        }
        let within_ns = self.turn.longest_ns(model.slice_threshold_ns());
        model.surely_within(self.key, within_ns)
    }

    /// Whether this much is sent to another thread.
    pub(super) fn sends(&self, bytes: usize) -> bool {
        self.decision == Decision::Offload && self.here_bytes(bytes).is_none()
    }

    /// How much of this is compressed here although slices are too long for that as a rule: what is little, or as
    /// long a slice as may be while another thread has nothing to do.
    pub(super) fn here_bytes(&self, bytes: usize) -> Option<usize> {
        let model = self.scheduler.model();
        let threshold_ns = model.slice_threshold_ns();
        if self.options.workers > 0 {
            return None;
        }
        if bytes <= SLICE_BYTES && model.predict_ns(self.key, bytes) <= threshold_ns {
            return Some(bytes);
        }
        match self.longest_bytes() {
            0 => None,
            longest => Some(bytes.min(longest)),
        }
    }
}

/// What a slice compresses.
pub(super) enum Slice<'a> {
    Given(&'a [u8]),
    /// What is gathered, up to this byte.
    Gathered(usize),
}

#[cfg(test)]
mod tests;
