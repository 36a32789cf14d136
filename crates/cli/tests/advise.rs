//! `perfkit advise`: what its tables hold, and what it refuses.

use crate::common::{directory, file, run, samples, words};
use serde_json::Value;

/// The rows of a table, each as an object by column.
fn rows(report: &Value, name: &str) -> Vec<serde_json::Map<String, Value>> {
    let tables = report["tables"].as_array().expect("tables");
    let table = tables.iter().find(|table| table["name"] == name);
    let table = table.unwrap_or_else(|| panic!("no table {name}"));
    let columns = table["columns"].as_array().expect("columns");
    let keys = columns
        .iter()
        .map(|column| column["key"].as_str().expect("a key").to_owned());
    let keys: Vec<_> = keys.collect();
    let rows = table["rows"].as_array().expect("rows");
    rows.iter()
        .map(|row| {
            keys.iter()
                .cloned()
                .zip(row.as_array().expect("a row").iter().cloned())
                .collect()
        })
        .collect()
}

#[test]
fn verdicts_follow_recipe_size_and_threshold() {
    let dir = directory();
    let line =
        "advise -q --no-stalls -d 20ms --report json -r fast -r maximum --size 1K --size 256K";
    let patient = line.to_owned() + " --threshold 1000s";
    let report = run(dir.path(), words(&patient)).expect(0).json();
    assert_eq!(report["validation"]["ok"], true);
    let compress = rows(&report, "compress");
    let cells: Vec<_> = compress
        .iter()
        .map(|row| (row["recipe"].clone(), row["size_bytes"].clone()))
        .collect();
    assert_eq!(
        cells,
        [
            ("fast", 1024),
            ("fast", 262_144),
            ("maximum", 1024),
            ("maximum", 262_144)
        ]
        .map(|(recipe, size)| (recipe.into(), size.into()))
    );
    // However busy the machine is.
    assert!(compress.iter().all(|row| row["verdict"] == "inline"));
    for row in &compress {
        assert!(row["ratio"].as_f64() > Some(1.0) && row["n"].as_u64() >= Some(3));
        assert!(row["one_shot_memory_bytes"].as_u64() <= row["stream_memory_bytes"].as_u64());
        // A 99th percentile needs its 299 values.
        assert_eq!(row["p99_ns"].is_null(), row["n"].as_u64() < Some(299));
    }
    assert!(compress[2]["slice_p99_ns"].is_null() && compress[3]["slice_p99_ns"].is_null());
    assert_eq!(rows(&report, "decompress").len(), 2);
    let strict = line.to_owned() + " --threshold 1ns";
    let report = run(dir.path(), words(&strict)).expect(0).json();
    assert!(
        rows(&report, "compress")
            .iter()
            .all(|row| row["verdict"] == "offload")
    );
}

#[test]
#[cfg(feature = "async")]
fn stalls_are_measured_in_every_mode() {
    let dir = directory();
    file(dir.path(), "json", &samples(100_000).swap_remove(0).1);
    let line = "advise -q -d 20ms --report json -r fast --size 64K --load 20 json";
    let report = run(dir.path(), words(line)).expect(0).json();
    let stalls = rows(&report, "stalls");
    let modes: Vec<_> = stalls
        .iter()
        .map(|row| row["mode"].as_str().expect("a mode"))
        .collect();
    assert_eq!(
        modes,
        ["idle", "inline", "offload", "auto", "auto_background"]
    );
    assert_eq!(stalls[0]["due"], 0);
    for row in &stalls[1..] {
        assert!(row["due"].as_u64() >= Some(1), "{row:?}");
        assert!(row["completed"].as_u64() >= Some(1), "{row:?}");
        assert!(row["stall_max_ns"].as_u64() > Some(0));
        // How many times lower than that of spawn_blocking.
        let response = |row: &serde_json::Map<String, Value>| row["response_p50_ns"].as_f64();
        let ratio = response(&stalls[2])
            .zip(response(row))
            .map(|(of, own)| of / own);
        let said = row["offload_response_ratio"].as_f64();
        assert!(
            said.zip(ratio)
                .is_none_or(|(said, ratio)| (said - ratio).abs() < 1e-9),
            "{row:?}"
        );
        assert_eq!(said.is_none(), ratio.is_none());
    }
    // A frame a cell of the tables, one of decompression, two a turn of a mode.
    let checked = report["validation"]["checked"].as_u64();
    assert!(
        [2 + 4 * 2, 2 + 4 * 4 * 2].map(Some).contains(&checked),
        "{checked:?}"
    );
    assert_eq!(rows(&report, "worst_stalls").len(), 4);
    let line = "advise -q -d 20ms --report json -r fast --size 1K --no-tables json";
    let report = run(dir.path(), words(line)).expect(0).json();
    assert_eq!(report["tables"].as_array().map(Vec::len), Some(2));
    assert_eq!(report["workload"]["inputs"][0]["path"], "json");
    assert!(report["workload"]["params"]["calibration_ns"].as_u64() > Some(0));
}

#[test]
#[cfg(feature = "async")]
fn streams_at_once_end_in_a_sentence_of_advice() {
    let dir = directory();
    file(dir.path(), "json", &samples(300_000).swap_remove(0).1);
    let line = "advise -q -d 20ms --async --no-tables --no-stalls --report json --streams 9 \
                --size 200K --level 9 --write 10000 --flush --memory 32M json";
    let report = run(dir.path(), words(line)).expect(0).json();
    assert_eq!(report["validation"]["ok"], true);
    let streams = rows(&report, "streams");
    let ways: Vec<_> = streams.iter().map(|row| row["way"].clone()).collect();
    assert_eq!(ways, ["idle", "inline", "spawn_blocking", "async"]);
    assert!(streams[0]["completed"].is_null());
    for row in &streams[1..] {
        let completed = row["completed"].as_u64().unwrap();
        assert!(completed >= 9 && completed % 9 == 0, "{row:?}");
        assert!(row["ratio"].as_f64() > Some(1.0));
        assert!(row["stream_max_ns"].as_u64() >= row["stream_p50_ns"].as_u64());
        assert!(row["overtaken_by"].as_u64() < Some(9));
        assert!(row["stall_max_ns"].as_u64() >= row["stall_p50_ns"].as_u64());
    }
    // Two contexts at a time: others have waited, and each wait had an end.
    let memory = rows(&report, "context_memory");
    assert_eq!(memory.len(), 1);
    assert_eq!(memory[0]["budget_bytes"], 32 << 20);
    let (waited, longest) = (&memory[0]["waited"], &memory[0]["longest_wait_ns"]);
    assert_eq!(waited.as_u64() > Some(0), longest.as_u64() > Some(0));
    let advice = rows(&report, "advice");
    let sentence = advice[0]["advice"].as_str().unwrap();
    assert!(
        sentence.contains(": 9 streams of 200 KiB take "),
        "{sentence}"
    );
    assert!(
        sentence.ends_with(").") && sentence.contains(" while other tasks wait "),
        "{sentence}"
    );
    // What is larger than the whole budget is an error.
    let line = line.replace("32M", "1M");
    let failed = run(dir.path(), words(&line)).expect(1);
    assert!(
        failed.stderr.contains("more than the whole budget"),
        "{}",
        failed.stderr
    );
}

#[test]
fn what_cannot_be_measured_is_refused() {
    let dir = directory();
    file(dir.path(), "empty", b"");
    let refused = |line: &str, code| run(dir.path(), words(line)).expect(code).stderr;
    assert!(refused("advise --no-stalls missing", 1).contains("'missing'"));
    assert!(refused("advise --no-stalls empty", 1).contains("the files are empty"));
    assert!(refused("advise --threshold soon", 2).contains("'soon' is not a time"));
    assert!(refused("advise --recipe slow", 2).contains("unknown recipe"));
    assert!(refused("advise --size 1T", 2).contains("out of range"));
    assert!(refused("advise --slo p99<=1ms", 2).contains("measures no latencies"));
}
