//! Tests of gates.

use std::time::{Duration, Instant};

use super::*;
use crate::{Recorder, Spec};

fn row(name: LatencyName, series: Option<&str>, values: &[u64]) -> Latency {
    let mut spec = Spec::new(name, "call");
    if let Some(series) = series {
        spec = spec.series(series);
    }
    let mut recorder = Recorder::new(spec, Instant::now());
    values.iter().for_each(|ns| recorder.record_ns(*ns));
    recorder.finish().latency()
}

fn decide(gate: &str, rows: &[Latency]) -> GateResult {
    gate.parse::<Gate>().unwrap().decide(rows)
}

#[test]
fn texts_that_are_no_gates() {
    for text in [
        "",
        "p99",
        "p99<=",
        "p99<=2",
        "p99>=2ms",
        "q99<=2ms",
        "p0<=1ms",
        "p100<=1ms",
        "p<=1ms",
        "p99.<=1ms",
        "p+9<=1ms",
        "p1e1<=1ms",
        "pinf<=1ms",
        "request.p99<=1ms",
        "p99<=-1ms",
        "p99=<1ms",
        "p99.12345678<=1ms",
        "<=1ms",
        "p99<==1ms",
    ] {
        assert!(text.parse::<Gate>().is_err(), "{text}");
    }
    let error = "p99 of it".parse::<Gate>().unwrap_err();
    assert_eq!(
        error.to_string(),
        "`p99 of it` is not a gate: it has no `<=` or `<`"
    );
    assert!(error.help().contains("p99.9<=2ms"));
}

#[test]
fn a_percentile_is_judged_by_its_interval() {
    let values: Vec<u64> = (1..=10_000).map(|i| i * 100).collect();
    let rows = [row(LatencyName::Service, None, &values)];
    let [low, high] = decide("p99<=1s", &rows).ci95_ns.unwrap();
    assert!(low < 990_000 && 990_000 < high);
    assert_eq!(decide("p99<=1s", &rows).verdict, GateVerdict::Pass);
    assert_eq!(
        decide("p99<=990us", &rows).verdict,
        GateVerdict::Inconclusive
    );
    assert_eq!(decide("p99<=900us", &rows).verdict, GateVerdict::Fail);
    assert_eq!(
        decide(&format!("p99<={high}ns"), &rows).verdict,
        GateVerdict::Pass
    );
    assert_eq!(
        decide(&format!("p99<{high}ns"), &rows).verdict,
        GateVerdict::Inconclusive
    );
    assert_eq!(
        decide(&format!("p99<{low}ns"), &rows).verdict,
        GateVerdict::Fail
    );
    assert_eq!(
        decide("p95<=1s", &rows).verdict,
        GateVerdict::Pass,
        "not on the ladder"
    );
    assert_eq!(
        decide("p99.99<=1s", &rows).verdict,
        GateVerdict::Inconclusive
    );
}

#[test]
fn unearned_and_missing_are_inconclusive() {
    let rows = [row(LatencyName::Service, None, &[10; 100])];
    let result = decide("p99<=1s", &rows);
    assert_eq!(result.verdict, GateVerdict::Inconclusive);
    assert_eq!(result.reason, "p99: 100 samples, 299 needed");
    let result = decide("hold.p50<=1s", &rows);
    assert_eq!(
        (result.verdict, result.row),
        (GateVerdict::Inconclusive, None)
    );
    assert_eq!(result.reason, "the report has no hold row, it has service");
    assert_eq!(decide("p50<=1s", &[]).verdict, GateVerdict::Inconclusive);
    let empty = [row(LatencyName::Service, None, &[])];
    for gate in ["p50<=1s", "mean<=1s", "min<=1s", "max<=1s"] {
        assert_eq!(
            decide(gate, &empty).verdict,
            GateVerdict::Inconclusive,
            "{gate}"
        );
    }
}

#[test]
fn an_unearned_percentile_fails_where_the_samples_prove_it() {
    let rows = [row(LatencyName::Service, None, &[191_000; 200])];
    let result = decide("p99<=100us", &rows);
    assert_eq!(result.verdict, GateVerdict::Fail);
    let part = "p99: 200 samples, 299 needed; p50 is above the limit 100 µs already";
    assert_eq!(result.reason, part);
    assert_eq!(
        decide("p99<=191us", &rows).verdict,
        GateVerdict::Inconclusive
    );
    // Two samples prove nothing about a median, and much about p99.
    let rows = [row(LatencyName::Service, None, &[191_000, 192_000])];
    let result = decide("p99<=100us", &rows);
    assert_eq!(result.verdict, GateVerdict::Fail);
    assert!(
        result.reason.contains("even the least of 2 samples"),
        "{}",
        result.reason
    );
    assert_eq!(
        decide("p50<=100us", &rows).verdict,
        GateVerdict::Inconclusive
    );
    // One low sample: the rest may be above or not.
    let mut values = vec![200_000; 20];
    values.push(1_000);
    let rows = [row(LatencyName::Service, None, &values)];
    assert_eq!(decide("p99<=100us", &rows).verdict, GateVerdict::Fail);
    assert_eq!(
        decide("p10<=100us", &rows).verdict,
        GateVerdict::Inconclusive
    );
}

#[test]
fn a_percentile_beyond_the_range_fails() {
    let spec = Spec::new(LatencyName::Service, "call").range(1_000_000, 3);
    let mut recorder = Recorder::new(spec, Instant::now());
    (0..1_000).for_each(|_| recorder.record_ns(5_000_000));
    let rows = [recorder.finish().latency()];
    assert_eq!(decide("p99<=900us", &rows).verdict, GateVerdict::Fail);
    assert_eq!(decide("p99<=9ms", &rows).verdict, GateVerdict::Inconclusive);
}

#[test]
fn extremes_and_means() {
    let values: Vec<u64> = (1..=100).map(|i| i * 1_000).collect();
    let rows = [row(LatencyName::Service, None, &values)];
    assert_eq!(decide("max<=100us", &rows).verdict, GateVerdict::Pass);
    assert_eq!(decide("max<100us", &rows).verdict, GateVerdict::Fail);
    assert_eq!(decide("min<=1us", &rows).verdict, GateVerdict::Pass);
    assert_eq!(decide("mean<=60us", &rows).verdict, GateVerdict::Pass);
    assert_eq!(
        decide("mean<=50us", &rows).verdict,
        GateVerdict::Inconclusive
    );
    assert_eq!(decide("mean<=40us", &rows).verdict, GateVerdict::Fail);
    assert_eq!(
        decide("mean<=1s", &[row(LatencyName::Service, None, &[5; 29])]).verdict,
        GateVerdict::Inconclusive
    );
}

#[test]
fn batch_means_do_not_prove_a_maximum() {
    let start = Instant::now();
    let mut recorder = Recorder::new(Spec::new(LatencyName::Service, "call"), start);
    recorder.record_batch(start, start + Duration::from_micros(1_000), 100);
    let rows = [recorder.finish().latency()];
    assert_eq!(
        decide("max<=20us", &rows).verdict,
        GateVerdict::Inconclusive
    );
    assert_eq!(decide("max<=5us", &rows).verdict, GateVerdict::Fail);
    assert_eq!(decide("min<=20us", &rows).verdict, GateVerdict::Pass);
    assert_eq!(decide("min<=5us", &rows).verdict, GateVerdict::Inconclusive);
}

#[test]
fn the_row_is_chosen_and_the_worst_series_reported() {
    let rows = [
        row(LatencyName::Hold, None, &[1; 400]),
        row(LatencyName::Service, Some("a"), &[1_000; 400]),
        row(LatencyName::Service, Some("b"), &[9_000; 400]),
    ];
    let result = decide("p99<=5us", &rows);
    assert_eq!(
        (result.row.as_deref(), result.verdict),
        (Some("b service"), GateVerdict::Fail)
    );
    assert_eq!(decide("hold.p99<=5us", &rows).verdict, GateVerdict::Pass);
    let rows = [&rows[..], &[row(LatencyName::Response, None, &[2; 400])]].concat();
    assert_eq!(decide("p99<=5us", &rows).row.as_deref(), Some("response"));
}

proptest::proptest! {
    #[test]
    fn any_text_parses_or_not(text: String) {
        let _ = text.parse::<Gate>();
    }

    #[test]
    fn a_parsed_gate_prints_as_written(p in 1u32..100, limit in 1u64..1_000_000) {
        let text = format!("service.p{p}<{limit}us");
        proptest::prop_assert_eq!(text.parse::<Gate>().unwrap().to_string(), text);
    }
}
