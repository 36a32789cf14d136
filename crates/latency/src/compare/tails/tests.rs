//! Tails that differ are found, and where there is no difference there is hardly ever one.

use std::time::Instant;

use crate::compare::{self, CONFIDENCE, Names, Options, Sides, TAILS};
use crate::percentile::enclosed_n;
use crate::report::{Comparison, Latency, LatencyName, Verdict};
use crate::rng::SplitMix64;
use crate::testing::report;
use crate::{Recorder, Spec};

const NAMES: Names<'_> = Names {
    row: "service",
    baseline: "a",
    target: "b",
};

/// How times are made: their logarithms are normal and depend on the one before by `rho`; of a `share` of them, all are
/// `factor` times as long.
#[derive(Clone, Copy)]
struct Process {
    rho: f64,
    share: f64,
    factor: f64,
}

const PLAIN: Process = Process {
    rho: 0.0,
    share: 0.0,
    factor: 1.0,
};
/// Three in a hundred take ten times as long.
const SLOW_TAIL: Process = Process {
    share: 0.03,
    factor: 10.0,
    ..PLAIN
};

impl Process {
    fn times(self, rng: &mut SplitMix64, n: usize) -> Vec<f64> {
        let mut at = rng.normal();
        let mut next = || {
            at = self.rho * at + (1.0 - self.rho * self.rho).sqrt() * rng.normal();
            let slow = rng.unit() < self.share;
            1e6 * (0.2 * at).exp() * if slow { self.factor } else { 1.0 }
        };
        (0..n).map(|_| next()).collect()
    }
}

/// Runs in rounds, the control as the baseline.
fn in_rounds(seed: u64, n: usize, [base, target]: [Process; 2]) -> Comparison {
    let mut rng = SplitMix64::new(seed);
    let [base, target, control] = [base, target, base].map(|side| side.times(&mut rng, n));
    let sides = Sides {
        base: &base,
        target: &target,
        control: Some(&control),
        bucket_ops: 1,
    };
    compare::interleaved_with(NAMES, sides, Options::default().singles(true))
}

fn row(times: &[f64]) -> Latency {
    let spec = Spec::new(LatencyName::Service, "call");
    let mut recorder = Recorder::new(spec, Instant::now());
    times.iter().for_each(|ns| recorder.record_ns(*ns as u64));
    recorder.finish().latency()
}

/// Two reports of separate runs.
fn in_files(seed: u64, n: usize, sides: [Process; 2]) -> Comparison {
    let mut rng = SplitMix64::new(seed);
    let [base, target] = sides.map(|side| report(vec![row(&side.times(&mut rng, n))]));
    compare::reports(&base, &target, ["a", "b"]).remove(0)
}

fn differs(found: &Comparison) -> bool {
    let mut tails = found.tails.iter();
    tails.any(|tail| matches!(tail.verdict, Verdict::Better | Verdict::Worse))
}

#[test]
#[ignore = "long: cargo xtask ci runs it"]
fn where_nothing_differs_a_tail_hardly_ever_does() {
    let dependent = Process { rho: 0.9, ..PLAIN };
    let runs = 200;
    let share = |differs: &dyn Fn(u64) -> bool| {
        let wrong = (0..runs).filter(|seed| differs(*seed)).count();
        wrong as f64 / runs as f64
    };
    for process in [PLAIN, SLOW_TAIL, dependent] {
        for n in [100, 1_000, 2_000] {
            let wrong = share(&|seed| differs(&in_rounds(seed, n, [process; 2])));
            assert!(wrong <= 0.02, "in rounds of {n}: {wrong}");
        }
        let wrong = share(&|seed| differs(&in_files(seed, 2_000, [process; 2])));
        assert!(wrong <= 0.02, "in files: {wrong}");
    }
}

#[test]
fn a_tail_ten_times_as_slow_is_found_where_the_median_is_the_same() {
    let runs = 50;
    for seed in 0..runs {
        for found in [
            in_rounds(seed, 2_000, [PLAIN, SLOW_TAIL]),
            in_files(seed, 4_000, [PLAIN, SLOW_TAIL]),
        ] {
            assert!(
                !matches!(found.verdict, Verdict::Better),
                "{}",
                found.reason
            );
            let p99 = found.tails.iter().find(|tail| tail.p == 99.0).unwrap();
            assert_eq!(p99.verdict, Verdict::Worse, "{seed}: {p99:?}");
            assert!(p99.interval[0] > 1.0, "{p99:?}");
        }
        // The other way round it is better by as much.
        let found = in_rounds(seed, 2_000, [SLOW_TAIL, PLAIN]);
        let p99 = found.tails.iter().find(|tail| tail.p == 99.0).unwrap();
        assert_eq!(p99.verdict, Verdict::Better);
    }
}

#[test]
fn the_intervals_hold_the_true_differences_all_at_once() {
    // The target is 1.3 times the baseline, at every percentile.
    let runs = 400;
    let holds = |seed: &u64| {
        let mut rng = SplitMix64::new(*seed);
        let base = PLAIN.times(&mut rng, 2_000);
        let target: Vec<f64> = PLAIN.times(&mut rng, 2_000);
        let target: Vec<f64> = target.iter().map(|ns| ns * 1.3).collect();
        let sides = Sides {
            base: &base,
            target: &target,
            control: None,
            bucket_ops: 1,
        };
        let found = compare::interleaved_with(NAMES, sides, Options::default().singles(true));
        assert!(found.tails.len() >= 2);
        let mut tails = found.tails.iter();
        tails.all(|tail| tail.interval[0] <= 0.3 && 0.3 <= tail.interval[1])
    };
    let held = (0..runs).filter(holds).count();
    assert!(held as f64 >= CONFIDENCE * runs as f64, "{held} of {runs}");
}

#[test]
fn a_percentile_needs_enough_values_on_both_sides() {
    let looked_at = |n: usize| -> Vec<f64> {
        let found = in_rounds(1, n, [PLAIN; 2]);
        found.tails.iter().map(|tail| tail.p).collect()
    };
    // One percentile has 2.5 % for each side: 36 values.
    assert!(looked_at(0).is_empty() && looked_at(35).is_empty());
    assert_eq!(looked_at(36), [90.0]);
    // Two have 1.25 %: 437 values.
    assert_eq!(looked_at(436), [90.0]);
    assert_eq!(looked_at(437), [90.0, 99.0]);
    // That is what is said of those that are not compared.
    let why = |n: usize, p: f64| {
        let found = in_rounds(1, n, [PLAIN; 2]);
        let left_out = found.tails_left_out.into_iter().find(|tail| tail.p == p);
        left_out.map(|tail| tail.reason)
    };
    let said = |text: &str| Some(text.to_owned());
    assert_eq!(why(35, 90.0), said("35 values of the baseline, 36 needed"));
    assert_eq!(
        why(436, 99.0),
        said("436 values of the baseline, 437 needed")
    );
    assert_eq!(why(437, 99.0), None);
    // Three share it.
    let needed = enclosed_n(99.9, 1.0 - 0.05 / 3.0 / 2.0);
    let expected = format!("437 values of the baseline, {needed} needed");
    assert_eq!(why(437, 99.9), Some(expected));
    assert_eq!(looked_at(60_000), TAILS);
    // Sums of several operations have no tails.
    let base = vec![5.0; 100];
    let sides = Sides {
        base: &base,
        target: &base,
        control: None,
        bucket_ops: 9,
    };
    assert!(compare::interleaved(NAMES, sides).tails.is_empty());
    assert!(compare::sequential(NAMES, sides).tails.is_empty());
}

#[test]
fn values_that_have_no_ratio_have_no_tails_and_nothing_panics() {
    let odd = [
        vec![0.0; 500],
        vec![-1.0; 500],
        vec![f64::MIN_POSITIVE; 500],
        vec![f64::MAX; 500],
        vec![f64::NAN; 500],
        vec![f64::INFINITY; 500],
        (0..500).map(f64::from).collect(),
    ];
    for base in &odd {
        for target in &odd {
            let found = compare::numbers(NAMES, base, target, Options::default());
            for tail in &found.tails {
                let [low, high] = tail.interval;
                assert!(low <= tail.difference && tail.difference <= high);
                assert!(low.is_finite() && high.is_finite(), "{tail:?}");
            }
        }
    }
}

#[test]
fn a_run_that_drifted_shows_by_how_much_its_tail_did() {
    use crate::report::{Interval, Timing};

    // Two runs with the same two halves in another order, and a third part that makes the tails differ.
    let timed = |halves: [f64; 2]| {
        let mut all = crate::Histogram::<u64>::new(3).unwrap();
        let mut intervals = Vec::new();
        for (nth, ns) in halves.into_iter().enumerate() {
            let mut half = crate::Histogram::<u64>::new(3).unwrap();
            for value in 0..2_000 {
                half.record(((1_000 + value % 100) as f64 * ns) as u64)
                    .unwrap();
            }
            all.add(&half).unwrap();
            intervals.push(Interval {
                start_ns: nth as u64 * 1_000,
                length_ns: 1_000,
                histogram_v2_deflate: crate::coding::encode_deflate(&half).unwrap(),
            });
        }
        let mut row = Latency::from_histogram(LatencyName::Service, "call", Timing::Actual, &all);
        row.intervals = intervals;
        row
    };
    let p99 = |base: [f64; 2], target: [f64; 2]| {
        let (base, target) = (report(vec![timed(base)]), report(vec![timed(target)]));
        let found = compare::reports(&base, &target, ["a", "b"]).remove(0);
        let tail = found.tails.iter().find(|tail| tail.p == 99.0).unwrap();
        tail.verdict
    };
    assert_eq!(p99([1.0, 1.0], [1.5, 1.5]), Verdict::Worse);
    // A run whose own halves differ by as much says nothing.
    assert_eq!(p99([1.0, 1.0], [1.0, 1.5]), Verdict::Small);
}
