//! What a run shall do, as plain data.

use std::num::NonZeroU64;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use latency::{IntervalLog, RATE_MAX_PER_S, RateError};

use crate::data::{BLOCK_BYTES_MAX, DataKind};
use crate::error::Error;
use crate::fault::Faults;
use crate::pool::PoolKind;

/// Most producers, and most consumers.
const WORKERS_MAX: u32 = 100_000;
/// Most threads.
const THREADS_MAX: usize = 1024;
/// Blocks of a batch, where the plan does not say, and what they may hold together.
const BATCH_BLOCKS: usize = 16;
const BATCH_BYTES: usize = 256 << 10;
/// Batches of the queue, where the plan does not say, and what they may hold together.
const QUEUE_BATCHES: usize = 64;
const QUEUE_BYTES: usize = 32 << 20;
/// Most blocks of a batch, and batches of a queue.
const BLOCKS_MAX: usize = 65_536;

/// What producers do with a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Loop {
    /// Each block is generated, compressed, sent, decompressed and verified.
    Honest,
    /// Each producer compresses one block and sends it for ever. What is measured is decompression.
    Seed,
}

/// When blocks are begun.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Pace {
    /// As soon as there is a turn for them.
    Closed,
    /// At equal distances, so many a second over all producers.
    Uniform(f64),
    /// At exponentially distributed distances, so many a second.
    Poisson(f64),
}

/// Bytes held for a run outside of it. Clones are the same number.
#[derive(Debug, Clone, Default)]
pub struct HeldOutside(Arc<AtomicU64>);

impl HeldOutside {
    /// That many are held now.
    pub fn set(&self, bytes: u64) {
        self.0.store(bytes, Relaxed);
    }

    /// How many are held.
    #[must_use]
    pub fn get(&self) -> u64 {
        self.0.load(Relaxed)
    }
}

/// Whether both are the same number.
impl PartialEq for HeldOutside {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

/// What a run shall do.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// What producers do.
    pub work: Loop,
    /// When they do it.
    pub pace: Pace,
    /// How contexts are kept.
    pub pool: PoolKind,
    /// Logical producers.
    pub producers: u32,
    /// Logical consumers.
    pub consumers: u32,
    /// Threads that all of them take turns on.
    pub threads: usize,
    /// Blocks that are sent together. `None`: 16, less where blocks are large.
    pub batch_blocks: Option<usize>,
    /// Batches that may wait for a consumer. `None`: 64, less where blocks are large.
    pub queue_batches: Option<usize>,
    /// What blocks hold.
    pub data: DataKind,
    /// The least content of a block.
    pub bytes_min: usize,
    /// Content of a block stays below this, or has this size where it equals the least.
    pub bytes_max: usize,
    /// Seed of contents and arrivals.
    pub seed: u64,
    /// When producers stop.
    pub duration: Duration,
    /// After how many blocks they stop, if not before.
    pub blocks_max: Option<u64>,
    /// What goes wrong on purpose.
    pub faults: Faults,
    /// What the series of the distributions start with.
    pub label: Option<String>,
    /// Put a histogram of each interval into this log too.
    pub intervals: Option<IntervalLog>,
    /// Bytes that whoever watches the run holds because of it, as they say here. They are taken off
    /// resident memory before it is judged, as are those of `intervals`.
    pub held_outside: HeldOutside,
    /// Keep [`Live`](crate::Live) distributions too, for those who watch.
    pub live: bool,
}

impl Default for Plan {
    /// The honest closed loop over 2 KiB of UUID text for ten seconds: 100 producers and 100
    /// consumers over two threads, contexts in a sharded pool.
    fn default() -> Self {
        Self {
            work: Loop::Honest,
            pace: Pace::Closed,
            pool: PoolKind::Sharded,
            producers: 100,
            consumers: 100,
            threads: 2,
            batch_blocks: None,
            queue_batches: None,
            data: DataKind::Uuid,
            bytes_min: 2048,
            bytes_max: 2048,
            seed: 1,
            duration: Duration::from_secs(10),
            blocks_max: None,
            faults: Faults::default(),
            label: None,
            intervals: None,
            held_outside: HeldOutside::default(),
            live: false,
        }
    }
}

impl Plan {
    /// Checks what has bounds. Sizes of blocks are checked with the data.
    pub(crate) fn validate(&self) -> Result<(), Error> {
        for (what, workers) in [("producers", self.producers), ("consumers", self.consumers)] {
            if !(1..=WORKERS_MAX).contains(&workers) {
                return Err(Error::plan(
                    what,
                    format!("{workers} is not within 1 to {WORKERS_MAX}"),
                ));
            }
        }
        let within = |what, given: usize, most: usize| match (1..=most).contains(&given) {
            true => Ok(()),
            false => Err(Error::plan(
                what,
                format!("{given} is not within 1 to {most}"),
            )),
        };
        within("threads", self.threads, THREADS_MAX)?;
        within("blocks of a batch", self.batch(), BLOCKS_MAX)?;
        within("batches of the queue", self.queue(), BLOCKS_MAX)?;
        if let Pace::Uniform(rate) | Pace::Poisson(rate) = self.pace
            && !(rate > 0.0 && rate <= RATE_MAX_PER_S)
        {
            return Err(Error::Rate(RateError(rate)));
        }
        if self.duration.is_zero() {
            return Err(Error::plan("duration", "no time at all"));
        }
        Ok(())
    }

    /// Bytes that are held for the run, and are none of the codec's or the pool's.
    pub(crate) fn own_bytes(&self) -> u64 {
        let waiting = self.intervals.as_ref().map_or(0, IntervalLog::held_bytes);
        waiting + self.held_outside.get()
    }

    fn block_bytes(&self) -> usize {
        self.bytes_max.clamp(1, BLOCK_BYTES_MAX)
    }

    /// Blocks of a batch.
    #[must_use]
    pub fn batch(&self) -> usize {
        let fits = (BATCH_BYTES / self.block_bytes()).clamp(1, BATCH_BLOCKS);
        self.batch_blocks.unwrap_or(fits)
    }

    /// Batches of the queue.
    #[must_use]
    pub fn queue(&self) -> usize {
        let batch_bytes = self.batch().saturating_mul(self.block_bytes()).max(1);
        let fits = (QUEUE_BYTES / batch_bytes).clamp(2, QUEUE_BATCHES);
        self.queue_batches.unwrap_or(fits)
    }

    /// Threads that there is work for.
    #[must_use]
    pub fn threads_used(&self) -> usize {
        let workers = self.producers.max(self.consumers);
        self.threads.min(workers as usize)
    }

    /// A fault of every `n`th block or call; 0 is none.
    #[must_use]
    pub fn every(n: u64) -> Option<NonZeroU64> {
        NonZeroU64::new(n)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_blocks_make_for_small_batches_and_queues() {
        let sized = |bytes| Plan {
            bytes_min: bytes,
            bytes_max: bytes,
            ..Plan::default()
        };
        assert_eq!((sized(2048).batch(), sized(2048).queue()), (16, 64));
        assert_eq!((sized(1 << 20).batch(), sized(1 << 20).queue()), (1, 32));
        assert_eq!((sized(64 << 20).batch(), sized(64 << 20).queue()), (1, 2));
    }

    #[test]
    fn plans_that_cannot_be_are_refused() {
        let plans: [fn(&mut Plan); 8] = [
            |plan| plan.producers = 0,
            |plan| plan.consumers = WORKERS_MAX + 1,
            |plan| plan.threads = 0,
            |plan| plan.batch_blocks = Some(0),
            |plan| plan.duration = Duration::ZERO,
            |plan| plan.pace = Pace::Uniform(0.0),
            |plan| plan.pace = Pace::Poisson(f64::NAN),
            |plan| plan.pace = Pace::Poisson(RATE_MAX_PER_S * 1.5),
        ];
        assert!(Plan::default().validate().is_ok());
        for change in plans {
            let mut plan = Plan::default();
            change(&mut plan);
            assert!(plan.validate().is_err());
        }
    }
}
