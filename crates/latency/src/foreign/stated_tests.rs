//! What files state of rates, failures and their machines.

use crate::report::{Environment, RateKind};

use super::*;

/// The name, kind, count, total and share of a rate.
type Row<'a> = (&'a str, RateKind, Option<u64>, Option<u64>, Option<f64>);

fn rates(found: &Foreign) -> Vec<Row<'_>> {
    let rates = found.rates.iter();
    rates
        .map(|rate| {
            (
                rate.name.as_str(),
                rate.kind,
                rate.count,
                rate.of,
                rate.share,
            )
        })
        .collect()
}

#[test]
fn k6_has_counters_and_rates_in_both_forms() {
    use RateKind::{Failures, Operations, Other};
    let older = r#"{"metrics": {
        "checks": {"passes": 9, "fails": 1, "value": 0.9},
        "data_sent": {"count": 700, "rate": 350.5},
        "http_req_duration": {"avg": 1, "p(95)": 2},
        "http_req_failed": {"passes": 1, "fails": 3, "value": 0.25},
        "http_req_failed{status:200}": {"passes": 0, "fails": 0, "value": 0},
        "http_reqs": {"count": 4, "rate": 2},
        "http_reqs{status:200}": {"count": 3, "rate": 1.5},
        "iteration_duration": {"avg": 5},
        "iterations": {"count": 2, "rate": 1},
        "vus": {"value": 1, "min": 1, "max": 1}}}"#;
    let newer = r#"{"state": {"testRunDurationMs": 2000.5}, "metrics": {
        "checks": {"type": "rate", "values": {"rate": 0.9, "passes": 9, "fails": 1}},
        "http_req_failed": {"type": "rate", "values": {"rate": 0.25, "passes": 1, "fails": 3}},
        "http_reqs": {"type": "counter", "values": {"count": 4, "rate": 2}},
        "vus": {"type": "gauge", "values": {"value": 1, "min": 1, "max": 1}}}}"#;
    let found = read(older.as_bytes(), "x").unwrap();
    let expected = [
        ("checks that failed", Failures, Some(1), Some(10), Some(0.1)),
        ("data_sent", Other, Some(700), None, None),
        ("http_req_failed", Failures, Some(1), Some(4), Some(0.25)),
        ("http_req_failed{status:200}", Other, Some(0), Some(0), None),
        ("http_reqs", Operations, Some(4), None, None),
        ("http_reqs{status:200}", Other, Some(3), None, None),
        ("iterations", Other, Some(2), None, None),
    ];
    assert_eq!(rates(&found), expected);
    assert_eq!(found.rates[4].per_s, Some(2.0));
    // Each request has each of these times; an iteration may have none.
    let counts: Vec<_> = found.summaries.iter().map(|one| one.n).collect();
    assert_eq!(counts, [Some(4), None]);
    let newer = read(newer.as_bytes(), "x").unwrap();
    assert_eq!(rates(&newer), [expected[0], expected[2], expected[4]]);
    assert_eq!(newer.duration_ns, Some(2_000_500_000));
    let without = r#"{"metrics": {"iterations": {"count": 2, "rate": 1}, "x": {"count": -1}}}"#;
    let found = read(without.as_bytes(), "x").unwrap();
    assert_eq!(
        rates(&found),
        [("iterations", Operations, Some(2), None, None)]
    );
}

#[test]
fn oha_counts_requests_and_those_that_failed() {
    use RateKind::{Failures, Operations, Other};
    let file = |parts: &str| {
        let text = format!(
            r#"{{"summary": {{"total": 2.5, "requestsPerSec": 80, "successRate": 0.99}}, "latencyPercentiles": {{"p50": 0.1}}{parts}}}"#
        );
        read(text.as_bytes(), "x").unwrap()
    };
    let found = file(
        r#", "statusCodeDistribution": {"200": 190, "404": 4, "503": 2}, "errorDistribution": {"connection refused": 4, "aborted due to deadline": 9}"#,
    );
    assert_eq!(
        rates(&found),
        [
            ("requests", Operations, Some(200), None, None),
            (
                "requests that failed",
                Failures,
                Some(10),
                Some(200),
                Some(0.05)
            ),
            ("status 200", Other, Some(190), None, None),
            ("status 404", Other, Some(4), None, None),
            ("status 503", Other, Some(2), None, None),
            ("error: aborted due to deadline", Other, Some(9), None, None),
            ("error: connection refused", Other, Some(4), None, None),
        ]
    );
    assert_eq!(found.rates[0].per_s, Some(80.0));
    assert_eq!(found.duration_ns, Some(2_500_000_000));
    // Without counts there is the share alone.
    let found = file("");
    let failed = &found.rates[1];
    assert_eq!((failed.count, failed.of), (None, None));
    assert!(
        failed
            .share
            .is_some_and(|share| (share - 0.01).abs() < 1e-12)
    );
}

#[test]
fn the_machine_is_what_the_file_states() {
    let google = r#"{"context": {"host_name": "build7", "num_cpus": 8, "mhz_per_cpu": 2400, "load_avg": [1.5, 1, 1],
        "library_build_type": "release", "executable": "./b"}, "benchmarks": [{"name": "a", "real_time": 1, "iterations": 1}]}"#;
    let found = read(google.as_bytes(), "x").unwrap();
    let expected = Environment {
        logical_cpus: Some(8),
        load_before: Some(1.5),
        ..Environment::unknown()
    };
    assert_eq!(found.environment, expected);
    let facts: Vec<_> = found
        .facts
        .iter()
        .map(|(name, value)| (*name, value.as_str()))
        .collect();
    let expected = [
        ("host", "build7"),
        ("program", "./b"),
        ("MHz of a processor", "2400"),
        ("build of the library", "release"),
    ];
    assert_eq!(facts, expected);
    let pytest = r#"{"machine_info": {"node": "n", "machine": "x86_64", "system": "Linux", "release": "6.1", "python_version": "3.12",
        "cpu": {"brand_raw": "AMD", "count": 4}}, "benchmarks": [{"name": "a", "stats": {"data": [1, 2], "iterations": 1}}]}"#;
    let found = read(pytest.as_bytes(), "x").unwrap();
    let machine = &found.environment;
    assert_eq!(machine.kernel.as_deref(), Some("Linux 6.1"));
    assert_eq!(
        (machine.cpu_model.as_deref(), machine.logical_cpus),
        (Some("AMD"), Some(4))
    );
    assert!(found.facts.contains(&("Python", "3.12".to_owned())));
    let row = |jdk: &str| {
        format!(
            r#"{{"benchmark": "a", "mode": "avgt", "jmhVersion": "1.37", "jdkVersion": "{jdk}", "threads": 2, "primaryMetric": {{"scoreUnit": "ns/op", "rawData": [[1, 2]]}}}}"#
        )
    };
    let alike = read(format!("[{}, {}]", row("21"), row("21")).as_bytes(), "x").unwrap();
    assert!(alike.environment.is_unknown());
    let expected = [("JMH", "1.37"), ("JDK", "21"), ("threads", "2")];
    assert_eq!(
        alike.facts,
        expected.map(|(name, value)| (name, value.to_owned()))
    );
    let differ = read(format!("[{}, {}]", row("21"), row("17")).as_bytes(), "x").unwrap();
    assert!(differ.facts.iter().all(|(name, _)| *name != "JDK"));
    // What is no text and no number is not stated.
    for odd in [
        r#"{"num_cpus": "8", "host_name": 7, "load_avg": []}"#,
        r#"{"num_cpus": 0, "load_avg": [-1]}"#,
    ] {
        let file = format!(
            r#"{{"context": {odd}, "benchmarks": [{{"name": "a", "real_time": 1, "iterations": 1}}]}}"#
        );
        let found = read(file.as_bytes(), "x").unwrap();
        assert!(
            found.environment.is_unknown() && found.facts.is_empty(),
            "{odd}"
        );
    }
    let known = crate::environment::capture();
    let file = serde_json::json!({"results": [{"command": "a", "times": [1.0]}], "perfkit": {"environment": known}});
    let found = read(file.to_string().as_bytes(), "x").unwrap();
    assert_eq!(found.environment.cpu_model, known.cpu_model);
    assert!(found.environment.stated);
    let odd = serde_json::json!({"results": [{"command": "a", "times": [1.0]}], "perfkit": 7});
    assert!(
        read(odd.to_string().as_bytes(), "x")
            .unwrap()
            .environment
            .is_unknown()
    );
}

#[test]
fn what_is_stated_is_shown_and_kept() {
    let file = r#"{"metrics": {"http_req_duration": {"avg": 1, "p(99)": 3, "p(95)": 2}, "http_reqs": {"count": 4, "rate": 2}}}"#;
    let found = read(file.as_bytes(), "x").unwrap();
    let stated = found.stated();
    let percentiles: Vec<_> = stated.times[0]
        .percentiles
        .iter()
        .map(|found| found.p)
        .collect();
    assert_eq!(percentiles, [95.0, 99.0]);
    assert_eq!(
        (stated.times[0].source.as_str(), stated.rates.len()),
        ("k6", 1)
    );
    let names: Vec<String> = found.tables().into_iter().map(|table| table.name).collect();
    assert_eq!(
        names,
        [
            "as stated by k6, without samples",
            "rates as stated by k6",
            "what the file cannot give"
        ]
    );
}
