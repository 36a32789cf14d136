//! Relative differences over pairs, and their summary.

use super::options::CONFIDENCE;
use crate::percentile::{order_statistic_ranks, rank};
use crate::report::Differences;

/// Relative differences (target − baseline) / baseline over pairs of equal index.
///
/// Ignores pairs beyond the shorter side and pairs whose baseline is not above 0. `None` when no pair is
/// left. The median of an even number of pairs is the mean of the middle two; the 99th
/// percentile is the value at rank ⌈0.99 n⌉.
///
/// ```
/// use perfkit_latency::compare::differences;
/// let base = [10.0; 100];
/// let target: Vec<f64> = [(9.0, 20), (10.0, 20), (14.0, 50), (16.0, 10)]
///     .iter()
///     .flat_map(|(ns, times)| vec![*ns; *times])
///     .collect();
/// let found = differences(&base, &target).unwrap();
/// assert_eq!(found.range, [-0.1, 0.6]);
/// assert_eq!((found.median, found.p99, found.better), (0.4, 0.6, 0.2));
/// ```
#[must_use]
pub fn differences(base: &[f64], target: &[f64]) -> Option<Differences> {
    differences_at(base, target, CONFIDENCE)
}

/// [`differences`] with an interval of at least this confidence.
pub(super) fn differences_at(base: &[f64], target: &[f64], confidence: f64) -> Option<Differences> {
    let mut relative: Vec<f64> = base
        .iter()
        .zip(target)
        .filter_map(relative_difference)
        .collect();
    relative.sort_by(f64::total_cmp);
    let n = relative.len() as u64;
    let at = |rank: u64| relative.get(usize::try_from(rank - 1).ok()?).copied();
    let interval = order_statistic_ranks(n, 50.0, confidence);
    let below = relative
        .iter()
        .filter(|difference| **difference < 0.0)
        .count();
    Some(Differences {
        range: [*relative.first()?, *relative.last()?],
        median: median_of_sorted(&relative)?,
        median_ci95: interval.and_then(|(low, high)| Some([at(low)?, at(high)?])),
        p99: at(rank(n, 99.0))?,
        better: below as f64 / n as f64,
    })
}

fn relative_difference((base, target): (&f64, &f64)) -> Option<f64> {
    let difference = (target - base) / base;
    (*base > 0.0 && base.is_finite() && difference.is_finite()).then_some(difference)
}

/// Pairs that [`differences`] leaves out.
pub(super) fn skipped(base: &[f64], target: &[f64]) -> u64 {
    base.iter()
        .zip(target)
        .filter(|pair| relative_difference(*pair).is_none())
        .count() as u64
}

/// The median of the finite values, for an even number of them the mean of the middle two.
#[must_use]
pub fn median(values: &[f64]) -> Option<f64> {
    let mut sorted: Vec<f64> = values
        .iter()
        .copied()
        .filter(|value| value.is_finite())
        .collect();
    sorted.sort_by(f64::total_cmp);
    median_of_sorted(&sorted)
}

fn median_of_sorted(sorted: &[f64]) -> Option<f64> {
    let upper = *sorted.get(sorted.len() / 2)?;
    if sorted.len() % 2 == 1 {
        return Some(upper);
    }
    let lower = *sorted.get(sorted.len() / 2 - 1)?;
    // Halved first, so that the sum of two great values stays finite; equal ones stay exact.
    Some(if lower == upper {
        lower
    } else {
        lower / 2.0 + upper / 2.0
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn medians() {
        assert_eq!(median(&[]), None);
        assert_eq!(median(&[f64::NAN]), None);
        assert_eq!(median(&[3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), Some(2.5));
        assert_eq!(median(&[f64::MAX, f64::MAX]), Some(f64::MAX));
    }

    #[test]
    fn nothing_to_pair_is_none() {
        assert_eq!(differences(&[], &[1.0]), None);
        assert_eq!(differences(&[0.0, -1.0, f64::NAN], &[1.0, 1.0, 1.0]), None);
        assert_eq!(skipped(&[0.0, 1.0], &[1.0, 1.0, 1.0]), 1);
    }

    #[test]
    fn worked_example_has_an_exact_interval() {
        let base = vec![10.0; 100];
        let target = [
            vec![9.0; 20],
            vec![10.0; 20],
            vec![14.0; 50],
            vec![16.0; 10],
        ]
        .concat();
        let found = differences(&base, &target).unwrap();
        // Ranks 40 and 61 of 100.
        assert_eq!(order_statistic_ranks(100, 50.0, 0.95), Some((40, 61)));
        assert_eq!(found.median_ci95, Some([0.0, 0.4]));
    }

    proptest! {
        #[test]
        fn they_are_in_order(pairs in prop::collection::vec((0.0f64..1e9, 0.0f64..1e9), 1..200)) {
            let (base, target): (Vec<f64>, Vec<f64>) = pairs.into_iter().unzip();
            if let Some(found) = differences(&base, &target) {
                let [least, most] = found.range;
                prop_assert!(least <= found.median && found.median <= found.p99);
                prop_assert!(found.p99 <= most && (0.0..=1.0).contains(&found.better));
                if let Some([low, high]) = found.median_ci95 {
                    prop_assert!(low <= found.median && found.median <= high);
                }
            }
        }
    }
}
