//! Files of each tool, with the values that they have, and files that are nothing of the kind.

use super::*;

const OHA: &str = r#"{"summary": {"successRate": 1.0, "total": 1.5, "slowest": 0.02, "fastest": 0.0001, "average": 0.001,
  "requestsPerSec": 100.0}, "responseTimeHistogram": {"0.0001": 1}, "statusCodeDistribution": {"200": 148, "500": 2},
  "latencyPercentiles": {"p10": 0.0002, "p50": 0.0009, "p99.9": 0.015, "p99.99": null}}"#;

const K6: &str = r#"{"root_group": {"name": "", "groups": {}}, "metrics": {
  "http_req_duration": {"avg": 1.5, "min": 0.5, "med": 1.25, "max": 9, "p(90)": 2.5, "p(95)": 3, "thresholds": {"p(95)<9": false}},
  "http_req_duration{status:200}": {"avg": 1, "med": 1, "p(99)": 2},
  "http_reqs": {"count": 10, "rate": 5.5}, "sizes": {"avg": 100, "med": 90}}}"#;

const K6_NEWER: &str = r#"{"metrics": {"waits": {"type": "trend", "contains": "time",
  "values": {"avg": 2, "min": 1, "med": 2, "max": 3, "p(90)": 3, "count": 7}},
  "sizes": {"type": "trend", "contains": "data", "values": {"avg": 1}}}}"#;

const GOOGLE: &str = r#"{"context": {"date": "2026-11-23T10:00:00+00:00"}, "benchmarks": [
  {"name": "a", "run_name": "a", "run_type": "iteration", "repetition_index": 0, "iterations": 100, "real_time": 1.5, "cpu_time": 1.4, "time_unit": "us"},
  {"name": "a", "run_name": "a", "run_type": "iteration", "repetition_index": 1, "iterations": 100, "real_time": 2.5, "cpu_time": 1.4, "time_unit": "us"},
  {"name": "a_mean", "run_name": "a", "run_type": "aggregate", "aggregate_name": "mean", "iterations": 2, "real_time": 2, "time_unit": "us"},
  {"name": "b_mean", "run_name": "b", "run_type": "aggregate", "aggregate_name": "mean", "real_time": 7, "time_unit": "ms"},
  {"name": "b_cv", "run_name": "b", "run_type": "aggregate", "aggregate_name": "cv", "real_time": 0.1, "time_unit": "ms"},
  {"name": "c", "run_name": "c", "run_type": "iteration", "iterations": 5, "real_time": 9, "time_unit": "ns"},
  {"name": "d", "error_occurred": true, "error_message": "no"}]}"#;

const JMH: &str = r#"[
  {"benchmark": "p.B.avg", "mode": "avgt", "params": {"n": "8"}, "primaryMetric": {"score": 2, "scoreError": "NaN", "scoreUnit": "us/op", "rawData": [[1, 2], [3]]}},
  {"benchmark": "p.B.rate", "mode": "thrpt", "primaryMetric": {"score": 2, "scoreUnit": "ops/ms", "rawData": [[2, 4]]}},
  {"benchmark": "p.B.single", "mode": "sample", "primaryMetric": {"score": 2, "scoreUnit": "ns/op", "rawDataHistogram": [[[[10, 3], [20, 2]]]]}}]"#;

const PYTEST: &str = r#"{"machine_info": {}, "datetime": "2026-11-23T10:00:00+00:00", "benchmarks": [
  {"name": "test_a", "fullname": "t.py::test_a", "stats": {"min": 0.001, "max": 0.003, "mean": 0.002, "rounds": 3, "iterations": 1, "data": [0.001, 0.003, 0.002]}},
  {"name": "test_b", "stats": {"min": 1e-6, "max": 3e-6, "mean": 2e-6, "stddev": 1e-7, "median": 2e-6, "q1": 1e-6, "q3": 3e-6, "rounds": 9, "iterations": 5}}]}"#;

const HYPERFINE: &str = r#"{"results": [
  {"command": "sleep 1", "mean": 1.1, "stddev": 0.1, "median": 1.1, "user": 0, "system": 0, "min": 1, "max": 1.2, "times": [1, 1.2], "memory_usage_byte": [1, 2], "exit_codes": [0, 0], "parameters": {"x": "1"}},
  {"command": "short", "mean": 0.5, "stddev": null, "median": 0.5}]}"#;

fn mean_of(operations: u64) -> Each {
    Each::Mean(NonZeroU64::new(operations).expect("not 0"))
}

fn values(read: &Foreign, at: usize) -> Vec<f64> {
    read.samples[at]
        .values_ns
        .iter()
        .map(|(ns, _)| ns.round())
        .collect()
}

#[test]
fn samples_and_statistics_of_hyperfine_are_in_seconds() {
    let found = read(HYPERFINE.as_bytes(), "x").unwrap();
    assert_eq!(found.source, Source::Hyperfine);
    assert_eq!(values(&found, 0), [1e9, 1.2e9]);
    assert_eq!(found.samples[0].each, Each::Single);
    assert_eq!(found.summaries[0].quantiles_ns, [(50.0, 5e8)]);
    assert_eq!(
        (found.summaries[0].n, found.summaries[0].stdev_ns),
        (None, None)
    );
    let row = found.samples[0].latency();
    assert_eq!((row.n, row.max_ns), (2, Some(1_200_000_000)));
    assert_eq!(row.series.as_deref(), Some("sleep 1"));
    assert_eq!(row.buckets.unwrap().sum_ns, [1_000_000_000, 1_200_000_000]);
}

#[test]
fn what_commands_took_and_which_failed_is_read_of_hyperfine() {
    let text = r#"{"results": [{"command": "a", "times": [1.0, 1.0, 1.0, 1.0], "user": 0.5, "system": 0.25,
        "memory_usage_byte": [5, 9, 7, 0], "exit_codes": [0, 3, null, 0]}, {"command": "b", "times": [1.0]}]}"#;
    let found = read(text.as_bytes(), "x").unwrap();
    let usage = Usage {
        name: "a".to_owned(),
        user_ns: Some(5e8),
        system_ns: Some(2.5e8),
        rss_max_bytes: Some(9),
    };
    assert_eq!(found.usage, [usage]);
    let [rate] = &found.rates[..] else {
        panic!("{:?}", found.rates);
    };
    assert_eq!((rate.count, rate.of), (Some(2), Some(4)));
    assert_eq!(rate.kind, RateKind::Failures);
    let tables = found.tables();
    assert!(
        tables
            .iter()
            .any(|table| table.name == "commands" && table.rows.len() == 1)
    );
    assert!(read(text.replace("0.25", "-1.0").as_bytes(), "x").is_err());
}

#[test]
fn percentiles_of_oha_and_k6_stay_statistics() {
    let found = read(OHA.as_bytes(), "run").unwrap();
    assert!(found.samples.is_empty() && found.latencies().is_empty());
    let summary = &found.summaries[0];
    assert_eq!((summary.name.as_str(), summary.n), ("run", Some(150)));
    assert_eq!((summary.mean_ns, summary.max_ns), (Some(1e6), Some(2e7)));
    let rounded: Vec<_> = summary
        .quantiles_ns
        .iter()
        .map(|(p, ns)| (*p, ns.round()))
        .collect();
    assert_eq!(rounded, [(10.0, 2e5), (50.0, 9e5), (99.9, 1.5e7)]);

    let found = read(K6.as_bytes(), "x").unwrap();
    let names: Vec<&str> = found
        .summaries
        .iter()
        .map(|one| one.name.as_str())
        .collect();
    assert_eq!(
        names,
        ["http_req_duration", "http_req_duration{status:200}"]
    );
    let first = &found.summaries[0];
    assert_eq!(
        first.quantiles_ns,
        [(50.0, 1.25e6), (90.0, 2.5e6), (95.0, 3e6)]
    );
    assert_eq!(
        (first.mean_ns, first.max_ns, first.n),
        (Some(1.5e6), Some(9e6), Some(10))
    );
    assert!(found.notes[0].contains("quantiles only") && found.notes[1].ends_with("times: 1"));
    let newer = read(K6_NEWER.as_bytes(), "x").unwrap();
    assert_eq!(newer.summaries.len(), 1);
    assert_eq!(
        (newer.summaries[0].n, newer.summaries[0].mean_ns),
        (Some(7), Some(2e6))
    );
    let table = &newer.tables()[0];
    assert_eq!(table.name, "as stated by k6, without samples");
}

#[test]
fn criterion_has_means_of_iterations() {
    let linear = br#"{"sampling_mode": "Linear", "iters": [10, 20], "times": [25.0, 60.0]}"#;
    let found = read(linear, "fast").unwrap();
    let values: Vec<f64> = found.samples[0]
        .values_ns
        .iter()
        .map(|(ns, _)| *ns)
        .collect();
    assert_eq!(values, [2.5, 3.0]);
    assert_eq!(found.samples[0].each, Each::MeanOfMany);
    assert_eq!(
        found.samples[0].latency().timing,
        crate::report::Timing::BatchMean
    );
    // Whole nanoseconds are too coarse, so the exact times have a table.
    let table = &found.tables()[0];
    assert_eq!(table.rows[0][2], crate::report::Cell::Number(2.75));
    let flat = br#"{"sampling_mode": "Flat", "iters": [5, 5], "times": [50, 55]}"#;
    assert_eq!(read(flat, "x").unwrap().samples[0].each, mean_of(5));
    let estimates = br#"{"mean": {"point_estimate": 2.5}, "median": {"point_estimate": 2.25},
        "median_abs_dev": {"point_estimate": 0.1}, "std_dev": {"point_estimate": 0.5}, "slope": null}"#;
    let found = read(estimates, "x").unwrap();
    assert_eq!(found.summaries[0].mean_ns, Some(2.5));
    assert_eq!(found.summaries[0].quantiles_ns, [(50.0, 2.25)]);
    assert!(read(br#"{"iters": [1], "times": []}"#, "x").is_err());
    assert!(read(br#"{"iters": [0], "times": [1]}"#, "x").is_err());
}

#[test]
fn repetitions_of_google_benchmark_are_samples_and_a_single_one_is_none() {
    let found = read(GOOGLE.as_bytes(), "x").unwrap();
    assert_eq!(found.samples.len(), 1);
    assert_eq!(values(&found, 0), [1500.0, 2500.0]);
    assert_eq!(found.samples[0].each, mean_of(100));
    let names: Vec<_> = found
        .summaries
        .iter()
        .map(|one| (one.name.as_str(), one.mean_ns))
        .collect();
    assert_eq!(names, [("b", Some(7e6)), ("c", Some(9.0))]);
    assert!(
        found
            .notes
            .iter()
            .any(|note| note == "failed benchmarks: 1")
    );
    assert_eq!(
        found.started_at.as_deref(),
        Some("2026-11-23T10:00:00+00:00")
    );
}

#[test]
fn jmh_has_iterations_or_single_calls_in_its_units() {
    let found = read(JMH.as_bytes(), "x").unwrap();
    let names: Vec<&str> = found.samples.iter().map(|one| one.name.as_str()).collect();
    assert_eq!(
        names,
        [
            "p.B.avg (avgt, n=8)",
            "p.B.rate (thrpt)",
            "p.B.single (sample)"
        ]
    );
    assert_eq!(values(&found, 0), [1e3, 2e3, 3e3]);
    assert_eq!(values(&found, 1), [5e5, 2.5e5]);
    let single = &found.samples[2];
    assert_eq!(
        (single.each, single.n(), single.sequence()),
        (Each::Single, 5, None)
    );
    let row = single.latency();
    assert_eq!((row.n, row.min_ns, row.max_ns), (5, Some(10), Some(20)));
    assert!(found.notes.iter().any(|note| note.contains("throughput")));
}

#[test]
fn counts_that_a_file_does_not_state_are_not_known() {
    let google = r#"{"context": {}, "benchmarks": [
        {"name": "a", "real_time": 1, "iterations": 1}, {"name": "a", "real_time": 2},
        {"name": "b", "real_time": 1, "iterations": 0}, {"name": "b", "real_time": 2, "iterations": 0},
        {"name": "c", "real_time": 1, "iterations": 2}, {"name": "c", "real_time": 2, "iterations": 3}]}"#;
    let pytest = r#"{"machine_info": {}, "benchmarks": [{"name": "a", "stats": {"data": [1, 2]}},
        {"name": "b", "stats": {"data": [1, 2], "iterations": 0}}]}"#;
    let criterion = r#"{"iters": [2, 3], "times": [2, 3]}"#;
    for (file, rows) in [(google, 3), (pytest, 2), (criterion, 1), (JMH, 2)] {
        let found = read(file.as_bytes(), "x").unwrap();
        let means = found.samples.iter().filter(|one| one.each != Each::Single);
        assert_eq!(means.clone().count(), rows, "{file}");
        for samples in means {
            let row = samples.latency();
            assert_eq!(
                (samples.each, row.batch),
                (Each::MeanOfMany, None),
                "{file}"
            );
            assert_eq!(row.timing, crate::report::Timing::BatchMean);
            // A mean within a limit may hide an operation beyond it.
            let gate: crate::Gate = "max<=1h".parse().unwrap();
            let decided = gate.decide(&[row]);
            assert_eq!(decided.verdict, crate::report::GateVerdict::Inconclusive);
            assert!(
                decided.reason.contains("means over many operations"),
                "{}",
                decided.reason
            );
        }
    }
    let stated = r#"{"iters": [1, 1], "times": [2, 3]}"#;
    let found = read(stated.as_bytes(), "x").unwrap();
    assert_eq!(found.samples[0].latency().batch, Some(1));
}

#[test]
fn jmh_says_how_many_iterations_of_how_many_forks_there_are() {
    let note = |file: &str| read(file.as_bytes(), "x").unwrap().notes[0].clone();
    let row = |data: &str| {
        format!(
            r#"{{"benchmark": "a", "mode": "avgt", "primaryMetric": {{"scoreUnit": "ns/op", "rawData": {data}}}}}"#
        )
    };
    let two = format!("[{}, {}]", row("[[1, 2], [3, 4]]"), row("[[1, 2], [3, 4]]"));
    assert!(
        note(&two).contains("each fork (iterations x forks: 2 x 2), but"),
        "{}",
        note(&two)
    );
    // Where benchmarks or forks differ there is no one number.
    for uneven in ["[[1, 2], [3]]", "[[1, 2, 3]]"] {
        let file = format!("[{}, {}]", row("[[1, 2]]"), row(uneven));
        assert!(note(&file).contains("each fork, but"), "{}", note(&file));
    }
}

#[test]
fn rounds_of_pytest_are_samples_and_quartiles_are_not() {
    let found = read(PYTEST.as_bytes(), "x").unwrap();
    assert_eq!(found.samples[0].name, "t.py::test_a");
    assert_eq!(values(&found, 0), [1e6, 3e6, 2e6]);
    let summary = &found.summaries[0];
    assert_eq!((summary.name.as_str(), summary.n), ("test_b", Some(9)));
    let quartiles: Vec<f64> = summary.quantiles_ns.iter().map(|(p, _)| *p).collect();
    assert_eq!(quartiles, [25.0, 50.0, 75.0]);
}

#[test]
fn what_is_no_such_file_is_refused_with_its_place() {
    for (bytes, why) in [
        (&b""[..], "not a file of"),
        (b"[]", "not a file of"),
        (b"null", "not a file of"),
        (b"{}", "not a file of"),
        (br#"{"schema": "perfkit.report/1", "results": []}"#, "not a file of"),
        (br#"{"results": []}"#, "without a result in `results`"),
        (br#"{"metrics": {}}"#, "without a result in `metrics`"),
        (br#"{"iters": [], "times": []}"#, "without a result in `times`"),
        (br#"{"context": {}, "benchmarks": []}"#, "without a result in `benchmarks`"),
        (br#"{"results": [1]}"#, "line 1"),
        (br#"{"results": [{"command": "a", "times": [1, -1]}]}"#, "-1.0 is not a time at results[0].times"),
        (br#"{"results": [{"command": "a", "times": [1e300]}]}"#, "is not a time at results[0].times"),
        (br#"{"results": [{"command": "a", "mean": -0.5}]}"#, "results[0].mean"),
        (br#"{"metrics": {"a_duration": {"avg": 1, "p(90)": -1}}}"#, "metrics[0].p(N)"),
        (
            br#"{"context": {}, "benchmarks": [{"name": "a", "real_time": 1, "time_unit": "h"}]}"#,
            "benchmarks[0].time_unit",
        ),
        (
            br#"[{"benchmark": "a", "mode": "avgt", "primaryMetric": {"scoreUnit": "m", "rawData": []}}]"#,
            "results[0].primaryMetric.scoreUnit",
        ),
        (
            br#"[{"benchmark": "a", "mode": "thrpt", "primaryMetric": {"scoreUnit": "ops/s", "rawData": [[0]]}}]"#,
            "results[0].rawData",
        ),
    ] {
        let error = read(bytes, "x").unwrap_err().to_string();
        assert!(error.contains(why), "{error} has no {why}");
    }
    // Python writes what JSON has not.
    let text = r#"{"machine_info": {}, "benchmarks": [{"name": "a", "stats": {"mean": NaN}}]}"#;
    assert!(read(text.as_bytes(), "x").is_err());
    let deep = format!("{{\"results\": {}", "[".repeat(100_000));
    assert!(read(deep.as_bytes(), "x").is_err());
    let cut = &HYPERFINE.as_bytes()[..HYPERFINE.len() - 2];
    assert!(read(cut, "x").is_err());
}

#[test]
fn too_many_benchmarks_are_refused() {
    let one = r#"{"command": "a", "times": [1]}"#;
    let many = |n: usize| format!("{{\"results\": [{}]}}", vec![one; n].join(","));
    assert_eq!(
        read(many(ROWS_MAX).as_bytes(), "x").unwrap().samples.len(),
        ROWS_MAX
    );
    let error = read(many(ROWS_MAX + 1).as_bytes(), "x").unwrap_err();
    assert_eq!(error.kind(), ReadErrorKind::TooLarge);
}

/// What each tool itself says of its samples, and what is made of them.
#[test]
fn files_of_the_tools_themselves_have_their_statistics() {
    let close =
        |found: f64, stated: f64| assert!((found / stated - 1.0).abs() < 1e-3, "{found} {stated}");
    let mean = |samples: &Samples| {
        let sum: f64 = samples
            .values_ns
            .iter()
            .map(|(ns, count)| ns * *count as f64)
            .sum();
        sum / samples.n() as f64
    };
    let json = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
    let number = |value: &serde_json::Value| value.as_f64().unwrap();

    let text = include_str!("../../tests/data/hyperfine.json");
    let (found, stated) = (read(text.as_bytes(), "x").unwrap(), json(text));
    assert_eq!(found.samples.len(), 2);
    for (samples, result) in found
        .samples
        .iter()
        .zip(stated["results"].as_array().unwrap())
    {
        close(mean(samples), number(&result["mean"]) * 1e9);
        close(
            samples.latency().mean_ns.unwrap(),
            number(&result["mean"]) * 1e9,
        );
    }

    let text = include_str!("../../tests/data/pytest-benchmark.json");
    let (found, stated) = (read(text.as_bytes(), "x").unwrap(), json(text));
    assert_eq!(found.samples.len(), 2);
    for (samples, result) in found
        .samples
        .iter()
        .zip(stated["benchmarks"].as_array().unwrap())
    {
        close(mean(samples), number(&result["stats"]["mean"]) * 1e9);
    }
    assert!(matches!(found.samples[1].each, Each::Mean(_)));

    let text = include_str!("../../tests/data/google-benchmark.json");
    let (found, stated) = (read(text.as_bytes(), "x").unwrap(), json(text));
    assert_eq!((found.samples.len(), found.summaries.len()), (2, 0));
    for samples in &found.samples {
        let rows = stated["benchmarks"].as_array().unwrap();
        let is_mean = |row: &&serde_json::Value| {
            row["run_name"] == *samples.name && row["aggregate_name"] == "mean"
        };
        close(
            mean(samples),
            number(&rows.iter().find(is_mean).unwrap()["real_time"]),
        );
    }

    let text = include_str!("../../tests/data/jmh.json");
    let found = read(text.as_bytes(), "x").unwrap();
    let by_mode = |mode: &str| {
        found
            .samples
            .iter()
            .find(|one| one.name.contains(mode))
            .unwrap()
    };
    let average = json(text)
        .as_array()
        .unwrap()
        .iter()
        .find(|row| row["mode"] == "avgt")
        .cloned();
    close(
        mean(by_mode("avgt")),
        number(&average.unwrap()["primaryMetric"]["score"]) * 1e3,
    );
    // The same work by its rate and by single calls.
    let rate = mean(by_mode("thrpt"));
    assert!(
        (0.5..2.0).contains(&(rate / mean(by_mode("avgt")))),
        "{rate}"
    );
    assert_eq!(
        (by_mode("sample").n() >= 15, by_mode("sample").each),
        (true, Each::Single)
    );
}
