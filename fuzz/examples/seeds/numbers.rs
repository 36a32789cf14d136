//! Seeds of the targets that read numbers.

use std::io::Cursor;
use std::time::{Duration, Instant, SystemTime};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use latency::hgrm::HgrmUnit;
use latency::report::{Latency, LatencyName};
use latency::{IntervalLog, Recorder, Spec, hgrm, hlog};

use super::Seed;

/// A report of every field, small enough to be mutated usefully.
const REPORT: &str = include_str!("report.json");

const HYPERFINE: &str =
    r#"{"results":[{"command":"a","mean":1.5,"stddev":0.5,"median":1.5,"times":[1,2]}]}"#;
const OHA: &str = r#"{"summary":{"slowest":2,"fastest":1,"average":1.5},"latencyPercentiles":{"p50":1.5,"p99.9":null}}"#;
const K6: &str = r#"{"metrics":{"a_duration":{"avg":1,"med":1,"p(95)":2},"b":{"contains":"time","values":{"avg":1,"count":3}}}}"#;
const GOOGLE: &str = r#"{"context":{"date":"2026-01-02T03:04:05+00:00"},"benchmarks":[{"name":"a","iterations":2,"real_time":1,"time_unit":"us"},{"name":"a","iterations":2,"real_time":2,"time_unit":"us"},{"name":"b","run_name":"b","run_type":"aggregate","aggregate_name":"mean","real_time":1}]}"#;
const JMH: &str = r#"[{"benchmark":"a","mode":"avgt","params":{"n":"1"},"primaryMetric":{"scoreUnit":"us/op","rawData":[[1,2]]}},{"benchmark":"b","mode":"sample","primaryMetric":{"scoreUnit":"ns/op","rawDataHistogram":[[[[1,2],[3,4]]]]}}]"#;
const PYTEST: &str = r#"{"machine_info":{},"datetime":"2026-01-02T03:04:05","benchmarks":[{"name":"a","stats":{"mean":1,"iterations":2,"data":[1,2]}},{"name":"b","stats":{"median":1,"q1":1,"q3":2,"rounds":3}}]}"#;

pub(crate) fn seeds() -> Vec<Seed> {
    let mut seeds = vec![
        Seed::new("gate_parse", "percentile", "p99.9<=2ms"),
        Seed::new("gate_parse", "named", "response.p50 < 150us"),
        Seed::new("gate_parse", "mean", "service.mean<=1.5s"),
        Seed::new("gate_parse", "max", "hold.max<=800ns"),
        Seed::new("gate_parse", "micro-sign", "min<1µs"),
        Seed::new("gate_parse", "no-gate", "p100>=fast"),
        Seed::new("foreign_read", "hyperfine", HYPERFINE),
        Seed::new("foreign_read", "oha", OHA),
        Seed::new("foreign_read", "k6", K6),
        Seed::new("foreign_read", "google-benchmark", GOOGLE),
        Seed::new("foreign_read", "jmh", JMH),
        Seed::new("foreign_read", "pytest-benchmark", PYTEST),
        Seed::new(
            "foreign_read",
            "criterion",
            r#"{"iters":[1,2],"times":[3,7.5]}"#,
        ),
        Seed::new(
            "report_json",
            "foreign",
            "{\"schema\": \"perfkit.report/9\"}",
        ),
        Seed::new(
            "report_json",
            "line-end-in-a-name",
            r#"{"schema": "perfkit.report/1", "a\nb": 1}"#,
        ),
        Seed::new("report_json", "truncated", &REPORT[..REPORT.len() / 2]),
        Seed::new(
            "hgrm_read",
            "no-rows",
            "\u{1}       Value     Percentile TotalCount 1/(1-Percentile)\n",
        ),
        Seed::new(
            "hlog_read",
            "only-comments",
            "#[Histogram log format version 1.3]\n",
        ),
    ];
    let row = row("service", 40);
    let report = REPORT.replace("HISTOGRAM", &row.histogram_v2_deflate_b64);
    seeds.push(Seed::new("report_json", "whole", report));
    let mut text = vec![1];
    let histogram = row.histogram().expect("our own histogram");
    hgrm::write(&mut text, &histogram, HgrmUnit::Us).expect("a vector takes everything");
    seeds.push(Seed::new("hgrm_read", "microseconds", text));

    let mut log = Vec::new();
    let rows = [&row, &self::row("hold", 5)];
    hlog::write(&mut log, SystemTime::UNIX_EPOCH, &rows, None).expect("a vector takes everything");
    seeds.push(Seed::new("hlog_read", "two-tags", log));
    // Behind the mark seventeen spans, for the part that records by a plan.
    let bytes = (0..96_u8).map(|index| index.wrapping_mul(7).wrapping_add(17));
    let plan: Vec<u8> = std::iter::once(b'R').chain(bytes).collect();
    seeds.push(Seed::new("hlog_read", "plan", plan.clone()));
    seeds.push(Seed::new("hgrm_read", "plan", plan));

    let coded = BASE64
        .decode(&row.histogram_v2_deflate_b64)
        .expect("our own base64");
    seeds.push(Seed::new("histogram_decode", "deflate", coded));
    seeds.push(Seed::new(
        "histogram_decode",
        "base64",
        row.histogram_v2_deflate_b64,
    ));
    // V2 without deflate: cookie, payload, offset, digits, lowest, highest, ratio, counts.
    let mut plain = vec![0x1c, 0x84, 0x93, 0x13, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 1];
    plain.extend([0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 3, 0xe8]);
    plain.extend(1.0_f64.to_bits().to_be_bytes());
    plain.extend([2, 3, 4]);
    seeds.push(Seed::new("histogram_decode", "plain", plain));
    seeds
}

/// Spans of the same lengths in every run; no clock gets into the seeds.
fn row(series: &str, spans: u64) -> Latency {
    let start = Instant::now();
    let spool = Cursor::new(Vec::new());
    let log = IntervalLog::new(Duration::from_secs(1), spool).expect("a thread");
    let spec = Spec::new(LatencyName::Service, "operation")
        .series(series)
        .range(1_000_000_000, 2)
        .intervals(Some(log.clone()));
    let mut recorder = Recorder::new(spec, start);
    for index in 0..spans {
        let at = start + Duration::from_millis(index * 60);
        recorder.record_span(at, at + Duration::from_micros(3 + index * index));
    }
    let mut row = recorder.finish().latency();
    let mut logged = log.finish().expect("memory takes all");
    row.intervals = logged.of_row(&row).expect("memory reads");
    row
}
