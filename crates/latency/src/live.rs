//! Distributions that another thread can read during a run: a few fixed buckets. The exact distribution is that of
//! a [`crate::Recorder`], at the end of the run.

use std::ops::AddAssign;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

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

/// A distribution that any thread adds to and any thread reads.
#[derive(Debug, Default)]
pub struct LiveBuckets {
    counts: [AtomicU64; BUCKETS],
    sum_ns: AtomicU64,
}

impl LiveBuckets {
    /// Counts one value.
    pub fn add(&self, ns: u64) {
        let bucket = BOUNDS_NS.partition_point(|bound| *bound < ns);
        self.counts[bucket].fetch_add(1, Relaxed);
        self.sum_ns.fetch_add(ns, Relaxed);
    }

    /// What was counted so far.
    #[must_use]
    pub fn read(&self) -> Buckets {
        Buckets {
            counts: self.counts.each_ref().map(|count| count.load(Relaxed)),
            sum_ns: self.sum_ns.load(Relaxed),
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
        let counting = LiveBuckets::default();
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
