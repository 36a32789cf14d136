//! A finished recording as rows of a report, and conversion between histograms and rows.

use hdrhistogram::Histogram;

use crate::coding;
use crate::dependence;
use crate::deviation;
use crate::exact::Exact;
use crate::percentile::{LADDER, Ladder};
use crate::read::ReadError;
use crate::report::{Interval, Latency, LatencyName, SlowSample, Timing, finite};
use crate::series::{BucketSums, Slowest};
use crate::spec::Spec;

/// What a [`crate::Recorder`] has recorded.
#[derive(Debug)]
pub struct Recording {
    pub(crate) histogram: Histogram<u64>,
    pub(crate) exact: Exact,
    pub(crate) buckets: BucketSums,
    pub(crate) slowest: Slowest,
    pub(crate) log_parts: Vec<u32>,
    pub(crate) spec: Spec,
}

impl Recording {
    /// The row of the report.
    #[must_use]
    pub fn latency(&self) -> Latency {
        let (spec, exact) = (&self.spec, &self.exact);
        let n = self.n();
        let mean = self.mean_ns();
        let stdev = mean.and_then(|mean| self.stdev_ns(mean));
        let buckets = self.buckets.report(spec.batch);
        let inflation = buckets
            .as_ref()
            .zip(stdev)
            .and_then(|(buckets, stdev)| dependence::of_buckets(buckets, spec.batch, stdev));
        let ladder = Ladder {
            histogram: &self.histogram,
            saturated: exact.saturated,
            timing: spec.timing,
            batch: spec.batch_known(),
            min_ns: (n > 0).then_some(exact.min_ns),
            max_ns: Some(exact.max_ns),
            inflation: inflation.unwrap_or(1.0),
        };
        Latency {
            series: spec.series.clone(),
            name: spec.name,
            operation: spec.operation.clone(),
            timing: spec.timing,
            batch: spec.batch_known(),
            floors: Vec::new(),
            n,
            min_ns: (n > 0).then_some(exact.min_ns),
            mean_ns: mean,
            stdev_ns: stdev,
            effective_n: inflation.map(|inflation| dependence::effective(n, inflation)),
            max_ns: (n > 0).then_some(exact.max_ns),
            saturated: exact.saturated,
            percentiles: ladder.at(&LADDER),
            buckets,
            histogram_v2_deflate_b64: coding::encode_base64(&self.histogram),
            intervals: Vec::new(),
            log_parts: self.log_parts.clone(),
        }
    }

    /// The slowest samples, slowest first.
    #[must_use]
    pub fn slowest(&self) -> Vec<SlowSample> {
        let sample = |(value_ns, what): (u64, &crate::series::What)| SlowSample {
            series: self.spec.series.clone(),
            name: self.spec.name,
            value_ns,
            what: what.text(),
        };
        self.slowest.sorted().into_iter().map(sample).collect()
    }

    /// All values within the range.
    #[must_use]
    pub fn histogram(&self) -> &Histogram<u64> {
        &self.histogram
    }

    /// Recorded values, the saturated ones included.
    #[must_use]
    pub fn n(&self) -> u64 {
        self.histogram.len().saturating_add(self.exact.saturated)
    }

    /// The exact mean of a single operation.
    fn mean_ns(&self) -> Option<f64> {
        let operations = self.n().saturating_add(self.exact.extra_ops);
        (operations > 0)
            .then(|| self.exact.sum_ns as f64 / operations as f64)
            .and_then(finite)
    }

    /// Standard deviation of the values: within the range to the histogram's precision, above it exactly.
    fn stdev_ns(&self, mean: f64) -> Option<f64> {
        let exact = &self.exact;
        if exact.min_ns == exact.max_ns {
            return deviation::of_squares(0.0, self.n());
        }
        let above = exact.saturated_squares - 2.0 * mean * exact.saturated_sum
            + exact.saturated as f64 * mean * mean;
        let squares = deviation::squares(&self.histogram, mean) + above.max(0.0);
        deviation::of_squares(squares, self.n())
    }
}

/// What is known of the values of a histogram, which has them to its precision.
pub(crate) struct Known {
    pub(crate) min_ns: u64,
    pub(crate) max_ns: u64,
    pub(crate) mean_ns: f64,
    pub(crate) stdev_ns: Option<f64>,
    /// How many values count as one independent value, for the mean.
    pub(crate) inflation: Option<f64>,
}

impl Known {
    /// What the histogram says itself.
    pub(crate) fn of(histogram: &Histogram<u64>) -> Self {
        Self {
            min_ns: histogram.min(),
            max_ns: histogram.max(),
            mean_ns: histogram.mean(),
            stdev_ns: deviation::of_histogram(histogram),
            inflation: None,
        }
    }
}

impl Latency {
    /// A row from a histogram alone: minimum, mean and maximum have only its precision, and there are no
    /// buckets. The caller fills in series, batch and saturated values.
    #[must_use]
    pub fn from_histogram(
        name: LatencyName,
        operation: impl Into<String>,
        timing: Timing,
        histogram: &Histogram<u64>,
    ) -> Self {
        let known = Known::of(histogram);
        Self::from_known(name, operation, timing, histogram, known)
    }

    /// The same where more is known than the histogram says.
    pub(crate) fn from_known(
        name: LatencyName,
        operation: impl Into<String>,
        timing: Timing,
        histogram: &Histogram<u64>,
        known: Known,
    ) -> Self {
        let n = histogram.len();
        let some = n > 0;
        let min_ns = some.then_some(known.min_ns);
        let ladder = Ladder {
            histogram,
            saturated: 0,
            timing,
            batch: timing.batch_of_one(),
            min_ns,
            max_ns: Some(known.max_ns),
            inflation: known.inflation.unwrap_or(1.0),
        };
        let effective = |inflation| dependence::effective(n, inflation);
        Self {
            series: None,
            name,
            operation: operation.into(),
            timing,
            batch: timing.batch_of_one(),
            floors: Vec::new(),
            n,
            min_ns,
            mean_ns: some.then_some(known.mean_ns).and_then(finite),
            stdev_ns: known.stdev_ns,
            effective_n: known.inflation.map(effective),
            max_ns: some.then_some(known.max_ns),
            saturated: 0,
            percentiles: ladder.at(&LADDER),
            buckets: None,
            histogram_v2_deflate_b64: coding::encode_base64(histogram),
            intervals: Vec::new(),
            log_parts: Vec::new(),
        }
    }

    /// The means of the intervals that have values, in their order.
    pub(crate) fn interval_means(&self) -> Result<Vec<f64>, ReadError> {
        let mut means = Vec::with_capacity(self.intervals.len());
        for interval in &self.intervals {
            let histogram = interval.histogram()?;
            if !histogram.is_empty() {
                means.push(histogram.mean());
            }
        }
        Ok(means)
    }

    /// The histogram of the row.
    ///
    /// # Errors
    /// When its text is not a histogram, or has more than four million counts.
    pub fn histogram(&self) -> Result<Histogram<u64>, ReadError> {
        coding::decode_base64(&self.histogram_v2_deflate_b64)
    }

    /// How many values of the row count as one independent value, for its mean: 1 where that is not known.
    #[must_use]
    pub fn inflation(&self) -> f64 {
        match self.effective_n {
            Some(effective) if effective > 0 && effective < self.n => {
                self.n as f64 / effective as f64
            }
            _ => 1.0,
        }
    }

    /// The label of the row in tables, gates and tags: its series and its name.
    #[must_use]
    pub fn label(&self) -> String {
        match &self.series {
            Some(series) => format!("{series} {}", self.name.as_str()),
            None => self.name.as_str().to_owned(),
        }
    }
}

impl Interval {
    /// The histogram of the interval.
    ///
    /// # Errors
    /// As [`Latency::histogram`].
    pub fn histogram(&self) -> Result<Histogram<u64>, ReadError> {
        coding::decode(&self.histogram_v2_deflate)
    }
}
