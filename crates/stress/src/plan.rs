//! The plan of a run, as plain data.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use latency::{IntervalLog, RATE_MAX_PER_S, RateError};

use crate::data::{BLOCK_BYTES_MAX, DataKind};
use crate::error::Error;
use crate::fault::Faults;
use crate::pool::PoolKind;

/// Most producers, and most consumers.
const WORKERS_MAX: u32 = 100_000;
/// Most threads.
const THREADS_MAX: usize = 1024;
/// Default blocks of a batch, and their largest content together.
const BATCH_BLOCKS: usize = 16;
const BATCH_BYTES: usize = 256 << 10;
/// Default batches of the queue, and their largest content together.
const QUEUE_BATCHES: usize = 64;
const QUEUE_BYTES: usize = 32 << 20;
/// Most blocks of a batch, and batches of a queue.
const BLOCKS_MAX: usize = 65_536;

/// What producers do with a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Loop {
    /// Each block is generated, compressed, sent, decompressed and verified.
    Honest,
    /// Each producer compresses one block and sends it again and again: measures decompression.
    Seed,
}

impl Loop {
    /// The name that [`FromStr`] reads.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Honest => "honest",
            Self::Seed => "seed",
        }
    }
}

impl fmt::Display for Loop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// The text is not the name of a loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("expected one of honest, seed")]
pub struct ParseLoopError;

impl FromStr for Loop {
    type Err = ParseLoopError;

    fn from_str(name: &str) -> Result<Self, ParseLoopError> {
        match name {
            "honest" => Ok(Self::Honest),
            "seed" => Ok(Self::Seed),
            _ => Err(ParseLoopError),
        }
    }
}

/// When blocks are due.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Pace {
    /// As soon as a producer has its turn (closed loop).
    Closed,
    /// At equal distances; blocks per second over all producers (open loop).
    Uniform(f64),
    /// At exponentially distributed distances; blocks per second over all producers (open loop).
    Poisson(f64),
}

/// A counter of bytes that the caller holds because of a run. Clones share the counter.
#[derive(Debug, Clone, Default)]
pub struct HeldOutside(Arc<AtomicU64>);

impl HeldOutside {
    /// Sets how many bytes are held now.
    pub fn set(&self, bytes: u64) {
        self.0.store(bytes, Relaxed);
    }

    /// How many bytes are held.
    #[must_use]
    pub fn get(&self) -> u64 {
        self.0.load(Relaxed)
    }
}

/// Whether both are the same counter.
impl PartialEq for HeldOutside {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

/// What a run does. Start from [`Plan::default`] and set what differs.
///
/// ```
/// use perfkit_stress::{Pace, Plan};
///
/// let plan = Plan::default()
///     .producers(8)
///     .pace(Pace::Poisson(20_000.0))
///     .block_bytes(1_000, 4_000)
///     .blocks_max(Some(100_000));
/// assert_eq!((plan.producers, plan.bytes_max), (8, 4_000));
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Plan {
    /// What producers do with a block.
    pub work: Loop,
    /// When blocks are due.
    pub pace: Pace,
    /// How contexts are kept.
    pub pool: PoolKind,
    /// Logical producers.
    pub producers: u32,
    /// Logical consumers.
    pub consumers: u32,
    /// Threads that all workers take turns on.
    pub threads: usize,
    /// Blocks that are sent together. `None`: 16, or fewer when blocks are large.
    pub batch_blocks: Option<usize>,
    /// Batches that may wait for a consumer. `None`: 64, or fewer when blocks are large.
    pub queue_batches: Option<usize>,
    /// The content of blocks.
    pub data: DataKind,
    /// The least content of a block.
    pub bytes_min: usize,
    /// The content of a block stays below this; where it equals `bytes_min`, every block has this size.
    pub bytes_max: usize,
    /// Seed of contents and arrivals.
    pub seed: u64,
    /// When producers stop, from the start of the run.
    pub duration: Duration,
    /// After how many blocks producers stop, if not before.
    pub blocks_max: Option<u64>,
    /// Injected faults.
    pub faults: Faults,
    /// Prefix of the series of the distributions.
    pub label: Option<String>,
    /// Also puts a histogram of each interval into this log.
    pub intervals: Option<IntervalLog>,
    /// Bytes that the caller holds because of the run. They are subtracted from resident memory before it is
    /// judged, as are those of `intervals`.
    pub held_outside: HeldOutside,
    /// Also keeps [`Live`](crate::Live) distributions, for the callback of the run.
    pub live: bool,
    /// Which of several runs this is that take turns at a uniform pace, from 0, and how many they are: other machines have
    /// the others, each with an equal part of the rate. Blocks of this one are due between those of the others.
    pub turn: (u32, u32),
    /// When the first block of an open loop may be due. `None`: as soon as all is ready. Where this has passed by then,
    /// the blocks that were due meanwhile are late.
    pub start_at: Option<Instant>,
    /// How long after it was due the start of a block counts as late. `None`: a microsecond.
    pub late_above: Option<Duration>,
}

impl Default for Plan {
    /// The honest closed loop over 2 KiB of UUID text for ten seconds: 100 producers and 100 consumers on two
    /// threads, contexts in a sharded pool.
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
            turn: (0, 1),
            start_at: None,
            late_above: None,
        }
    }
}

/// Setters, each by the name of its field.
macro_rules! setters {
    ($($(#[$doc:meta])+ $field:ident: $type:ty,)+) => {
        impl Plan {
            $(
                $(#[$doc])+
                #[must_use]
                pub fn $field(mut self, $field: $type) -> Self {
                    self.$field = $field;
                    self
                }
            )+
        }
    };
}

setters! {
    /// Sets [`Plan::work`].
    work: Loop,
    /// Sets [`Plan::pace`].
    pace: Pace,
    /// Sets [`Plan::pool`].
    pool: PoolKind,
    /// Sets [`Plan::producers`].
    producers: u32,
    /// Sets [`Plan::consumers`].
    consumers: u32,
    /// Sets [`Plan::threads`].
    threads: usize,
    /// Sets [`Plan::batch_blocks`].
    batch_blocks: Option<usize>,
    /// Sets [`Plan::queue_batches`].
    queue_batches: Option<usize>,
    /// Sets [`Plan::data`].
    data: DataKind,
    /// Sets [`Plan::seed`].
    seed: u64,
    /// Sets [`Plan::duration`].
    duration: Duration,
    /// Sets [`Plan::blocks_max`].
    blocks_max: Option<u64>,
    /// Sets [`Plan::faults`].
    faults: Faults,
    /// Sets [`Plan::label`].
    label: Option<String>,
    /// Sets [`Plan::intervals`].
    intervals: Option<IntervalLog>,
    /// Sets [`Plan::held_outside`].
    held_outside: HeldOutside,
    /// Sets [`Plan::live`].
    live: bool,
    /// Sets [`Plan::turn`].
    turn: (u32, u32),
    /// Sets [`Plan::start_at`].
    start_at: Option<Instant>,
    /// Sets [`Plan::late_above`].
    late_above: Option<Duration>,
}

impl Plan {
    /// Sets [`Plan::bytes_min`] and [`Plan::bytes_max`].
    #[must_use]
    pub fn block_bytes(mut self, bytes_min: usize, bytes_max: usize) -> Self {
        (self.bytes_min, self.bytes_max) = (bytes_min, bytes_max);
        self
    }

    /// Checks bounds. Sizes of blocks are checked with the data.
    pub(crate) fn validate(&self) -> Result<(), Error> {
        for (what, workers) in [("producers", self.producers), ("consumers", self.consumers)] {
            if !(1..=WORKERS_MAX).contains(&workers) {
                return Err(Error::plan(
                    what,
                    format!("{workers} is out of range: must be 1 to {WORKERS_MAX}"),
                ));
            }
        }
        let within = |what, given: usize, most: usize| match (1..=most).contains(&given) {
            true => Ok(()),
            false => Err(Error::plan(
                what,
                format!("{given} is out of range: must be 1 to {most}"),
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
        let (turn, of) = self.turn;
        if turn >= of {
            return Err(Error::plan(
                "turn",
                format!(
                    "{turn} of {of} is out of range: must be 0 or more, and below the second number"
                ),
            ));
        }
        if self.duration.is_zero() {
            return Err(Error::plan("duration", "must be longer than 0"));
        }
        Ok(())
    }

    /// Bytes held because of the run that belong neither to the codec nor to the pool.
    pub(crate) fn own_bytes(&self) -> u64 {
        let waiting = self.intervals.as_ref().map_or(0, IntervalLog::held_bytes);
        waiting + self.held_outside.get()
    }

    fn largest_block_bytes(&self) -> usize {
        self.bytes_max.clamp(1, BLOCK_BYTES_MAX)
    }

    /// Blocks of a batch.
    #[must_use]
    pub fn batch(&self) -> usize {
        let fits = (BATCH_BYTES / self.largest_block_bytes()).clamp(1, BATCH_BLOCKS);
        self.batch_blocks.unwrap_or(fits)
    }

    /// Batches of the queue.
    #[must_use]
    pub fn queue(&self) -> usize {
        let batch_bytes = self
            .batch()
            .saturating_mul(self.largest_block_bytes())
            .max(1);
        let fits = (QUEUE_BYTES / batch_bytes).clamp(2, QUEUE_BATCHES);
        self.queue_batches.unwrap_or(fits)
    }

    /// Threads that have at least one worker.
    #[must_use]
    pub fn threads_used(&self) -> usize {
        let workers = self.producers.max(self.consumers);
        self.threads.min(workers as usize)
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
