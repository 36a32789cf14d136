//! Reports of what was measured elsewhere: no word of this machine, and gates on what the files state.

use std::path::Path;

use crate::common::{directory, file, run, words};

const K6: &str = r#"{"metrics": {
  "http_req_duration": {"avg": 150, "min": 20, "med": 120, "max": 900, "p(90)": 250, "p(95)": 300},
  "http_req_failed": {"passes": 2, "fails": 998, "value": 0.002},
  "http_reqs": {"count": 1000, "rate": 50}}}"#;

const OHA: &str = r#"{"summary": {"successRate": 1, "total": 2.5, "slowest": 0.9, "fastest": 0.02, "average": 0.15,
  "requestsPerSec": 400}, "latencyPercentiles": {"p50": 0.12, "p99": 0.4}, "statusCodeDistribution": {"200": 1000},
  "errorDistribution": {}}"#;

const GOOGLE: &str = r#"{"context": {"host_name": "build7", "num_cpus": 96, "library_build_type": "release"}, "benchmarks": [
  {"name": "a", "run_name": "a", "iterations": 9, "real_time": 7, "time_unit": "us"},
  {"name": "a", "run_name": "a", "iterations": 9, "real_time": 8, "time_unit": "us"}]}"#;

const HGRM: &str = "Value Percentile TotalCount 1/(1-Percentile)\n\n1.0 1.0 5\n";

const UNKNOWN: &str = "measured elsewhere: environment not known";

/// What only this machine could have said.
fn own() -> Vec<String> {
    let environment = latency::environment::capture();
    let texts = [environment.cpu_model, environment.kernel];
    let codes = environment.warnings.into_iter().map(|warning| warning.code);
    let texts = texts.into_iter().flatten().chain(codes);
    texts.filter(|text| text.len() > 4).collect()
}

/// A file of each kind, and a log made from one.
fn files(dir: &Path) -> [&'static str; 5] {
    file(dir, "k6.json", K6.as_bytes());
    file(dir, "oha.json", OHA.as_bytes());
    file(dir, "google.json", GOOGLE.as_bytes());
    file(dir, "a.hgrm", HGRM.as_bytes());
    run(dir, words("report a.hgrm -o a.hlog")).expect(0);
    ["k6.json", "oha.json", "google.json", "a.hgrm", "a.hlog"]
}

#[test]
fn a_report_of_files_says_nothing_of_the_machine_that_reads_them() {
    let dir = directory();
    let own = own();
    let names = files(dir.path());
    let every = names.join(" ");
    for name in names
        .iter()
        .copied()
        .chain([every.as_str(), "google.json google.json --merge"])
    {
        let stated = name.starts_with("google.json");
        let exports = "-f --export-markdown r.md --export-html r.html --export-json r.json";
        let line = format!("report {name} -v {exports}");
        let text = run(dir.path(), words(&line)).expect(0).text().to_owned();
        let read = |name: &str| std::fs::read_to_string(dir.path().join(name)).expect("read");
        let (markdown, html, json) = (read("r.md"), read("r.html"), read("r.json"));
        let report: serde_json::Value = serde_json::from_str(&json).expect("JSON");
        for (form, said) in [("text", &text), ("Markdown", &markdown), ("HTML", &html)] {
            assert_eq!(said.contains(UNKNOWN), !stated, "{form} of {name}: {said}");
            if stated {
                assert!(
                    said.contains("96") && said.contains("build7"),
                    "{form} of {name}"
                );
            }
        }
        for said in [&text, &markdown, &html, &json] {
            let found = own.iter().find(|own| said.contains(own.as_str()));
            assert_eq!(found, None, "{name}: {said}");
        }
        let environment = &report["environment"];
        assert_eq!(environment["stated"], true, "{name}");
        let cpus = if stated {
            96.into()
        } else {
            serde_json::Value::Null
        };
        assert_eq!(environment["logical_cpus"], cpus, "{name}");
        for key in [
            "cpu_model",
            "kernel",
            "load_before",
            "allocator",
            "clock_floor_ns",
        ] {
            assert!(environment[key].is_null(), "{name}: {key}");
        }
        assert!(report["started_at"].is_null(), "{name}");
        let seconds = (name == "oha.json").then_some(2_500_000_000_u64);
        assert_eq!(report["duration_ns"].as_u64(), seconds, "{name}");
        assert!(report["resources"]["rss_max_bytes"].is_null(), "{name}");
        // A report of that report says the same.
        let again = run(dir.path(), words("report r.json -v")).expect(0);
        assert_eq!(again.text().contains(UNKNOWN), !stated, "{}", again.text());
    }
}

#[test]
fn a_comparison_of_files_says_nothing_of_the_machine_that_compares_them() {
    let dir = directory();
    files(dir.path());
    let shown = run(
        dir.path(),
        words("compare google.json google.json --report json"),
    )
    .expect(0);
    let report = shown.json();
    assert_eq!(report["environment"]["logical_cpus"], 96);
    assert!(report["environment"]["cpu_model"].is_null());
    file(dir.path(), "numbers", b"1\n2\n3\n");
    let shown = run(dir.path(), words("compare numbers numbers -v")).expect(0);
    assert!(shown.text().contains(UNKNOWN), "{}", shown.text());
}

#[test]
fn own_reports_keep_the_machine_that_they_have_in_common() {
    let dir = directory();
    file(dir.path(), "data", b"some content");
    for name in ["a", "b"] {
        let line = format!("compress -qqf data -o {name}.zst --export-json {name}.json");
        run(dir.path(), words(&line)).expect(0);
    }
    let path = dir.path().join("b.json");
    let text = std::fs::read_to_string(&path).expect("read");
    let mut other: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    other["environment"]["kernel"] = "other".into();
    other["environment"]["cpu_model"] = "Z80".into();
    std::fs::write(&path, other.to_string()).expect("written");
    let report = run(dir.path(), words("report a.json b.json --report json"))
        .expect(0)
        .json();
    let environment = &report["environment"];
    assert_eq!(environment["allocator"], other["environment"]["allocator"]);
    assert_eq!(
        environment["logical_cpus"],
        other["environment"]["logical_cpus"]
    );
    assert!(environment["kernel"].is_null() && environment["cpu_model"].is_null());
    let alone = run(dir.path(), words("report b.json")).expect(0);
    assert!(alone.text().contains("Z80"), "{}", alone.text());
}

#[test]
fn limits_are_judged_by_what_the_files_state() {
    let dir = directory();
    files(dir.path());
    for (name, gate, code, says) in [
        (
            "k6.json",
            "p95<=300ms",
            0,
            "as k6 states it: a point, no interval",
        ),
        ("k6.json", "p95<=299ms", 4, "p95 is 300 ms, above 299 ms"),
        (
            "k6.json",
            "[http_req_duration].mean<=1s",
            0,
            "mean is 150 ms",
        ),
        // Its summary has no p99, which lies between p95 and the maximum.
        (
            "k6.json",
            "p99<=500ms",
            5,
            "k6 states no p99 of http_req_duration",
        ),
        ("k6.json", "p99<=1s", 0, "max is 900 ms"),
        ("k6.json", "p99<=200ms", 4, "p95 is 300 ms"),
        ("k6.json", "hold.p99<=1s", 2, "hold"),
        (
            "k6.json",
            "[http_req_duratoin].p95<=1s",
            2,
            "no series 'http_req_duratoin' help: the series are: http_req_duration",
        ),
        (
            "k6.json",
            "throughput>=50",
            0,
            "of http_reqs as k6 states it",
        ),
        ("k6.json", "throughput>=51", 4, "not as wanted"),
        ("k6.json", "error_rate<=1%", 0, "2 of 1000 failed"),
        ("k6.json", "error_rate<=0.01%", 4, "2 of 1000 failed"),
        (
            "k6.json",
            "stated.rates.http_reqs.count>=1000",
            0,
            "found 1000",
        ),
        ("k6.json", "ratio>=0", 5, "no ratio"),
        ("oha.json", "p99<=500ms", 0, "as oha states it"),
        ("oha.json", "p99.9<=500ms", 5, "1000 samples, 2995 needed"),
        ("oha.json", "error_rate<=1%", 0, "0 of 1000 failed"),
        ("oha.json", "throughput>=401", 4, "found 400"),
        ("google.json", "throughput>=1", 5, "no operations a second"),
        ("a.hgrm", "error_rate<=1%", 5, "no checked answers"),
    ] {
        let found = run(dir.path(), ["report", name, "--slo", gate]).expect(code);
        let said = format!("{}{}", found.text(), found.stderr);
        // Without the line ends of the terminal.
        let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(said.contains(says), "{name} {gate}: {said}");
        // The same of the report that was made of it.
        if code != 2 {
            run(
                dir.path(),
                words(&format!("report {name} -qq -f --export-json again.json")),
            )
            .expect(0);
            run(dir.path(), ["report", "again.json", "--slo", gate]).expect(code);
        }
    }
    // What is not there is not excused; too few samples are.
    for (name, gate, code) in [
        ("k6.json", "p99<=500ms", 5),
        ("oha.json", "p99.9<=500ms", 0),
    ] {
        let line = ["report", name, "--slo", gate, "--slo-undecided", "pass"];
        run(dir.path(), line).expect(code);
    }
    // Of several files, each must pass.
    let both = ["report", "k6.json", "oha.json", "--slo", "p50<=119ms"];
    run(dir.path(), both).expect(4);
    let one = [
        "report",
        "k6.json",
        "oha.json",
        "--slo",
        "[oha.json: oha].p99<=1s",
    ];
    run(dir.path(), one).expect(0);
}

#[test]
fn a_file_without_memory_says_nothing_of_it() {
    let dir = directory();
    // As hyperfine wrote it up to 1.15.
    let text = r#"{"results": [{"command": "a", "mean": 1.0, "user": 0.5, "system": 0.1, "times": [1.0, 1.1]}]}"#;
    file(dir.path(), "old.json", text.as_bytes());
    let told = run(dir.path(), ["report", "old.json", "--slo", "rss<=1G"]).expect(5);
    let expected = "the report states no peak memory of the programs";
    assert!(told.stderr.contains(expected), "{}", told.stderr);
}

#[test]
fn a_file_of_no_known_form_is_told_which_forms_there_are() {
    let dir = directory();
    file(dir.path(), "text.log", b"hello world\n");
    file(dir.path(), "other.json", b"{\"foo\": 1}");
    file(dir.path(), "list.json", b"[]");
    for line in [
        "report text.log",
        "report other.json",
        "report list.json",
        "compare other.json other.json",
        "compare list.json list.json",
    ] {
        let told = run(dir.path(), words(line)).expect(1);
        assert!(
            told.stderr.contains("not a perfkit report"),
            "{line}: {}",
            told.stderr
        );
        assert!(
            told.stderr.contains("JMH and pytest-benchmark"),
            "{line}: {}",
            told.stderr
        );
        assert!(!told.stderr.contains("expected"), "{line}: {}", told.stderr);
    }
}

#[test]
fn what_a_form_cannot_keep_is_said_when_it_is_written() {
    let dir = directory();
    files(dir.path());
    file(dir.path(), "data", &b"some content ".repeat(9_000));
    let line = "compress -qqf data -o out.zst --slo max<=10s --export-json run.json";
    run(dir.path(), words(line)).expect(0);
    let said = |line: &str| run(dir.path(), words(line)).expect(0).stderr;
    for name in ["back.hlog", "back.hgrm"] {
        let said = said(&format!("report run.json -o {name}"));
        let form = &name[4..];
        assert!(
            said.contains(&format!("{form} keeps distributions alone, not ")),
            "{said}"
        );
        for part in ["1 limit", "slowest samples", "the command and the machine"] {
            assert!(said.contains(part), "{part} in {said}");
        }
    }
    assert!(said("report run.json -o back.hgrm -f").contains("keeps one of 2 distributions"));
    assert_eq!(said("report run.json -o again.json"), "");
    assert_eq!(said("report run.json -q -o back.hlog -f"), "");
    assert!(said("report k6.json --export-hlog k6.hlog").contains("without samples"));
    // The run itself says it, too, unless a row was chosen.
    let run_says = |flags: &str| said(&format!("compress -f data -o out.zst {flags}"));
    assert!(run_says("--export-hgrm own.hgrm").contains("keeps one of 2 distributions"));
    assert!(!run_says("--export-hgrm own.hgrm --row hold").contains("keeps one of"));
    assert!(!run_says("--export-hlog own.hlog").contains("warning: .hlog"));
}
