//! The state that all threads of a run share.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::Relaxed, Ordering::SeqCst};
use std::time::Instant;

use crossbeam_queue::ArrayQueue;

use super::notifier::Notifier;
use crate::batch::Batch;
use crate::codec::{Compress, Decompress};
use crate::counts::{Counts, Tally};
use crate::data::Data;
use crate::fault::Every;
use crate::live::{Live, LiveTally};
use crate::plan::Plan;
use crate::pool::Pool;

/// The state that all threads of a run share.
pub(super) struct Shared<'p> {
    pub(super) plan: &'p Plan,
    pub(super) data: Data,
    pub(super) compressors: Pool<Box<dyn Compress>>,
    pub(super) decompressors: Pool<Box<dyn Decompress>>,
    pub(super) queue: ArrayQueue<Batch>,
    /// Empty batches.
    pub(super) spare: ArrayQueue<Batch>,
    pub(super) notifier: Notifier,
    /// Producers must stop.
    pub(super) stop: AtomicBool,
    /// Threads whose producers have not ended.
    pub(super) producing: AtomicUsize,
    /// Threads that run.
    pub(super) live: AtomicUsize,
    /// Blocks that may still be begun.
    pub(super) tickets: AtomicU64,
    pub(super) corrupt: Every,
    pub(super) tallies: Vec<Tally>,
    /// One per thread, or none when the plan does not ask for live distributions.
    pub(super) live_tallies: Vec<LiveTally>,
    pub(super) start: Instant,
}

impl Shared<'_> {
    /// Whether producers must not begin another block.
    pub(super) fn ending(&self) -> bool {
        self.stop.load(Relaxed) || self.tickets.load(Relaxed) == 0
    }

    /// Whether the queue gets nothing more, or must be emptied at once.
    pub(super) fn draining(&self) -> bool {
        self.stop.load(Relaxed) || self.producing.load(SeqCst) == 0
    }

    /// Takes up to `most` of the blocks that may still be begun.
    pub(super) fn tickets(&self, most: u64) -> u64 {
        if self.plan.blocks_max.is_none() {
            return most;
        }
        let take = |left: u64| Some(left - most.min(left));
        let before = self.tickets.fetch_update(Relaxed, Relaxed, take);
        before.unwrap_or(0).min(most)
    }

    pub(super) fn counts(&self) -> Counts {
        let mut counts = Counts::default();
        self.tallies.iter().for_each(|tally| counts += tally.read());
        counts
    }

    /// The distributions so far, if they are kept.
    pub(super) fn live_now(&self) -> Option<Live> {
        let mut all = self.live_tallies.iter().map(LiveTally::read);
        let first = all.next()?;
        Some(all.fold(first, |mut sum, one| {
            sum += one;
            sum
        }))
    }
}
