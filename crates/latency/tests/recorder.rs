//! The recorder through its public interface: what goes in comes out, whole, merged and by intervals.

use std::io::Cursor;
use std::time::{Duration, Instant};

use perfkit_latency::report::Interval;
use perfkit_latency::{
    BucketPolicy, IntervalLog, LatencyName, MergeError, Recorder, Recording, Spec, Timing,
};
use proptest::prelude::*;

fn spec() -> Spec {
    Spec::new(LatencyName::Service, "call")
}

/// A log of intervals of `millis` milliseconds, in memory.
fn log(millis: u64) -> IntervalLog {
    IntervalLog::new(Duration::from_millis(millis), Cursor::new(Vec::new())).expect("a thread")
}

/// The intervals of a recording.
fn intervals(log: IntervalLog, recording: &Recording) -> Vec<Interval> {
    let mut logged = log.finish().expect("memory takes all");
    logged.of_row(&recording.latency()).expect("memory reads")
}

/// A recorder with one span of each length, one per millisecond.
fn recorded(spec: Spec, start: Instant, spans: &[u64]) -> Recorder {
    let mut recorder = Recorder::new(spec, start);
    for (nth, ns) in spans.iter().enumerate() {
        let begin = start + Duration::from_millis(nth as u64);
        assert_eq!(
            recorder.record_span(begin, begin + Duration::from_nanos(*ns)),
            *ns
        );
    }
    recorder
}

#[test]
fn an_empty_recording_has_no_numbers() {
    let recording = Recorder::new(spec(), Instant::now()).finish();
    let row = recording.latency();
    assert_eq!(
        (row.n, row.min_ns, row.max_ns, row.mean_ns, row.stdev_ns),
        (0, None, None, None, None)
    );
    assert!(
        row.percentiles
            .iter()
            .all(|percentile| percentile.value_ns.is_none())
    );
    assert!(row.buckets.is_none() && row.intervals.is_empty() && recording.slowest().is_empty());
    assert_eq!(row.histogram().unwrap().len(), 0);
}

#[test]
fn extremes_and_mean_are_exact_and_saturation_is_counted() {
    let mut recorder = Recorder::new(spec().range(1_000_000, 3), Instant::now());
    for ns in [123_457, 999_999, 7_777_777, u64::MAX] {
        recorder.record_ns(ns);
    }
    let row = recorder.finish().latency();
    assert_eq!((row.n, row.saturated), (4, 2));
    assert_eq!((row.min_ns, row.max_ns), (Some(123_457), Some(u64::MAX)));
    let mean = (123_457.0 + 999_999.0 + 7_777_777.0 + u64::MAX as f64) / 4.0;
    assert!((row.mean_ns.unwrap() / mean - 1.0).abs() < 1e-12);
    assert!(row.stdev_ns.unwrap() > 1e18);
    assert_eq!(row.histogram().unwrap().len(), 2);
}

#[test]
fn deviation_counts_saturated_values() {
    let mut recorder = Recorder::new(spec().range(1_000, 3), Instant::now());
    [100, 200, 5_000, 9_000]
        .into_iter()
        .for_each(|ns| recorder.record_ns(ns));
    let row = recorder.finish().latency();
    // √(Σ(x − 3575)² / 3)
    assert!(
        (row.stdev_ns.unwrap() - 4_278.92).abs() < 1.0,
        "{:?}",
        row.stdev_ns
    );
}

#[test]
fn a_clock_that_steps_back_records_zero() {
    let start = Instant::now() + Duration::from_secs(5);
    let log = log(1_000);
    let mut recorder = Recorder::new(spec().intervals(Some(log.clone())), start);
    let earlier = start.checked_sub(Duration::from_secs(2)).unwrap();
    assert_eq!(recorder.record_span(start, earlier), 0);
    recorder.record_span(start, start + Duration::from_millis(2_500));
    recorder.record_span(start, start + Duration::from_millis(500));
    let recording = recorder.finish();
    let row = recording.latency();
    assert_eq!((row.n, row.min_ns), (3, Some(0)));
    let counted: u64 = intervals(log, &recording)
        .iter()
        .map(|i| i.histogram().unwrap().len())
        .sum();
    assert_eq!(counted, 3);
}

#[test]
fn the_slowest_are_named_and_asked_for_only_when_slow() {
    let start = Instant::now();
    let mut recorder = Recorder::new(spec().slowest(3), start);
    let mut asked = 0;
    for ns in (1..=1_000u64).rev() {
        recorder.record_span_what(start, start + Duration::from_nanos(ns), || {
            asked += 1;
            format!("value {ns}")
        });
    }
    recorder.record_ns(5_000);
    let slowest = recorder.finish().slowest();
    let found: Vec<(u64, &str)> = slowest
        .iter()
        .map(|sample| (sample.value_ns, sample.what.as_str()))
        .collect();
    assert_eq!(
        found,
        [
            (5_000, "operation 1001"),
            (1_000, "value 1000"),
            (999, "value 999")
        ]
    );
    assert_eq!(asked, 3);
}

#[test]
fn batches_are_means_with_an_exact_mean() {
    let start = Instant::now();
    let mut recorder = Recorder::new(spec().buckets(BucketPolicy::Fixed(2)), start);
    for (ns, ops) in [(3_700, 1_000), (3_900, 1_000), (380, 100), (0, 0)] {
        recorder.record_batch(start, start + Duration::from_nanos(ns), ops);
    }
    let recording = recorder.finish();
    let row = recording.latency();
    assert_eq!(
        (row.timing, row.batch, row.n),
        (Timing::BatchMean, Some(1_000), 3)
    );
    assert_eq!(row.mean_ns, Some(7_980.0 / 2_100.0));
    assert_eq!(row.min_ns, Some(4));
    let buckets = row.buckets.unwrap();
    assert_eq!((buckets.size_ops, buckets.sum_ns), (2_000, vec![7_600]));
    assert!(recording.slowest()[0].what.starts_with("mean of batch"));
}

#[test]
fn intervals_add_up_and_gaps_are_left_out() {
    let start = Instant::now();
    let log = log(1_000);
    let mut recorder = Recorder::new(spec().intervals(Some(log.clone())), start);
    for second in [0u64, 0, 1, 5, 5, 5, 1_000_000] {
        let end = start + Duration::from_secs(second) + Duration::from_millis(10);
        recorder.record_span(end - Duration::from_millis(1), end);
    }
    assert_eq!(recorder.n(), 7);
    let recording = recorder.finish();
    let row = recording.latency();
    let found: Vec<(u64, u64)> = intervals(log, &recording)
        .iter()
        .map(|i| (i.start_ns / 1_000_000_000, i.histogram().unwrap().len()))
        .collect();
    // The last of at most 86,400 intervals takes all that comes later.
    assert_eq!(found, [(0, 2), (1, 1), (5, 3), (86_399, 1)]);
    assert_eq!(row.n, 7);
}

#[test]
fn recording_goes_on_after_a_merge() {
    let start = Instant::now();
    let log = log(1_000);
    let spec = || spec().intervals(Some(log.clone()));
    let at = |ms| start + Duration::from_millis(ms);
    let mut ours = Recorder::new(spec(), start);
    let mut theirs = Recorder::new(spec(), start);
    ours.record_span(at(0), at(100));
    theirs.record_span(at(0), at(5_100));
    ours.merge(theirs).unwrap();
    ours.record_span(at(0), at(200));
    ours.record_span(at(0), at(1_200));
    assert_eq!(ours.n(), 4);
    let found: Vec<(u64, u64)> = intervals(log.clone(), &ours.finish())
        .iter()
        .map(|i| (i.start_ns / 1_000_000_000, i.histogram().unwrap().len()))
        .collect();
    assert_eq!(found, [(0, 2), (1, 1), (5, 1)]);
}

#[test]
fn unlike_recorders_do_not_merge() {
    let start = Instant::now();
    let mut ours = recorded(spec(), start, &[1, 2, 3]);
    for other in [
        Spec::new(LatencyName::Hold, "call"),
        Spec::new(LatencyName::Service, "file"),
        spec().series("x"),
    ] {
        let error = ours.merge(recorded(other, start, &[1])).unwrap_err();
        assert!(matches!(error, MergeError::Different { .. }), "{error}");
    }
    for other in [
        spec().range(1_000, 3),
        spec().buckets(BucketPolicy::Off),
        spec().intervals(Some(log(1_000))),
    ] {
        let error = ours.merge(recorded(other, start, &[1])).unwrap_err();
        assert!(matches!(error, MergeError::Layout(_)), "{error}");
    }
    assert_eq!(ours.n(), 3);
}

/// All but the buckets, whose order is that of merging.
fn summary(
    recording: &Recording,
    intervals: &[Interval],
) -> impl PartialEq + std::fmt::Debug + use<> {
    let row = recording.latency();
    let intervals: Vec<_> = intervals
        .iter()
        .map(|interval| {
            let histogram = interval.histogram().expect("our own");
            (
                interval.start_ns,
                interval.length_ns,
                histogram.len(),
                histogram.max(),
            )
        })
        .collect();
    let slowest: Vec<u64> = recording
        .slowest()
        .iter()
        .map(|sample| sample.value_ns)
        .collect();
    (
        row.n,
        row.min_ns,
        row.max_ns,
        row.mean_ns,
        row.saturated,
        row.percentiles,
        intervals,
        slowest,
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn merging_is_recording_in_one(
        parts in prop::array::uniform3(prop::collection::vec(0u64..3_000_000, 0..120)),
    ) {
        let start = Instant::now();
        let log = log(20);
        let spec = || spec().range(2_000_000, 3).intervals(Some(log.clone())).slowest(5);
        let [a, b, c] = parts.each_ref().map(|spans| move || recorded(spec(), start, spans));
        let mut left = a();
        left.merge(b()).unwrap();
        left.merge(c()).unwrap();
        let mut right = b();
        right.merge(c()).unwrap();
        let mut whole = a();
        whole.merge(right).unwrap();
        let (left, whole) = (left.finish(), whole.finish());
        prop_assert_eq!(left.histogram(), whole.histogram());

        let mut once = Recorder::new(spec(), start);
        for ns in parts.iter().flatten() {
            once.record_ns(*ns);
        }
        let once = once.finish();
        prop_assert_eq!(once.histogram(), whole.histogram());
        prop_assert_eq!(once.latency().mean_ns, whole.latency().mean_ns);
        let mut logged = log.finish().unwrap();
        let [of_left, of_whole] =
            [&left, &whole].map(|one| logged.of_row(&one.latency()).unwrap());
        prop_assert_eq!(summary(&left, &of_left), summary(&whole, &of_whole));
        let counted: u64 = of_whole.iter().map(|i| i.histogram().unwrap().len()).sum();
        prop_assert_eq!(counted, whole.histogram().len());
    }

    #[test]
    fn bucket_sums_are_those_of_the_values(
        spans in prop::collection::vec(0u64..1_000_000, 0..3_000), max in 2usize..64,
    ) {
        let policy = BucketPolicy::Adaptive { max };
        let row = recorded(spec().buckets(policy), Instant::now(), &spans).finish().latency();
        let Some(buckets) = row.buckets else {
            prop_assert!(spans.is_empty());
            return Ok(());
        };
        prop_assert!(buckets.size_ops.is_power_of_two() && buckets.sum_ns.len() < max.max(3));
        let size = buckets.size_ops as usize;
        for (sum, chunk) in buckets.sum_ns.iter().zip(spans.chunks_exact(size)) {
            prop_assert_eq!(*sum, chunk.iter().sum::<u64>());
        }
        prop_assert!(spans.len() - size * buckets.sum_ns.len() < size);
    }
}
