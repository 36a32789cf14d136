//! How far the difference of two separate runs may be off, as the values of a run depend on those before them.
//!
//! An interval by order statistics takes pairs for independent. Runs that drift are not: a slow minute slows many
//! values. By *batch means* each run is cut into ten consecutive blocks, whose medians are closer to independent; their
//! spread says how well the place of the run is known. Blocks that are still alike, as those of short runs and of slow
//! drift are, count as fewer: by their autocorrelation of lag 1, corrected for its bias in so small samples (Marriott
//! and Pope, Biometrika 41, 1954), as in a process of first order. What neither run shows, such as a change between
//! them, is not in it.

use super::difference::median;
use crate::dependence;
use crate::report::{Differences, finite};

/// Blocks of a run.
const BLOCKS: usize = 10;
/// Fewest values of a run whose blocks say anything.
const VALUES_MIN: usize = 3 * BLOCKS;
/// Student's 97.5 % point with nine degrees of freedom.
const STUDENT: f64 = 2.262;
/// About one standard error of the correlation: one that looks low by chance must not make the interval narrow. Without it
/// 8 of 100 comparisons of 30 values with an autocorrelation of 0.9 are wrong, and with it 3 (`sequential/tests.rs`).
const CORRELATION_ERROR: f64 = 0.3;
/// The greatest correlation of neighbours that is counted with: beyond, a run is one slow wave.
const CORRELATION_MAX: f64 = 0.95;

/// How much further than its interval the difference may lie on either side: at most by all that the runs drift. Runs that
/// are too short for blocks may be off by that, unless their values show no dependence.
pub(super) fn hidden(sides: [&[f64]; 2], difference: Option<&Differences>, drift: f64) -> f64 {
    let interval = difference.and_then(|found| found.median_ci95);
    let own = interval.map_or(0.0, |[low, high]| high / 2.0 - low / 2.0);
    match half_width(sides[0], sides[1]) {
        Some(half) => (half - own).clamp(0.0, drift.max(0.0)),
        None if sides.into_iter().any(dependence::depends) => drift,
        None => 0.0,
    }
}

/// Half of the width of the interval (95 %) of the relative difference between the places of two runs. `None` where
/// either has too few values.
fn half_width(base: &[f64], target: &[f64]) -> Option<f64> {
    let [base, target] = [Blocks::of(base)?, Blocks::of(target)?];
    // Both runs were made in the same way: together they tell better how alike neighbours are.
    let correlation = f64::midpoint(base.correlation, target.correlation);
    let correlation = (corrected(correlation) + CORRELATION_ERROR).clamp(0.0, CORRELATION_MAX);
    let fewer = (1.0 + correlation) / (1.0 - correlation);
    // The error of a ratio.
    let ratio = target.mean / base.mean;
    let squares = target.variance + ratio * ratio * base.variance;
    let error = (squares * fewer / BLOCKS as f64).sqrt() / base.mean;
    finite(STUDENT * error)
}

/// The estimate of a small sample is too low.
fn corrected(correlation: f64) -> f64 {
    let blocks = BLOCKS as f64;
    (blocks * correlation + 1.0) / (blocks - 4.0)
}

/// The medians of the blocks of a run.
struct Blocks {
    mean: f64,
    variance: f64,
    /// Of neighbours, between -1 and 1.
    correlation: f64,
}

impl Blocks {
    fn of(values: &[f64]) -> Option<Self> {
        if values.len() < VALUES_MIN {
            return None;
        }
        let block = |nth: usize| {
            let [from, to] = [nth, nth + 1].map(|nth| nth * values.len() / BLOCKS);
            median(&values[from..to])
        };
        let medians: Vec<f64> = (0..BLOCKS).map(block).collect::<Option<_>>()?;
        let mean = medians.iter().sum::<f64>() / BLOCKS as f64;
        let off: Vec<f64> = medians.iter().map(|value| value - mean).collect();
        let squares: f64 = off.iter().map(|off| off * off).sum();
        let products: f64 = off.windows(2).map(|pair| pair[0] * pair[1]).sum();
        Some(Self {
            mean: finite(mean).filter(|mean| *mean > 0.0)?,
            variance: finite(squares / (BLOCKS - 1) as f64)?,
            correlation: match squares > 0.0 {
                true => products / squares,
                false => 0.0,
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_that_are_the_same_leave_nothing_open() {
        let same: Vec<f64> = (0..100).map(|at| 100.0 + f64::from(at % 10)).collect();
        assert_eq!(half_width(&same, &same), Some(0.0));
        assert_eq!(half_width(&same, &same[..29]), None);
        assert_eq!(half_width(&[0.0; 100], &same), None);
        assert_eq!(half_width(&[f64::NAN; 100], &same), None);
        assert_eq!(half_width(&[f64::MAX; 100], &same), None);
    }

    #[test]
    fn a_slow_wave_is_open_by_more_than_a_quick_one() {
        let wave = |length: usize| -> Vec<f64> {
            let value = |at: usize| {
                if (at / length).is_multiple_of(2) {
                    100.0
                } else {
                    120.0
                }
            };
            (0..400).map(value).collect()
        };
        let of = |length| half_width(&wave(length), &wave(length)).unwrap();
        assert!(of(5) < 0.05 && of(40) > 0.09 && of(200) > 0.5);
        // It is about the ratio.
        let base = wave(40);
        let double: Vec<f64> = base.iter().map(|value| 2.0 * value).collect();
        let twice = half_width(&base, &double).unwrap();
        assert!((twice / of(40) - 2.0).abs() < 1e-9, "{twice}");
    }
}
