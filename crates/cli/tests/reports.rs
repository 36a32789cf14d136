//! The report in every form: valid, the same numbers in each, and readable by others' tools.

use std::io::Cursor;
use std::path::Path;
use std::time::{Duration, Instant};

use crate::common::{self, directory, file, pipe, run, samples};
use base64::Engine as _;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::Deserializer;
use hdrhistogram::serialization::interval_log::{IntervalLogIterator, LogEntry};
use latency::report::{Report, read_json};
use latency::{IntervalLog, Latency, LatencyName, Recorder, Spec};

/// Compresses something and returns the report as JSON.
fn compressed(dir: &Path, extra: &[&str]) -> serde_json::Value {
    // Enough chunks for a 99th percentile, of which only the first few are costly to make.
    file(dir, "a", &samples(2_000_000).swap_remove(0).1.repeat(30));
    let arguments = ["compress", "-1", "-f", "a", "--export-json", "r.json"];
    run(dir, arguments.iter().chain(extra)).expect(0);
    serde_json::from_slice(&std::fs::read(dir.join("r.json")).expect("read")).expect("JSON")
}

#[test]
#[cfg(feature = "schema-tests")]
fn json_satisfies_the_published_schema() {
    let dir = directory();
    let schema = concat!(env!("CARGO_MANIFEST_DIR"), "/../../schemas/report-v1.json");
    let mut schemas = boon::Schemas::new();
    let index = boon::Compiler::new()
        .compile(schema, &mut schemas)
        .expect("a schema");
    file(dir.path(), "base.txt", b"1 2 3 4 5 6 7 8");
    let reports = [
        compressed(
            dir.path(),
            &[
                "--slo",
                "p99<=1s",
                "--slo",
                "ratio>=1",
                "--slo-undecided=pass",
            ],
        ),
        run(dir.path(), ["decompress", "-l", "--json", "a.zst"])
            .expect(0)
            .json(),
        run(dir.path(), ["env", "--report", "json"])
            .expect(0)
            .json(),
        run(
            dir.path(),
            ["compare", "base.txt", "base.txt", "--report", "jsonl"],
        )
        .expect(0)
        .json(),
        run(dir.path(), ["tour", "--size", "1M", "--report", "json"])
            .expect(0)
            .json(),
    ];
    for mut report in reports {
        if let Err(error) = schemas.validate(&report, index) {
            panic!("{error:#}");
        }
        report["surprise"] = 1.into();
        assert!(
            schemas.validate(&report, index).is_err(),
            "unknown fields are denied"
        );
    }
}

#[test]
fn percentiles_of_the_text_are_those_of_the_interval_log_read_by_another_reader() {
    let dir = directory();
    let report = compressed(dir.path(), &["--export-hlog", "r.hlog"]);
    let log = std::fs::read(dir.path().join("r.hlog")).expect("read");
    for row in report["latencies"].as_array().expect("rows") {
        let tag = row["name"].as_str().expect("a name");
        let mut sum = Histogram::<u64>::new_with_bounds(1, 3_600_000_000_000, 3).expect("bounds");
        for entry in IntervalLogIterator::new(&log) {
            if let LogEntry::Interval(interval) = entry.expect("a line")
                && interval.tag().is_some_and(|t| t.as_str() == tag)
            {
                let bytes = base64::engine::general_purpose::STANDARD
                    .decode(interval.encoded_histogram())
                    .expect("base64");
                let part: Histogram<u64> = Deserializer::new()
                    .deserialize(&mut Cursor::new(bytes))
                    .expect("a histogram");
                sum.add(&part).expect("added");
            }
        }
        assert_eq!(Some(sum.len()), row["n"].as_u64(), "{tag}");
        for percentile in row["percentiles"].as_array().expect("percentiles") {
            let p = percentile["p"].as_f64().expect("a number");
            if let Some(value) = percentile["value_ns"].as_u64() {
                assert_eq!(sum.value_at_quantile(p / 100.0), value, "{tag} p{p}");
            }
        }
    }
    // The log renders to the same text table as the report itself, but for the minimum: the report
    // has it to the nanosecond, a log to the three digits of its histograms.
    let line = |text: &str, name: &str| {
        let found = text
            .lines()
            .find(|line| {
                let line = line.trim_start();
                line.starts_with(name) || line.starts_with("service = hold")
            })
            .expect("a row");
        let cells: Vec<&str> = found
            .split("  ")
            .map(str::trim)
            .filter(|c| !c.is_empty())
            .collect();
        let numbers = cells.iter().skip(2).take(7).map(|c| (*c).to_owned());
        let mut numbers: Vec<String> = numbers.collect();
        numbers.remove(1);
        numbers
    };
    let wide = |name: &str| {
        let mut command = common::perfkit();
        command.current_dir(dir.path()).env("COLUMNS", "200");
        let ended = command.args(["report", name]).output();
        common::Run::from(ended.expect("perfkit runs")).expect(0)
    };
    let (from_json, from_log) = (wide("r.json"), wide("r.hlog"));
    for name in ["service", "hold"] {
        assert_eq!(line(from_json.text(), name), line(from_log.text(), name));
    }
}

#[test]
fn every_row_of_an_hgrm_has_four_fields_and_the_ladder_is_the_same() {
    let dir = directory();
    compressed(dir.path(), &["--export-hgrm", "service.hgrm"]);
    run(
        dir.path(),
        [
            "report",
            "r.json",
            "--row",
            "hold",
            "--export-hgrm",
            "hold.hgrm",
        ],
    )
    .expect(0);
    let ladder = |name: &str| {
        let text = std::fs::read_to_string(dir.path().join(name)).expect("read");
        let mut lines = text.lines();
        let header = lines.next().expect("a header");
        assert_eq!(
            header,
            "       Value     Percentile TotalCount 1/(1-Percentile)"
        );
        assert_eq!(lines.next(), Some(""));
        let rows: Vec<Vec<String>> = lines
            .take_while(|line| !line.starts_with('#'))
            .map(|line| line.split_whitespace().map(str::to_owned).collect())
            .collect();
        assert!(rows.len() > 20);
        assert!(rows.iter().all(|row| row.len() == 4), "{rows:?}");
        rows.into_iter()
            .map(|row| row[1].clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(ladder("service.hgrm"), ladder("hold.hgrm"));
    run(dir.path(), ["report", "service.hgrm"]).expect(0);
}

#[test]
fn csv_and_markdown_have_a_line_a_distribution() {
    let dir = directory();
    let report = compressed(
        dir.path(),
        &["--export-csv", "r.csv", "--export-markdown", "r.md"],
    );
    let rows = report["latencies"].as_array().expect("rows").len();
    let csv = std::fs::read_to_string(dir.path().join("r.csv")).expect("read");
    assert_eq!(csv.lines().count(), rows + 1);
    let columns = csv.lines().next().expect("a header").split(',').count();
    assert!(csv.lines().all(|line| line.split(',').count() == columns));
    let markdown = std::fs::read_to_string(dir.path().join("r.md")).expect("read");
    assert!(
        markdown
            .lines()
            .filter(|line| line.starts_with('|'))
            .count()
            >= 3
    );
}

#[test]
fn quiet_is_quiet_and_the_report_does_not_mix_with_the_data() {
    let dir = directory();
    let loud = pipe(dir.path(), ["compress"], b"content").expect(0);
    assert!(loud.stderr.contains("max hold"), "{}", loud.stderr);
    assert_eq!(loud.stderr.lines().count(), 1, "{}", loud.stderr);
    let whole = pipe(dir.path(), ["compress", "--report", "text"], b"content").expect(0);
    assert!(whole.stderr.contains("latency"), "{}", whole.stderr);
    let quiet = pipe(dir.path(), ["compress", "-qq"], b"content").expect(0);
    assert_eq!(quiet.stderr, "");
    assert_eq!(quiet.stdout, loud.stdout);
}

#[test]
fn merged_reports_add_up() {
    let dir = directory();
    let report = compressed(dir.path(), &[]);
    let n = report["latencies"][0]["n"].as_u64().expect("a count");
    let merged = run(
        dir.path(),
        ["report", "--merge", "r.json", "r.json", "--report", "json"],
    )
    .expect(0);
    assert_eq!(merged.json()["latencies"][0]["n"].as_u64(), Some(2 * n));
    let said = "holds the same bytes as 'r.json' (its samples count twice";
    assert!(merged.stderr.contains(said), "{}", merged.stderr);
    let overlaid = run(dir.path(), ["report", "r.json", "r.json"]).expect(0);
    let of_r = |line: &&str| line.starts_with("  r.json") && line.contains(" µs");
    // Where a chunk was a call, service and hold are one row.
    let rows = overlaid.text().lines().filter(of_r).count();
    assert!([2, 4].contains(&rows), "{}", overlaid.text());
}

#[test]
fn foreign_files_are_refused_in_words() {
    let dir = directory();
    file(dir.path(), "foreign.json", b"{\"schema\":\"other/1\"}");
    file(dir.path(), "broken.json", b"{\"schema\":");
    file(dir.path(), "noise.hlog", &samples(1000)[5].1);
    file(dir.path(), "noise.hgrm", b"Value\n1 2 3\n");
    for name in ["foreign.json", "broken.json", "noise.hgrm", "gone.json"] {
        let failed = run(dir.path(), ["report", name]).expect(1);
        assert!(
            failed
                .stderr
                .starts_with(&format!("perfkit: cannot read '{name}': "))
        );
    }
    // What is no text at all is no results, whatever it is called.
    let refused = run(dir.path(), ["report", "noise.hlog"]).expect(2);
    let said = "perfkit: 'noise.hlog' is binary, and no file of results";
    assert!(refused.stderr.starts_with(said), "{}", refused.stderr);
}

#[test]
fn manual_pages_and_completions_are_made_for_every_command() {
    let dir = directory();
    run(dir.path(), ["man", "--dir", "."]).expect(0);
    let pages = common::names(dir.path());
    for command in [
        "compress",
        "compress-bench",
        "decompress",
        "compare",
        "report",
        "env",
        "tour",
    ] {
        assert!(pages.contains(&format!("perfkit-{command}.1")), "{pages:?}");
        let page = run(dir.path(), ["man", command]).expect(0);
        assert!(page.text().contains(".SH"), "{command}");
        let help = run(dir.path(), [command, "--help"]).expect(0);
        let examples = help.text().split("Examples:\n").nth(1).unwrap_or_default();
        assert_eq!(
            examples.trim_end().lines().count(),
            3,
            "examples of {command}"
        );
    }
    for nested in ["fix-parse", "fix-store-dump", "betree-match"] {
        assert!(pages.contains(&format!("perfkit-{nested}.1")), "{pages:?}");
        let joined = run(dir.path(), ["man", nested]).expect(0);
        let words: Vec<&str> = ["man"].into_iter().chain(nested.split('-')).collect();
        let apart = run(dir.path(), words).expect(0);
        assert_eq!(joined.text(), apart.text());
        assert!(
            joined.text().contains(&format!(".TH perfkit-{nested} 1")),
            "{nested}"
        );
    }
    // Of the names that the binary may be called by.
    for (name, page) in [
        ("gunzip", "gzip"),
        ("zipinfo", "info-zip"),
        ("unlz4", "lz4"),
    ] {
        assert!(pages.contains(&format!("perfkit-{page}.1")), "{pages:?}");
        let shown = run(dir.path(), ["man", name]).expect(0);
        assert!(
            shown.text().contains(&format!("perfkit\\-{page}"))
                || shown.text().contains(&format!("perfkit-{page}")),
            "{name}"
        );
    }
    let unknown = run(dir.path(), ["man", "fix", "nothing"]).expect(2);
    assert!(unknown.stderr.contains("unknown command 'fix nothing'"));
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        assert!(
            run(dir.path(), ["completions", shell])
                .expect(0)
                .text()
                .contains("compress")
        );
    }
}

#[test]
fn markdown_says_what_the_text_says() {
    let dir = directory();
    file(dir.path(), "a", &samples(3_000_000).swap_remove(0).1);
    let gates = ["--slo", "max<=1h", "--slo", "hold.max<1ns"];
    let arguments = ["compress", "-1", "-f", "a", "--export-json", "r.json"];
    run(dir.path(), arguments.iter().chain(&gates)).expect(4);
    for form in ["text", "markdown"] {
        let shown = run(dir.path(), ["report", "r.json", "--report", form]).expect(0);
        for said in [
            "ratio",
            " hidden: ",
            "slowest",
            "FAIL",
            "pass",
            "closed loop",
            "peak memory",
            "CPUs",
        ] {
            // Lines of text are broken between words.
            let words: Vec<&str> = shown.text().split_whitespace().collect();
            let there = shown.text().contains(said) || words.join(" ").contains(said);
            assert!(there, "{said} in {}", shown.text());
        }
    }
}

#[test]
fn a_closed_pipe_costs_no_export() {
    let dir = directory();
    let report = compressed(dir.path(), &[]);
    let mut command = common::perfkit();
    command
        .current_dir(dir.path())
        .args(["report", "r.json", "--export-json", "again.json"]);
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    let status = command
        .stdout(writer)
        .stderr(std::process::Stdio::null())
        .status()
        .expect("perfkit runs");
    assert_eq!(status.code(), Some(0));
    let again = std::fs::read(dir.path().join("again.json")).expect("the export is there");
    let again: serde_json::Value = serde_json::from_slice(&again).expect("JSON");
    assert_eq!(again["latencies"], report["latencies"]);
}

#[cfg(target_os = "linux")]
#[test]
fn a_failing_export_is_told_with_a_way_out_and_costs_neither_report_nor_the_other_files() {
    let dir = directory();
    compressed(dir.path(), &[]);
    let arguments = "report r.json --export-json /dev/full --export-csv r.csv";
    let failed = run(dir.path(), common::words(arguments)).expect(1);
    assert!(failed.text().contains("latency"), "{}", failed.text());
    assert!(dir.path().join("r.csv").exists());
    assert!(failed.stderr.contains("--export-json"), "{}", failed.stderr);
}

/// A report written by [`compressed`], changed.
fn changed(dir: &Path, name: &str, change: impl FnOnce(&mut serde_json::Value)) {
    let mut report: serde_json::Value =
        serde_json::from_slice(&std::fs::read(dir.join("r.json")).expect("read")).expect("JSON");
    change(&mut report);
    file(dir, name, report.to_string().as_bytes());
}

#[test]
fn a_merged_report_claims_no_more_than_its_parts() {
    let dir = directory();
    compressed(dir.path(), &["--export-hlog", "r.hlog"]);
    changed(dir.path(), "part.json", |report| {
        report["complete"] = false.into()
    });
    changed(dir.path(), "open.json", |report| {
        report["load"]["model"] = "open".into()
    });
    let merged = |files: &str| {
        let line = format!("report --merge {files} --report json");
        run(dir.path(), common::words(&line)).expect(0).json()
    };
    let whole = merged("r.json r.json");
    assert_eq!(whole["complete"], true);
    assert_eq!(whole["load"]["model"], "closed");
    let partial = merged("r.json part.json");
    assert_eq!(partial["complete"], false);
    let mixed = merged("r.json open.json");
    assert_eq!(mixed["load"]["model"], "unknown");
    assert_eq!(mixed["complete"], true);
    assert_eq!(merged("r.json r.hlog")["load"]["model"], "unknown");
    let paths = |report: &serde_json::Value| {
        let inputs = report["workload"]["inputs"].as_array().expect("inputs");
        inputs
            .iter()
            .map(|input| input["path"].clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(paths(&partial), ["r.json", "part.json"]);
    let line = "report --merge r.json part.json";
    let shown = run(dir.path(), common::words(line)).expect(0);
    for said in ["merged from", "part.json", "incomplete", "NO"] {
        assert!(shown.text().contains(said), "{said} in {}", shown.text());
    }
    let line = "report --merge r.json open.json";
    let shown = run(dir.path(), common::words(line)).expect(0);
    assert!(!shown.text().contains("closed loop ·"), "{}", shown.text());
}

#[test]
fn rows_of_a_report_and_of_its_log_are_one_row() {
    let dir = directory();
    let report = compressed(dir.path(), &["--export-hlog", "r.hlog"]);
    for order in ["r.json r.hlog", "r.hlog r.json"] {
        let line = format!("report --merge {order} --report json");
        let merged = run(dir.path(), common::words(&line)).expect(0).json();
        let rows = |report: &serde_json::Value| {
            let rows = report["latencies"].as_array().expect("rows").clone();
            rows.into_iter()
                .map(|row| (row["operation"].clone(), row["n"].as_u64().expect("n")))
                .collect::<Vec<_>>()
        };
        let twice: Vec<_> = rows(&report)
            .into_iter()
            .map(|(operation, n)| (operation, 2 * n))
            .collect();
        assert_eq!(rows(&merged), twice, "{order}");
    }
}

#[test]
fn tables_and_comparisons_are_kept_under_the_name_of_their_file() {
    let dir = directory();
    file(dir.path(), "base", b"1 2 3 4 5 6 7 8");
    for name in ["a", "b"] {
        let line = format!("compare base base --export-json {name}.json");
        run(dir.path(), common::words(&line)).expect(0);
        let line = format!("env --export-json {name}-env.json");
        run(dir.path(), common::words(&line)).expect(0);
    }
    let line = "report a.json b.json a-env.json --report json";
    let both = run(dir.path(), common::words(line)).expect(0).json();
    let texts = |list: &str, key: &str| -> Vec<String> {
        let rows = both[list].as_array().expect("rows");
        rows.iter()
            .map(|row| row[key].as_str().expect("text").to_owned())
            .collect()
    };
    assert_eq!(
        texts("comparisons", "row"),
        ["a.json: numbers", "b.json: numbers"]
    );
    let tables = texts("tables", "name");
    assert_eq!(tables[0], "a-env.json: machine");
    assert_eq!(tables.last().map(String::as_str), Some("read from"));
    let csv = run(
        dir.path(),
        common::words("report a.json b.json --report csv"),
    )
    .expect(0);
    assert_eq!(csv.text().lines().count(), 3, "{}", csv.text());
    // The same file twice is two files.
    let line = "report a.json a.json --report json";
    let twice = run(dir.path(), common::words(line)).expect(0).json();
    assert_eq!(twice["comparisons"][1]["row"], "a.json (2): numbers");
}

#[test]
fn a_report_that_was_edited_is_refused_at_the_place() {
    let dir = directory();
    compressed(dir.path(), &[]);
    changed(dir.path(), "edited.json", |report| {
        report["latencies"][1]["percentiles"][0]["value_ns"] = 1.into();
    });
    let failed = run(dir.path(), ["report", "edited.json"]).expect(1);
    let place = "at latencies[1].percentiles";
    assert!(failed.stderr.contains(place), "{}", failed.stderr);
}

#[test]
fn a_row_that_there_will_not_be_is_a_wrong_command_line() {
    let dir = directory();
    compressed(dir.path(), &[]);
    for line in [
        "compress -f a --slo response.p99<=1s",
        "report r.json --slo response.p99<=1s",
        "report r.json r.json --slo response.max<=1s",
        "report r.json --row response --export-hgrm r.hgrm",
        "decompress -l a.zst --slo p99<=1s",
    ] {
        let refused = run(dir.path(), common::words(line)).expect(2);
        assert!(refused.stderr.contains("there is no"), "{}", refused.stderr);
        assert!(refused.stderr.contains("help: "), "{}", refused.stderr);
    }
    let refused = run(
        dir.path(),
        common::words("report r.json --slo response.p99<=1s"),
    );
    assert!(refused.stderr.contains("the rows are: service, hold"));
}

#[test]
fn slow_calls_name_their_file() {
    let dir = directory();
    let report = compressed(dir.path(), &[]);
    let slowest = report["slowest"].as_array().expect("samples");
    assert!(slowest.iter().any(|sample| sample["name"] == "hold"));
    for sample in slowest {
        let what = sample["what"].as_str().expect("text");
        assert!(what.starts_with("'a', "), "{what}");
    }
}

/// What wrk2 prints: values in milliseconds.
pub(crate) const WRK2_OUTPUT: &str = "Running 10s test @ http://127.0.0.1:8080/
  Detailed Percentile spectrum:
       Value   Percentile   TotalCount 1/(1-Percentile)

       0.312     0.000000            1         1.00
       1.210     0.500000          500         2.00
       9.503     0.990625          991       106.67
      12.007     1.000000         1000          inf
#[Mean    =        1.520, StdDeviation   =        1.100]
#[Max     =       12.000, Total count    =         1000]
#[Buckets =           27, SubBuckets     =         2048]
----------------------------------------------------------
Requests/sec:    100.00
";

#[test]
fn the_milliseconds_of_wrk2_are_milliseconds() {
    let dir = directory();
    file(dir.path(), "wrk2.txt", WRK2_OUTPUT.as_bytes());
    let from = WRK2_OUTPUT.find("       Value").expect("a header");
    file(
        dir.path(),
        "alone.hgrm",
        &WRK2_OUTPUT.as_bytes()[from..][..420],
    );
    for (name, row) in [("wrk2.txt", "response"), ("alone.hgrm", "service")] {
        let line = format!("report {name} --report json");
        let report = run(dir.path(), common::words(&line)).expect(0).json();
        let found = &report["latencies"][0];
        assert_eq!(found["name"], row);
        let p99 = found["percentiles"][2]["value_ns"]
            .as_u64()
            .expect("a value");
        assert!((9_490_000..9_520_000).contains(&p99), "{p99}");
    }
    let gate = "report wrk2.txt --slo p99<=1ms";
    run(dir.path(), common::words(gate)).expect(4);
    let line = "report alone.hgrm --unit us --report json";
    let report = run(dir.path(), common::words(line)).expect(0).json();
    let max = report["latencies"][0]["max_ns"].as_u64().expect("a value");
    assert!((12_000..12_020).contains(&max), "{max}");
    run(dir.path(), common::words("report alone.hgrm --unit years")).expect(2);
}

/// A report with a time line: two series of 9 intervals, and a row of few values without one.
fn timed(dir: &Path) -> Report {
    compressed(dir, &[]);
    let mut report =
        read_json(&std::fs::read(dir.join("r.json")).expect("read")).expect("a report");
    let start = Instant::now();
    let log = IntervalLog::new(Duration::from_secs(1), Cursor::new(Vec::new())).expect("a thread");
    let row = |series: &str, name, values: u64| {
        let spec = Spec::new(name, "4 KiB block").series(series);
        let spec = spec.intervals((values > 10).then(|| log.clone()));
        let mut recorder = Recorder::new(spec, start);
        for nth in 0..values {
            // Half a second of the last interval is left.
            let end = start + Duration::from_millis(8_500 * (nth + 1) / values);
            recorder.record_span(end - Duration::from_nanos(900 + nth * 7_919 % 100_003), end);
        }
        recorder.finish().latency()
    };
    report.latencies = vec![
        row("level 3, größe\u{202e}", LatencyName::Service, 1_700),
        row("b", LatencyName::Service, 900),
        row("b", LatencyName::Hold, 10),
    ];
    let mut logged = log.finish().expect("a log");
    logged.attach(&mut report.latencies, 1_000).expect("read");
    for row in &mut report.latencies {
        row.log_parts.clear();
    }
    report.slowest.clear();
    let json = serde_json::to_vec(&report).expect("JSON");
    file(dir, "r.json", &json);
    report
}

/// A row with its intervals in one packing, without the floors of its run, which JSON alone has.
fn unpacked(row: &Latency) -> (Latency, Vec<(u64, u64, Histogram<u64>)>) {
    let intervals = row.intervals.iter().map(|interval| {
        let histogram = interval.histogram().expect("a histogram");
        (interval.start_ns, interval.length_ns, histogram)
    });
    let intervals = intervals.collect();
    let row = Latency {
        intervals: Vec::new(),
        floors: Vec::new(),
        ..row.clone()
    };
    (row, intervals)
}

#[test]
fn every_form_keeps_counts_sums_start_intervals_and_names_or_says_what_it_cannot() {
    let dir = directory();
    let report = timed(dir.path());
    assert_eq!(report.latencies[0].intervals.len(), 9);
    let forms = ["json", "hlog", "hgrm"];
    for (from, to) in forms.iter().flat_map(|from| forms.map(|to| (*from, to))) {
        let what = format!("{from} to {to}");
        let write = |source: &str, target: &str| {
            let line = format!("report {source} -fo {target}");
            run(dir.path(), common::words(&line)).expect(0).stderr
        };
        let said = write("r.json", &format!("a.{from}"));
        let warned = |said: &str| {
            let kinds = ["keeps no time line", "keeps one of 3"];
            let lines = kinds.map(|kind| said.matches(&format!("warning: .hgrm {kind}")).count());
            lines.into_iter().sum::<usize>()
        };
        assert_eq!(
            warned(&said),
            if from == "hgrm" { 2 } else { 0 },
            "{what}: {said}"
        );
        let said = write(&format!("a.{from}"), &format!("b.{to}"));
        let loses = to == "hgrm" && from != "hgrm";
        assert_eq!(warned(&said), if loses { 2 } else { 0 }, "{what}: {said}");
        let line = format!("report b.{to} --report json");
        let json = run(dir.path(), common::words(&line)).expect(0).stdout;
        let read = read_json(&json).expect("a report");
        let is_narrow = from == "hgrm" || to == "hgrm";
        let expected = match is_narrow {
            true => &report.latencies[..1],
            false => &report.latencies[..],
        };
        assert_eq!(read.latencies.len(), expected.len(), "{what}");
        for (found, expected) in read.latencies.iter().zip(expected) {
            let (found, expected) = (unpacked(found), unpacked(expected));
            assert_eq!(found.0, expected.0, "{what}");
            let intervals = if is_narrow { Vec::new() } else { expected.1 };
            assert_eq!(found.1, intervals, "{what}");
        }
        let time = |report: &Report| {
            let start = report.started_at.as_deref().expect("known");
            start.parse::<jiff::Timestamp>().expect("a time")
        };
        let apart = time(&read).duration_since(time(&report)).abs();
        // A log has milliseconds.
        assert!(
            apart < jiff::SignedDuration::from_millis(2),
            "{what}: {apart}"
        );
    }
}

#[test]
fn runs_of_different_times_keep_their_distance_in_a_log() {
    let dir = directory();
    let mut report = timed(dir.path());
    let start = report.started_at.as_deref().expect("known");
    let start: jiff::Timestamp = start.parse().expect("a time");
    report.started_at = Some((start + jiff::SignedDuration::from_secs(100)).to_string());
    let json = serde_json::to_vec(&report).expect("JSON");
    file(dir.path(), "later.json", &json);
    let line = "report later.json r.json -o both.hlog";
    run(dir.path(), common::words(line)).expect(0);
    let line = "report both.hlog --report json";
    let json = run(dir.path(), common::words(line)).expect(0).stdout;
    let both = read_json(&json).expect("a report");
    let first = |run: &str| {
        let of = |row: &&Latency| {
            row.series
                .as_deref()
                .is_some_and(|series| series.starts_with(run))
        };
        let row = both.latencies.iter().find(of).expect("a row");
        row.intervals.first().expect("a time line").start_ns
    };
    assert_eq!(first("later.json") - first("r.json"), 100_000_000_000);
}

#[test]
fn a_run_of_a_second_has_a_time_line_in_json_and_html_and_on_the_terminal() {
    let dir = directory();
    let line = "stress --codec none --duration 1500ms --rate 2000 -v --export-json r.json --export-html r.html";
    let shown = run(dir.path(), common::words(line)).expect(0);
    assert!(shown.text().contains(" over "), "{}", shown.text());
    assert!(shown.text().contains("counts of"), "{}", shown.text());
    let report =
        read_json(&std::fs::read(dir.path().join("r.json")).expect("read")).expect("a report");
    let intervals = report.latencies.iter().map(|row| row.intervals.len()).max();
    // Of a quarter of a second each; a busy machine may come late to the end of the run.
    assert!(intervals >= Some(4), "{intervals:?}");
    let page = std::fs::read_to_string(dir.path().join("r.html")).expect("read");
    assert!(page.contains("<figcaption>Time line"), "no time line");
    // ASCII where the locale has no more.
    let mut command = common::perfkit();
    command
        .current_dir(dir.path())
        .env("LC_ALL", "C")
        .args(["report", "-v", "r.json"]);
    let plain = common::Run::from(command.output().expect("runs")).expect(0);
    assert!(!plain.text().contains(['▁', '█', '▪']), "{}", plain.text());
}

#[test]
fn the_form_of_an_output_is_that_of_its_extension() {
    let dir = directory();
    compressed(dir.path(), &[]);
    for name in ["r.html", "s.JSON", "r.csv", "r.md", "r.hgrm", "r.hlog"] {
        let done = run(dir.path(), ["report", "r.json", "-o", name]).expect(0);
        assert_eq!(done.text(), "", "{name}");
        assert!(
            std::fs::metadata(dir.path().join(name))
                .expect("a file")
                .len()
                > 100
        );
    }
    for (line, said) in [
        ("report r.json -o report", "the name ends in"),
        (
            "report r.json -o x.html --export-html y.html",
            "two files of one form",
        ),
        ("report r.json -o r.json", "r.json"),
        ("explain nonsense", "the nearest is"),
    ] {
        let refused = run(dir.path(), common::words(line)).expect(2);
        assert!(refused.stderr.contains(said), "{line}: {}", refused.stderr);
    }
    let first = run(dir.path(), ["explain", "Percentiles"]).expect(0);
    assert!(
        first.text().starts_with("Percentiles\n\np99 is"),
        "{}",
        first.text()
    );
}

#[test]
fn two_reports_laid_side_by_side_are_compared() {
    let dir = directory();
    for (level, name) in [("-1", "one.json"), ("-9", "nine.json")] {
        file(
            dir.path(),
            "data",
            &b"some content of a file ".repeat(90_000),
        );
        let line = format!("compress -qqf {level} data -o out --export-json {name}");
        run(dir.path(), common::words(&line)).expect(0);
    }
    let report = run(
        dir.path(),
        common::words("report one.json nine.json --report json"),
    )
    .expect(0)
    .json();
    let found = report["comparisons"].as_array().expect("comparisons");
    // Service, and hold where it differs.
    assert!((1..=2).contains(&found.len()), "{found:?}");
    assert_eq!(found[0]["design"], "sequential");
    // What is slowest is of the rows that are shown.
    let series: Vec<_> = report["slowest"]
        .as_array()
        .expect("slowest")
        .iter()
        .map(|one| &one["series"])
        .collect();
    assert!(
        series
            .iter()
            .all(|one| *one == "one.json" || *one == "nine.json"),
        "{series:?}"
    );
    // Of three there is no baseline, and of unlike work nothing to compare.
    let three = run(
        dir.path(),
        common::words("report one.json nine.json one.json --report json"),
    )
    .expect(0)
    .json();
    assert_eq!(three["comparisons"].as_array().map(Vec::len), Some(0));
}
