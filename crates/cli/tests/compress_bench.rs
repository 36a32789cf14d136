//! `perfkit compress-bench`: what its tables hold, that answers are checked, and what it refuses.

use std::path::Path;

use crate::common::{self, directory, file, perfkit, run, samples, words};
use latency::percentile::earned_n;
use serde_json::Value;

/// Runs a line that shall succeed, as JSON.
fn bench(dir: &Path, line: &str) -> Value {
    let line = format!("compress-bench -q -i 0.02 --report json {line}");
    run(dir, words(&line)).expect(0).json()
}

fn table<'a>(report: &'a Value, name: &str) -> &'a Value {
    let tables = report["tables"].as_array().expect("tables");
    tables
        .iter()
        .find(|table| table["name"] == name)
        .unwrap_or_else(|| panic!("no table {name}"))
}

/// A column of a table by its key.
fn column<'a>(report: &'a Value, name: &str, key: &str) -> Vec<&'a Value> {
    let table = table(report, name);
    let columns = table["columns"].as_array().expect("columns");
    let at = columns.iter().position(|column| column["key"] == key);
    let at = at.unwrap_or_else(|| panic!("no column {key} in {name}"));
    let rows = table["rows"].as_array().expect("rows");
    rows.iter().map(|row| &row[at]).collect()
}

fn texts<'a>(report: &'a Value, name: &str, key: &str) -> Vec<&'a str> {
    let cells = column(report, name, key);
    cells.into_iter().filter_map(Value::as_str).collect()
}

fn numbers(report: &Value, name: &str, key: &str) -> Vec<f64> {
    let cells = column(report, name, key);
    cells.into_iter().filter_map(Value::as_f64).collect()
}

/// A file of JSON lines that compresses well, called `json`.
fn json(dir: &Path, bytes: usize) {
    file(dir, "json", &samples(bytes).swap_remove(0).1);
}

#[test]
fn every_candidate_has_its_ratio_speeds_memory_and_distributions() {
    let dir = directory();
    json(dir.path(), 200_000);
    let report = bench(dir.path(), "-b1 -e2 --recipe text -B 16K,64K json");
    for name in ["compress", "decompress", "contexts"] {
        assert_eq!(
            texts(&report, name, "candidate"),
            ["level 1", "level 2", "text", "level 1", "level 2", "text"]
        );
        let blocks = numbers(&report, name, "block_bytes");
        assert_eq!(blocks, [[16384.0; 3], [65536.0; 3]].concat());
    }
    for name in ["compress", "decompress"] {
        assert!(numbers(&report, name, "ratio").iter().all(|r| *r > 2.0));
        let speeds = |key| numbers(&report, name, key);
        let wall = speeds("wall_bytes_per_s");
        let ends = speeds("slowest_bytes_per_s").into_iter();
        let ends = ends.zip(speeds("fastest_bytes_per_s"));
        assert_eq!(wall.len(), 6);
        for (median, (min, max)) in wall.into_iter().zip(ends) {
            assert!(0.0 < min && min <= median && median <= max);
        }
    }
    let held = numbers(&report, "contexts", "held_bytes").into_iter();
    let predicted = numbers(&report, "contexts", "predicted_bytes");
    assert!(held.zip(predicted).all(|(held, most)| held <= most));
    // Two directions of three candidates in two sizes.
    let rows = report["latencies"].as_array().expect("rows");
    assert_eq!(rows.len(), 12);
    assert!(rows.iter().all(|row| row["name"] == "service"));
    assert_eq!(report["validation"]["ok"], true);
    assert!(report["validation"]["checked"].as_u64() > Some(100));
    #[cfg(target_os = "linux")]
    assert_eq!(numbers(&report, "compress", "cpu_bytes_per_s").len(), 6);
}

#[test]
#[cfg(feature = "schema-tests")]
fn the_report_satisfies_the_schema_in_every_mode() {
    let dir = directory();
    json(dir.path(), 60_000);
    run(dir.path(), words("compress -qq json")).expect(0);
    file(dir.path(), "dict", b"\"event\",\"properties\"");
    let schema = concat!(env!("CARGO_MANIFEST_DIR"), "/../../schemas/report-v1.json");
    let mut schemas = boon::Schemas::new();
    let index = boon::Compiler::new()
        .compile(schema, &mut schemas)
        .expect("a schema");
    for line in [
        "-b1 -e3 --rank-at 2,1000 --pareto json",
        "--streaming -B 20000 --fast=3 json",
        "-b1 -T2 json",
        "-b1 -D dict json",
        "--decompress-only json.zst",
        "--decompress-only -b1 -e2 --pareto json",
        "--recipe auto --recipe text --recipe-compat exzstandard json",
        "--matrix -b1 -D dict --pareto json",
    ] {
        let report = bench(dir.path(), line);
        if let Err(error) = schemas.validate(&report, index) {
            panic!("{line}: {error:#}");
        }
        assert_eq!(report["validation"]["ok"], true, "{line}");
        let name = match line.contains("--matrix") {
            true => "matrix",
            false => "decompress",
        };
        assert!(!numbers(&report, name, "wall_bytes_per_s").is_empty());
    }
}

#[test]
fn the_matrix_has_each_candidate_one_shot_and_streamed_both_ways() {
    let dir = directory();
    json(dir.path(), 300_000);
    let report = bench(dir.path(), "--matrix --recipe fast --recipe maximum json");
    let works = [
        "compress",
        "compress streamed",
        "decompress",
        "decompress streamed",
    ];
    let expected: Vec<&str> = works.iter().flat_map(|work| [*work; 2]).collect();
    assert_eq!(texts(&report, "matrix", "work"), expected);
    let names = texts(&report, "matrix", "candidate");
    assert_eq!(names, ["fast", "maximum"].repeat(4));
    let calls = numbers(&report, "matrix", "call_bytes");
    let (whole, chunk) = ([300_000.0; 2], [131_072.0; 2]);
    assert_eq!(calls, [whole, chunk, whole, chunk].concat());
    // A whole is three chunks, and how many there were of each is in the table.
    let n = numbers(&report, "matrix", "calls");
    assert!(n[2] >= 3.0 && n[2] % 3.0 == 0.0, "{n:?}");
    assert!(n[6] >= 3.0 && n[6] % 3.0 == 0.0, "{n:?}");
    let ratio = numbers(&report, "matrix", "ratio");
    assert!(ratio.iter().all(|ratio| *ratio > 2.0));
    assert_eq!(numbers(&report, "matrix", "wall_bytes_per_s").len(), 8);
    for stream in ["", "stream_"] {
        let of = |key: &str| numbers(&report, "memory", &format!("{stream}{key}"));
        let held = of("held_bytes");
        assert_eq!(held.len(), 2);
        assert!(held.iter().zip(of("predicted_bytes")).all(|(h, p)| *h <= p));
    }
    // A stream that does not say how long it is must not take what the largest would.
    let held = numbers(&report, "memory", "stream_held_bytes")[1];
    assert!(held < 100e6, "{held}");
    assert_eq!(report["validation"]["ok"], true);
}

#[test]
fn a_row_of_the_matrix_has_the_percentiles_of_its_calls() {
    let dir = directory();
    json(dir.path(), 300_000);
    let line = "compress-bench -q -i 0.5 --report json --matrix --recipe fast";
    let line = format!("{line} --recipe-compat exzstandard json");
    let report = run(dir.path(), words(&line)).expect(0).json();
    let names = texts(&report, "matrix", "candidate");
    assert_eq!(names, ["fast", "exz fast"].repeat(4));
    // Where the machine gave it the time for six calls, it has their median.
    let n = column(&report, "matrix", "calls");
    let p50_ns = column(&report, "matrix", "p50_ns");
    assert_eq!((n.len(), p50_ns.len()), (8, 8));
    for (n, p50) in n.into_iter().zip(p50_ns) {
        let enough = n.as_u64() >= Some(earned_n(50.0));
        assert_eq!(p50.as_u64() > Some(0), enough, "{n} calls, {p50}");
    }
}

#[test]
fn the_fastest_that_reaches_a_ratio_comes_first_and_the_useless_are_marked() {
    let dir = directory();
    json(dir.path(), 300_000);
    // Random bytes give nothing for the time of a high level.
    file(dir.path(), "random", &samples(300_000).swap_remove(5).1);
    let line = "-b1 --level 19 --rank-at 1.5,1000 --pareto json random";
    let report = bench(dir.path(), line);
    let ranked: Vec<(&str, &str)> = texts(&report, "rank", "data")
        .into_iter()
        .zip(texts(&report, "rank", "candidate"))
        .collect();
    assert_eq!(
        ranked,
        [
            ("json", "level 1"),
            ("json", "level 19"),
            ("json", "none reaches it"),
            ("random", "none reaches it"),
            ("random", "none reaches it"),
            ("all together", "level 1"),
            ("all together", "level 19"),
            ("all together", "none reaches it"),
        ]
    );
    let marked = column(&report, "pareto", "dominated_by");
    assert_eq!(marked[..2], [&Value::Null, &Value::Null], "json");
    assert_eq!(marked[2..4], [&Value::Null, &Value::from("level 1")]);
}

#[test]
fn frames_are_measured_as_they_are_whatever_the_sizes_of_blocks() {
    let dir = directory();
    json(dir.path(), 60_000);
    run(dir.path(), words("compress -qq json")).expect(0);
    let stored = std::fs::read(dir.path().join("json.zst")).expect("read");
    file(dir.path(), "twice.zst", &stored.repeat(2));
    let report = bench(dir.path(), "--decompress-only -B 1K,4K twice.zst json");
    assert_eq!(
        texts(&report, "decompress", "candidate")[..2],
        ["as stored", "level 1"]
    );
    assert_eq!(numbers(&report, "decompress", "block_bytes")[0], 60_000.0);
    assert_eq!(texts(&report, "decompress", "data").len(), 1 + 2 * 4);
}

#[test]
fn operations_below_the_clock_are_timed_in_batches() {
    let dir = directory();
    file(dir.path(), "tiny", b"abcabcabcabcabcabc");
    let report = bench(dir.path(), "-b1 tiny");
    let rows = report["latencies"].as_array().expect("rows");
    let decompress = rows
        .iter()
        .find(|row| {
            row["series"]
                .as_str()
                .is_some_and(|s| s.ends_with("decompress"))
        })
        .expect("a row");
    assert!(report["environment"]["clock_floor_ns"].as_f64() > Some(0.0));
    // When it has to be one is tested over fixed times: a busy machine may take an operation for a long one.
    match decompress["timing"] == "batch_mean" {
        true => assert!(decompress["batch"].as_u64() > Some(1), "{decompress}"),
        false => assert_eq!(decompress["batch"], 1, "{decompress}"),
    }
}

#[test]
fn streams_show_how_long_a_call_holds_its_thread() {
    let dir = directory();
    json(dir.path(), 400_000);
    let report = bench(dir.path(), "-b1 --streaming json");
    let rows = report["latencies"].as_array().expect("rows");
    let of = |name: &str| -> Vec<u64> {
        let rows = rows.iter().filter(|row| row["name"] == name);
        rows.filter_map(|row| row["max_ns"].as_u64()).collect()
    };
    let (service, hold) = (of("service"), of("hold"));
    assert_eq!((service.len(), hold.len()), (2, 2));
    assert!(hold.iter().zip(&service).all(|(hold, whole)| hold <= whole));
}

#[test]
fn a_directory_is_one_input_and_its_files_are_the_operations() {
    let dir = directory();
    std::fs::create_dir(dir.path().join("logs")).expect("made");
    for (name, bytes) in samples(5_000) {
        file(&dir.path().join("logs"), name, &bytes);
    }
    let report = bench(dir.path(), "-r -b1 logs");
    assert_eq!(texts(&report, "compress", "data"), ["logs"]);
    assert_eq!(report["workload"]["inputs_total"], 8);
    let refused = run(dir.path(), words("compress-bench -i 0 logs")).expect(1);
    assert!(refused.stderr.contains("add -r"), "{}", refused.stderr);
}

#[test]
fn text_fits_a_hundred_columns_and_csv_has_a_line_a_candidate() {
    let dir = directory();
    json(dir.path(), 50_000);
    let long = dir
        .path()
        .join("a-name-that-is-much-too-long-for-a-table.json");
    std::fs::rename(dir.path().join("json"), long).expect("renamed");
    let line = "compress-bench -i 0.01 --recipes --recipe-compat exzstandard --pareto \
                --rank-at 1 --export-csv b.csv --export-markdown b.md \
                a-name-that-is-much-too-long-for-a-table.json";
    let shown = run(dir.path(), words(line)).expect(0);
    assert!(shown.stderr.contains("13 measurements of 1 input"));
    let tables = shown.text().split("\nlatency").next().expect("tables");
    let widest = tables.lines().max_by_key(|line| line.chars().count());
    let widest = widest.expect("lines");
    assert!(widest.chars().count() <= 100, "{widest}");
    let csv = std::fs::read_to_string(dir.path().join("b.csv")).expect("read");
    assert_eq!(csv.lines().count(), 14);
    let header = csv.lines().next().expect("a header");
    for key in [
        "data,candidate,block_bytes,",
        "compress_ratio",
        "compress_cpu_bytes_per_s",
        "decompress_wall_bytes_per_s",
        "contexts_held_bytes",
    ] {
        assert!(header.contains(key), "{key} in {header}");
    }
    let columns = header.split(',').count();
    assert!(csv.lines().all(|line| line.split(',').count() == columns));
    let markdown = std::fs::read_to_string(dir.path().join("b.md")).expect("read");
    assert!(markdown.contains("exz structured_data"));
}

#[test]
fn what_cannot_be_measured_is_told_and_the_rest_is_measured() {
    let dir = directory();
    json(dir.path(), 20_000);
    file(dir.path(), "empty", b"");
    let refused = |line: &str, code: i32, words_of: &str| {
        let line = format!("compress-bench -q -i 0.01 -b1 {line}");
        let run = run(dir.path(), words(&line)).expect(code);
        assert!(run.stderr.contains(words_of), "{line}: {}", run.stderr);
        run
    };
    refused("gone", 1, "cannot read 'gone': no such file");
    refused("empty", 1, "'empty' is empty");
    refused("-D gone json", 1, "cannot read 'gone'");
    let partial = refused("gone json", 3, "cannot read 'gone'");
    assert!(partial.text().contains("level 1"), "{}", partial.text());
    let cut = std::fs::read(dir.path().join("json")).expect("read");
    let mut cut = zstdkit::compress(&cut, &zstdkit::EncoderOptions::default()).expect("a frame");
    cut.truncate(1_000);
    file(dir.path(), "cut.zst", &cut);
    refused(
        "--decompress-only cut.zst",
        1,
        "cannot decompress 'cut.zst'",
    );
    for (line, message) in [
        ("-b5 -e3 json", "-b5 -e3 is no range of levels"),
        ("--level 5-3 json", "5-3 is no range of levels"),
        ("-b20 json", "level 20 needs --ultra"),
        ("--level 30 json", "level 30 is out of range"),
        ("--recipe soup json", "unknown recipe"),
        ("-i x json", "is not a time"),
        ("-B 1 json", "a block has 16 bytes"),
        ("--rank-at x json", "is not a ratio"),
    ] {
        refused(line, 2, message);
    }
}

#[cfg(unix)]
#[test]
fn an_unreadable_file_is_a_failure() {
    use std::os::unix::fs::PermissionsExt as _;
    let dir = directory();
    let path = file(dir.path(), "secret", b"content");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o000)).expect("set");
    if std::fs::read(&path).is_ok() {
        // The superuser reads everything.
        return;
    }
    let failed = run(dir.path(), words("compress-bench -q -i 0 secret")).expect(1);
    assert!(failed.stderr.contains("permission denied"));
}

#[cfg(unix)]
#[test]
fn an_interrupt_leaves_a_valid_partial_report() {
    use common::signals::{send, until_signals_are_handled};
    let dir = directory();
    json(dir.path(), 100_000);
    let mut command = perfkit();
    command
        .current_dir(dir.path())
        .args(words("compress-bench -q -i 30 -b1 --report json json"))
        .stdout(std::process::Stdio::piped());
    let child = command.spawn().expect("runs");
    until_signals_are_handled(&child);
    send(&child, nix::sys::signal::Signal::SIGINT);
    let output = child.wait_with_output().expect("ends");
    assert_eq!(common::code(output.status), Some(130));
    let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(report["complete"], false);
    assert_eq!(report["exit_code"], 130);
}
