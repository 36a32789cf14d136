//! Adding the row of one report to the like row of another.
//!
//! Histograms are added; percentiles are read anew from the sum, never averaged. (Recorders of one
//! run are merged before they become rows: see [`crate::Recorder::merge`].)

use crate::percentile::{LADDER, Ladder};
use crate::read::{Place, ReadError};
use crate::report::{Latency, finite};

impl Latency {
    /// Adds `other`, a distribution of the same time and operation from another run.
    ///
    /// Minimum, maximum, mean and standard deviation stay as exact as they were. Buckets and
    /// intervals belong to one run and are dropped.
    ///
    /// # Errors
    /// When a histogram cannot be read, or the two have ranges that cannot be added, or one holds single
    /// operations and the other means of batches, or there are more values than can be counted.
    pub fn merge(&mut self, other: &Self) -> Result<(), ReadError> {
        let same = (self.timing, self.batch) == (other.timing, other.batch);
        if !same && self.n > 0 && other.n > 0 {
            let message = "rows of unlike timing or batch size do not add up";
            return Err(ReadError::malformed(Place::Whole, message));
        }
        let mut histogram = self.histogram()?;
        histogram.auto(true);
        histogram
            .add(other.histogram()?)
            .map_err(|error| ReadError::malformed(Place::Whole, error.to_string()))?;
        if i64::try_from(histogram.len()).is_err() {
            return Err(ReadError::malformed(Place::Whole, "counts overflow"));
        }
        let saturated = self.saturated.saturating_add(other.saturated);
        let merged = Self::from_histogram(self.name, &*self.operation, self.timing, &histogram);
        let moments = pooled(self, other);
        let min_ns = self.min_ns.into_iter().chain(other.min_ns).min();
        let max_ns = self.max_ns.into_iter().chain(other.max_ns).max();
        let ladder = Ladder {
            histogram: &histogram,
            saturated,
            timing: self.timing,
            batch: self.batch,
            min_ns,
            max_ns,
        };
        let percentiles = ladder.at(&LADDER);
        *self = Self {
            series: self.series.take(),
            batch: self.batch,
            n: self.n.saturating_add(other.n),
            min_ns,
            mean_ns: moments.map(|(mean, _)| mean),
            stdev_ns: moments.map(|(_, stdev)| stdev),
            max_ns,
            saturated,
            percentiles,
            ..merged
        };
        Ok(())
    }
}

/// Mean and standard deviation of both samples together.
fn pooled(a: &Latency, b: &Latency) -> Option<(f64, f64)> {
    let part = |row: &Latency| {
        let weight = row.n as f64;
        row.mean_ns
            .zip(row.stdev_ns)
            .map_or((0.0, 0.0, 0.0), |(mean, stdev)| (weight, mean, stdev))
    };
    let (a, b) = (part(a), part(b));
    let n = a.0 + b.0;
    let mean = finite((a.0 * a.1 + b.0 * b.1) / n)?;
    let square = |(weight, own_mean, stdev): (f64, f64, f64)| {
        weight * (stdev * stdev + (own_mean - mean) * (own_mean - mean))
    };
    let stdev = finite(((square(a) + square(b)) / n).sqrt())?;
    Some((mean, stdev))
}

#[cfg(test)]
mod tests {
    use hdrhistogram::Histogram;

    use crate::report::{Latency, LatencyName, Timing};

    fn row(values: &[u64]) -> Latency {
        let mut histogram = Histogram::new_with_bounds(1, 1_000_000, 3).expect("bounds");
        for value in values {
            histogram.record(*value).expect("in range");
        }
        Latency::from_histogram(LatencyName::Service, "call", Timing::Actual, &histogram)
    }

    #[test]
    fn two_rows_add_up_to_the_row_of_both_samples() {
        let (low, high): (Vec<u64>, Vec<u64>) = ((1..=400).collect(), (300..=999).collect());
        let mut merged = row(&low);
        merged.merge(&row(&high)).expect("merged");
        let both = row(&[low, high].concat());
        assert_eq!(merged.n, both.n);
        assert_eq!(merged.percentiles, both.percentiles);
        assert_eq!((merged.min_ns, merged.max_ns), (both.min_ns, both.max_ns));
        let close = |a: Option<f64>, b: Option<f64>| {
            (a.expect("a value") - b.expect("a value")).abs() < 1e-6
        };
        assert!(close(merged.mean_ns, both.mean_ns));
        assert!(close(merged.stdev_ns, both.stdev_ns));
    }

    #[test]
    fn an_empty_row_changes_nothing() {
        let mut merged = row(&[5, 6, 7]);
        let before = merged.clone();
        merged.merge(&row(&[])).expect("merged");
        assert_eq!(merged, before);
    }
}
