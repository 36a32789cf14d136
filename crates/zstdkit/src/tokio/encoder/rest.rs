//! Between the calls of an encoder its context can be given to others.

use std::sync::atomic::Ordering::Relaxed;
use std::task::{Context, Poll, ready};

use ::tokio::io::AsyncWrite;

use super::{AsyncEncoder, COLD_BYTES, Engine, Stage};
use crate::schedule::Decision;
use crate::tokio::berth::{Berth, Found, Lying};

/// While all contexts together hold no more than this part of the budget, none need be given to others.
const AMPLE: u64 = 8;

impl<W: AsyncWrite + Unpin> AsyncEncoder<W> {
    /// Ends a call: leaves the context where others can have it, if the stream can go on with another frame.
    /// `done`: nothing of the call is left.
    pub(super) fn rest(&mut self, done: bool) {
        let can_split = self.content_bytes.is_none() && self.options.workers == 0;
        let between = self.stage == Stage::Open && self.given == 0 && !self.turn.waits();
        let ledger = self.scheduler.pool().ledger();
        let ample = ledger.held_bytes.load(Relaxed) <= ledger.budget_bytes / AMPLE;
        if !can_split || !between || ample && matches!(self.engine, Engine::Local(_)) {
            return;
        }
        let lying = match std::mem::replace(&mut self.engine, Engine::Resting) {
            Engine::Local(encoder) => Lying::Encoder(encoder),
            Engine::Offloaded(running) if done => Lying::Job(running),
            other => {
                self.engine = other;
                return;
            }
        };
        let berth = || Berth::new(&ledger.line);
        self.berth.get_or_insert_with(berth).put(lying);
    }

    /// Begins a call: takes back the context, or what is left of the frame that others have ended.
    pub(super) fn poll_resume(&mut self, context: &Context<'_>) -> Poll<()> {
        let (Engine::Resting, Some(berth)) = (&self.engine, &self.berth) else {
            return Poll::Ready(());
        };
        self.engine = match ready!(berth.poll_take(context)) {
            Some(Found::Lying(Lying::Encoder(encoder))) => Engine::Local(encoder),
            Some(Found::Lying(Lying::Job(running))) => Engine::Offloaded(running),
            Some(Found::Ended(Ok(rest))) => {
                self.output.extend_from_slice(&rest);
                self.begin_again();
                Engine::None
            }
            Some(Found::Ended(Err(error))) => Engine::Failed(error),
            None => Engine::None,
        };
        Poll::Ready(())
    }

    /// What follows is another frame.
    fn begin_again(&mut self) {
        self.split = true;
        self.stage = Stage::Fresh;
        self.turn.give_back();
        self.decision = Decision::Offload;
        self.cold_bytes = COLD_BYTES;
        self.unflushed = !self.gathered.is_empty();
    }
}
