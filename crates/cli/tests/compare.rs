//! `perfkit compare`: the worked example, a run against itself, and commands interleaved.

mod common;

use common::{directory, file, run, samples, words};

fn numbers(runs: &[(usize, u32)]) -> String {
    let lines = runs
        .iter()
        .flat_map(|(count, value)| std::iter::repeat_n(value, *count));
    lines.map(|value| format!("{value}\n")).collect()
}

#[test]
fn the_worked_example_has_its_published_numbers() {
    let dir = directory();
    file(dir.path(), "base", numbers(&[(100, 10)]).as_bytes());
    let target = numbers(&[(20, 9), (20, 10), (50, 14), (10, 16)]);
    file(dir.path(), "target", target.as_bytes());
    let report = run(
        dir.path(),
        ["compare", "base", "target", "--report", "json"],
    )
    .expect(0)
    .json();
    let difference = &report["comparisons"][0]["difference"];
    let close = |key: &serde_json::Value, value: f64| {
        (key.as_f64().expect("a number") - value).abs() < 1e-12
    };
    assert!(close(&difference["range"][0], -0.1) && close(&difference["range"][1], 0.6));
    assert!(close(&difference["median"], 0.4));
    assert!(close(&difference["p99"], 0.6));
    assert!(close(&difference["better"], 0.2));
    let text = run(dir.path(), ["compare", "base", "target"]).expect(0);
    for shown in ["-10 %…+60 %", "+40 %", "+60 %", "20 %"] {
        assert!(text.text().contains(shown), "{shown} in {}", text.text());
    }
}

#[test]
fn a_run_compared_with_itself_shows_no_difference_and_its_resolution() {
    let dir = directory();
    file(dir.path(), "a", &samples(30_000_000).swap_remove(0).1);
    run(
        dir.path(),
        ["compress", "-1", "a", "--export-json", "r.json"],
    )
    .expect(0);
    let same = run(dir.path(), ["compare", "r.json", "r.json"]).expect(0);
    assert!(
        same.text().contains("no difference (resolution ±"),
        "{}",
        same.text()
    );
    assert!(
        same.text().contains("unpaired, drift not controlled"),
        "{}",
        same.text()
    );
}

#[test]
fn a_regression_fails_the_gate_and_an_undecided_one_can_be_refused() {
    let dir = directory();
    file(dir.path(), "base", numbers(&[(100, 10)]).as_bytes());
    file(dir.path(), "slow", numbers(&[(100, 20)]).as_bytes());
    file(dir.path(), "few", b"1 2");
    run(dir.path(), words("compare base slow --fail-on-regression")).expect(4);
    run(
        dir.path(),
        words("compare base slow --fail-on-regression=200"),
    )
    .expect(0);
    run(dir.path(), words("compare slow base --fail-on-regression")).expect(0);
    run(dir.path(), words("compare few few --require-verdict")).expect(5);
    let failed = run(dir.path(), words("compare base few")).expect(1);
    assert!(
        failed
            .stderr
            .contains("'base' has 100 numbers and 'few' has 2")
    );
}

#[cfg(unix)]
#[test]
fn two_commands_are_run_as_often_as_asked_and_told_apart() {
    let dir = directory();
    let line = "compare --interleave 8x1 --report json -- sleep 0.01 -- sleep 0.3";
    let report = run(dir.path(), words(line)).expect(0).json();
    assert_eq!(report["comparisons"][0]["verdict"], "worse");
    assert_eq!(report["comparisons"][0]["design"], "interleaved");
    assert!(report["comparisons"][0]["control"].is_object());
    let runs: Vec<u64> = (0..3)
        .filter_map(|side| report["tables"][0]["rows"][side][1].as_u64())
        .collect();
    assert_eq!(runs, [8, 8, 8]);
    let failed = run(
        dir.path(),
        words("compare --interleave 2x1 -- true -- false"),
    )
    .expect(1);
    assert!(
        failed.stderr.contains("the target 'false' failed"),
        "{}",
        failed.stderr
    );
    let counted = run(
        dir.path(),
        words("compare -i --interleave 2x2 --report json -- true -- false"),
    );
    assert_eq!(
        counted.expect(0).json()["tables"][0]["rows"][1][2].as_u64(),
        Some(4)
    );
}
