//! What a recorder keeps in addition to its histogram: bucket sums and the slowest samples.
//!
//! Each has an inlined check for every sample and a cold part that runs rarely. Both are bounded.

use crate::report::Buckets;
use crate::spec::BucketPolicy;

/// Most buckets of a fixed size; then the size doubles.
const FIXED_BUCKETS_MAX: usize = 1 << 20;

/// Sums over runs of consecutive values.
#[derive(Debug)]
pub(crate) struct BucketSums {
    /// Values in a bucket; 0 when buckets are off.
    size: u64,
    /// Most full buckets before the size doubles.
    max: usize,
    /// Values until the current bucket is full. When buckets are off it counts down from `u64::MAX`, so that
    /// the hot path has one test in all cases.
    left: u64,
    sum: u64,
    full: Vec<u64>,
}

impl BucketSums {
    pub(crate) fn new(policy: BucketPolicy) -> Self {
        let (size, max) = match policy {
            BucketPolicy::Off => (0, 0),
            BucketPolicy::Fixed(size) => (size.max(1), FIXED_BUCKETS_MAX),
            BucketPolicy::Adaptive { max } => (1, (max & !1).clamp(2, FIXED_BUCKETS_MAX)),
        };
        let left = if size == 0 { u64::MAX } else { size };
        // Up to 16 Ki buckets there is no allocation later; beyond, a few in a long run.
        Self {
            size,
            max,
            left,
            sum: 0,
            full: Vec::with_capacity(max.min(1 << 14)),
        }
    }

    #[inline]
    pub(crate) fn add(&mut self, ns: u64) {
        self.sum = self.sum.saturating_add(ns);
        self.left -= 1;
        if self.left == 0 {
            self.close();
        }
    }

    #[cold]
    #[inline(never)]
    fn close(&mut self) {
        if self.size == 0 {
            self.left = u64::MAX;
            self.sum = 0;
            return;
        }
        self.full.push(self.sum);
        self.sum = 0;
        self.left = self.size;
        while self.full.len() >= self.max {
            self.double();
        }
    }

    /// Joins buckets in pairs. An odd last bucket goes to the front of the unfinished bucket.
    fn double(&mut self) {
        let filled = self.size - self.left;
        let pairs = self.full.len() / 2;
        let odd = if self.full.len() % 2 == 1 {
            self.full.pop()
        } else {
            None
        };
        for at in 0..pairs {
            self.full[at] = self.full[2 * at].saturating_add(self.full[2 * at + 1]);
        }
        self.full.truncate(pairs);
        let filled = filled + if odd.is_some() { self.size } else { 0 };
        self.sum = self.sum.saturating_add(odd.unwrap_or(0));
        self.size = self.size.saturating_mul(2);
        self.left = self.size.saturating_sub(filled).max(1);
    }

    /// Appends the full buckets of another, after both have the greater size.
    pub(crate) fn append(&mut self, mut other: Self) {
        if self.size == 0 || other.size == 0 {
            return;
        }
        // Both started at one size and only ever doubled, so the smaller reaches the greater.
        while self.size < other.size {
            self.double();
        }
        while other.size < self.size {
            other.double();
        }
        self.full.append(&mut other.full);
        while self.full.len() >= self.max {
            self.double();
        }
    }

    /// The buckets of the report; each value stands for `batch` operations.
    pub(crate) fn report(&self, batch: u64) -> Option<Buckets> {
        let some = self.size > 0 && !self.full.is_empty();
        some.then(|| Buckets {
            size_ops: self.size.saturating_mul(batch),
            sum_ns: self.full.clone(),
        })
    }
}

/// The description of a slow sample.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum What {
    /// The n-th value of its recorder; becomes text at the end, so that keeping it is cheap.
    Nth(u64),
    /// The n-th batch.
    NthBatch(u64),
    /// The caller's text.
    Text(String),
}

impl What {
    pub(crate) fn text(&self) -> String {
        match self {
            Self::Nth(nth) => format!("operation {nth}"),
            Self::NthBatch(nth) => format!("mean of batch {nth}"),
            Self::Text(text) => text.clone(),
        }
    }
}

/// The slowest samples, in no order.
#[derive(Debug)]
pub(crate) struct Slowest {
    max: usize,
    /// The least value that is still kept.
    bar: u64,
    kept: Vec<(u64, What)>,
}

impl Slowest {
    pub(crate) fn new(max: usize) -> Self {
        // A bar that nothing reaches when nothing is to be kept; `insert` handles u64::MAX itself.
        let bar = if max == 0 { u64::MAX } else { 0 };
        Self {
            max,
            bar,
            kept: Vec::with_capacity(max),
        }
    }

    #[inline]
    pub(crate) fn admits(&self, ns: u64) -> bool {
        ns >= self.bar
    }

    /// Keeps a sample that [`Slowest::admits`]. Of equal ones the first stays.
    #[cold]
    #[inline(never)]
    pub(crate) fn insert(&mut self, ns: u64, what: What) {
        if self.max == 0 {
            return;
        }
        if self.kept.len() < self.max {
            self.kept.push((ns, what));
        } else if let Some(least) = self.kept.iter_mut().min_by_key(|kept| kept.0)
            && least.0 < ns
        {
            *least = (ns, what);
        }
        if self.kept.len() == self.max {
            let least = self.kept.iter().map(|kept| kept.0).min().unwrap_or(0);
            self.bar = least.saturating_add(1);
        }
    }

    pub(crate) fn merge(&mut self, other: Self) {
        for (ns, what) in other.kept {
            if self.admits(ns) {
                self.insert(ns, what);
            }
        }
    }

    /// Slowest first.
    pub(crate) fn sorted(&self) -> Vec<(u64, &What)> {
        let mut sorted: Vec<_> = self.kept.iter().map(|(ns, what)| (*ns, what)).collect();
        sorted.sort_by_key(|(ns, _)| std::cmp::Reverse(*ns));
        sorted
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn adaptive_sizes_are_powers_of_two_and_sums_are_kept() {
        let mut sums = BucketSums::new(BucketPolicy::Adaptive { max: 8 });
        for ns in 1..=1_000u64 {
            sums.add(ns);
        }
        let report = sums.report(1).unwrap();
        assert!(report.size_ops.is_power_of_two());
        assert!(report.sum_ns.len() < 8);
        let covered = report.size_ops * report.sum_ns.len() as u64;
        assert_eq!(
            report.sum_ns.iter().sum::<u64>(),
            covered * (covered + 1) / 2
        );
    }

    #[test]
    fn buckets_off_are_none_and_fixed_ones_fixed() {
        let mut off = BucketSums::new(BucketPolicy::Off);
        off.add(3);
        assert_eq!(off.report(1), None);
        let mut fixed = BucketSums::new(BucketPolicy::Fixed(3));
        for ns in 1..=7 {
            fixed.add(ns);
        }
        assert_eq!(
            fixed.report(2),
            Some(Buckets {
                size_ops: 6,
                sum_ns: vec![6, 15]
            })
        );
    }

    #[test]
    fn the_slowest_are_kept_and_ties_stay_with_the_first() {
        let mut slowest = Slowest::new(2);
        for (nth, ns) in [(1, 5), (2, 9), (3, 5), (4, 7), (5, 9)] {
            if slowest.admits(ns) {
                slowest.insert(ns, What::Nth(nth));
            }
        }
        let mut kept = slowest.sorted();
        kept.sort_by_key(|(_, what)| what.text());
        assert_eq!(kept, [(9, &What::Nth(2)), (9, &What::Nth(5))]);
        let mut none = Slowest::new(0);
        assert!(!none.admits(7));
        none.insert(u64::MAX, What::Nth(1));
        assert!(none.sorted().is_empty());
    }

    proptest! {
        #[test]
        fn appended_sums_are_consecutive(a in 0u64..200, b in 0u64..200, max in 2usize..20) {
            let make = |n: u64| {
                let mut sums = BucketSums::new(BucketPolicy::Adaptive { max });
                (0..n).for_each(|_| sums.add(1));
                sums
            };
            let mut sums = make(a);
            sums.append(make(b));
            // Every value is 1, so that every full bucket must be its size.
            let size = sums.size;
            prop_assert!(sums.full.iter().all(|sum| *sum == size));
            prop_assert!(sums.full.len() < sums.max && sums.left >= 1 && sums.left <= size);
            (0..sums.left).for_each(|_| sums.add(1));
            let size = sums.size;
            prop_assert!(sums.full.iter().all(|sum| *sum == size));
        }
    }
}
