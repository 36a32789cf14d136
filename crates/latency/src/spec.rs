//! What a recorder records, and in which layout.

use hdrhistogram::Histogram;

use crate::interval_log::IntervalLog;
use crate::report::{LatencyName, Timing};

/// How sums over consecutive operations are kept, for paired comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum BucketPolicy {
    /// Not at all.
    Off,
    /// Buckets of this many recorded values. Beyond a million buckets the size doubles.
    Fixed(u64),
    /// Buckets of one value at first. When `max` buckets are full their size doubles, so sizes are powers of
    /// two and any two runs have a common one.
    Adaptive {
        /// Most buckets, at least 2.
        max: usize,
    },
}

/// What a [`crate::Recorder`] records, and how.
#[derive(Debug, Clone)]
pub struct Spec {
    pub(crate) name: LatencyName,
    pub(crate) operation: String,
    pub(crate) series: Option<String>,
    pub(crate) timing: Timing,
    pub(crate) batch: u64,
    pub(crate) highest_ns: u64,
    pub(crate) digits: u8,
    pub(crate) buckets: BucketPolicy,
    pub(crate) intervals: Option<IntervalLog>,
    pub(crate) slowest: usize,
}

impl Spec {
    /// A distribution of `name`, of single operations called `operation` (`file`, `call`): actual
    /// times up to one hour in three digits, 512 adaptive buckets, the ten slowest, no intervals.
    #[must_use]
    pub fn new(name: LatencyName, operation: impl Into<String>) -> Self {
        Self {
            name,
            operation: operation.into(),
            series: None,
            timing: Timing::Actual,
            batch: 1,
            highest_ns: 3_600_000_000_000,
            digits: 3,
            buckets: BucketPolicy::Adaptive { max: 512 },
            intervals: None,
            slowest: 10,
        }
    }

    /// Which of several similar distributions of one run this is.
    #[must_use]
    pub fn series(mut self, series: impl Into<String>) -> Self {
        self.series = Some(series.into());
        self
    }

    /// What a recorded value is.
    #[must_use]
    pub fn timing(mut self, timing: Timing) -> Self {
        self.timing = timing;
        self
    }

    /// Operations that a recorded value stands for; above 1 the timing becomes [`Timing::BatchMean`].
    #[must_use]
    pub fn batch(mut self, operations: u64) -> Self {
        self.batch = operations.max(1);
        if self.batch > 1 {
            self.timing = Timing::BatchMean;
        }
        self
    }

    /// Operations that a recorded value stands for, where that is known: a mean is of more than one.
    pub(crate) fn batch_known(&self) -> Option<u64> {
        (self.batch > 1)
            .then_some(self.batch)
            .or_else(|| self.timing.batch_of_one())
    }

    /// The greatest value that the histogram takes (greater ones are counted as saturated) and its
    /// significant digits, 1 to 5.
    #[must_use]
    pub fn range(mut self, highest_ns: u64, digits: u8) -> Self {
        self.highest_ns = highest_ns.clamp(2, i64::MAX as u64);
        self.digits = digits.clamp(1, 5);
        self
    }

    /// How sums for paired comparison are kept.
    #[must_use]
    pub fn buckets(mut self, policy: BucketPolicy) -> Self {
        self.buckets = policy;
        self
    }

    /// Also puts a histogram of each interval into this log, for `.hlog`: at most 86,400 intervals, of which
    /// the last then grows.
    #[must_use]
    pub fn intervals(mut self, log: Option<IntervalLog>) -> Self {
        self.intervals = log;
        self
    }

    /// How many of the slowest samples to keep, at most 1,000.
    #[must_use]
    pub fn slowest(mut self, count: usize) -> Self {
        self.slowest = count.min(1_000);
        self
    }

    /// Keeps only how many values there were, their mean, and the least and the greatest: no percentile is known, and
    /// nothing by time. For runs of which no more is read, for a distribution takes 264 KiB and a pass over them.
    ///
    /// ```
    /// use perfkit_latency::{LatencyName, Recorder, Spec};
    ///
    /// let spec = Spec::new(LatencyName::Hold, "call").only_extremes();
    /// let mut recorder = Recorder::new(spec, std::time::Instant::now());
    /// (1..=500).for_each(|us| recorder.record_ns(us * 1_000));
    /// let row = recorder.finish().latency();
    /// assert_eq!((row.n, row.mean_ns), (500, Some(250_500.0)));
    /// assert_eq!((row.min_ns, row.max_ns), (Some(1_000), Some(500_000)));
    /// assert_eq!((row.percentile(50.0), row.saturated), (None, 500));
    /// ```
    #[must_use]
    pub fn only_extremes(self) -> Self {
        // Values above the range of a histogram are counted, and exact in all that is kept here.
        self.range(2, 1)
            .buckets(BucketPolicy::Off)
            .intervals(None)
            .slowest(0)
    }

    /// What its row is called.
    pub(crate) fn label(&self) -> String {
        match &self.series {
            Some(series) => format!("{series} {}", self.name.as_str()),
            None => self.name.as_str().to_owned(),
        }
    }

    pub(crate) fn histogram(&self) -> Histogram<u64> {
        Histogram::new_with_bounds(1, self.highest_ns, self.digits)
            .expect("`Spec` keeps range and digits within what a histogram takes")
    }
}
