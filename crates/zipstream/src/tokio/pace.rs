//! The part of a writer or a reader in the turns of its thread, and what its calls take.

use std::future::poll_fn;
use std::task::{Context, Poll};

use turns::{Keeps, Rate, Turn, timed};

use crate::write::Budget;

/// The rate at which content is copied.
const COPY_BYTES_PER_NS: u64 = 4;
/// The least and the most content of a step.
const PIECE_BYTES_MIN: u64 = 4 << 10;
const PIECE_BYTES: u64 = 128 << 10;
/// What an entry costs besides its content.
const ENTRY_NS: u64 = 200;
/// The least and the most that a step on a directory costs.
const STEP_COST_MIN: u64 = 2 << 10;
const STEP_COST_MAX: u64 = 32 << 10;
/// Steps that a turn has room for, and the least bytes of a copy in one.
const STEPS: u64 = 4;
const COPY_BYTES_MIN: u64 = 16 << 10;
/// What costs so much takes a nanosecond or longer, whatever a clock says: so turns end after a bounded number of records.
const COST_PER_NS_MAX: u64 = 4;

/// The same for the bytes of content.
const CONTENT_BYTES_PER_NS_MAX: u64 = 16;

/// When a writer or a reader works. It yields to the runtime where all that compute on its thread, whoever they are,
/// would otherwise hold it for longer than a threshold.
#[derive(Debug)]
pub(super) struct Pace {
    turn: Turn,
    rate: Rate,
    last_ns: u64,
    threshold_ns: u64,
    /// What steps on directories take by their cost.
    steps: Rate,
}

impl Pace {
    /// One whose work takes so many nanoseconds for 1 KiB, until it is known better.
    pub(super) fn new(ns_per_kib: u64, threshold_ns: u64) -> Self {
        Self {
            turn: Turn::new(),
            rate: Rate::new(ns_per_kib),
            last_ns: 0,
            threshold_ns,
            steps: Rate::new(1024),
        }
    }

    /// What work on this much content takes.
    pub(super) fn rate(&mut self) -> &mut Rate {
        &mut self.rate
    }

    /// How long work on this much content will probably take.
    pub(super) fn to_work(&self, bytes: u64) -> u64 {
        self.rate.predict_ns(bytes)
    }

    /// The content of a step, so that two of them fit into a turn.
    pub(super) fn piece_bytes(&self) -> usize {
        let bytes = self.rate.bytes_within(self.threshold_ns / 2);
        bytes.clamp(PIECE_BYTES_MIN, PIECE_BYTES) as usize
    }

    /// How long copying will probably take.
    pub(super) fn to_copy(bytes: u64) -> u64 {
        bytes / COPY_BYTES_PER_NS + 1
    }

    /// Waits until work of this length may begin.
    pub(super) async fn take(&mut self, next_ns: u64) {
        poll_fn(|context| self.poll_take(next_ns, context)).await;
    }

    /// The same for poll functions.
    pub(super) fn poll_take(&mut self, next_ns: u64, context: &mut Context<'_>) -> Poll<()> {
        self.turn
            .poll_take(context, next_ns, self.threshold_ns, Keeps::Nothing)
    }

    /// How much is copied in one go.
    pub(super) fn copy_bytes(&self) -> u64 {
        (self.threshold_ns / 2)
            .saturating_mul(COPY_BYTES_PER_NS)
            .clamp(COPY_BYTES_MIN, PIECE_BYTES * 2)
    }

    /// Waits for a turn, and does a step of work on a directory within a budget.
    pub(super) async fn step<T>(&mut self, step: impl FnOnce(&mut Budget) -> T) -> T {
        let most = self.steps.bytes_within(self.threshold_ns / STEPS);
        let most = most.clamp(STEP_COST_MIN, STEP_COST_MAX);
        self.take(self.steps.predict_ns(most)).await;
        let mut budget = Budget::bytes(most);
        let (value, ns) = timed(|| step(&mut budget));
        let cost = most - budget.left();
        self.steps.observe(cost, ns);
        self.turn.held(ns.max(cost / COST_PER_NS_MAX));
        value
    }

    /// Works, and counts the time.
    pub(super) fn work<T>(&mut self, work: impl FnOnce() -> T) -> T {
        let (value, ns) = timed(work);
        self.turn.held(ns);
        self.last_ns = ns;
        value
    }

    /// Learns that the last work was on this much content.
    pub(super) fn worked_on(&mut self, bytes: u64) {
        self.rate.observe(bytes, self.last_ns);
        let least_ns = bytes / CONTENT_BYTES_PER_NS_MAX;
        if least_ns > self.last_ns {
            self.turn.held(least_ns - self.last_ns);
        }
    }

    /// Counts content that was only copied, without looking at a clock.
    pub(super) fn copied(&mut self, bytes: u64) {
        self.turn.held(Self::to_copy(bytes));
    }

    /// Counts the beginning of an entry.
    pub(super) fn entry(&mut self) {
        self.turn.held(ENTRY_NS);
    }
}
