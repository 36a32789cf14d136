//! Two reports of runs made one after the other.
//!
//! Buckets of equal index were not run beside each other, so a slow hour of the machine looks like
//! a slow program. What the runs show within themselves is held against that: the odd against the even
//! buckets of the baseline (noise), and the spread of the medians of ten consecutive blocks in each run
//! (drift).

use std::collections::BTreeMap;

use super::difference::{differences, median, skipped};
use super::verdict::Evidence;
use super::{Names, Options, Sides};
use crate::report::{Buckets, Comparison, Design, Latency, LatencyName, Report};

/// Blocks whose medians show the drift of a run.
const DRIFT_BLOCKS: usize = 10;

/// What makes two rows the same distribution.
type Key<'a> = (Option<&'a str>, LatencyName, &'a str);

fn key(row: &Latency) -> Key<'_> {
    (row.series.as_deref(), row.name, row.operation.as_str())
}

/// Compare two reports, the first being the baseline: one comparison a row that both have, matched by
/// series, name and operation, in the baseline's order. A row that only one has is inconclusive and
/// says so.
///
/// `names` are those of the baseline and of the target.
#[must_use]
pub fn reports(a: &Report, b: &Report, names: [&str; 2]) -> Vec<Comparison> {
    reports_with(a, b, names, Options::default())
}

/// [`reports`] at another strictness.
#[must_use]
pub fn reports_with(
    a: &Report,
    b: &Report,
    [baseline, target]: [&str; 2],
    options: Options,
) -> Vec<Comparison> {
    let mut unmatched: BTreeMap<Key<'_>, &Latency> = b
        .latencies
        .iter()
        .rev()
        .map(|row| (key(row), row))
        .collect();
    let mut comparisons = Vec::new();
    for base in &a.latencies {
        let label = base.label();
        let names = Names {
            row: &label,
            baseline,
            target,
        };
        comparisons.push(match unmatched.remove(&key(base)) {
            Some(row) => rows(base, row, names, options),
            None => without(names, options, "the target has no such row"),
        });
    }
    for row in &b.latencies {
        if unmatched.remove(&key(row)).is_some() {
            let label = row.label();
            let names = Names {
                row: &label,
                baseline,
                target,
            };
            comparisons.push(without(names, options, "the baseline has no such row"));
        }
    }
    comparisons
}

fn rows(base: &Latency, target: &Latency, names: Names<'_>, options: Options) -> Comparison {
    let (Some(base), Some(target)) = (&base.buckets, &target.buckets) else {
        return without(names, options, "a row has no buckets to compare");
    };
    let Some((base, target, bucket_ops)) = aligned(base, target) else {
        return without(
            names,
            options,
            "the bucket sizes have no common multiple in these runs",
        );
    };
    let sides = Sides {
        base: &base,
        target: &target,
        control: None,
        bucket_ops,
    };
    sequential_with(names, sides, options)
}

/// Compare two columns of plain numbers, pair by pair, as [`sequential`] does. What they measure is not
/// known, so that the medians stand in the fields without a unit.
#[must_use]
pub fn numbers(names: Names<'_>, base: &[f64], target: &[f64]) -> Comparison {
    let sides = Sides {
        base,
        target,
        control: None,
        bucket_ops: 1,
    };
    let comparison = sequential(names, sides);
    Comparison {
        baseline_median: comparison.baseline_median_ns,
        target_median: comparison.target_median_ns,
        baseline_median_ns: None,
        target_median_ns: None,
        ..comparison
    }
}

/// Compare sides that were run one after the other. Without a control of its own, the odd buckets of
/// the baseline stand against the even ones.
#[must_use]
pub fn sequential(names: Names<'_>, sides: Sides<'_>) -> Comparison {
    sequential_with(names, sides, Options::default())
}

/// [`sequential`] at another strictness.
#[must_use]
pub fn sequential_with(names: Names<'_>, sides: Sides<'_>, options: Options) -> Comparison {
    let (base, target) = (sides.base, sides.target);
    let control = match sides.control {
        Some(control) => differences(base, control),
        None => {
            let (odd, even) = halves(base);
            differences(&odd, &even)
        }
    };
    let skipped = skipped(base, target);
    let evidence = Evidence {
        design: Design::Sequential,
        difference: differences(base, target),
        control,
        drift: drift(base).unwrap_or(0.0).max(drift(target).unwrap_or(0.0)),
        pairs: (base.len().min(target.len()) as u64).saturating_sub(skipped),
        skipped,
        bucket_ops: sides.bucket_ops,
        baseline_median: median(base),
        target_median: median(target),
    };
    evidence.conclude(names, options)
}

/// A comparison that cannot be made.
fn without(names: Names<'_>, options: Options, why: &str) -> Comparison {
    let evidence = Evidence {
        design: Design::Sequential,
        difference: None,
        control: None,
        drift: 0.0,
        pairs: 0,
        skipped: 0,
        bucket_ops: 0,
        baseline_median: None,
        target_median: None,
    };
    Comparison {
        reason: why.to_owned(),
        ..evidence.conclude(names, options)
    }
}

/// Both sides in buckets of their least common size.
fn aligned(base: &Buckets, target: &Buckets) -> Option<(Vec<f64>, Vec<f64>, u64)> {
    if base.size_ops == 0 || target.size_ops == 0 {
        return None;
    }
    let divisor = gcd(base.size_ops, target.size_ops);
    let size = (base.size_ops / divisor).checked_mul(target.size_ops)?;
    let coarse = |buckets: &Buckets| coarsened(&buckets.sum_ns, size / buckets.size_ops);
    Some((coarse(base), coarse(target), size))
}

fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// Sums of `factor` consecutive buckets; an incomplete last one is dropped.
fn coarsened(sums: &[u64], factor: u64) -> Vec<f64> {
    let factor = usize::try_from(factor).unwrap_or(usize::MAX).max(1);
    sums.chunks_exact(factor)
        .map(|chunk| chunk.iter().map(|ns| *ns as f64).sum())
        .collect()
}

/// The first, third, … and the second, fourth, … buckets.
fn halves(buckets: &[f64]) -> (Vec<f64>, Vec<f64>) {
    let (mut odd, mut even) = (Vec::new(), Vec::new());
    for pair in buckets.chunks_exact(2) {
        odd.push(pair[0]);
        even.push(pair[1]);
    }
    (odd, even)
}

/// Greatest less least median of consecutive blocks, as a share of the median of all.
fn drift(buckets: &[f64]) -> Option<f64> {
    let blocks = DRIFT_BLOCKS.min(buckets.len() / 2);
    let medians: Vec<f64> = (0..blocks)
        .filter_map(|block| {
            let from = block * buckets.len() / blocks;
            let to = (block + 1) * buckets.len() / blocks;
            median(&buckets[from..to])
        })
        .collect();
    let least = medians.iter().copied().min_by(f64::total_cmp)?;
    let greatest = medians.iter().copied().max_by(f64::total_cmp)?;
    let middle = median(buckets).filter(|middle| *middle > 0.0)?;
    crate::report::finite((greatest - least) / middle)
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;
    use crate::report::Verdict;
    use crate::rng::SplitMix64;
    use crate::testing::report;
    use crate::{Recorder, Spec};

    fn row(series: &str, values: impl Iterator<Item = u64>) -> Latency {
        let spec = Spec::new(LatencyName::Service, "call").series(series);
        let mut recorder = Recorder::new(spec, Instant::now());
        values.for_each(|ns| recorder.record_ns(ns));
        recorder.finish().latency()
    }

    fn with_buckets(size_ops: u64, sum_ns: Vec<u64>) -> Latency {
        Latency {
            buckets: Some(Buckets { size_ops, sum_ns }),
            ..row("x", 0..0)
        }
    }

    fn compare(a: Latency, b: Latency) -> Comparison {
        reports(&report(vec![a]), &report(vec![b]), ["a", "b"]).remove(0)
    }

    /// Two stretches of one random walk with noise: a machine that drifts while two runs of the same
    /// program are made.
    fn drifting(seed: u64) -> [Latency; 2] {
        let mut rng = SplitMix64::new(seed);
        let mut drift = 0.0;
        [(); 2].map(|()| {
            let sums = (0..200).map(|_| {
                drift += 0.005 * rng.normal();
                (1e6 * (drift + 0.02 * rng.normal()).exp()) as u64
            });
            with_buckets(1_000, sums.collect())
        })
    }

    #[test]
    fn the_drift_band_keeps_false_verdicts_down() {
        let runs = 400;
        let (mut naive, mut banded) = (0, 0);
        for seed in 0..runs {
            let [a, b] = drifting(seed);
            let comparison = compare(a, b);
            let [low, high] = comparison.difference.unwrap().median_ci95.unwrap();
            naive += u64::from(low > 0.0 || high < 0.0);
            banded += u64::from(matches!(
                comparison.verdict,
                Verdict::Better | Verdict::Worse
            ));
        }
        assert!(
            naive * 100 > 60 * runs,
            "the simulation drifts: {naive} of {runs}"
        );
        assert!(
            banded * 100 < 20 * runs,
            "{banded} of {runs}, naive {naive}"
        );
    }

    #[test]
    fn a_true_difference_is_found_and_labelled() {
        let mut rng = SplitMix64::new(9);
        let mut side = |ns: f64| {
            let sums = (0..100)
                .map(|_| (ns * (0.01 * rng.normal()).exp()) as u64)
                .collect();
            with_buckets(1_000, sums)
        };
        let (a, b) = (side(1e6), side(0.8e6));
        let comparison = compare(a, b);
        assert_eq!(
            (comparison.verdict, comparison.design),
            (Verdict::Better, Design::Sequential)
        );
        assert!(
            comparison.reason.contains("unpaired"),
            "{}",
            comparison.reason
        );
        assert!((comparison.baseline_median_ns.unwrap() - 1_000.0).abs() < 20.0);
    }

    #[test]
    fn a_run_compared_with_itself_does_not_differ() {
        let mut rng = SplitMix64::new(7);
        let a = row("x", (0..100_000).map(|_| 1_000 + rng.next() % 200));
        let comparison = compare(a.clone(), a);
        assert_eq!(comparison.verdict, Verdict::NoDifference);
        assert!(comparison.resolution.unwrap() > 0.0 && comparison.resolution.unwrap() < 0.05);
        assert!(
            comparison.reason.starts_with("identical"),
            "{}",
            comparison.reason
        );
        // So noisy that nothing smaller than 5 % could be told: identical all the same.
        let a = with_buckets(1, (0..60).map(|i| 1_000 + i * 37 % 10 * 500).collect());
        let comparison = compare(a.clone(), a);
        assert_eq!(comparison.verdict, Verdict::NoDifference);
        assert!(comparison.resolution.unwrap() > 0.05);
    }

    #[test]
    fn too_few_buckets_and_missing_rows_are_inconclusive() {
        let comparison = compare(with_buckets(10, vec![5; 5]), with_buckets(10, vec![5; 50]));
        assert_eq!(
            (comparison.pairs, comparison.verdict),
            (5, Verdict::Inconclusive)
        );
        let none = Latency {
            buckets: None,
            ..row("x", 0..0)
        };
        assert_eq!(
            compare(none, with_buckets(10, vec![5; 50])).verdict,
            Verdict::Inconclusive
        );
        let all = reports(
            &report(vec![row("x", 1..100), row("y", 1..100)]),
            &report(vec![row("y", 1..100), row("z", 1..100)]),
            ["a", "b"],
        );
        let labels: Vec<&str> = all
            .iter()
            .map(|comparison| comparison.row.as_str())
            .collect();
        assert_eq!(labels, ["x service", "y service", "z service"]);
        assert_eq!(all[0].reason, "the target has no such row");
        assert_eq!((all[0].pairs, &all[0].difference), (0, &None));
        assert_eq!(all[1].verdict, Verdict::NoDifference);
    }

    #[test]
    fn sizes_are_aligned_by_coarsening() {
        let (base, target, size) = aligned(
            &Buckets {
                size_ops: 2,
                sum_ns: vec![1, 2, 3, 4, 5, 6, 7],
            },
            &Buckets {
                size_ops: 6,
                sum_ns: vec![10, 20],
            },
        )
        .unwrap();
        assert_eq!((base, target, size), (vec![6.0, 15.0], vec![10.0, 20.0], 6));
        let huge = Buckets {
            size_ops: u64::MAX,
            sum_ns: vec![1; 9],
        };
        let odd = Buckets {
            size_ops: u64::MAX - 1,
            sum_ns: vec![1; 9],
        };
        assert!(aligned(&huge, &odd).is_none());
        assert!(
            aligned(
                &huge,
                &Buckets {
                    size_ops: 0,
                    sum_ns: vec![]
                }
            )
            .is_none()
        );
        let zero = with_buckets(10, vec![0; 50]);
        let comparison = compare(zero.clone(), zero);
        assert_eq!(
            (comparison.verdict, comparison.pairs, comparison.difference),
            (Verdict::Inconclusive, 0, None)
        );
    }

    #[test]
    fn plain_numbers_have_no_unit() {
        let names = Names {
            row: "numbers",
            baseline: "a",
            target: "b",
        };
        let found = numbers(names, &[10.0; 8], &[-5.0; 8]);
        assert_eq!(
            (found.baseline_median_ns, found.target_median_ns),
            (None, None)
        );
        let medians = (found.baseline_median, found.target_median);
        assert_eq!(medians, (Some(10.0), Some(-5.0)));
        assert_eq!(found.difference.unwrap().median, -1.5);
    }
}
