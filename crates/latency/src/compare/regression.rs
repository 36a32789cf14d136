//! Whether a comparison shows that the target is worse by more than a limit.

use super::options::MARGIN_MAX;
use crate::report::{Comparison, Verdict};

/// Why a row of the target alone was not compared.
pub(super) const NO_BASELINE: &str = "the baseline has no such row";

/// What a limit on the regression makes of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Regression {
    /// The target is worse, and the whole interval lies above the limit.
    Beyond,
    /// The whole interval of the pairs is within the limit, and the medians of the sides say nothing else, with the drift of two separate runs added where they show one; or the
    /// verdict is *better* or *no difference*, and no drift can hide more; or the row is new.
    Within,
    /// The limit lies inside the interval, the difference may be drift, the medians of the sides lie further apart, or
    /// nothing was compared.
    Undecided,
}

impl Regression {
    /// [`Regression::of`] a percentile: the median, or one of the [tails](super::TAILS). One that was not compared, for too
    /// few values on either side, is not decided.
    #[must_use]
    pub fn of_percentile(comparison: &Comparison, p: f64, limit: f64) -> Self {
        if p == 50.0 {
            return Self::of(comparison, limit);
        }
        let Some(tail) = comparison.tails.iter().find(|tail| tail.p == p) else {
            return match comparison.reason == NO_BASELINE {
                true => Self::Within,
                false => Self::Undecided,
            };
        };
        let drift = judged_drift(comparison, p);
        Self::judged(tail.verdict, Some(tail.interval), limit, drift)
    }

    /// Judges the median of a comparison by its interval, as gates are judged. `limit` is a share: 0.05 is 5 %. With a limit of 0
    /// the verdict *worse* is beyond it.
    ///
    /// ```
    /// use perfkit_latency::compare::{self, Names, Options, Regression};
    ///
    /// let names = Names { row: "numbers", baseline: "old", target: "new" };
    /// let slower = compare::numbers(names, &[10.0; 40], &[12.0; 40], Options::default());
    /// assert_eq!(Regression::of(&slower, 0.05), Regression::Beyond);
    /// assert_eq!(Regression::of(&slower, 0.25), Regression::Within);
    /// ```
    #[must_use]
    pub fn of(comparison: &Comparison, limit: f64) -> Self {
        let interval = comparison
            .difference
            .as_ref()
            .and_then(|found| found.median_ci95);
        // Of distributions the median is one of the percentiles.
        let median = comparison.tails.iter().find(|tail| tail.p == 50.0);
        let interval = interval.or(median.map(|tail| tail.interval));
        if interval.is_none() && comparison.reason == NO_BASELINE {
            return Self::Within;
        }
        let drift = judged_drift(comparison, 50.0);
        match Self::judged(comparison.verdict, interval, limit, drift) {
            // Of values that gather around several places, half of all pairs can be equal while the median moves.
            Self::Within if medians_contradict(comparison, limit) => Self::Undecided,
            judged => judged,
        }
    }

    /// What is made of a percentile where no number is given: every regression that is proven is beyond, however small, and
    /// what is surely not worse by more than [`MARGIN_MAX`] is within. Noise alone never proves that a limit of 0 holds.
    #[must_use]
    pub fn proven(comparison: &Comparison, p: f64) -> Self {
        match Self::of_percentile(comparison, p, 0.0) {
            Self::Undecided => match Self::of_percentile(comparison, p, MARGIN_MAX) {
                Self::Within => Self::Within,
                Self::Beyond | Self::Undecided => Self::Undecided,
            },
            decided => decided,
        }
    }

    fn judged(
        verdict: Verdict,
        interval: Option<[f64; 2]>,
        limit: f64,
        [below, above]: [f64; 2],
    ) -> Self {
        match (verdict, interval) {
            (Verdict::Better, _) => Self::Within,
            (Verdict::NoDifference, _) if above <= 0.0 || limit <= 0.0 => Self::Within,
            (_, None) => Self::Undecided,
            (_, Some([_, high])) if high + above <= limit => Self::Within,
            (Verdict::Worse, Some([low, _])) if low - below > limit || limit <= 0.0 => Self::Beyond,
            _ => Self::Undecided,
        }
    }
}

/// By which share the target's median is greater than the baseline's: infinite above a median of 0, `None` where one of
/// them is not known or both are 0. Nothing is paired here, so that it may differ from the median of the differences.
#[must_use]
pub fn medians_apart(comparison: &Comparison) -> Option<f64> {
    let times = comparison
        .baseline_median_ns
        .zip(comparison.target_median_ns);
    let numbers = comparison.baseline_median.zip(comparison.target_median);
    let (baseline, target) = times.or(numbers)?;
    match baseline > 0.0 {
        true => Some(target / baseline - 1.0),
        false if target > 0.0 => Some(f64::INFINITY),
        false => None,
    }
}

/// Whether the target's median alone is worse than the limit, and by more than pairs that drift together explain.
fn medians_contradict(comparison: &Comparison, limit: f64) -> bool {
    medians_apart(comparison).is_some_and(|apart| apart > limit.max(MARGIN_MAX))
}

/// How much more drift can hide below the interval of a percentile, and above it. A tail that is worse is so beyond what
/// the halves of either run differ by.
pub(super) fn judged_drift(comparison: &Comparison, p: f64) -> [f64; 2] {
    let drift = comparison.drift.unwrap_or(0.0);
    match p {
        50.0 => [drift; 2],
        _ => [0.0, drift],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::{Names, Options, numbers};
    use crate::report::{Differences, TailDifference};

    #[test]
    fn the_whole_interval_decides() {
        let names = Names {
            row: "numbers",
            baseline: "old",
            target: "new",
        };
        let mut comparison = numbers(names, &[10.0; 40], &[10.0; 40], Options::default());
        use Regression::{Beyond, Undecided, Within};
        use Verdict::{Better, Inconclusive, NoDifference, Small, Worse};
        for (verdict, interval, limit, expected) in [
            (Worse, Some([0.049, 0.058]), 0.05, Undecided),
            (Worse, Some([0.051, 0.058]), 0.05, Beyond),
            (Worse, Some([0.05, 0.058]), 0.05, Undecided),
            (Worse, Some([0.02, 0.05]), 0.05, Within),
            (Worse, Some([0.02, 0.05]), 0.0, Beyond),
            (Worse, Some([-0.01, 0.05]), 0.0, Beyond),
            (Small, Some([0.007, 0.018]), 0.05, Within),
            (Small, Some([0.2, 0.6]), 0.05, Undecided),
            (Inconclusive, Some([-0.05, 0.2]), 0.05, Undecided),
            (Inconclusive, Some([-0.05, 0.04]), 0.05, Within),
            (Inconclusive, None, 0.05, Undecided),
            (NoDifference, Some([-0.01, 0.01]), 0.0, Within),
            (Better, Some([-0.3, -0.2]), 0.0, Within),
            (Better, None, 0.0, Within),
        ] {
            comparison.verdict = verdict;
            comparison.difference = Some(Differences {
                range: [-1.0, 1.0],
                median: 0.0,
                median_ci95: interval,
                p99: 1.0,
                better: 0.5,
            });
            assert_eq!(
                Regression::of(&comparison, limit),
                expected,
                "{verdict:?} {interval:?}"
            );
        }
        // A tail by itself, whatever the median does.
        comparison.verdict = NoDifference;
        comparison.tails = vec![TailDifference {
            p: 99.0,
            baseline_ns: None,
            target_ns: None,
            difference: 8.8,
            interval: [8.0, 9.5],
            verdict: Worse,
        }];
        let of = |p, limit| Regression::of_percentile(&comparison, p, limit);
        assert_eq!([of(50.0, 0.0), of(99.9, 0.0)], [Within, Undecided]);
        assert_eq!(
            [of(99.0, 7.0), of(99.0, 9.0), of(99.0, 9.5)],
            [Beyond, Undecided, Within]
        );
        comparison.verdict = Inconclusive;
        comparison.difference = None;
        assert_eq!(Regression::of(&comparison, 0.05), Undecided);
        comparison.reason = NO_BASELINE.to_owned();
        assert_eq!(Regression::of(&comparison, 0.05), Within);
    }

    /// A comparison of 20 pairs with this verdict and interval.
    fn found(verdict: Verdict, [low, high]: [f64; 2]) -> Comparison {
        let names = Names {
            row: "wall",
            baseline: "old",
            target: "new",
        };
        let base = numbers(names, &[10.0; 20], &[10.0; 20], Options::default());
        Comparison {
            verdict,
            drift: None,
            difference: Some(Differences {
                range: [-1.0, 1.0],
                median: low / 2.0 + high / 2.0,
                median_ci95: Some([low, high]),
                p99: 1.0,
                better: 0.5,
            }),
            ..base
        }
    }

    #[test]
    fn medians_that_lie_apart_pass_no_limit_whatever_the_pairs_say() {
        let names = Names {
            row: "wall",
            baseline: "old",
            target: "new",
        };
        // Two places: of the baseline 35 in 100 values are in the upper one, of the target 65.
        let sides = |of_upper: usize| -> Vec<f64> {
            let value = |at: usize| {
                if at * 37 % 100 < of_upper {
                    200.0
                } else {
                    100.0
                }
            };
            (0..1_000).map(|at| value(at) + at as f64 / 1e4).collect()
        };
        let upper = numbers(names, &sides(35), &sides(65), Options::default());
        assert!(medians_apart(&upper).is_some_and(|apart| apart > 0.9));
        assert_ne!(Regression::of(&upper, 0.05), Regression::Within);
        assert_ne!(Regression::proven(&upper, 50.0), Regression::Within);
        assert_eq!(Regression::of(&upper, 1.5), Regression::Within);
        let better = numbers(names, &sides(65), &sides(35), Options::default());
        assert_ne!(Regression::of(&better, 0.05), Regression::Beyond);
        // Most of a baseline is 0, and pairs with it are not compared.
        let zeros: Vec<f64> = (0..100).map(|at| if at < 80 { 0.0 } else { 1.0 }).collect();
        let ones = numbers(names, &zeros, &[1.0; 100], Options::default());
        assert_eq!(medians_apart(&ones), Some(f64::INFINITY));
        assert_eq!(Regression::of(&ones, 0.05), Regression::Undecided);
        let same = numbers(names, &zeros, &zeros, Options::default());
        assert_eq!(medians_apart(&same), None);
        assert_eq!(Regression::of(&same, 0.05), Regression::Within);
    }

    #[test]
    fn without_a_number_what_is_proven_fails_and_what_is_surely_small_passes() {
        use Regression::{Beyond, Undecided, Within};
        use Verdict::{Better, Inconclusive, NoDifference, Small, Worse};
        for (verdict, interval, expected) in [
            (Worse, [0.01, 0.02], Beyond),
            (Worse, [0.2, 0.3], Beyond),
            (NoDifference, [-0.01, 0.01], Within),
            (Better, [-0.2, -0.1], Within),
            (Inconclusive, [-0.04, 0.04], Within),
            (Small, [0.01, 0.05], Within),
            (Inconclusive, [-0.04, 0.06], Undecided),
            (Small, [0.01, 0.06], Undecided),
        ] {
            let found = found(verdict, interval);
            let judged = Regression::proven(&found, 50.0);
            assert_eq!(judged, expected, "{verdict:?} {interval:?}");
        }
    }
}
