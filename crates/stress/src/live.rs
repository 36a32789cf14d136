//! Distributions that another thread can read during a run: a few fixed buckets, counted per thread. The exact
//! distributions are those of the crate `latency`, at the end of the run.

use std::ops::AddAssign;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Instant;

use latency::Recorder;

use crate::counts::add;

/// Upper bounds of the buckets in nanoseconds: 1, 2 and 5 of each decade from a microsecond to ten
/// seconds. Longer times are in one more bucket.
pub const BOUNDS_NS: [u64; 22] = {
    let mut bounds = [0; 22];
    let (mut at, mut decade) = (0, 1_000);
    while at < bounds.len() {
        bounds[at] = decade * [1, 2, 5][at % 3];
        if at % 3 == 2 {
            decade *= 10;
        }
        at += 1;
    }
    bounds
};

const BUCKETS: usize = BOUNDS_NS.len() + 1;

/// One distribution so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Buckets {
    /// Values in each bucket: above the bound before it and at most its own in [`BOUNDS_NS`]; the last bucket
    /// has no bound.
    pub counts: [u64; BUCKETS],
    /// The sum of all values.
    pub sum_ns: u64,
}

impl AddAssign for Buckets {
    fn add_assign(&mut self, other: Self) {
        for (count, more) in self.counts.iter_mut().zip(other.counts) {
            *count += more;
        }
        self.sum_ns += other.sum_ns;
    }
}

/// The distributions of a run so far, as in [`Latencies`](crate::Latencies).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Live {
    /// Compressing a block.
    pub compress: Buckets,
    /// A batch in the queue.
    pub queue: Buckets,
    /// Decompressing a block.
    pub decompress: Buckets,
    /// A block from its begin or due time until it is decompressed.
    pub end_to_end: Buckets,
}

impl AddAssign for Live {
    fn add_assign(&mut self, other: Self) {
        self.compress += other.compress;
        self.queue += other.queue;
        self.decompress += other.decompress;
        self.end_to_end += other.end_to_end;
    }
}

/// One distribution of one thread.
#[derive(Debug, Default)]
pub(crate) struct Counting {
    counts: [AtomicU64; BUCKETS],
    sum_ns: AtomicU64,
}

impl Counting {
    fn add(&self, ns: u64) {
        let bucket = BOUNDS_NS.partition_point(|bound| *bound < ns);
        add(&self.counts[bucket], 1);
        add(&self.sum_ns, ns);
    }

    fn read(&self) -> Buckets {
        Buckets {
            counts: self.counts.each_ref().map(|count| count.load(Relaxed)),
            sum_ns: self.sum_ns.load(Relaxed),
        }
    }
}

/// The distributions of one thread, on separate cache lines.
#[derive(Debug, Default)]
#[repr(align(128))]
pub(crate) struct LiveTally {
    pub(crate) compress: Counting,
    pub(crate) queue: Counting,
    pub(crate) decompress: Counting,
    pub(crate) end_to_end: Counting,
}

impl LiveTally {
    pub(crate) fn read(&self) -> Live {
        Live {
            compress: self.compress.read(),
            queue: self.queue.read(),
            decompress: self.decompress.read(),
            end_to_end: self.end_to_end.read(),
        }
    }
}

/// Where one thread records a distribution: exactly, and live if the plan asks for it.
#[derive(Debug)]
pub(crate) struct Track<'s> {
    pub(crate) exact: Recorder,
    pub(crate) live: Option<&'s Counting>,
}

impl Track<'_> {
    pub(crate) fn span(&mut self, start: Instant, end: Instant, what: impl FnOnce() -> String) {
        let ns = self.exact.record_span_what(start, end, what);
        if let Some(live) = self.live {
            live.add(ns);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_is_in_the_bucket_whose_bound_it_does_not_exceed() {
        assert_eq!(BOUNDS_NS[..4], [1_000, 2_000, 5_000, 10_000]);
        assert_eq!(BOUNDS_NS[21], 10_000_000_000);
        let counting = Counting::default();
        for ns in [0, 1_000, 1_001, 10_000_000_000, 10_000_000_001] {
            counting.add(ns);
        }
        let mut read = counting.read();
        assert_eq!((read.counts[0], read.counts[1]), (2, 1));
        assert_eq!((read.counts[21], read.counts[22]), (1, 1));
        assert_eq!(read.sum_ns, 20_000_002_002);
        read += read;
        assert_eq!((read.counts[0], read.sum_ns), (4, 40_000_004_004));
    }
}
