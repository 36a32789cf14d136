//! The standard deviation of a sample, by n − 1: the one formula of everything that states one.
//!
//! Footers of `.hgrm` have that of all values, by n, as HdrHistogram writes it; it is converted where it is read.

use hdrhistogram::Histogram;

/// The standard deviation of `n` values, by the sum of the squares of their distances from their mean. A single value
/// has none.
///
/// ```
/// use perfkit_latency::deviation;
/// assert_eq!(deviation::of_squares(2.0, 3), Some(1.0));
/// assert_eq!(deviation::of_squares(0.0, 1), None);
/// ```
#[must_use]
pub fn of_squares(squares: f64, n: u64) -> Option<f64> {
    let free = n.checked_sub(1).filter(|free| *free > 0)?;
    Some((squares / free as f64).sqrt()).filter(|stdev| stdev.is_finite())
}

/// The standard deviation of these values.
#[must_use]
pub fn of_values(values: &[f64]) -> Option<f64> {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let squares = values.iter().map(|value| (value - mean) * (value - mean));
    of_squares(squares.sum(), values.len() as u64)
}

/// That of the values of a histogram, to its precision.
pub(crate) fn of_histogram(histogram: &Histogram<u64>) -> Option<f64> {
    of_squares(squares(histogram, histogram.mean()), histogram.len())
}

/// That of a sample of `n` values for which a file states the one by n.
pub(crate) fn of_all(stated: f64, n: u64) -> Option<f64> {
    of_squares(stated * stated * n as f64, n)
}

/// The sum of the squares of the distances of all values from this one.
pub(crate) fn squares(histogram: &Histogram<u64>, from: f64) -> f64 {
    let square = |value: u64, count: u64| {
        let distance = histogram.median_equivalent(value) as f64 - from;
        distance * distance * count as f64
    };
    histogram
        .iter_recorded()
        .map(|recorded| square(recorded.value_iterated_to(), recorded.count_at_value()))
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_to_it_is_the_same() {
        let values = [40.0, 10.0, 30.0, 20.0];
        let by_hand = (500.0_f64 / 3.0).sqrt();
        let close = |found: Option<f64>| (found.expect("a deviation") - by_hand).abs() < 1e-9;
        assert!(close(of_values(&values)) && close(of_squares(500.0, 4)));
        // As HdrHistogram states it.
        assert!(close(of_all(125.0_f64.sqrt(), 4)));
        let mut histogram = Histogram::new_with_bounds(1, 1_000, 3).expect("bounds");
        for value in values {
            histogram.record(value as u64).expect("in range");
        }
        assert!(close(of_histogram(&histogram)));
        assert!((histogram.stdev() - 125.0_f64.sqrt()).abs() < 1e-9);
    }

    #[test]
    fn what_is_not_known_is_not_stated() {
        assert_eq!((of_values(&[]), of_values(&[7.0])), (None, None));
        assert_eq!((of_squares(0.0, 0), of_all(3.0, 1)), (None, None));
        assert_eq!(of_values(&[7.0, 7.0]), Some(0.0));
        assert_eq!(of_values(&[f64::MAX, f64::MIN]), None);
        assert_eq!(of_squares(f64::NAN, 9), None);
    }
}
