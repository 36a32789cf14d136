//! Times that are mostly not the work: of the machine that measured them, never of the one that shows them.

use std::path::Path;

use crate::common::{directory, file, run, words};

/// A file that another tool wrote.
fn of_tool(dir: &Path, name: &str) {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../latency/tests/data");
    let bytes = std::fs::read(data.join(name)).expect("read");
    file(dir, name, &bytes);
}

#[test]
fn what_another_tool_measured_is_shown_however_short_it_is() {
    let dir = directory();
    for name in ["google-benchmark", "pytest-benchmark", "hyperfine", "jmh"] {
        of_tool(dir.path(), &format!("{name}.json"));
        let line = format!("report {name}.json -v --export-json again.json -f");
        let shown = run(dir.path(), words(&line)).expect(0);
        // The same from the report that was written of it.
        let again = run(dir.path(), words("report again.json -v")).expect(0);
        for text in [shown.text(), again.text()] {
            assert!(!text.contains("too short"), "{text}");
            assert!(!text.contains("clock floor"), "{text}");
            assert!(!text.contains("mean of 1\u{20}"), "{text}");
        }
        let report = std::fs::read(dir.path().join("again.json")).expect("read");
        let report: serde_json::Value = serde_json::from_slice(&report).expect("JSON");
        for row in report["latencies"].as_array().expect("rows") {
            assert!(row.get("floors").is_none(), "{row}");
        }
    }
    let short = r#"{"iters": [1, 1, 1, 1, 1], "times": [3, 4, 5, 4, 3]}"#;
    file(dir.path(), "sample.json", short.as_bytes());
    let shown = run(dir.path(), words("report sample.json -v")).expect(0);
    assert!(
        shown.text().contains("3 ns") && !shown.text().contains("too short"),
        "{}",
        shown.text()
    );
}

#[test]
fn a_report_keeps_the_floors_of_its_run() {
    let dir = directory();
    file(dir.path(), "data", b"some content");
    let line = "compress -qqf data -o out.zst --export-json run.json";
    run(dir.path(), words(line)).expect(0);
    let path = dir.path().join("run.json");
    let mut report: serde_json::Value =
        serde_json::from_slice(&std::fs::read(&path).expect("read")).expect("JSON");
    let floors = &mut report["latencies"][0]["floors"];
    assert_eq!(floors[0]["kind"], "clock");
    assert!(floors[0]["ns"].is_u64());
    // Of a machine with a slow clock: everything is below 20 floors.
    floors[0]["ns"] = 1_000_000_000_000_u64.into();
    std::fs::write(&path, report.to_string()).expect("written");
    for line in ["report run.json", "report run.json run.json"] {
        let shown = run(dir.path(), words(line)).expect(0);
        assert!(
            shown.text().contains("less than 20 clock floors"),
            "{}",
            shown.text()
        );
    }
}

#[cfg(unix)]
#[test]
fn runs_of_processes_state_what_starting_one_takes() {
    let dir = directory();
    let line = "compare --interleave 6 --report json -- true -- true";
    let report = run(dir.path(), words(line)).expect(0).json();
    let start = &report["environment"]["start_floor_ns"];
    assert!(start.as_u64().is_some_and(|ns| ns > 0), "{start}");
    assert!(report["environment"]["wake_floor_ns"].is_null());
    for row in report["latencies"].as_array().expect("rows") {
        let kinds = row["floors"].as_array().expect("floors").iter();
        let kinds: Vec<_> = kinds.map(|floor| floor["kind"].as_str()).collect();
        assert_eq!(kinds, [Some("clock"), Some("start")], "{row}");
        assert_eq!(&row["floors"][1]["ns"], start);
    }
    let env = run(dir.path(), words("env")).expect(0);
    for what in ["waking a thread", "starting a process that does nothing"] {
        assert!(env.text().contains(what), "{}", env.text());
    }
}

#[test]
fn operations_that_are_due_have_the_floor_of_a_wake_up() {
    let dir = directory();
    let line = "stress --codec lz4 --rate 500 --duration 300ms --report json -q";
    let report = run(dir.path(), words(line)).expect(0).json();
    let rows = report["latencies"].as_array().expect("rows").iter();
    let due: Vec<_> = rows.filter(|row| row["timing"] == "intended").collect();
    assert!(!due.is_empty());
    for row in due {
        assert_eq!(row["floors"][1]["kind"], "wake", "{row}");
        assert_eq!(
            row["floors"][1]["ns"],
            report["environment"]["wake_floor_ns"]
        );
    }
}
