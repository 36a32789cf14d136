//! The recorder: one per thread, no locks, a few nanoseconds on top of the two clock reads.
//!
//! For each sample the hot path adds to one histogram, a sum, a minimum and a maximum, counts down the
//! bucket, and compares with the interval's end and with the current slowest. Rare events (a full bucket, the
//! end of an interval, a new slow sample) are in `series.rs` and `intervals.rs`. `recording.rs` turns the
//! result into rows.

use std::time::Instant;

use hdrhistogram::Histogram;

use crate::exact::Exact;
use crate::histogram::add_histogram;
use crate::intervals::Intervals;
use crate::recording::Recording;
use crate::report::Timing;
use crate::series::{BucketSums, Slowest, What};
use crate::span::nanoseconds;
use crate::spec::Spec;

/// Why two recorders cannot become one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MergeError {
    /// They record different things.
    #[error("cannot merge {theirs} into {ours}: not the same distribution")]
    Different {
        /// What this recorder records.
        ours: String,
        /// What the other one does.
        theirs: String,
    },
    /// Their histograms, intervals or buckets are laid out differently.
    #[error("cannot merge recorders of different {0}")]
    Layout(&'static str),
}

/// Records one distribution on one thread.
///
/// Make the recorders of several threads from the same [`Spec`] and start, and merge them at the end.
#[derive(Debug)]
pub struct Recorder {
    /// The current interval when there are intervals, else the whole run.
    histogram: Histogram<u64>,
    highest_ns: u64,
    exact: Exact,
    buckets: BucketSums,
    slowest: Slowest,
    intervals: Option<Intervals>,
    spec: Spec,
}

impl Recorder {
    /// A recorder of a run that starts at `run_start`.
    #[must_use]
    pub fn new(spec: Spec, run_start: Instant) -> Self {
        let histogram = spec.histogram();
        let intervals = spec
            .intervals
            .clone()
            .map(|log| Intervals::new(&spec, log, run_start));
        Self {
            highest_ns: spec.highest_ns,
            exact: Exact::new(),
            buckets: BucketSums::new(spec.buckets),
            slowest: Slowest::new(spec.slowest),
            histogram,
            intervals,
            spec,
        }
    }

    /// Records the time from `start` to `end` and returns it in nanoseconds. An `end` before its start,
    /// which a monotonic clock never shows, is recorded as 0.
    #[inline]
    pub fn record_span(&mut self, start: Instant, end: Instant) -> u64 {
        let ns = nanoseconds(start, end);
        self.rotate(end);
        self.add(ns, ns, ns);
        if self.slowest.admits(ns) {
            let nth = self.n();
            self.slowest.insert(ns, What::Nth(nth));
        }
        ns
    }

    /// The same; `what` describes the sample, and is called only when it is among the slowest.
    #[inline]
    pub fn record_span_what(
        &mut self,
        start: Instant,
        end: Instant,
        what: impl FnOnce() -> String,
    ) -> u64 {
        let ns = nanoseconds(start, end);
        self.rotate(end);
        self.add(ns, ns, ns);
        if self.slowest.admits(ns) {
            self.slowest.insert(ns, What::Text(what()));
        }
        ns
    }

    /// Records a value without a start and an end. It goes into the interval of the last timed value.
    #[inline]
    pub fn record_ns(&mut self, ns: u64) {
        self.add(ns, ns, ns);
        if self.slowest.admits(ns) {
            let nth = self.n();
            self.slowest.insert(ns, What::Nth(nth));
        }
    }

    /// Records the mean over a batch of `ops` operations as one value; the row's timing becomes
    /// [`Timing::BatchMean`]. A batch of 0 operations is ignored. Without a batch size in the spec, the first
    /// batch sets it; a batch of another size (the last of a run) counts in its bucket by its mean.
    pub fn record_batch(&mut self, start: Instant, end: Instant, ops: u64) {
        if ops == 0 {
            return;
        }
        if self.spec.batch == 1 && ops > 1 && self.is_empty() {
            self.spec.batch = ops;
        }
        if ops > 1 {
            self.spec.timing = Timing::BatchMean;
            if let Some(intervals) = &mut self.intervals {
                intervals.of_batches();
            }
        }
        let span_ns = nanoseconds(start, end);
        let mean_ns = span_ns / ops + u64::from(span_ns % ops >= ops.div_ceil(2));
        let scaled_ns = u128::from(span_ns) * u128::from(self.spec.batch) / u128::from(ops);
        self.rotate(end);
        self.add(
            mean_ns,
            u64::try_from(scaled_ns).unwrap_or(u64::MAX),
            span_ns,
        );
        self.exact.extra_ops = self.exact.extra_ops.saturating_add(ops - 1);
        if self.slowest.admits(mean_ns) {
            let nth = self.n();
            self.slowest.insert(mean_ns, What::NthBatch(nth));
        }
    }

    #[inline]
    fn rotate(&mut self, end: Instant) {
        if let Some(intervals) = &mut self.intervals
            && intervals.is_over(end)
        {
            intervals.rotate(&mut self.histogram, end);
        }
    }

    /// Adds a value: `bucket_ns` is what its bucket gets, `sum_ns` what the mean gets. For a single operation
    /// all three are equal.
    #[inline]
    fn add(&mut self, value_ns: u64, bucket_ns: u64, sum_ns: u64) {
        if value_ns > self.highest_ns || self.histogram.record(value_ns).is_err() {
            self.exact.saturate(value_ns);
        }
        self.exact.sum_ns += u128::from(sum_ns);
        self.exact.min_ns = self.exact.min_ns.min(value_ns);
        self.exact.max_ns = self.exact.max_ns.max(value_ns);
        self.buckets.add(bucket_ns);
    }

    /// Recorded values, the saturated ones included.
    #[must_use]
    pub fn n(&self) -> u64 {
        let rotated = self
            .intervals
            .as_ref()
            .map_or(0, |intervals| intervals.total.len());
        self.histogram
            .len()
            .saturating_add(rotated)
            .saturating_add(self.exact.saturated)
    }

    /// The same as [`Recorder::n`].
    #[must_use]
    pub fn len(&self) -> u64 {
        self.n()
    }

    /// Whether nothing was recorded.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.n() == 0
    }

    /// Adds what `other` recorded: adds histograms, keeps the slowest of both and the intervals of both, and
    /// appends full buckets. The other's last, unfinished bucket is dropped.
    ///
    /// # Errors
    /// When the two do not record the same distribution in the same layout; `self` is unchanged then.
    pub fn merge(&mut self, other: Self) -> Result<(), MergeError> {
        self.check_mergeable(&other)?;
        let mut other = other;
        if self.is_empty() {
            self.spec.timing = other.spec.timing;
            self.spec.batch = other.spec.batch;
        }
        match (&mut self.intervals, &mut other.intervals) {
            (Some(ours), Some(theirs)) => {
                theirs.close(&mut other.histogram);
                ours.close(&mut self.histogram);
                ours.merge(theirs);
            }
            _ => add_histogram(&mut self.histogram, &other.histogram),
        }
        self.exact.merge(&other.exact);
        self.buckets.append(other.buckets);
        self.slowest.merge(other.slowest);
        Ok(())
    }

    fn check_mergeable(&self, other: &Self) -> Result<(), MergeError> {
        let (ours, theirs) = (&self.spec, &other.spec);
        let same = ours.name == theirs.name
            && ours.series == theirs.series
            && ours.operation == theirs.operation
            && ((ours.timing, ours.batch) == (theirs.timing, theirs.batch)
                || self.is_empty()
                || other.is_empty());
        if !same {
            let describe = |spec: &Spec| {
                let series = spec
                    .series
                    .as_deref()
                    .map(|s| format!("{s} "))
                    .unwrap_or_default();
                format!("`{series}{} of {}`", spec.name.as_str(), spec.operation)
            };
            return Err(MergeError::Different {
                ours: describe(ours),
                theirs: describe(theirs),
            });
        }
        if (ours.highest_ns, ours.digits) != (theirs.highest_ns, theirs.digits) {
            return Err(MergeError::Layout("range"));
        }
        if ours.intervals != theirs.intervals {
            return Err(MergeError::Layout("intervals"));
        }
        if ours.buckets != theirs.buckets {
            return Err(MergeError::Layout("buckets"));
        }
        Ok(())
    }

    /// Ends recording.
    #[must_use]
    pub fn finish(mut self) -> Recording {
        let (histogram, log_parts) = match self.intervals {
            Some(mut intervals) => {
                intervals.close(&mut self.histogram);
                intervals.finish()
            }
            None => (self.histogram, Vec::new()),
        };
        Recording {
            histogram,
            exact: self.exact,
            buckets: self.buckets,
            slowest: self.slowest,
            log_parts,
            spec: self.spec,
        }
    }
}
