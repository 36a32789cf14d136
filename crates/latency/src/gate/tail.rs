//! Whether a sample's tail is so heavy that its mean has no variance, by Hill's estimator of the tail index.
//!
//! A tail that falls as `x^-α` has a variance only for α above 2. Below, the standard deviation of a sample grows
//! with the sample, and the normal interval of its mean covers far less than it states (Resnick, Heavy-Tail
//! Phenomena, 2007).

use hdrhistogram::Histogram;

use crate::deviation;

/// Fewest values whose tail is looked at.
const VALUES_MIN: u64 = 50;
/// Fewest values of a tail.
const TAIL_MIN: u64 = 10;
/// The index below which there is no variance.
const INDEX_MIN: f64 = 2.0;

/// A tail without a variance.
#[derive(Debug)]
pub(super) struct Tail {
    /// Hill's estimate of the index.
    pub(super) index: f64,
    /// Mean of the values, those of the tail counted as the least of them.
    pub(super) capped_mean: f64,
    /// Their standard deviation.
    pub(super) capped_stdev: f64,
}

impl Tail {
    /// The tail of these values and of `saturated` ones above them, if it has no variance: the estimate and its
    /// standard error lie below 2.
    pub(super) fn heavy(histogram: &Histogram<u64>, saturated: u64) -> Option<Self> {
        let n = histogram.len().checked_add(saturated)?;
        let size = ((n as f64).sqrt() as u64).max(TAIL_MIN);
        if n < VALUES_MIN || saturated >= size {
            return None;
        }
        let body = n - size;
        let values = || {
            histogram.iter_recorded().map(|recorded| {
                let value = histogram.median_equivalent(recorded.value_iterated_to());
                (value.max(1) as f64, recorded.count_at_value())
            })
        };
        // The greatest value of the body.
        let mut seen = 0;
        let (cap, _) = values().find(|(_, count)| {
            seen += count;
            seen >= body
        })?;
        let above = values().filter(|(value, _)| *value > cap);
        let logs: f64 = above
            .map(|(value, count)| (value / cap).ln() * count as f64)
            .sum();
        // Saturated values count as the end of the range: the index is at most that.
        let end = histogram.high().max(1) as f64;
        let logs = logs + (end / cap).max(1.0).ln() * saturated as f64;
        let index = size as f64 / logs;
        if !index.is_finite() || index * (1.0 + 1.0 / (size as f64).sqrt()) >= INDEX_MIN {
            return None;
        }
        let capped = || values().map(|(value, count)| (value.min(cap), count as f64));
        let saturated = saturated as f64;
        let sum = capped().map(|(value, count)| value * count).sum::<f64>() + cap * saturated;
        let capped_mean = sum / n as f64;
        let square = |value: f64| (value - capped_mean) * (value - capped_mean);
        let squares = capped()
            .map(|(value, count)| square(value) * count)
            .sum::<f64>();
        let squares = squares + square(cap) * saturated;
        Some(Self {
            index,
            capped_mean,
            capped_stdev: deviation::of_squares(squares, n)?,
        })
    }
}
