//! Whether a comparison shows that the target is worse by more than a limit.

use crate::report::{Comparison, Verdict};

/// Why a row of the target alone was not compared.
pub(super) const NO_BASELINE: &str = "the baseline has no such row";

/// What a limit on the regression makes of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Regression {
    /// The target is worse, and the whole interval lies above the limit.
    Beyond,
    /// The whole interval is within the limit, with the drift of two separate runs added where they show one; or the
    /// verdict is *better* or *no difference*, and no drift can hide more; or the row is new.
    Within,
    /// The limit lies inside the interval, the difference may be drift, or nothing was compared.
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
        Self::judged(tail.verdict, Some(tail.interval), limit, comparison.drift)
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
        Self::judged(comparison.verdict, interval, limit, comparison.drift)
    }

    fn judged(
        verdict: Verdict,
        interval: Option<[f64; 2]>,
        limit: f64,
        drift: Option<f64>,
    ) -> Self {
        // A difference that lies beyond the drift is none that it made; what it hides can be as much.
        let hidden = drift.unwrap_or(0.0);
        match (verdict, interval) {
            (Verdict::Better, _) => Self::Within,
            (Verdict::NoDifference, _) if hidden <= 0.0 || limit <= 0.0 => Self::Within,
            (_, None) => Self::Undecided,
            (_, Some([_, high])) if high + hidden <= limit => Self::Within,
            (Verdict::Worse, Some([low, _])) if low > limit || limit <= 0.0 => Self::Beyond,
            _ => Self::Undecided,
        }
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
}
