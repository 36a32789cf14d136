//! Tests of comparing runs made one after the other.

use std::time::Instant;

use super::*;
use crate::compare::Regression;
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
        comparison.reason.contains("two separate runs"),
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
    // So noisy that nothing smaller than 5 % could be detected: identical all the same.
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
    let found = numbers(names, &[10.0; 8], &[-5.0; 8], Options::default());
    assert_eq!(
        (found.baseline_median_ns, found.target_median_ns),
        (None, None)
    );
    let medians = (found.baseline_median, found.target_median);
    assert_eq!(medians, (Some(10.0), Some(-5.0)));
    assert_eq!(found.difference.unwrap().median, -1.5);
}

#[test]
fn rows_of_a_log_are_compared_by_their_intervals() {
    let log = |seed: u64, scale: f64| {
        let mut rng = SplitMix64::new(seed);
        let mut log = String::new();
        for nth in 0..60 {
            let mut histogram = crate::Histogram::<u64>::new_with_bounds(1, 1 << 40, 3).unwrap();
            for _ in 0..50 {
                let value = 1e6 * scale * (rng.normal() / 10.0).exp();
                histogram.record(value as u64).unwrap();
            }
            let encoded = crate::coding::encode_base64(&histogram);
            log += &format!("Tag=service,{nth}.0,1.0,2.0,{encoded}\n");
        }
        log
    };
    let logs = [log(1, 1.0), log(2, 1.3)];
    let rows = |log: &String| crate::hlog::rows(log.as_bytes()).unwrap().remove(0);
    let found = compare(rows(&logs[0]), rows(&logs[1]));
    assert_eq!(found.verdict, Verdict::Worse, "{}", found.reason);
    // As the means of the intervals are.
    let means = |log: &String| Sequence {
        name: "means".to_owned(),
        values_ns: rows(log).interval_means().unwrap(),
        singles: false,
    };
    let names = ["a", "b"];
    let [base, target] = [&logs[0], &logs[1]].map(|log| vec![means(log)]);
    let own = sequences(&base, &target, names, Options::default());
    assert_eq!(
        (found.pairs, &found.difference, found.verdict),
        (own[0].pairs, &own[0].difference, own[0].verdict)
    );
    let mut none = rows(&logs[0]);
    none.intervals.clear();
    assert_eq!(compare(none, rows(&logs[1])).pairs, 0);
}

/// A log of 40 intervals with 50 values each, of which every hundredth takes `tail` times as long.
fn tailed(tag: &str, seed: u64, tail: f64) -> String {
    let mut rng = SplitMix64::new(seed);
    let interval = |nth: u64| {
        let mut histogram = crate::Histogram::<u64>::new_with_bounds(1, 1 << 40, 3).unwrap();
        for at in 0..50 {
            let slow = if (nth * 50 + at) % 50 == 7 { tail } else { 1.0 };
            let value = 1e6 * slow * (rng.normal() / 50.0).exp();
            histogram.record(value as u64).unwrap();
        }
        let encoded = crate::coding::encode_base64(&histogram);
        format!("Tag={tag},{nth}.0,1.0,2.0,{encoded}\n")
    };
    (0..40).map(interval).collect()
}

#[test]
fn the_tails_of_two_logs_have_verdicts() {
    let rows = |logs: &[String]| crate::hlog::rows(logs.concat().as_bytes()).unwrap();
    let compare =
        |a: &[String], b: &[String]| logs(&rows(a), &rows(b), ["a", "b"], Options::default());
    let p99 = |found: &Comparison| {
        let tail = found.tails.iter().find(|tail| tail.p == 99.0);
        tail.map(|tail| tail.verdict)
    };
    let slow = compare(&[tailed("x", 1, 1.0)], &[tailed("x", 2, 10.0)]);
    assert_eq!(p99(&slow[0]), Some(Verdict::Worse), "{:?}", slow[0].tails);
    let same = compare(&[tailed("x", 1, 10.0)], &[tailed("x", 2, 10.0)]);
    assert_ne!(p99(&same[0]), Some(Verdict::Worse), "{:?}", same[0].tails);
    // One tag each is compared whatever it is, of several each with its own.
    let other = compare(&[tailed("x", 1, 1.0)], &[tailed("y", 2, 10.0)]);
    assert_eq!(other[0].row, "x service → y service");
    assert_eq!(p99(&other[0]), Some(Verdict::Worse));
    let two = |tags: [&str; 2]| tags.map(|tag| tailed(tag, 3, 1.0));
    let found = compare(&two(["x", "y"]), &two(["y", "z"]));
    let rows: Vec<_> = found
        .iter()
        .map(|one| (one.row.as_str(), one.pairs > 0))
        .collect();
    let expected = [
        ("x service", false),
        ("y service", true),
        ("z service", false),
    ];
    assert_eq!(rows, expected);
}

#[test]
fn distributions_without_an_order_are_compared_by_percentiles() {
    let row = |seed: u64, scale: f64, n: usize| {
        let mut rng = SplitMix64::new(seed);
        let mut histogram = crate::Histogram::<u64>::new_with_bounds(1, 1 << 40, 3).unwrap();
        for _ in 0..n {
            histogram
                .record((1e6 * scale * (rng.normal() / 10.0).exp()) as u64)
                .unwrap();
        }
        Latency::from_histogram(
            LatencyName::Service,
            "operation",
            crate::Timing::Actual,
            &histogram,
        )
    };
    let of = |seed: u64, scale: f64, n: usize| {
        let sides = [vec![row(seed, 1.0, n)], vec![row(seed + 1, scale, n)]];
        logs(&sides[0], &sides[1], ["a", "b"], Options::default()).remove(0)
    };
    let slower = of(1, 1.2, 5_000);
    assert_eq!((slower.verdict, slower.pairs), (Verdict::Worse, 0));
    assert_eq!(slower.tails[0].p, 50.0);
    assert!((0.18..0.22).contains(&slower.tails[0].difference));
    assert!(slower.reason.contains("suggestive"), "{}", slower.reason);
    use crate::compare::Regression;
    assert_eq!(Regression::of(&slower, 0.05), Regression::Beyond);
    assert_eq!(
        Regression::of_percentile(&slower, 99.0, 0.05),
        Regression::Beyond
    );
    assert_eq!(Regression::of(&slower, 0.5), Regression::Within);
    let wrong = (0..200).filter(|seed| {
        let same = of(*seed * 2, 1.0, 2_000);
        let mut tails = same.tails.iter();
        tails.any(|tail| matches!(tail.verdict, Verdict::Better | Verdict::Worse))
    });
    assert!(wrong.count() <= 10);
    // Too few values for a median.
    let few = of(1, 9.0, 3);
    assert!(few.tails.is_empty() && few.verdict == Verdict::Inconclusive);
}

#[test]
fn steps_of_a_file_are_no_narrower_than_they_are() {
    // Half of the values are anywhere between 1 and 1,000.
    let text =
        "Value Percentile TotalCount 1/(1-Percentile)\n\n1.0 0.1 500 1.1\n1000.0 1.0 1000 inf\n";
    let row = || {
        vec![
            crate::hgrm::read(text, crate::hgrm::HgrmUnit::Us)
                .unwrap()
                .latency(),
        ]
    };
    let found = logs(&row(), &row(), ["a", "b"], Options::default()).remove(0);
    let [low, high] = found.tails[0].interval;
    assert!(low < -0.9 && high > 100.0, "{low} {high}");
}

/// A run whose values follow an autoregressive process, times a factor.
fn autoregressive(rng: &mut SplitMix64, n: usize, [rho, sigma]: [f64; 2], factor: f64) -> Vec<f64> {
    let mut state = rng.normal();
    let step = (1.0 - rho * rho).sqrt();
    let next = |_| {
        state = rho * state + step * rng.normal();
        5e7 * factor * (sigma * state).exp()
    };
    (0..n).map(next).collect()
}

/// What a limit of 5 % makes of 400 comparisons of two separate runs: how many are within, and how many beyond.
fn judged(n: usize, process: [f64; 2], factor: f64) -> [usize; 2] {
    let mut rng = SplitMix64::new(11);
    let names = Names {
        row: "x",
        baseline: "a",
        target: "b",
    };
    let found: Vec<Regression> = (0..400)
        .map(|_| {
            let base = autoregressive(&mut rng, n, process, 1.0);
            let target = autoregressive(&mut rng, n, process, factor);
            Regression::of(&numbers(names, &base, &target, Options::default()), 0.05)
        })
        .collect();
    [Regression::Within, Regression::Beyond].map(|what| {
        let is = |one: &&Regression| **one == what;
        found.iter().filter(is).count()
    })
}

#[test]
fn drifting_runs_neither_pass_nor_fail_by_their_drift() {
    for (n, process, factor) in [
        (30, [0.9, 0.2], 1.1),
        (100, [0.9, 0.2], 1.1),
        (100, [0.9, 0.2], 1.06),
        (100, [0.9, 0.05], 1.06),
        (400, [0.9, 0.2], 1.1),
        (400, [0.99, 0.05], 1.1),
        (100, [0.5, 0.2], 1.1),
        (100, [0.0, 0.2], 1.06),
    ] {
        let [within, _] = judged(n, process, factor);
        // The stated error, and what 400 runs may add to it.
        assert!(
            within <= 400 * 5 / 100 + 9,
            "{n} {process:?} x{factor}: {within} of 400 pass"
        );
    }
    for (n, process) in [(100, [0.9, 0.2]), (400, [0.9, 0.05])] {
        let [_, beyond] = judged(n, process, 1.04);
        assert!(
            beyond <= 400 * 5 / 100 + 9,
            "{n} {process:?}: {beyond} of 400 fail"
        );
    }
    // Independent values are judged by their interval as it is.
    for (n, sigma) in [(30, 0.01), (100, 0.03)] {
        let [within, beyond] = judged(n, [0.0, sigma], 1.0);
        assert!(
            within >= 400 * 3 / 4 && beyond == 0,
            "{n} {sigma}: {within} of 400 pass"
        );
    }
}

/// How many of 400 comparisons of two separate runs say that the target differs.
fn differ(n: usize, process: [f64; 2], factor: f64) -> usize {
    let mut rng = SplitMix64::new(7);
    let names = Names {
        row: "x",
        baseline: "a",
        target: "b",
    };
    let differs = |_: &usize| {
        let base = autoregressive(&mut rng, n, process, 1.0);
        let target = autoregressive(&mut rng, n, process, factor);
        let found = numbers(names, &base, &target, Options::default());
        matches!(found.verdict, Verdict::Better | Verdict::Worse)
    };
    (0..400).filter(differs).count()
}

#[test]
fn separate_runs_differ_as_seldom_as_is_said_and_are_told_apart_where_they_do() {
    for (n, process) in [
        (30, [0.0, 0.2]),
        (30, [0.3, 0.2]),
        (30, [0.9, 0.2]),
        (100, [0.3, 0.2]),
        (100, [0.5, 0.1]),
        (100, [0.9, 0.2]),
        (400, [0.9, 0.05]),
        (400, [0.99, 0.05]),
    ] {
        let wrong = differ(n, process, 1.0);
        // The stated error, and what 400 runs may add to it.
        assert!(
            wrong <= 400 * 5 / 100 + 9,
            "{n} {process:?}: {wrong} of 400"
        );
    }
    // Of 100: how many are told apart, and how many of these by more than 5 %.
    for (n, process, differing, failing) in [
        (30, [0.0, 0.2], 88, 80),
        (30, [0.3, 0.1], 95, 92),
        (100, [0.9, 0.05], 97, 97),
        (100, [0.9, 0.2], 30, 27),
        (400, [0.9, 0.2], 82, 76),
    ] {
        let found = differ(n, process, 1.5);
        let [within, beyond] = judged(n, process, 1.5);
        let is_found = found >= 4 * differing && beyond >= 4 * failing && within == 0;
        assert!(is_found, "{n} {process:?}: {found} {beyond} {within}");
    }
    // Equal runs that drift pass a limit where they are long enough.
    for (n, process, passing) in [(400, [0.5, 0.05], 90), (400, [0.9, 0.03], 70)] {
        let [within, beyond] = judged(n, process, 1.0);
        assert!(
            within >= 4 * passing && beyond <= 4,
            "{n} {process:?}: {within} {beyond}"
        );
    }
}

fn benchmark_of(name: &str, times: Times) -> Benchmark {
    Benchmark {
        name: name.to_owned(),
        source: "JMH",
        times,
        failed: None,
    }
}

fn in_order(name: &str, ns: f64) -> Benchmark {
    let values_ns = (0..40).map(|nth| ns + f64::from(nth % 3)).collect();
    let sequence = Sequence {
        name: name.to_owned(),
        values_ns,
        singles: true,
    };
    benchmark_of(name, Times::InOrder(sequence))
}

#[test]
fn a_benchmark_of_both_files_is_compared_or_named() {
    let spread = |scale: u64| {
        let values = (0..10_000).map(|nth| scale * (1_000 + nth % 7 * 100));
        let row = row("spread", values);
        benchmark_of("spread", Times::Distribution(Box::new(row)))
    };
    let stated = |name| benchmark_of(name, Times::Stated);
    let base = [
        in_order("f", 1e6),
        spread(1),
        stated("g"),
        stated("h"),
        stated("gone"),
    ];
    let target = [
        in_order("f", 1e6),
        spread(3),
        stated("g"),
        in_order("h", 1e6),
        stated("new"),
    ];
    let found = benchmarks(&base, &target, ["a", "b"], Options::default());
    let of = |one: &Comparison| (one.row.clone(), one.verdict, Regression::of(one, 0.05));
    let expected = [
        ("f", Verdict::NoDifference, Regression::Within),
        ("spread", Verdict::Worse, Regression::Beyond),
        ("g", Verdict::Inconclusive, Regression::Undecided),
        ("h", Verdict::Inconclusive, Regression::Undecided),
        ("gone", Verdict::Inconclusive, Regression::Undecided),
        ("new", Verdict::Inconclusive, Regression::Within),
    ];
    let expected = expected.map(|(row, verdict, judged)| (row.to_owned(), verdict, judged));
    assert_eq!(found.iter().map(of).collect::<Vec<_>>(), expected);
    assert!(
        found[2].reason.contains("statistics"),
        "{}",
        found[2].reason
    );
}

#[test]
fn rows_of_the_same_name_are_compared_each_with_its_own() {
    let base = [in_order("f", 1e6), in_order("f", 1e6)];
    let target = [in_order("f", 1e6), in_order("f", 3e6)];
    let found = benchmarks(&base, &target, ["a", "b"], Options::default());
    let verdicts: Vec<_> = found.iter().map(|one| one.verdict).collect();
    assert_eq!(verdicts, [Verdict::NoDifference, Verdict::Worse]);
    let found = benchmarks(&base[..1], &target, ["a", "b"], Options::default());
    assert_eq!((found.len(), found[1].reason.as_str()), (2, NO_BASELINE));
}

#[test]
fn times_of_failed_runs_are_not_better() {
    let with = |ns, failed| Benchmark {
        failed,
        ..in_order("f", ns)
    };
    let of = |base, target| {
        let found = benchmarks(
            &[with(1e6, base)],
            &[with(1e4, target)],
            ["a", "b"],
            Options::default(),
        );
        Regression::of(&found[0], 0.05)
    };
    for (base, target, expected) in [
        (Some([0, 40]), Some([40, 40]), Regression::Undecided),
        (None, Some([21, 40]), Regression::Undecided),
        (Some([0, 40]), Some([1, 40]), Regression::Within),
        (Some([40, 40]), Some([40, 40]), Regression::Within),
        (None, None, Regression::Within),
    ] {
        assert_eq!(of(base, target), expected, "{base:?} {target:?}");
    }
}

#[test]
fn what_another_tool_stated_is_named_in_two_reports() {
    let with = |names: &[&str]| {
        let stated = |name: &&str| StatedTimes {
            source: "k6".to_owned(),
            name: (*name).to_owned(),
            n: None,
            mean_ns: Some(1.0),
            stdev_ns: None,
            min_ns: None,
            max_ns: None,
            percentiles: Vec::new(),
        };
        let mut report = report(vec![row("x", 0..1_000)]);
        report.stated.times = names.iter().map(stated).collect();
        report
    };
    let found = reports(&with(&["g", "gone"]), &with(&["g", "new"]), ["a", "b"]);
    let said: Vec<_> = found
        .iter()
        .skip(1)
        .map(|one| (one.row.as_str(), Regression::of(one, 0.05)))
        .collect();
    let expected = [
        ("g", Regression::Undecided),
        ("gone", Regression::Undecided),
        ("new", Regression::Within),
    ];
    assert_eq!(said, expected);
}
