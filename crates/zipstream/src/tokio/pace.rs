//! The part of a writer or a reader in the turns of its thread, and what its calls take.

use std::future::poll_fn;
use std::task::{Context, Poll};

use turns::{Keeps, Rate, THRESHOLD_NS, Turn, timed};

/// The rate at which content is copied.
const COPY_BYTES_PER_NS: u64 = 4;
/// The most content of a step.
const PIECE_BYTES: u64 = 128 << 10;
/// What an entry costs besides its content.
const ENTRY_NS: u64 = 200;

/// When a writer or a reader works. It yields to the runtime where all that compute on its thread, whoever they are,
/// would otherwise hold it for longer than [`THRESHOLD_NS`].
#[derive(Debug)]
pub(super) struct Pace {
    turn: Turn,
    rate: Rate,
    last_ns: u64,
    /// What long calls have taken lately. Many are short, because they find that something is missing.
    usual_ns: u64,
}

impl Pace {
    /// One whose work takes so many nanoseconds for 1 KiB, until it is known better.
    pub(super) fn new(ns_per_kib: u64) -> Self {
        let rate = Rate::new(ns_per_kib);
        Self {
            turn: Turn::new(),
            rate,
            last_ns: 0,
            usual_ns: rate.predict_ns(PIECE_BYTES),
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

    /// How long copying will probably take.
    pub(super) fn to_copy(bytes: u64) -> u64 {
        bytes / COPY_BYTES_PER_NS + 1
    }

    /// How long work like that before will probably take.
    pub(super) fn to_go_on(&self) -> u64 {
        self.usual_ns
    }

    /// Waits until work of this length may begin.
    pub(super) async fn take(&mut self, next_ns: u64) {
        poll_fn(|context| self.poll_take(next_ns, context)).await;
    }

    /// The same for poll functions.
    pub(super) fn poll_take(&mut self, next_ns: u64, context: &mut Context<'_>) -> Poll<()> {
        self.turn
            .poll_take(context, next_ns, THRESHOLD_NS, Keeps::Nothing)
    }

    /// Works, and counts the time.
    pub(super) fn work<T>(&mut self, work: impl FnOnce() -> T) -> T {
        let (value, ns) = timed(work);
        self.turn.held(ns);
        self.last_ns = ns;
        self.usual_ns = ns.max(self.usual_ns - self.usual_ns / 8);
        value
    }

    /// Learns that the last work was on this much content.
    pub(super) fn worked_on(&mut self, bytes: u64) {
        self.rate.observe(bytes, self.last_ns);
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
