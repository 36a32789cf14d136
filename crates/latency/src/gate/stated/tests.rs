//! Gates on points of k6 and oha, on what lies between them, and on what is not there.

use crate::gate::Gate;
use crate::report::{
    Cell, GateResult, GateVerdict, RateKind, Report, StatedPercentile, StatedRate, StatedTimes,
    Table, Unit, Validation,
};
use crate::testing;

const MS: f64 = 1e6;

fn times(name: &str, n: Option<u64>, percentiles: &[(f64, f64)]) -> StatedTimes {
    let percentiles = percentiles.iter();
    StatedTimes {
        source: "k6".to_owned(),
        name: name.to_owned(),
        n,
        mean_ns: Some(2.0 * MS),
        stdev_ns: None,
        min_ns: Some(1.0 * MS),
        max_ns: Some(9.0 * MS),
        percentiles: percentiles
            .map(|&(p, ms)| StatedPercentile {
                p,
                value_ns: ms * MS,
            })
            .collect(),
    }
}

fn report(times: Vec<StatedTimes>, rates: Vec<StatedRate>) -> Report {
    let mut report = testing::report(Vec::new());
    report.stated.times = times;
    report.stated.rates = rates;
    report
}

fn decide(report: &Report, gate: &str) -> GateResult {
    gate.parse::<Gate>().expect(gate).decide_report(report)
}

fn failures(name: &str, failed: u64, all: u64) -> StatedRate {
    StatedRate::new("k6", name, RateKind::Failures).share_of(failed, all)
}

#[test]
fn stated_points_are_judged_as_they_are() {
    use GateVerdict::{Fail, Inconclusive, Pass};
    let usual = [(50.0, 1.25), (90.0, 2.5), (95.0, 3.0)];
    let report = report(vec![times("http_req_duration", None, &usual)], Vec::new());
    for (gate, verdict, says) in [
        (
            "p95<=3ms",
            Pass,
            "p95 is 3.00 ms, within 3.00 ms, as k6 states it: a point, no interval",
        ),
        ("p95<3ms", Fail, "p95 is 3.00 ms, above 3.00 ms"),
        ("service.p95<=2.9ms", Fail, "p95 is 3.00 ms, above 2.90 ms"),
        ("[http_req_duration].p90<=3ms", Pass, "p90 is 2.50 ms"),
        ("mean<=2ms", Pass, "mean is 2.00 ms"),
        ("min<=999us", Fail, "min is 1.00 ms"),
        ("max<=9ms", Pass, "max is 9.00 ms"),
        // What is not stated lies between what is.
        (
            "p99<=9ms",
            Pass,
            "k6 states no p99, but max is 9.00 ms, within 9.00 ms already",
        ),
        (
            "p99<=2ms",
            Fail,
            "k6 states no p99, but p95 is 3.00 ms, above 2.00 ms already",
        ),
        ("p93<=3ms", Pass, "but p95 is 3.00 ms"),
        ("p10<=500us", Fail, "but min is 1.00 ms"),
        (
            "p99<=5ms",
            Inconclusive,
            "k6 states no p99 of http_req_duration, it has p50, p90, p95, mean, min, max",
        ),
    ] {
        let found = decide(&report, gate);
        assert_eq!(found.verdict, verdict, "{gate}: {}", found.reason);
        assert!(found.reason.contains(says), "{gate}: {}", found.reason);
        assert_eq!(found.ci95_ns, None);
        let row = (verdict != Inconclusive).then_some("http_req_duration service");
        assert_eq!(found.row.as_deref(), row, "{gate}");
    }
}

#[test]
fn nothing_passes_on_what_is_absent_or_of_too_few() {
    let bare = StatedTimes {
        mean_ns: None,
        min_ns: None,
        max_ns: None,
        ..times("a", None, &[])
    };
    let whole = times("b", None, &[(99.0, 1.0)]);
    let both = report(vec![whole.clone(), bare], Vec::new());
    for gate in ["p99<=1h", "mean<=1h", "min<=1h", "max<=1h"] {
        let found = decide(&both, gate);
        assert_eq!(found.verdict, GateVerdict::Inconclusive, "{gate}");
        // No row: that excuses nothing.
        assert_eq!((found.row, found.value_ns), (None, None));
        assert!(found.reason.contains("of a"), "{}", found.reason);
    }
    // A failure is worse than what is absent.
    assert_eq!(decide(&both, "mean<=1us").verdict, GateVerdict::Fail);
    let few = report(vec![times("c", Some(298), &[(99.0, 1.0)])], Vec::new());
    let found = decide(&few, "p99<=1h");
    assert_eq!(found.verdict, GateVerdict::Inconclusive);
    assert_eq!(found.reason, "p99 of c: 298 samples, 299 needed");
    let enough = report(vec![times("c", Some(299), &[(99.0, 1.0)])], Vec::new());
    assert_eq!(decide(&enough, "p99<=1h").verdict, GateVerdict::Pass);
    let other = report(vec![whole], Vec::new());
    for (gate, says) in [
        ("hold.p99<=1h", "no hold row, it has service"),
        ("[x].p99<=1h", "series 'x', it has b"),
    ] {
        let found = decide(&other, gate);
        assert_eq!(found.verdict, GateVerdict::Inconclusive);
        assert!(found.reason.contains(says), "{}", found.reason);
    }
}

#[test]
fn every_stated_row_must_pass_and_samples_too() {
    let rows = vec![
        times("a", None, &[(95.0, 1.0)]),
        times("b", None, &[(95.0, 4.0)]),
    ];
    let mut report = report(rows, Vec::new());
    let found = decide(&report, "p95<=2ms");
    assert_eq!(
        (found.verdict, found.row.as_deref()),
        (GateVerdict::Fail, Some("b service"))
    );
    assert_eq!(decide(&report, "p95<=4ms").verdict, GateVerdict::Pass);
    // Next to a distribution of another time, which gates are about by default.
    let spec = crate::Spec::new(crate::LatencyName::Response, "call");
    let mut recorder = crate::Recorder::new(spec, std::time::Instant::now());
    (0..1000).for_each(|_| recorder.record_ns(1000));
    report.latencies.push(recorder.finish().latency());
    assert_eq!(decide(&report, "p95<=2ms").verdict, GateVerdict::Fail);
    assert_eq!(
        decide(&report, "response.p95<=2ms").verdict,
        GateVerdict::Pass
    );
}

#[test]
fn rates_and_shares_of_failures_are_judged() {
    use GateVerdict::{Fail, Inconclusive, Pass};
    let mut requests = StatedRate::new("oha", "requests", RateKind::Operations);
    requests.per_s = Some(100.0);
    let rates = vec![
        requests,
        failures("http_req_failed", 2, 1000),
        failures("checks", 0, 1000),
    ];
    let mut report = report(Vec::new(), rates);
    for (gate, verdict, says) in [
        (
            "throughput>=100",
            Pass,
            "found 100 of requests as oha states it",
        ),
        ("throughput>=101", Fail, "not as wanted"),
        (
            "error_rate<=1%",
            Pass,
            "2 of 1000 failed, which proves the side of 0.01; http_req_failed as k6",
        ),
        ("error_rate<=0.2%", Inconclusive, "proves neither side"),
        ("error_rate<=0.01%", Fail, "2 of 1000"),
        ("error_rate<=0", Fail, "found 0.002"),
        ("stated.rates.requests.per_s>=99", Pass, "found 100"),
        (
            "stated.rates.http_req_failed.share<=1%",
            Pass,
            "found 0.002",
        ),
        (
            "stated.rates.requests.share<=1%",
            Inconclusive,
            "is not known",
        ),
        (
            "stated.rates.none.share<=1%",
            Inconclusive,
            "has no 'none.share'",
        ),
    ] {
        let found = decide(&report, gate);
        assert_eq!(found.verdict, verdict, "{gate}: {}", found.reason);
        assert!(found.reason.contains(says), "{gate}: {}", found.reason);
    }
    // One without a number, next to one that passes.
    report
        .stated
        .rates
        .push(StatedRate::new("k6", "http_reqs", RateKind::Operations));
    let found = decide(&report, "throughput>=100");
    assert_eq!((found.verdict, found.value), (Inconclusive, None));
    assert!(
        found.reason.starts_with("the number of http_reqs"),
        "{}",
        found.reason
    );
    assert_eq!(decide(&report, "throughput>=101").verdict, Fail);
    // What perfkit checked itself counts first.
    report.validation = Some(Validation::new("oracle", 1_000_000, 0));
    assert_eq!(decide(&report, "error_rate<=0.01%").verdict, Pass);
    report.stated.rates.clear();
    report.validation = None;
    for gate in ["throughput>=1", "error_rate<=1%"] {
        assert_eq!(decide(&report, gate).verdict, Inconclusive);
    }
}

#[test]
fn a_column_passes_only_if_all_its_rows_have_numbers() {
    let mut report = report(Vec::new(), Vec::new());
    let mut table = Table::new("codecs", &[("codec", Unit::Text), ("ratio", Unit::Ratio)]);
    table.rows = vec![vec!["a".into(), 2.0.into()], vec!["b".into(), Cell::Null]];
    report.tables.push(table);
    let found = decide(&report, "tables.codecs.ratio>=1.5");
    assert_eq!(
        (found.verdict, found.row),
        (GateVerdict::Inconclusive, None)
    );
    assert!(
        found.reason.starts_with("the number of b is not known"),
        "{}",
        found.reason
    );
    assert_eq!(
        decide(&report, "tables.codecs.ratio>=3").verdict,
        GateVerdict::Fail
    );
}
