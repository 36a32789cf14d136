//! Learns what work costs, and decides where it should run.

use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicU32, AtomicU64};

use super::key::CostKey;
use crate::memory::BTOPT;
use crate::options::EncoderOptions;
use crate::sliced::SLICE_BYTES;

/// The default threshold: the longest that a call may hold its thread, 100 µs.
pub const THRESHOLD_NS: u64 = 100_000;

/// The longest that a slice of a stream may hold its thread by default, 300 µs: shorter ones of a fast level cost up
/// to a fifth more time, and compress less well.
pub const SLICE_THRESHOLD_NS: u64 = 300_000;

/// The most kinds of work with a cost of their own. Kinds beyond that keep their prior.
const CELLS: usize = 2048;
/// How many cells are probed for a key.
const PROBES: usize = 16;
/// Smaller content counts as this much: the fixed part of a call.
const BYTES_MIN: usize = 1 << 10;
/// Shares of a new value in the mean and in the deviation.
const MEAN_SHARE: f32 = 1.0 / 8.0;
const DEVIATION_SHARE: f32 = 1.0 / 4.0;
/// A prediction is the mean plus this many mean deviations: about the 97th percentile.
const DEVIATIONS: f32 = 2.5;
/// Content of the same kind may take this much longer.
const MARGIN: f32 = 1.15;
/// A new value is clamped to these multiples of the mean, or of the deviation if that is wider.
const CLAMP_LOW: f32 = 0.25;
const CLAMP_HIGH: f32 = 2.0;
const CLAMP_DEVIATIONS: f32 = 8.0;
/// The share by which the highest rate of slices declines with each one: hard content is expected again for some
/// hundred slices.
#[cfg(feature = "tokio")]
const PEAK_SHARE: f32 = 1.0 / 64.0;
/// Slices of a block of the format.
const SLICES_MAX: usize = crate::format::BLOCK_BYTES_MAX as usize / SLICE_BYTES;
/// Plausible nanoseconds per KiB: up to one second.
pub(super) const NS_PER_KIB: std::ops::RangeInclusive<f32> = 0.1..=1e9;
/// The rate at which tables are allocated and cleared.
const OPEN_BYTES_PER_US: u64 = 4_000;

/// Where a call should run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Decision {
    /// On the calling thread, in one call.
    Inline,
    /// On the calling thread, in slices with other work in between.
    Sliced {
        /// The content of a slice: one or more times [`SLICE_BYTES`], at most a block of 128 KiB.
        slice_bytes: usize,
    },
    /// On another thread, one chunk at a time.
    Offload,
}

/// Predicts how long work will take, from how long such work took before.
///
/// For each [`CostKey`] it keeps an exponential mean of the time per KiB and its mean deviation: about
/// the last eight values count. Outliers are clamped, so that a thread that was preempted once does not
/// change a decision; a lasting change takes effect within about twelve values. Predictions are upper
/// estimates, and so are the priors for work that was never observed.
///
/// Neither predicting nor learning takes a lock. Of two values that arrive at the same instant one may
/// be lost.
pub struct CostModel {
    threshold_ns: u64,
    slice_threshold_ns: u64,
    cells: Box<[Cell]>,
}

#[derive(Default)]
struct Cell {
    /// The hash of a key. 0: none.
    key: AtomicU64,
    /// The bits of mean and deviation in nanoseconds per KiB. 0: not yet.
    cost: AtomicU64,
    /// The bits of the highest rate of late, in nanoseconds per KiB.
    peak: AtomicU32,
}

/// Time per KiB.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Cost {
    pub(super) mean: f32,
    pub(super) deviation: f32,
}

impl Default for CostModel {
    fn default() -> Self {
        Self {
            slice_threshold_ns: SLICE_THRESHOLD_NS,
            ..Self::new(THRESHOLD_NS)
        }
    }
}

impl CostModel {
    /// A model that knows nothing yet, for calls and slices that may take this many nanoseconds.
    pub fn new(threshold_ns: u64) -> Self {
        Self {
            threshold_ns,
            slice_threshold_ns: threshold_ns,
            cells: (0..CELLS).map(|_| Cell::default()).collect(),
        }
    }

    /// The same costs with a different threshold, for calls and slices.
    #[must_use]
    pub fn with_threshold_ns(mut self, threshold_ns: u64) -> Self {
        self.threshold_ns = threshold_ns;
        self.slice_threshold_ns = threshold_ns;
        self
    }

    /// The longest that a call should take, in nanoseconds.
    pub fn threshold_ns(&self) -> u64 {
        self.threshold_ns
    }

    /// The longest that a slice of a stream should take, in nanoseconds: the threshold if one was given, else
    /// [`SLICE_THRESHOLD_NS`].
    pub fn slice_threshold_ns(&self) -> u64 {
        self.slice_threshold_ns
    }

    /// Whether the thresholds are the defaults.
    #[cfg(feature = "tokio")]
    pub(crate) fn is_by_default(&self) -> bool {
        self.slice_threshold_ns != self.threshold_ns
    }

    /// Learns that such work on `bytes` of content took `elapsed_ns`.
    pub fn observe(&self, key: CostKey, bytes: usize, elapsed_ns: u64) {
        let per_kib = elapsed_ns as f32 / kib(bytes);
        let per_kib = per_kib.clamp(*NS_PER_KIB.start(), *NS_PER_KIB.end());
        let Some(cell) = self.cell_for(key.hash()) else {
            return;
        };
        let before = cell.cost.load(Relaxed);
        let after = match Cost::unpack(before) {
            Some(cost) => cost.with(per_kib),
            None => Cost {
                mean: per_kib,
                deviation: per_kib / 4.0,
            },
        };
        // Whoever loses the race measured at the same time as the winner: either value will do.
        let _ = cell
            .cost
            .compare_exchange(before, after.pack(), Release, Relaxed);
    }

    /// Learns the rate of content that is hard to compress, in nanoseconds per KiB. Slices that are about to begin may
    /// have such content as well.
    #[cfg(feature = "tokio")]
    pub(crate) fn observe_peak(&self, key: CostKey, per_kib: f32) {
        if let Some(cell) = self.cell_for(key.hash()) {
            let before = f32::from_bits(cell.peak.load(Relaxed));
            let peak = per_kib.max(before * (1.0 - PEAK_SHARE));
            cell.peak.store(peak.to_bits(), Relaxed);
        }
    }

    /// An upper estimate in nanoseconds for such work on `bytes` of content.
    pub fn predict_ns(&self, key: CostKey, bytes: usize) -> u64 {
        let per_kib = match self.find(key.hash()) {
            Some(cost) => cost.upper(),
            None => key.prior_ns_per_kib(),
        };
        (per_kib * kib(bytes)) as u64
    }

    /// Whether such work was observed.
    pub fn knows(&self, key: CostKey) -> bool {
        self.find(key.hash()).is_some()
    }

    /// Where to compress a whole buffer of this size.
    ///
    /// Inline if the prediction is within the threshold, sliced if the prediction for a slice is, else
    /// on another thread. Strategies from [`Btopt`](crate::Strategy::Btopt) on are never sliced: they
    /// optimize whole blocks. A prefix counts as content, because it is indexed first.
    pub fn decide(&self, options: &EncoderOptions, content_bytes: usize) -> Decision {
        let [whole, slice] = CostKey::pair(options, content_bytes);
        let prefix_bytes = options.prefix.as_ref().map_or(0, |prefix| prefix.len());
        let work_bytes = content_bytes.saturating_add(prefix_bytes);
        if options.workers > 0 {
            return Decision::Offload;
        }
        if self.predict_ns(whole, work_bytes) <= self.threshold_ns {
            return Decision::Inline;
        }
        match prefix_bytes == 0 {
            true => self.decide_slice(slice, self.threshold_ns),
            false => Decision::Offload,
        }
    }

    /// Where to compress a stream of this size (`None`: unknown) that arrives in slices. Never
    /// [`Decision::Inline`].
    pub fn decide_stream(&self, options: &EncoderOptions, content_bytes: Option<u64>) -> Decision {
        let slice = CostKey::compress_slice(options, content_bytes);
        match options.workers == 0 && options.prefix.is_none() {
            true => self.decide_slice(slice, self.slice_threshold_ns),
            false => Decision::Offload,
        }
    }

    /// Where to decompress this much content: inline, or one block at a time.
    pub fn decide_decompress(&self, content_bytes: usize) -> Decision {
        let predicted_ns = self.predict_ns(CostKey::decompress(content_bytes), content_bytes);
        match predicted_ns <= self.threshold_ns {
            true => Decision::Inline,
            false => Decision::Sliced {
                slice_bytes: crate::format::BLOCK_BYTES_MAX as usize,
            },
        }
    }

    /// Whether making the tables of a frame takes longer than the threshold, so that its first slice
    /// belongs on another thread.
    pub fn opens_slowly(&self, options: &EncoderOptions, content_bytes: Option<u64>) -> bool {
        // Room for content is not touched before there is any.
        self.clears_slowly(options.one_shot_estimate_bytes(content_bytes))
    }

    /// The same with a context that has made its tables before.
    #[cfg(feature = "tokio")]
    pub(crate) fn opens_again_slowly(
        &self,
        options: &EncoderOptions,
        content_bytes: Option<u64>,
    ) -> bool {
        self.clears_slowly(options.cleared_bytes(content_bytes))
    }

    fn clears_slowly(&self, bytes: u64) -> bool {
        bytes / OPEN_BYTES_PER_US > self.threshold_ns / 1000
    }

    /// The same for work with this key: slices as long as this allows, whole numbers of 16 KiB, at most
    /// a block of the format. Longer blocks need less time and space.
    ///
    /// What is taken on other threads says too much, and varies: a single slice is tried where the mean needs no more
    /// than half of the threshold.
    pub(crate) fn decide_slice(&self, slice: CostKey, within_ns: u64) -> Decision {
        let cost = self.find(slice.hash());
        let upper = cost.map_or(slice.prior_ns_per_kib(), |cost| {
            cost.upper().max(self.peak(slice.hash()))
        });
        // A single slice is not sent elsewhere because some are slow.
        let mean = cost.map_or(upper, |cost| cost.mean * 1.25);
        let slices = |per_kib: f32| {
            // Saturates.
            (within_ns as f32 / (per_kib * kib(SLICE_BYTES))) as usize
        };
        let count = slices(upper).max(slices(mean).min(1));
        match slice.strategy() < BTOPT && count > 0 {
            true => Decision::Sliced {
                slice_bytes: SLICE_BYTES * count.min(SLICES_MAX),
            },
            false => Decision::Offload,
        }
    }

    /// The most content of such a slice that ends within this time, whole numbers of 16 KiB, at most a block of the
    /// format: by the upper estimate and the hardest content of late, also for a single one. 0: none does, or nothing is known.
    #[cfg(feature = "tokio")]
    pub(crate) fn surely_within(&self, slice: CostKey, within_ns: u64) -> usize {
        let Some(cost) = self.find(slice.hash()) else {
            return 0;
        };
        let per_kib = cost.upper().max(self.peak(slice.hash()));
        // Saturates.
        let count = (within_ns as f32 / (per_kib * kib(SLICE_BYTES))) as usize;
        match slice.strategy() < BTOPT {
            true => SLICE_BYTES * count.min(SLICES_MAX),
            false => 0,
        }
    }

    /// All known costs.
    pub(super) fn costs(&self) -> impl Iterator<Item = (u64, Cost)> {
        self.cells.iter().filter_map(|cell| {
            let cost = Cost::unpack(cell.cost.load(Acquire))?;
            Some((cell.key.load(Acquire), cost))
        })
    }

    /// Restores a saved cost. `false`: there is no room.
    pub(super) fn restore(&self, hash: u64, cost: Cost) -> bool {
        match self.cell_for(hash) {
            Some(cell) => {
                cell.cost.store(cost.pack(), Release);
                true
            }
            None => false,
        }
    }

    fn probe(&self, hash: u64) -> impl Iterator<Item = &Cell> {
        (0..PROBES).map(move |step| &self.cells[(hash as usize).wrapping_add(step) % CELLS])
    }

    fn find(&self, hash: u64) -> Option<Cost> {
        Cost::unpack(self.find_cell(hash)?.cost.load(Acquire))
    }

    /// The highest rate of late.
    fn peak(&self, hash: u64) -> f32 {
        let bits = self.find_cell(hash).map(|cell| cell.peak.load(Relaxed));
        f32::from_bits(bits.unwrap_or(0))
    }

    fn find_cell(&self, hash: u64) -> Option<&Cell> {
        for cell in self.probe(hash) {
            match cell.key.load(Acquire) {
                found if found == hash => return Some(cell),
                0 => return None,
                _ => {}
            }
        }
        None
    }

    fn cell_for(&self, hash: u64) -> Option<&Cell> {
        self.probe(hash).find(
            |cell| match cell.key.compare_exchange(0, hash, Release, Acquire) {
                Ok(_) => true,
                Err(found) => found == hash,
            },
        )
    }
}

impl Cost {
    fn pack(self) -> u64 {
        u64::from(self.mean.to_bits()) << 32 | u64::from(self.deviation.to_bits())
    }

    fn unpack(bits: u64) -> Option<Self> {
        (bits != 0).then(|| Self {
            mean: f32::from_bits((bits >> 32) as u32),
            deviation: f32::from_bits(bits as u32),
        })
    }

    fn with(self, value: f32) -> Self {
        let reach = (self.mean * (CLAMP_HIGH - 1.0)).max(self.deviation * CLAMP_DEVIATIONS);
        let value = value.clamp(self.mean * CLAMP_LOW, self.mean + reach);
        let off = (value - self.mean).abs();
        Self {
            mean: self.mean + (value - self.mean) * MEAN_SHARE,
            deviation: self.deviation + (off - self.deviation) * DEVIATION_SHARE,
        }
    }

    fn upper(self) -> f32 {
        self.mean * MARGIN + self.deviation * DEVIATIONS
    }
}

fn kib(bytes: usize) -> f32 {
    bytes.max(BYTES_MIN) as f32 / 1024.0
}

impl std::fmt::Debug for CostModel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CostModel")
            .field("threshold_ns", &self.threshold_ns)
            .field("costs", &self.costs().count())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
