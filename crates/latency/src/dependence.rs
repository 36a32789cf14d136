//! How much a sample of consecutive values counts for, when values depend on the ones before them.
//!
//! Intervals by order statistics assume independent values. Consecutive operations rarely are: a slow moment slows
//! several of them. By *batch means* the sample is cut into a few long batches, whose means are close to
//! independent. Their variance times the length of a batch, over the variance of single values, is how many
//! values count as one: the *inflation* (Law and Kelton, Simulation Modeling and Analysis; Flegal and Jones,
//! Ann. Statist. 38, 2010). The sample counts as `n / inflation` independent values.
//!
//! The estimate is widened for its own error by Student's factor, and used only where it exceeds what independent
//! values show in 95 of 100 samples, so that intervals of independent values stay as they are.
//!
//! It is that of the mean. Whether a value is above a percentile depends less on the values before it than the
//! value itself, the less the higher the percentile. How much less follows from a model: values of any
//! distribution whose ranks move as those of an autoregressive normal process. A run that changes
//! once, half-way, is not of that kind, and no estimate from within a run can say what the next one is like.

use crate::binomial::normal_quantile;
use crate::deviation;
use crate::report::Buckets;

/// Terms of the series for percentiles.
const TERMS: u32 = 200;
/// Batches. More estimate better, and are shorter: then they depend on each other.
const BATCHES: usize = 16;
/// Fewest intervals of a log to estimate from.
pub const INTERVALS_MIN: usize = 20;
/// Fewest values to estimate from: batches of four.
const VALUES_MIN: usize = 4 * BATCHES;
/// Fewest values whose ranks tell whether they depend on each other.
const RANKED_MIN: usize = 10;
/// The 95 % point of chi-squared with 15 degrees of freedom, over 15.
const CHANCE: f64 = 24.996 / 15.0;
/// The square of Student's 97.5 % point with 15 degrees of freedom over the normal one.
const STUDENT: f64 = (2.131_45 / 1.959_964) * (2.131_45 / 1.959_964);

/// How many consecutive values count as one independent value, at least 1; 1 too where there are too few values to
/// know.
#[must_use]
pub fn inflation(values: &[f64]) -> f64 {
    let Some(single) = variance(values) else {
        return 1.0;
    };
    of_batches(values, 1.0, single).unwrap_or(1.0)
}

/// Whether values show that they depend on those before them, or are too few to tell: by what [`inflation`] finds, and by
/// von Neumann's ratio of their ranks (Bartels, J. Am. Stat. Assoc. 77, 1982), which needs fewer.
pub(crate) fn depends(values: &[f64]) -> bool {
    inflation(values) > 1.0 || rank_ratio(values).is_none_or(|found| found < ratio_least(values))
}

/// The 10 % point of the ratio of independent values.
fn ratio_least(values: &[f64]) -> f64 {
    let n = values.len() as f64;
    let variance = 4.0 * (n - 2.0) * (5.0 * n * n - 2.0 * n - 9.0)
        / (5.0 * n * (n + 1.0) * (n - 1.0) * (n - 1.0));
    2.0 - 1.281_552 * variance.sqrt()
}

/// The squares of the steps from rank to rank over those of their distances from the middle: 2 for independent values,
/// less where neighbours are alike. `None` for too few values. Values that are all the same do not depend.
fn rank_ratio(values: &[f64]) -> Option<f64> {
    if values.len() < RANKED_MIN {
        return None;
    }
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|a, b| values[*a].total_cmp(&values[*b]));
    let mut ranks = vec![0.0; values.len()];
    let mut first = 0;
    for same in order.chunk_by(|a, b| values[*a].total_cmp(&values[*b]).is_eq()) {
        // Equal values have the middle of their ranks.
        let middle = first as f64 + (same.len() - 1) as f64 / 2.0;
        for index in same {
            ranks[*index] = middle;
        }
        first += same.len();
    }
    let middle = (values.len() - 1) as f64 / 2.0;
    let steps = ranks.windows(2).map(|pair| (pair[1] - pair[0]).powi(2));
    let squares = ranks.iter().map(|rank| (rank - middle).powi(2));
    let squares: f64 = squares.sum();
    Some(match squares > 0.0 {
        true => steps.sum::<f64>() / squares,
        false => 2.0,
    })
}

/// The inflation of a row from its buckets, by the standard deviation of single values. `batch` is the operations
/// that a recorded value stands for.
pub(crate) fn of_buckets(buckets: &Buckets, batch: u64, stdev_ns: f64) -> Option<f64> {
    let recorded = buckets.size_ops as f64 / batch.max(1) as f64;
    if recorded < 1.0 || !stdev_ns.is_finite() {
        return None;
    }
    // Per operation, as the standard deviation is.
    let operations = buckets.size_ops as f64;
    let sums = buckets.sum_ns.iter();
    let means: Vec<f64> = sums.map(|sum| *sum as f64 / operations).collect();
    of_batches(&means, recorded, stdev_ns * stdev_ns)
}

/// The inflation of a row from its intervals in their order, as counts and means, by the standard deviation of
/// single values; `None` where fewer than [`INTERVALS_MIN`] of them have values.
///
/// Batches hold as many intervals, and thus not as many values. Of independent values each batch adds the variance of
/// a single one all the same: the square of its mean's deviation, times its count.
pub(crate) fn of_intervals(intervals: &[(u64, f64)], stdev: f64) -> Option<f64> {
    let filled: Vec<(f64, f64)> = intervals
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, mean)| (*count as f64, *mean))
        .collect();
    if filled.len() < INTERVALS_MIN || stdev.is_nan() || stdev <= 0.0 {
        return None;
    }
    let batches = (0..BATCHES).map(|nth| {
        weighted(&filled[nth * filled.len() / BATCHES..(nth + 1) * filled.len() / BATCHES])
    });
    let batches: Vec<(f64, f64)> = batches.collect();
    let (_, middle) = weighted(&batches);
    let square = |(count, mean): &(f64, f64)| count * (mean - middle) * (mean - middle);
    let squares: f64 = batches.iter().map(square).sum();
    widened(squares / (BATCHES - 1) as f64 / (stdev * stdev))
}

/// The count and the mean of some counts and means together.
fn weighted(parts: &[(f64, f64)]) -> (f64, f64) {
    let count: f64 = parts.iter().map(|(count, _)| count).sum();
    let sum: f64 = parts.iter().map(|(count, mean)| count * mean).sum();
    (count, sum / count)
}

/// An estimate that exceeds what chance makes of independent values, widened for its own error.
fn widened(found: f64) -> Option<f64> {
    let counts = if found > CHANCE { found * STUDENT } else { 1.0 };
    found.is_finite().then_some(counts)
}

/// From means of `size` values each; `None` where there are too few.
fn of_batches(means: &[f64], size: f64, single: f64) -> Option<f64> {
    if means.len() < VALUES_MIN || single <= 0.0 {
        return None;
    }
    let length = means.len() / BATCHES;
    // The rest is left out at the front, where a run warms up.
    let from = means.len() - length * BATCHES;
    let batches: Vec<f64> = means[from..]
        .chunks_exact(length)
        .filter_map(mean)
        .collect();
    widened(variance(&batches)? * length as f64 * size / single)
}

fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

fn variance(values: &[f64]) -> Option<f64> {
    let stdev = deviation::of_values(values)?;
    Some(stdev * stdev).filter(|variance| variance.is_finite())
}

/// The inflation of the share of values above percentile `p`, for values whose mean has this `inflation`.
///
/// For a normal process with the autocorrelation `ρ^k`, the share above has the autocorrelation
/// `Σ_j (He_{j−1}(z) φ(z))² / (j! p (1 − p)) ρ^{jk}` (Mehler's series), which is summed over all lags `k` first.
pub(crate) fn of_percentile(inflation: f64, p: f64) -> f64 {
    if inflation <= 1.0 || p <= 0.0 || p >= 100.0 {
        return 1.0;
    }
    let rho = (inflation - 1.0) / (inflation + 1.0);
    let (below, above) = (p / 100.0, (100.0 - p) / 100.0);
    let z = normal_quantile(below);
    let density = (-z * z / 2.0).exp() / std::f64::consts::TAU.sqrt();
    // He_{j−1}(z) / √((j − 1)!), by the recurrence of the normalised polynomials.
    let (mut before, mut at) = (0.0, 1.0);
    let (mut sum, mut shares, mut power) = (0.0, 0.0, 1.0);
    for j in 1..=TERMS {
        let order = f64::from(j);
        let share = (at * density).powi(2) / (order * below * above);
        power *= rho;
        sum += share * power / (1.0 - power);
        shares += share;
        let next = (z * at - (order - 1.0).sqrt() * before) / order.sqrt();
        (before, at) = (at, next);
    }
    // The shares of all terms add up to 1; the rest falls with the last power at least.
    sum += (1.0 - shares).max(0.0) * power / (1.0 - power);
    (1.0 + 2.0 * sum).clamp(1.0, inflation)
}

/// How many independent values `n` values count as.
pub(crate) fn effective(n: u64, inflation: f64) -> u64 {
    if inflation <= 1.0 || n == 0 {
        return n;
    }
    ((n as f64 / inflation) as u64).clamp(1, n)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::SplitMix64;

    fn autoregressive(seed: u64, n: usize, rho: f64) -> Vec<f64> {
        let mut rng = SplitMix64::new(seed);
        let mut at = rng.normal();
        let noise = (1.0 - rho * rho).sqrt();
        let mut next = || {
            at = rho * at + noise * rng.normal();
            at
        };
        (0..n).map(|_| next()).collect()
    }

    #[test]
    fn independent_values_count_as_they_are() {
        let inflated = (0..200).filter(|seed| inflation(&autoregressive(*seed, 1_000, 0.0)) > 1.0);
        let inflated = inflated.count();
        assert!((2..20).contains(&inflated), "{inflated} of 200");
        assert_eq!(inflation(&[1.0; 500]), 1.0);
        assert_eq!(inflation(&autoregressive(1, 20, 0.9)), 1.0);
        assert_eq!(inflation(&[f64::NAN; 500]), 1.0);
        assert_eq!(inflation(&[f64::MAX; 500]), 1.0);
    }

    #[test]
    fn dependent_values_count_as_fewer() {
        for (rho, least, most) in [(0.5, 2.0, 5.0), (0.9, 13.0, 30.0)] {
            let mut found: Vec<f64> = (0..100)
                .map(|seed| inflation(&autoregressive(seed, 4_000, rho)))
                .collect();
            found.sort_by(f64::total_cmp);
            let median = found[50];
            assert!(least < median && median < most, "{rho}: {median}");
        }
    }

    #[test]
    fn shares_above_a_percentile_depend_less() {
        assert_eq!(of_percentile(1.0, 99.0), 1.0);
        // Sheppard: the signs of a normal process have the autocorrelation 2/π asin ρ^k.
        let expected: f64 = (1..500)
            .map(|lag| 0.9_f64.powi(lag).asin() * 2.0 / std::f64::consts::PI)
            .sum();
        let found = of_percentile(19.0, 50.0);
        assert!(
            (found - (1.0 + 2.0 * expected)).abs() < 0.1,
            "{found} {expected}"
        );
        let ladder = [50.0, 90.0, 99.0, 99.9, 99.99].map(|p| of_percentile(19.0, p));
        assert!(ladder.is_sorted_by(|a, b| a >= b), "{ladder:?}");
        assert!((4.0..9.0).contains(&ladder[2]), "{ladder:?}");
        // The share above p99 of an autoregressive process, counted.
        let mut batches = Vec::new();
        for seed in 0..30 {
            let values = autoregressive(seed, 10_000, 0.9);
            let above = values.iter().filter(|value| **value > 2.326_348).count();
            batches.push(above as f64);
        }
        let counted = variance(&batches).unwrap() / (10_000.0 * 0.01 * 0.99);
        assert!(
            (counted / ladder[2]).ln().abs() < 0.7,
            "{counted} {ladder:?}"
        );
        assert!(of_percentile(1e12, 50.0).is_finite());
    }

    #[test]
    fn buckets_show_what_the_values_show() {
        let values: Vec<f64> = autoregressive(3, 8_000, 0.9)
            .iter()
            .map(|value| 1e6 + 1e4 * value)
            .collect();
        let sums = values
            .chunks_exact(32)
            .map(|chunk| chunk.iter().sum::<f64>() as u64);
        let buckets = Buckets {
            size_ops: 32,
            sum_ns: sums.collect(),
        };
        let stdev = variance(&values).unwrap().sqrt();
        let (whole, bucketed) = (inflation(&values), of_buckets(&buckets, 1, stdev).unwrap());
        assert!((whole / bucketed - 1.0).abs() < 0.1, "{whole} {bucketed}");
        assert_eq!(effective(8_000, 20.0), 400);
        assert_eq!(effective(0, 20.0), 0);
        assert_eq!(effective(5, 1.0), 5);
        assert_eq!(effective(5, 1e30), 1);
    }

    /// Counts and means of intervals of about `size` values.
    fn intervals(values: &[f64], size: usize) -> Vec<(u64, f64)> {
        let mut left = values;
        let mut found = Vec::new();
        // Now and then one is empty, and none is as long as the last.
        for nth in 0.. {
            let (own, rest) =
                left.split_at([size, 0, size / 2, size * 3 / 2][nth % 4].min(left.len()));
            found.push((own.len() as u64, mean(own).unwrap_or(0.0)));
            left = rest;
            if left.is_empty() {
                break;
            }
        }
        found
    }

    #[test]
    fn intervals_of_a_log_show_what_the_values_show() {
        let stdev = |values: &[f64]| variance(values).unwrap().sqrt();
        for rho in [0.0, 0.9] {
            let mut found: Vec<f64> = (0..100)
                .map(|seed| {
                    let values = autoregressive(seed, 8_000, rho);
                    of_intervals(&intervals(&values, 80), stdev(&values)).unwrap()
                })
                .collect();
            found.sort_by(f64::total_cmp);
            match rho == 0.0 {
                true => assert_eq!(found[85], 1.0),
                false => assert!((15.0..30.0).contains(&found[50]), "{}", found[50]),
            }
        }
        let one = |count| vec![(1, 1.0); count];
        assert_eq!(of_intervals(&one(INTERVALS_MIN - 1), 1.0), None);
        assert_eq!(of_intervals(&one(INTERVALS_MIN), 1.0), Some(1.0));
        assert_eq!(of_intervals(&one(INTERVALS_MIN), 0.0), None);
        assert_eq!(of_intervals(&one(INTERVALS_MIN), f64::NAN), None);
        assert_eq!(of_intervals(&[(u64::MAX, f64::MAX); 50], 1.0), None);
        assert_eq!(of_intervals(&[], 1.0), None);
    }
}
