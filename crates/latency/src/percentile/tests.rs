//! Tests of percentiles, ranks and intervals.

use proptest::prelude::*;

use super::*;

fn histogram(values: &[u64]) -> Histogram<u64> {
    let mut histogram = Histogram::new_with_bounds(1, 3_600_000_000_000, 3).unwrap();
    for value in values {
        histogram.record(*value).unwrap();
    }
    histogram
}

#[test]
fn earned_n_of_the_ladder() {
    assert_eq!(LADDER.map(earned_n), [5, 29, 299, 2_995, 29_956]);
    assert_eq!(earned_n(100.0), u64::MAX);
    assert_eq!(earned_n(f64::NAN), u64::MAX);
    assert_eq!(earned_n(-1.0), 1);
}

#[test]
fn rank_is_exact() {
    assert_eq!(rank(1_000, 99.9), 999);
    assert_eq!(rank(1_000, 99.91), 1_000);
    assert_eq!(rank(0, 50.0), 0);
    assert_eq!(rank(1, 0.0), 1);
    assert_eq!(rank(3, 50.0), 2);
    assert_eq!(rank(u64::MAX, 100.0), u64::MAX);
}

#[test]
fn unearned_percentiles_say_why() {
    let rows = percentiles(&histogram(&[5; 120]), 0, Timing::Actual);
    assert_eq!(rows[1].value_ns, Some(5));
    assert_eq!(rows[2].value_ns, None);
    assert_eq!(rows[2].reason.as_deref(), Some("120 samples, 299 needed"));
    let none = percentiles(&histogram(&[]), 0, Timing::Actual);
    assert!(
        none.iter()
            .all(|row| row.value_ns.is_none() && row.reason.is_some())
    );
}

#[test]
fn just_earned_percentiles_have_an_interval() {
    for p in [90.0, 99.0, 99.9, 99.99] {
        let n = earned_n(p);
        let (low, high) = order_statistic_ranks(n, p, 0.95).unwrap();
        assert!(low < high && high == n, "{p}: {low} {high}");
        assert!(order_statistic_ranks(n - 1, p, 0.95).is_none());
    }
}

#[test]
fn a_value_without_an_interval_says_why() {
    let why = |n: usize, timing, p: usize| {
        let found = percentiles(&histogram(&vec![5; n]), 0, timing).remove(p);
        assert!(found.value_ns.is_some() && found.reason.is_none());
        (found.ci95_ns, found.ci95_reason)
    };
    let few = Some("5 samples, 6 needed".to_owned());
    assert_eq!(why(5, Timing::Actual, 0), (None, few));
    assert_eq!(why(6, Timing::Actual, 0), (Some([5, 5]), None));
    assert!(why(29, Timing::Actual, 1).1.is_none());
    let (_, model) = why(500, Timing::Modelled, 2);
    assert!(model.is_some_and(|why| why.contains("a model")));
    let histogram = histogram(&[5; 500]);
    let dependent = Ladder {
        histogram: &histogram,
        saturated: 0,
        timing: Timing::Actual,
        batch: Some(1),
        min_ns: None,
        max_ns: None,
        inflation: 50.0,
    };
    let found = dependent.at(&[99.0]).remove(0);
    let why = found.ci95_reason.expect("a reason");
    assert!(
        why.starts_with("the 500 samples depend on each other"),
        "{why}"
    );
    assert!(why.ends_with(", 299 needed"), "{why}");
}

#[test]
fn the_least_number_of_values_that_an_interval_needs() {
    for p in [50.0, 90.0, 99.0, 99.99] {
        for confidence in [0.5, 0.95, 0.9875, 0.999] {
            let n = enclosed_n(p, confidence);
            assert!(order_statistic_ranks(n, p, confidence).is_some(), "{p} {n}");
            assert!(
                order_statistic_ranks(n - 1, p, confidence).is_none(),
                "{p} {n}"
            );
        }
    }
}

#[test]
fn batch_means_have_no_tail() {
    let rows = percentiles(&histogram(&[7; 100_000]), 0, Timing::BatchMean);
    assert_eq!(rows[0].value_ns, Some(7));
    assert!(
        rows[1..]
            .iter()
            .all(|row| row.value_ns.is_none() && row.reason.is_some())
    );
}

#[test]
fn a_percentile_among_saturated_values_is_not_given() {
    let rows = percentiles(&histogram(&[7; 290]), 10, Timing::Actual);
    assert_eq!(rows[1].value_ns, Some(7));
    assert_eq!(rows[2].value_ns, None);
    assert!(
        rows[2]
            .reason
            .as_deref()
            .unwrap()
            .contains("10 values above")
    );
}

#[test]
fn one_value_and_equal_values_are_known_exactly() {
    let row = |values: &[u64]| {
        let spec = crate::Spec::new(crate::LatencyName::Service, "call");
        let mut recorder = crate::Recorder::new(spec, std::time::Instant::now());
        values.iter().for_each(|ns| recorder.record_ns(*ns));
        recorder.finish().latency()
    };
    // 50,001 shares a count of the histogram with its neighbours.
    let equal = row(&[50_001; 400]);
    for found in &equal.percentiles[..3] {
        assert_eq!(found.value_ns, Some(50_001));
        assert_eq!(found.ci95_ns, Some([50_001, 50_001]));
    }
    let one = row(&[50_001]);
    assert_eq!((one.min_ns, one.max_ns), (Some(50_001), Some(50_001)));
    assert_eq!((one.mean_ns, one.stdev_ns), (Some(50_001.0), None));
    assert_eq!(
        one.percentiles[0].reason.as_deref(),
        Some("1 sample, 5 needed")
    );
    // Five values are enough for a median; six for its interval.
    assert_eq!(row(&[7; 5]).percentiles[0].value_ns, Some(7));
    assert_eq!(row(&[7; 5]).percentiles[0].ci95_ns, None);
    assert_eq!(row(&[7; 6]).percentiles[0].ci95_ns, Some([7, 7]));
}

#[test]
fn huge_counts_stay_sane() {
    let mut histogram = histogram(&[]);
    histogram.record_n(10, 1 << 62).unwrap();
    let rows = percentiles(&histogram, u64::MAX, Timing::Actual);
    assert_eq!(rows.len(), 5);
}

/// P(lo ≤ B < hi) by Pascal's rule.
fn coverage(n: u64, p: f64, lo: u64, hi: u64) -> f64 {
    let mut row = vec![1.0];
    for _ in 0..n {
        let mut next = vec![0.0; row.len() + 1];
        for (k, mass) in row.iter().enumerate() {
            next[k] += mass * (1.0 - p / 100.0);
            next[k + 1] += mass * p / 100.0;
        }
        row = next;
    }
    row[lo as usize..hi as usize].iter().sum()
}

proptest! {
    #[test]
    fn ranks_cover_what_they_promise(n in 1u64..500, p in 1u32..100, wide: bool) {
        let (p, confidence) = (f64::from(p), if wide { 0.99 } else { 0.95 });
        match order_statistic_ranks(n, p, confidence) {
            Some((lo, hi)) => {
                prop_assert!(1 <= lo && lo < hi && hi <= n);
                prop_assert!(coverage(n, p, lo, hi) >= confidence - 1e-9);
                // Tight: neither tail could give up another rank within its half.
                if lo > 1 && hi < n {
                    let half = (1.0 - confidence) / 2.0;
                    prop_assert!(coverage(n, p, 0, lo + 1) > half - 1e-9);
                    prop_assert!(coverage(n, p, hi - 1, n + 1) > half - 1e-9);
                }
            }
            None => prop_assert!(coverage(n, p, 1, n) < confidence + 1e-9),
        }
    }

    #[test]
    fn earned_n_is_the_least(tenths in 1u32..1000) {
        let p = f64::from(tenths) / 10.0;
        let n = earned_n(p);
        let earned = |n: u64| 1.0 - (p / 100.0).powf(n as f64) >= 0.95 - 1e-12;
        prop_assert!(earned(n));
        prop_assert!(n == 1 || 1.0 - (p / 100.0).powf((n - 1) as f64) < 0.95 + 1e-12);
    }

    #[test]
    fn values_are_the_sorted_samples_within_precision(
        mut values in prop::collection::vec(0u64..1_000_000_000_000, 300..600),
    ) {
        let rows = percentiles(&histogram(&values), 0, Timing::Actual);
        values.sort_unstable();
        for row in &rows[..3] {
            let exact = values[rank(values.len() as u64, row.p) as usize - 1];
            let found = row.value_ns.unwrap();
            prop_assert!(found >= exact && found - exact <= exact / 1000 + 1);
            let [low, high] = row.ci95_ns.unwrap();
            prop_assert!(low <= found && found <= high);
        }
    }
}
