//! Comparing a target with a baseline, bucket by bucket, with a control against self-deception.
//!
//! The numbers are relative differences (target − baseline) / baseline over pairs of buckets: their
//! range, median, 99th percentile and the share below 0. The verdict rests on the exact
//! order-statistic interval of the median, and on a *control*: the same comparison of the baseline with
//! itself. A difference counts only when its whole interval lies beyond the control's; "no difference"
//! counts only when the comparison could have detected one of [`RESOLUTION_MAX`].
//!
//! [`interleaved`] is for runs whose buckets alternated in random order: both sides of a pair share the
//! drift, and it cancels. [`reports`] is for two runs made one after the other. There nothing cancels, so
//! a difference must also exceed the drift that each run shows within itself. No statistics can see a drift
//! that neither run shows; the result is labelled as unpaired.

mod difference;
mod sequential;
mod verdict;

pub use difference::{differences, median};
pub use sequential::{numbers, reports, reports_with, sequential, sequential_with};

use crate::report::{Comparison, Design};
use verdict::Evidence;

/// Resolution that "no difference" needs by default: 5 %.
pub const RESOLUTION_MAX: f64 = 0.05;

/// Fewest pairs with an interval of the median, and so with a verdict.
pub const PAIRS_MIN: u64 = 6;

/// What a comparison is called.
#[derive(Debug, Clone, Copy)]
pub struct Names<'a> {
    /// What was compared.
    pub row: &'a str,
    /// Name of the baseline.
    pub baseline: &'a str,
    /// Name of the target.
    pub target: &'a str,
}

/// Bucket sums in nanoseconds, paired by index: the n-th of each side ran next to each other.
#[derive(Debug, Clone, Copy)]
pub struct Sides<'a> {
    /// The baseline.
    pub base: &'a [f64],
    /// The target.
    pub target: &'a [f64],
    /// The baseline a second time, run as if it were a target (an A/A control).
    pub control: Option<&'a [f64]>,
    /// Operations in a bucket.
    pub bucket_ops: u64,
}

/// How strict a verdict is.
///
/// ```
/// use perfkit_latency::compare::Options;
/// assert_eq!(Options::default().resolution_max(0.02).resolution_max, 0.02);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Options {
    /// The coarsest resolution that allows the verdict "no difference"; [`RESOLUTION_MAX`] by default.
    pub resolution_max: f64,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            resolution_max: RESOLUTION_MAX,
        }
    }
}

impl Options {
    /// Sets the coarsest resolution that allows the verdict "no difference".
    #[must_use]
    pub fn resolution_max(mut self, share: f64) -> Self {
        self.resolution_max = share;
        self
    }
}

/// Compares sides that ran interleaved, in random order, in one run.
#[must_use]
pub fn interleaved(names: Names<'_>, sides: Sides<'_>) -> Comparison {
    interleaved_with(names, sides, Options::default())
}

/// [`interleaved`] at another strictness.
#[must_use]
pub fn interleaved_with(names: Names<'_>, sides: Sides<'_>, options: Options) -> Comparison {
    let skipped = difference::skipped(sides.base, sides.target);
    let evidence = Evidence {
        design: Design::Interleaved,
        pairs: (sides.base.len().min(sides.target.len()) as u64).saturating_sub(skipped),
        difference: differences(sides.base, sides.target),
        control: sides
            .control
            .and_then(|control| differences(sides.base, control)),
        drift: 0.0,
        skipped,
        bucket_ops: sides.bucket_ops,
        baseline_median: median(sides.base),
        target_median: median(sides.target),
    };
    evidence.conclude(names, options)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::Verdict;
    use crate::rng::SplitMix64;

    const NAMES: Names<'_> = Names {
        row: "service",
        baseline: "a",
        target: "b",
    };

    /// Three sides that share a drift, each with its own noise; the target's times are `factor` times
    /// the baseline's.
    fn simulate(seed: u64, pairs: usize, factor: f64) -> [Vec<f64>; 3] {
        let mut rng = SplitMix64::new(seed);
        let mut sides = [Vec::new(), Vec::new(), Vec::new()];
        let mut drift = 0.0;
        for _ in 0..pairs {
            drift += 0.01 * rng.normal();
            for (side, factor) in sides.iter_mut().zip([1.0, factor, 1.0]) {
                side.push(1e6 * factor * (drift + 0.03 * rng.normal()).exp());
            }
        }
        sides
    }

    fn compare(sides: &[Vec<f64>; 3]) -> Comparison {
        let [base, target, control] = sides;
        interleaved(
            NAMES,
            Sides {
                base,
                target,
                control: Some(control),
                bucket_ops: 1_000,
            },
        )
    }

    #[test]
    fn false_verdicts_are_rare_when_interleaved() {
        let runs = 1_000;
        let is_false = |seed: &u64| {
            let verdict = compare(&simulate(*seed, 100, 1.0)).verdict;
            matches!(verdict, Verdict::Better | Verdict::Worse)
        };
        let wrong = (0..runs).filter(is_false).count();
        assert!(wrong as f64 <= 0.06 * runs as f64, "{wrong} of {runs}");
    }

    #[test]
    fn true_differences_are_found() {
        let better = compare(&simulate(1, 200, 0.9));
        assert_eq!(better.verdict, Verdict::Better);
        assert!((better.difference.unwrap().median + 0.1).abs() < 0.02);
        assert!(better.resolution.unwrap() < 0.05);
        assert_eq!(compare(&simulate(2, 200, 1.1)).verdict, Verdict::Worse);
        assert_eq!(
            compare(&simulate(3, 200, 1.0)).verdict,
            Verdict::NoDifference
        );
    }

    #[test]
    fn few_pairs_are_inconclusive() {
        for pairs in 0..6 {
            let comparison = compare(&simulate(4, pairs, 0.5));
            assert_eq!(comparison.verdict, Verdict::Inconclusive);
            let interval = comparison
                .difference
                .as_ref()
                .map(|found| found.median_ci95);
            assert_eq!(interval, (pairs > 0).then_some(None));
            assert_eq!(comparison.resolution, None);
            assert!(
                comparison.reason.contains("6 needed"),
                "{}",
                comparison.reason
            );
        }
        assert_eq!(compare(&simulate(4, 6, 0.5)).verdict, Verdict::Better);
    }

    #[test]
    fn noise_beyond_the_resolution_is_inconclusive() {
        let mut sides = simulate(5, 12, 1.0);
        for (at, ns) in sides[1].iter_mut().enumerate() {
            *ns *= if at % 2 == 0 { 0.6 } else { 1.6 };
        }
        let comparison = compare(&sides);
        assert_eq!(comparison.verdict, Verdict::Inconclusive);
        let options = Options {
            resolution_max: 10.0,
        };
        let [base, target, control] = &sides;
        let sides = Sides {
            base,
            target,
            control: Some(control),
            bucket_ops: 0,
        };
        assert_eq!(
            interleaved_with(NAMES, sides, options).verdict,
            Verdict::NoDifference
        );
    }

    #[test]
    fn baselines_of_zero_are_skipped_and_counted() {
        let sides = [vec![0.0; 3], vec![1.0; 3]];
        let base = [vec![2.0; 10], sides[0].clone()].concat();
        let target = [vec![1.0; 10], sides[1].clone()].concat();
        let sides = Sides {
            base: &base,
            target: &target,
            control: None,
            bucket_ops: 1,
        };
        let comparison = interleaved(NAMES, sides);
        assert_eq!(
            (comparison.pairs, comparison.verdict),
            (10, Verdict::Better)
        );
        assert!(comparison.reason.contains("3 "), "{}", comparison.reason);
    }

    #[test]
    fn nonsense_is_inconclusive_and_finite() {
        let base = [
            f64::NAN,
            f64::INFINITY,
            -1.0,
            0.0,
            f64::MIN_POSITIVE,
            f64::MAX,
            1.0,
        ];
        let target = [1.0, 1.0, 1.0, 1.0, f64::MAX, f64::MAX, f64::NAN];
        let sides = Sides {
            base: &base,
            target: &target,
            control: Some(&base),
            bucket_ops: 0,
        };
        let comparison = interleaved(NAMES, sides);
        assert_eq!(comparison.verdict, Verdict::Inconclusive);
        assert!(
            !serde_json::to_string(&comparison)
                .unwrap()
                .contains("null,null")
        );
        assert!(
            comparison
                .difference
                .iter()
                .flat_map(|found| found.range)
                .all(f64::is_finite)
        );
    }
}
