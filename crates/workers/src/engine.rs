//! What a worker needs of a broker: three calls, and to hear that it is away.

use std::future::Future;
use std::time::Duration;

use crate::block::{Block, BlockId, Delivery, Place};
use crate::error::Result;

/// How long a broker is away before it is believed, for one that restarts is back soon.
#[cfg(any(feature = "nats", feature = "kafka", feature = "simulation"))]
pub(crate) const AWAY: Duration = Duration::from_secs(1);
/// How often to look whether another worker has taken over.
#[cfg(any(feature = "nats", feature = "kafka"))]
pub(crate) const TAKEN_LOOK: Duration = Duration::from_secs(2);

/// A stream of blocks, a stream of answers to them, and a stream for blocks that cannot be answered.
///
/// Futures are polled on one thread. Each call may be repeated.
pub trait Engine {
    /// What acknowledges a delivery.
    type Token;

    /// Waits for the next block, and asks the broker for at most `free` of them ahead. Returns after a second or so
    /// without one. With `free` 0 it asks for nothing, and returns only what was asked for before; `None` then means
    /// that nothing more will come.
    fn next_block(
        &self,
        free: usize,
    ) -> impl Future<Output = Result<Option<Delivery<Self::Token>>>>;

    /// Publishes what became of the delivery that stands at `of`, and waits until the broker has stored it, or says that
    /// it has stored one with this id before.
    fn publish(
        &self,
        to: To,
        of: &Place,
        id: &BlockId,
        block: &Block,
    ) -> impl Future<Output = Result<Published>>;

    /// Tells the broker about a delivery.
    fn ack(&self, token: &Self::Token, verdict: Verdict) -> impl Future<Output = Result<()>>;

    /// Waits until the broker has been away for a moment, so that nothing can be stored. Asked when a worker is to end.
    fn away(&self) -> impl Future<Output = ()>;
}

/// Where a block is published.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum To {
    /// To the answers.
    Answers,
    /// To the blocks that cannot be answered.
    DeadLetters,
}

/// What became of a block that was published.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Published {
    /// It is stored.
    Stored,
    /// One with this id was stored before, and this one was not.
    Duplicate,
}

/// What is told about a delivery.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It is done.
    Done,
    /// It is being worked on: the broker waits as long again.
    Progress,
    /// It is not done: the broker gives it out again after this time.
    Again(Duration),
    /// It shall not be given out again.
    Never,
}
