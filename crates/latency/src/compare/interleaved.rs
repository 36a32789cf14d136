//! Runs whose buckets alternated in random order.

use super::difference::{self, differences_at, median};
use super::options::{CONFIDENCE, Names, Options, Sides};
use super::tails::{Sample, Samples};
use super::verdict::Evidence;
use crate::report::{Comparison, Design, Latency};

/// Compares sides that ran interleaved, in random order, in one run.
#[must_use]
pub fn interleaved(names: Names<'_>, sides: Sides<'_>) -> Comparison {
    interleaved_with(names, sides, Options::default())
}

/// [`interleaved`] at another strictness.
#[must_use]
pub fn interleaved_with(names: Names<'_>, sides: Sides<'_>, options: Options) -> Comparison {
    let samples = options.singles.then(|| Samples {
        base: Sample::of_values(sides.base),
        target: Sample::of_values(sides.target),
        control: sides.control.map(Sample::of_values),
    });
    compared(names, sides, options, samples)
}

/// [`interleaved_with`], and the tails of the single operations that the rows of the three sides hold: baseline, target
/// and control.
#[must_use]
pub fn interleaved_rows(
    names: Names<'_>,
    sides: Sides<'_>,
    [base, target, control]: [&Latency; 3],
    options: Options,
) -> Comparison {
    let samples = Sample::of_row(base)
        .zip(Sample::of_row(target))
        .map(|(base, target)| Samples {
            base,
            target,
            control: Sample::of_row(control),
        });
    compared(names, sides, options, samples)
}

fn compared(
    names: Names<'_>,
    sides: Sides<'_>,
    options: Options,
    samples: Option<Samples>,
) -> Comparison {
    let skipped = difference::skipped(sides.base, sides.target);
    let evidence = Evidence {
        design: Design::Interleaved,
        pairs: (sides.base.len().min(sides.target.len()) as u64).saturating_sub(skipped),
        difference: differences_at(sides.base, sides.target, options.confidence),
        control: sides
            .control
            .and_then(|control| differences_at(sides.base, control, CONFIDENCE)),
        drift: 0.0,
        hidden: 0.0,
        skipped,
        bucket_ops: sides.bucket_ops,
        baseline_median: median(sides.base),
        target_median: median(sides.target),
        samples,
    };
    evidence.conclude(names, options)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::{Looks, Regression};
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
        let same = compare(&simulate(3, 1_000, 1.0));
        assert_eq!(same.verdict, Verdict::NoDifference);
        assert_eq!(same.margin, Some(0.01));
    }

    #[test]
    fn no_difference_is_said_only_where_the_whole_interval_lies_within_the_margin() {
        let mut equal = 0;
        for seed in 0..200 {
            for (pairs, factor) in [(100, 1.02), (100, 1.0), (1_000, 1.005), (1_000, 1.02)] {
                let found = compare(&simulate(seed, pairs, factor));
                let [low, high] = found.difference.unwrap().median_ci95.unwrap();
                let margin = found.margin.unwrap();
                let within = -margin <= low && high <= margin;
                let excludes_0 = low > 0.0 || high < 0.0;
                match found.verdict {
                    Verdict::NoDifference => {
                        equal += 1;
                        assert!(within, "{}", found.reason);
                    }
                    Verdict::Small => assert!(excludes_0 && !within, "{}", found.reason),
                    Verdict::Inconclusive => assert!(!excludes_0 && !within, "{}", found.reason),
                    Verdict::Better | Verdict::Worse => assert!(excludes_0, "{}", found.reason),
                }
            }
        }
        assert!(equal > 100, "{equal}");
    }

    #[test]
    fn a_control_that_varies_too_much_allows_no_equality() {
        let mut sides = simulate(5, 40, 1.0);
        for (at, ns) in sides[2].iter_mut().enumerate() {
            *ns *= if at % 2 == 0 { 0.2 } else { 5.8 };
        }
        let comparison = compare(&sides);
        assert_eq!(comparison.verdict, Verdict::Inconclusive);
        let says = "the control alone differs by up to ±";
        assert!(comparison.reason.contains(says), "{}", comparison.reason);
        // As wide as the caller says.
        let [base, target, control] = &sides;
        let sides = Sides {
            base,
            target,
            control: Some(control),
            bucket_ops: 0,
        };
        let wide = interleaved_with(NAMES, sides, Options::default().margin(10.0));
        assert_eq!(wide.verdict, Verdict::NoDifference);
    }

    #[test]
    fn the_least_effect_is_found_four_times_in_five() {
        let runs = 300;
        let mut found = 0;
        for seed in 0..runs {
            // The effect that another run of the same kind says would be found.
            let least = compare(&simulate(seed + 10_000, 200, 1.0))
                .resolution
                .unwrap();
            let verdict = compare(&simulate(seed, 200, 1.0 + least)).verdict;
            found += u64::from(verdict == Verdict::Worse);
        }
        let share = found as f64 / runs as f64;
        assert!((0.65..0.95).contains(&share), "{share}");
    }

    #[test]
    fn equal_sides_pass_without_a_number_and_slower_ones_do_not() {
        // The error, and the power, of 400 comparisons of 60 rounds whose noise is 3 %.
        let judged = |factor: f64| {
            let of = |seed: u64| Regression::proven(&compare(&simulate(seed, 60, factor)), 50.0);
            let found: Vec<Regression> = (0..400).map(of).collect();
            [Regression::Within, Regression::Beyond].map(|what| {
                let is = |one: &&Regression| **one == what;
                found.iter().filter(is).count()
            })
        };
        let [within, beyond] = judged(1.0);
        assert!(within >= 400 * 95 / 100, "{within} of 400 equal ones pass");
        assert!(beyond <= 400 * 5 / 100, "{beyond} of 400 equal ones fail");
        let [within, beyond] = judged(1.1);
        assert!(within <= 400 * 5 / 100, "{within} of 400 slower ones pass");
        assert!(beyond >= 400 * 95 / 100, "{beyond} of 400 slower ones fail");
    }

    #[test]
    fn looking_often_finds_no_more_where_there_is_nothing() {
        let runs = 400;
        let wrong = |seed: &u64| {
            let [base, target, _] = simulate(*seed, 256, 1.0);
            let mut looks = Looks::default();
            (8..=256).step_by(4).any(|pairs| {
                looks.due(pairs as f64 / 256.0).is_some_and(|confidence| {
                    let sides = Sides {
                        base: &base[..pairs],
                        target: &target[..pairs],
                        // Without the control, which makes false verdicts rarer still.
                        control: None,
                        bucket_ops: 1,
                    };
                    let options = Options::default().confidence(confidence);
                    let verdict = interleaved_with(NAMES, sides, options).verdict;
                    matches!(verdict, Verdict::Better | Verdict::Worse)
                })
            })
        };
        let wrong = (0..runs).filter(wrong).count();
        assert!(wrong as f64 <= 0.07 * runs as f64, "{wrong} of {runs}");
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
        let options = Options::default().margin(10.0);
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
