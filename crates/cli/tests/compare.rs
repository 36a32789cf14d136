//! `perfkit compare`: the worked example, a run against itself, and commands interleaved.

use crate::common::{directory, file, run, samples, words};

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
    let text = run(dir.path(), ["compare", "-v", "base", "target"]).expect(0);
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
    let same = run(dir.path(), ["compare", "-v", "r.json", "r.json"]).expect(0);
    assert!(
        same.text().contains("no difference (within ±"),
        "{}",
        same.text()
    );
    assert!(
        same.text()
            .contains("two separate runs, drift not controlled"),
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
    let judged = |line: &str| run(dir.path(), words(&format!("{line} --fail-unpaired")));
    let failed = judged("compare base slow --fail-on-regression").expect(4);
    let said = "the median of numbers is worse by +100 %, and --fail-on-regression without a number allows no";
    assert!(failed.stderr.contains(said), "{}", failed.stderr);
    judged("compare base slow --fail-on-regression=200").expect(0);
    judged("compare slow base --fail-on-regression").expect(0);
    // The limit lies inside the interval.
    let spread: String = (0..100).map(|at| format!("{}\n", 10_450 + at)).collect();
    file(dir.path(), "near", spread.as_bytes());
    file(dir.path(), "ten", numbers(&[(100, 10_000)]).as_bytes());
    judged("compare ten near --fail-on-regression=4").expect(4);
    judged("compare ten near --fail-on-regression=6").expect(0);
    let open = judged("compare ten near --fail-on-regression=5 -qq").expect(5);
    let said = "whether the median of numbers is worse by more than the 5 % of --fail-on-regression is not decided: ";
    assert!(open.stderr.contains(said), "{}", open.stderr);
    assert!(open.stderr.contains("passes as it is"), "{}", open.stderr);
    judged("compare ten near --fail-on-regression=5 --slo-undecided pass").expect(0);
    // Two separate runs only suggest, and say so.
    let line = "compare base slow --fail-on-regression 5% -qq";
    let suggested = run(dir.path(), words(line)).expect(0);
    let said = "the median of numbers is worse by +100 %, more than the 5 % of --fail-on-regression, but two separate runs";
    assert!(suggested.stderr.contains(said), "{}", suggested.stderr);
    run(dir.path(), words("compare base slow --fail-unpaired")).expect(2);
    run(dir.path(), words("compare few few --require-verdict")).expect(5);
    let failed = run(dir.path(), words("compare base few")).expect(1);
    assert!(
        failed
            .stderr
            .contains("'base' has 100 numbers and 'few' has 2")
    );
}

#[test]
fn a_limit_may_name_the_row_that_it_is_on() {
    let dir = directory();
    file(dir.path(), "base", numbers(&[(100, 10)]).as_bytes());
    file(dir.path(), "slow", numbers(&[(100, 20)]).as_bytes());
    let judged = |limit: &str| {
        let line = format!("compare base slow --fail-unpaired -qq --fail-on-regression {limit}");
        run(dir.path(), words(&line))
    };
    for (limit, code) in [
        ("numbers:5%", 4),
        ("[numbers]:5", 4),
        ("numbers:150%", 0),
        ("numbers.p50:5%", 4),
        ("numbers:worse", 4),
    ] {
        judged(limit).expect(code);
    }
    for (limit, said) in [
        ("cpu:5%", "the rows are: numbers"),
        ("cpuu:5%", "the rows are: numbers"),
        ("cpu:five", "'five' is not a percentage"),
        ("cpu5%", "such as cpu:5% or p99:5%"),
        ("p95:5%", "none of p50"),
    ] {
        let refused = judged(limit).expect(2);
        assert!(refused.stderr.contains(said), "{limit}: {}", refused.stderr);
    }
    // Known before anything is run.
    let line = "compare --fail-on-regression cpuu:5% -- no-such-program -- no-such-program";
    let refused = run(dir.path(), words(line)).expect(2);
    let said = "the rows are: wall, cpu, rss";
    assert!(refused.stderr.contains(said), "{}", refused.stderr);
}

#[cfg(target_os = "linux")]
#[test]
#[ignore = "long: cargo xtask ci runs it"]
fn the_memory_of_commands_has_limits_of_its_own() {
    let dir = directory();
    let judged = |limit: &str, [base, target]: [&str; 2]| {
        let dd = |bytes: &str| format!("dd if=/dev/zero of=/dev/null bs={bytes} count=1");
        let line = format!("compare --interleave 8x1 -w0 -qq --fail-on-regression {limit} --");
        let line = format!("{line} {} -- {}", dd(base), dd(target));
        run(dir.path(), words(&line))
    };
    let failed = judged("rss:10%", ["30M", "60M"]).expect(4);
    let said = "the median of rss is worse by +";
    assert!(failed.stderr.contains(said), "{}", failed.stderr);
    judged("rss:150%", ["30M", "60M"]).expect(0);
    judged("rss:10%", ["60M", "60M"]).expect(0);
    // What is not known of either decides nothing.
    let open = judged("rss:10%", ["4k", "4k"]).expect(5);
    let said = "may be that of perfkit";
    assert!(open.stderr.contains(said), "{}", open.stderr);
}

#[test]
fn a_program_in_the_place_of_results_is_run_or_refused() {
    let dir = directory();
    file(dir.path(), "base", b"1 2 3");
    file(dir.path(), "program", b"\x7fELF\x02\x01\x01\x00");
    file(dir.path(), "packed.json", b"\x1f\x8b\x08\x00");
    for (name, said) in [
        (
            "program",
            "'program' is a program (ELF), and no file of results",
        ),
        ("packed.json", "'packed.json' is compressed by gzip"),
    ] {
        for line in [format!("compare base {name}"), format!("report {name}")] {
            let refused = run(dir.path(), words(&line)).expect(2);
            assert!(refused.stderr.contains(said), "{line}: {}", refused.stderr);
        }
    }
}

#[cfg(unix)]
#[test]
fn two_files_that_are_programs_are_run() {
    use std::os::unix::fs::PermissionsExt as _;
    let dir = directory();
    for name in ["old.run", "new.run"] {
        file(dir.path(), name, b"#!/bin/sh\nexit 3\n");
        let path = dir.path().join(name);
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).expect("set");
    }
    // It fails in the first run, and so was run.
    let failed = run(dir.path(), words("compare old.run new.run")).expect(1);
    let said = "the baseline './old.run' failed";
    assert!(failed.stderr.contains(said), "{}", failed.stderr);
    // A program and a file are no pair.
    file(dir.path(), "base", b"1 2 3");
    let refused = run(dir.path(), words("compare base new.run")).expect(1);
    assert!(refused.stderr.contains("new.run"), "{}", refused.stderr);
}

#[test]
fn a_tail_that_differs_is_said_and_can_fail_where_the_median_is_the_same() {
    let dir = directory();
    let column = |slow: u32| -> String {
        let value = |nth: u32| if nth % 20 == 7 { slow } else { 100 + nth % 3 };
        (0..2_000).map(|nth| format!("{}\n", value(nth))).collect()
    };
    file(dir.path(), "base", column(110).as_bytes());
    file(dir.path(), "slow", column(1_100).as_bytes());
    let judged = |line: &str| run(dir.path(), words(&format!("compare base slow {line}")));
    let shown = judged("").expect(0);
    let said = "numbers: median: no difference beyond ±1 %";
    assert!(shown.text().contains(said), "{}", shown.text());
    let tail = "p99 worse by 10.0x (interval 10.0x to 10.0x)";
    let flat = shown
        .text()
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ");
    assert!(flat.contains(tail), "{flat}");
    let csv = judged("--report csv").expect(0);
    assert!(csv.text().contains(tail), "{}", csv.text());
    // The limit is on the median, and it is said what that leaves out.
    let passed = judged("--fail-on-regression 5% --fail-unpaired").expect(0);
    let said = "the limit is on the median, and of numbers p99 worse by 10.0x";
    assert!(passed.stderr.contains(said), "{}", passed.stderr);
    let failed = judged("--fail-on-regression p99:5% --fail-unpaired -qq").expect(4);
    let said = "p99 of numbers is worse by +900 %, more than the 5 % of --fail-on-regression";
    assert!(failed.stderr.contains(said), "{}", failed.stderr);
    judged("--fail-on-regression 5% --fail-on-regression p99:5% --fail-unpaired").expect(4);
    judged("--fail-on-regression p99:1000 --fail-unpaired").expect(0);
    // There are too few for this one.
    let open = judged("--fail-on-regression=p99.9:5% --fail-unpaired").expect(5);
    assert!(
        open.stderr.contains("2000 values of the baseline"),
        "{}",
        open.stderr
    );
    judged("--fail-on-regression=p95:5%").expect(2);
}

#[test]
fn the_margin_decides_what_counts_as_none() {
    let dir = directory();
    let noisy = |shift: u32| -> String {
        (0..200)
            .map(|at| format!("{}\n", 100_000 + at * 37 % 100 * 10 + shift))
            .collect()
    };
    file(dir.path(), "base", noisy(0).as_bytes());
    file(dir.path(), "near", noisy(20).as_bytes());
    let verdict = |line: &str| {
        let report = run(dir.path(), words(line)).expect(0).json();
        let found = &report["comparisons"][0];
        (found["verdict"].clone(), found["margin"].as_f64())
    };
    let (word, margin) = verdict("compare base near --report json");
    assert_eq!((word, margin), ("no_difference".into(), Some(0.01)));
    let (_, margin) = verdict("compare base near --margin 3 --report json");
    assert_eq!(margin, Some(0.03));
    run(dir.path(), words("compare base near --margin=-1")).expect(2);
}

#[cfg(unix)]
#[test]
#[ignore = "long: cargo xtask ci runs it"]
fn rounds_are_added_until_the_verdict_stands() {
    let dir = directory();
    // Far enough apart for a busy machine.
    let line = "compare --max-time 60s --report json -- sleep 0.001 -- sleep 0.5";
    let report = run(dir.path(), words(line)).expect(0).json();
    let found = &report["comparisons"][0];
    assert_eq!(found["verdict"], "worse");
    assert!(found["pairs"].as_u64() >= Some(6), "{found}");
    assert!(report["workload"]["params"]["looks"].as_u64() >= Some(1));
    // The time ends a run, whatever the verdict; each command has had its rounds.
    let line = "compare --interleave 7x1 --max-time 1ms -w 0 --report json -- true -- true";
    let report = run(dir.path(), words(line)).expect(0).json();
    assert_eq!(report["comparisons"][0]["pairs"], 7);
}

#[cfg(unix)]
#[test]
#[ignore = "long: cargo xtask ci runs it"]
fn two_commands_are_run_as_often_as_asked_and_told_apart() {
    let dir = directory();
    // Far enough apart for a busy machine, and enough rounds for some that it delayed.
    let line = "compare --interleave 12x1 --report json -- sleep 0.01 -- sleep 0.4";
    let report = run(dir.path(), words(line)).expect(0).json();
    assert_eq!(report["comparisons"][0]["verdict"], "worse");
    assert_eq!(report["comparisons"][0]["design"], "interleaved");
    assert!(report["comparisons"][0]["control"].is_object());
    let runs: Vec<u64> = (0..3)
        .filter_map(|side| report["tables"][0]["rows"][side][1].as_u64())
        .collect();
    assert_eq!(runs, [12, 12, 12]);
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

#[test]
fn plain_numbers_carry_no_unit_and_no_pairs_no_percentages() {
    let dir = directory();
    file(dir.path(), "base", numbers(&[(20, 100)]).as_bytes());
    file(dir.path(), "zeros", numbers(&[(20, 0)]).as_bytes());
    let row_of = |line: &str| {
        let shown = run(dir.path(), words(line)).expect(0);
        let mut lines = shown.text().lines();
        let row = lines.find(|line| line.trim_start().starts_with("numbers  "));
        row.expect("the row").to_owned()
    };
    assert!(!row_of("compare base base").contains(" ns"));
    let row = run(dir.path(), words("compare base base --report json"))
        .expect(0)
        .json()["comparisons"][0]
        .clone();
    assert!(row["baseline_median_ns"].is_null());
    assert_eq!(row["baseline_median"].as_f64(), Some(100.0));
    let none = run(dir.path(), words("compare zeros base --report json"))
        .expect(0)
        .json()["comparisons"][0]
        .clone();
    assert_eq!(none["pairs"].as_u64(), Some(0));
    assert!(none["difference"].is_null(), "{none}");
    let line = row_of("compare zeros base");
    assert!(!line.contains('%'), "{line}");
    assert!(line.contains('—'), "{line}");
}

#[test]
fn a_threshold_that_is_no_percentage_is_a_wrong_command_line() {
    let dir = directory();
    file(dir.path(), "base", b"1 2 3 4 5 6 7");
    for threshold in ["nan", "inf", "-1", "-inf"] {
        let line = format!("compare base base --fail-on-regression={threshold}");
        let refused = run(dir.path(), words(&line)).expect(2);
        assert!(refused.stderr.contains("fail-on-regression"), "{threshold}");
    }
}

#[test]
fn a_file_without_numbers_says_so() {
    let dir = directory();
    file(dir.path(), "base", b"1 2");
    file(dir.path(), "empty", b"");
    file(dir.path(), "comment", b"# nothing\n");
    let failed = run(dir.path(), words("compare base empty")).expect(1);
    assert!(failed.stderr.contains("'empty': the file is empty"));
    let failed = run(dir.path(), words("compare comment base")).expect(1);
    assert!(
        failed
            .stderr
            .contains("'comment': there are no numbers in it")
    );
}

#[test]
fn every_form_of_a_comparison_says_its_numbers_reason_and_label() {
    let dir = directory();
    file(dir.path(), "base", numbers(&[(100, 10)]).as_bytes());
    file(dir.path(), "slow", numbers(&[(100, 20)]).as_bytes());
    let csv = run(dir.path(), words("compare base slow --report csv")).expect(0);
    let lines: Vec<&str> = csv.text().lines().collect();
    assert_eq!(lines.len(), 2, "{lines:?}");
    let columns: Vec<&str> = lines[0].split(',').collect();
    let fields: Vec<&str> = lines[1].split(',').collect();
    let field = |name: &str| {
        let at = columns.iter().position(|column| *column == name);
        fields[at.expect("a column")]
    };
    assert_eq!((field("median"), field("verdict")), ("1", "worse"));
    assert_eq!(
        (field("baseline_median"), field("baseline_median_ns")),
        ("10", "")
    );
    for form in ["text", "markdown"] {
        let line = format!("compare base slow --report {form}");
        let shown = run(dir.path(), words(&line)).expect(0);
        for said in [
            "baseline base, target slow",
            "slower by 100.00 %",
            "two separate runs, drift not controlled",
        ] {
            assert!(shown.text().contains(said), "{said} in {}", shown.text());
        }
    }
}

#[cfg(unix)]
#[test]
fn what_prepares_a_run_goes_before_each_and_is_not_timed() {
    let dir = directory();
    let compare = |script: &str| {
        let mut line = words("compare --interleave 2x1 -w 0 --report json --prepare");
        line.push(script.to_owned());
        // It fails where there is a directory already.
        line.extend(words("-- mkdir out -- mkdir out"));
        run(dir.path(), line)
    };
    let report = compare("sleep 0.7; rm -rf out; echo >> times")
        .expect(0)
        .json();
    assert_eq!(report["tables"][0]["rows"][0][1], 2);
    // The quickest of them: a busy machine delays some.
    assert!(report["latencies"][0]["min_ns"].as_u64().expect("a time") < 700_000_000);
    assert_eq!(
        std::fs::read(dir.path().join("times")).expect("read").len(),
        6
    );
    let failed = compare("exit 3").expect(1);
    assert!(
        failed.stderr.contains("--prepare 'exit 3' failed"),
        "{}",
        failed.stderr
    );
}

#[cfg(unix)]
#[test]
#[ignore = "long: cargo xtask ci runs it"]
fn two_quoted_commands_run_until_the_verdict_stands() {
    let dir = directory();
    let both = |flags: &[&str], a: &str, b: &str| {
        run(
            dir.path(),
            [&["compare", "--report", "json"], flags, &[a, b]].concat(),
        )
    };
    let report = both(&["--max-time", "60s"], "sleep 0.002", "sleep '0.5'")
        .expect(0)
        .json();
    let found = &report["comparisons"][0];
    assert_eq!(
        (&found["verdict"], &found["design"]),
        (&"worse".into(), &"interleaved".into())
    );
    assert_eq!(report["workload"]["params"]["target"], "sleep 0.5");
    // One word is a command where it is said how often to run it.
    let report = both(&["--interleave", "7"], "true", "true")
        .expect(0)
        .json();
    assert_eq!(report["comparisons"][0]["pairs"], 7);
    // Words that are no programs are files.
    let failed = both(&[], "no-such.json", "other.json").expect(1);
    assert!(
        failed.stderr.contains("cannot read 'no-such.json'"),
        "{}",
        failed.stderr
    );
    both(&["--interleave", "7"], "true", "echo 'open").expect(2);
    both(&["--interleave", "7"], "true", " ").expect(2);
}

#[cfg(unix)]
#[test]
#[ignore = "long: cargo xtask ci runs it"]
fn a_percentage_may_follow_its_flag() {
    let dir = directory();
    let line = |flags: &str| {
        let words = words(&format!("compare -qq --interleave 12 {flags}"));
        // Far enough apart for a busy machine.
        let commands = ["sleep 0.002", "sleep 0.4"].map(str::to_owned);
        run(dir.path(), [words, commands.to_vec()].concat())
    };
    let failed = line("--fail-on-regression 5%").expect(4);
    assert!(
        failed
            .stderr
            .contains("more than the 5 % of --fail-on-regression"),
        "{}",
        failed.stderr
    );
    line("--fail-on-regression").expect(4);
    line("--fail-on-regression 100000").expect(0);
    line("--fail-on-regression=100000%").expect(0);
}

#[test]
fn files_of_other_tools_are_compared_by_their_samples() {
    let dir = directory();
    let times = |factor: f64| -> String {
        let times = (0..60).map(|at| format!("{}", factor * (1.0 + f64::from(at % 7) / 1000.0)));
        times.collect::<Vec<_>>().join(",")
    };
    let hyperfine = |name: &str, factor: f64| {
        let text = format!(
            "{{\"results\": [{{\"command\": \"a\", \"times\": [{}]}}]}}",
            times(factor)
        );
        file(dir.path(), name, text.as_bytes());
    };
    hyperfine("one.json", 1.0);
    hyperfine("two.json", 1.5);
    let report = run(dir.path(), words("compare one.json two.json --report json"))
        .expect(0)
        .json();
    let found = &report["comparisons"][0];
    assert_eq!(
        (&found["verdict"], &found["row"]),
        (&"worse".into(), &"a".into())
    );
    assert_eq!(
        found["baseline_median_ns"].as_f64().map(f64::round),
        Some(1_003_000_000.0)
    );
    // Statistics decide nothing.
    let k6 = r#"{"metrics": {"http_req_duration": {"avg": 1, "med": 1, "p(95)": 2}}}"#;
    file(dir.path(), "k6.json", k6.as_bytes());
    let refused = run(dir.path(), words("compare k6.json k6.json")).expect(1);
    assert!(
        refused.stderr.contains("statistics alone decide nothing"),
        "{}",
        refused.stderr
    );
    run(dir.path(), words("compare one.json k6.json")).expect(1);
    let shown = run(dir.path(), words("report k6.json")).expect(0);
    for said in [
        "as stated by k6, without samples",
        "quantiles only",
        "http_req_duration",
    ] {
        assert!(shown.text().contains(said), "{said} in {}", shown.text());
    }
}

/// A log of 40 seconds with 100 values each, of which every fiftieth takes `slow` times as long.
fn log(slow: u64) -> String {
    use latency::report::{Latency, LatencyName, Timing};
    let mut log = String::from("#[StartTime: 1700000000.000 (seconds since epoch)]\n");
    for nth in 0..40 {
        let mut histogram =
            latency::Histogram::<u64>::new_with_bounds(1, 1 << 40, 3).expect("bounds");
        for at in 0..100 {
            let factor = if at % 50 == 7 { slow } else { 1 };
            let value = factor * (1_000_000 + (nth * 7 + at * 13) % 997 * 10);
            histogram.record(value).expect("in range");
        }
        let row = Latency::from_histogram(LatencyName::Service, "call", Timing::Actual, &histogram);
        let mut one = Vec::new();
        let start = std::time::SystemTime::UNIX_EPOCH;
        latency::hlog::write(&mut one, start, &[&row], None).expect("written");
        let one = String::from_utf8(one).expect("text");
        let payload = one.trim_end().rsplit(',').next().expect("a histogram");
        log += &format!("{nth}.000,1.000,1.0,{payload}\n");
    }
    log
}

#[test]
fn the_tails_of_two_logs_are_compared() {
    let dir = directory();
    file(dir.path(), "a.hlog", log(1).as_bytes());
    file(dir.path(), "b.hlog", log(9).as_bytes());
    let found = run(dir.path(), words("compare a.hlog b.hlog --report json"));
    let found = found.expect(0).json();
    let row = &found["comparisons"][0];
    assert_eq!(row["pairs"], 40);
    let tails = row["tails"].as_array().expect("tails");
    let p99 = tails.iter().find(|tail| tail["p"] == 99.0).expect("p99");
    assert_eq!(p99["verdict"], "worse", "{p99}");
    assert!(
        p99["difference"]
            .as_f64()
            .is_some_and(|share| (7.5..8.5).contains(&share)),
        "{p99}"
    );
    let line = "compare a.hlog b.hlog --fail-on-regression p99:5% --fail-unpaired";
    let failed = run(dir.path(), words(line)).expect(4);
    assert!(
        failed.stderr.contains("p99 of service is worse by"),
        "{}",
        failed.stderr
    );
    // A log and the report that was made from the other.
    run(dir.path(), words("report b.hlog -qq -o b.json")).expect(0);
    let mixed = run(dir.path(), words("compare a.hlog b.json --report json"))
        .expect(0)
        .json();
    assert_eq!(mixed["comparisons"][0]["tails"], row["tails"]);
    // What is assumed of them is said.
    let shown = run(dir.path(), words("compare a.hlog b.hlog")).expect(0);
    let flat = shown
        .text()
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ");
    assert!(
        flat.contains("a.hlog: The values were taken for nanoseconds"),
        "{flat}"
    );
}

#[test]
fn two_distributions_are_compared_percentile_by_percentile() {
    let dir = directory();
    let steps = |scale: f64| -> String {
        let mut text = String::from("Value Percentile TotalCount 1/(1-Percentile)\n\n");
        for step in 1..=1_000 {
            let share = f64::from(step) / 1_000.0;
            let value = scale * (1.0 + share);
            text += &format!("{value:.3} {share:.6} {} 1.0\n", step * 10);
        }
        text
    };
    file(dir.path(), "a.hgrm", steps(100.0).as_bytes());
    file(dir.path(), "b.hgrm", steps(130.0).as_bytes());
    let line = "compare a.hgrm b.hgrm --fail-on-regression p50:5% --fail-unpaired --report json";
    let found = run(dir.path(), words(line)).expect(4).json();
    let row = &found["comparisons"][0];
    assert_eq!(
        (&row["verdict"], &row["design"]),
        (&"worse".into(), &"sequential".into())
    );
    let ps: Vec<_> = row["tails"]
        .as_array()
        .expect("tails")
        .iter()
        .map(|tail| tail["p"].as_f64())
        .collect();
    assert_eq!(ps, [Some(50.0), Some(90.0), Some(99.0), Some(99.9)]);
    let shown = run(dir.path(), words("compare a.hgrm b.hgrm")).expect(0);
    let flat = shown
        .text()
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ");
    assert!(
        flat.contains("b.hgrm against a.hgrm; p50 worse by 30"),
        "{flat}"
    );
    let same = run(
        dir.path(),
        words("compare a.hgrm a.hgrm --fail-on-regression 5% --fail-unpaired"),
    );
    same.expect(0);
}

#[test]
#[cfg(unix)]
fn runs_that_failed_are_told_where_they_count() {
    let dir = directory();
    let line = "compare --interleave 3 true false --ignore-failure";
    let told = run(dir.path(), words(line));
    let text = told.text().split_whitespace().collect::<Vec<_>>().join(" ");
    let expected = "3 of 3 runs of the target failed, and the times are not compared";
    assert!(text.contains(expected), "{text}");
    assert!(!text.contains("of the baseline failed"), "{text}");
    // What fails in both is what was to be compared.
    let told = run(dir.path(), words("compare --interleave 3 false false -i"));
    let text = told.text().split_whitespace().collect::<Vec<_>>().join(" ");
    let expected = "3 of 3 runs of the target failed, and their times count";
    assert!(text.contains(expected), "{text}");
}

#[test]
#[cfg(unix)]
fn a_target_that_fails_passes_no_limit_on_its_time_and_misses_one_on_its_errors() {
    let dir = directory();
    let line = |flags: &str, sides: &str| {
        let line = format!("compare --interleave 8x1 -w0 -i {flags} -- {sides}");
        run(dir.path(), words(&line))
    };
    // However much time it is given.
    let told = line("--fail-on-regression 100000000%", "true -- false").expect(5);
    let expected = "8 of 8 runs of the target failed";
    assert!(told.stderr.contains(expected), "{}", told.stderr);
    line("--fail-on-regression 100000000%", "false -- false").expect(0);
    for form in ["", "-v", "--report json"] {
        let told = line(&format!("{form} --slo error_rate<=0.01"), "true -- false").expect(4);
        assert!(
            told.stderr.contains("8 of 8 runs of the target failed"),
            "{}",
            told.stderr
        );
    }
    // What is missed counts more than what is not decided.
    let flags = "--slo error_rate<=0.01 --fail-on-regression 5%";
    let told = line(flags, "true -- false").expect(4);
    assert!(
        told.stderr.contains("error_rate<=0.01 missed"),
        "{}",
        told.stderr
    );
    // That so few did not fail proves nothing, and what the baseline does is not judged.
    let told = line("--slo error_rate<=0.01", "false -- true").expect(5);
    assert!(told.stderr.contains("0 of 8 runs"), "{}", told.stderr);
}

#[test]
#[cfg(target_os = "linux")]
fn memory_that_may_be_our_own_is_not_stated_in_any_form() {
    let dir = directory();
    for (limit, code) in [("1M", 5), ("4.6M", 5), ("7M", 5), ("200M", 0)] {
        for form in ["-qq", "", "-v", "--report json"] {
            let line =
                format!("compare {form} --interleave 6x1 -w0 --slo rss<={limit} -- true -- true");
            let told = run(dir.path(), words(&line)).expect(code);
            if form == "--report json" {
                let table = &told.json()["tables"][0];
                let columns = table["columns"].as_array().expect("columns");
                let at = columns
                    .iter()
                    .position(|column| column["key"] == "rss_max_bytes");
                let cell = &table["rows"][1][at.expect("the column")];
                assert!(cell.is_null(), "{cell}");
            }
        }
    }
}

/// A file of pytest-benchmark: each benchmark with its rounds, or with statistics alone.
fn pytest(rows: &[(&str, f64, bool)]) -> String {
    let row = |(name, seconds, has_rounds): &(&str, f64, bool)| {
        let times = (0..60).map(|at| seconds * (1.0 + f64::from(at * 7 % 11) / 1000.0));
        let times: Vec<String> = times.map(|time| time.to_string()).collect();
        let data = match has_rounds {
            true => format!(", \"data\": [{}]", times.join(", ")),
            false => String::new(),
        };
        format!(
            "{{\"name\": \"{name}\", \"stats\": {{\"mean\": {seconds}, \"median\": {seconds}, \"rounds\": 60, \
             \"iterations\": 1{data}}}}}"
        )
    };
    let rows: Vec<String> = rows.iter().map(row).collect();
    format!(
        "{{\"machine_info\": {{}}, \"benchmarks\": [{}]}}",
        rows.join(", ")
    )
}

#[test]
fn a_row_that_cannot_be_compared_is_named_and_passes_no_gate() {
    let dir = directory();
    let gate = "--fail-on-regression 5% --fail-unpaired";
    let mut base = vec![("f", 1.0, true), ("g", 1.0, false)];
    let mut target = vec![("f", 1.0, true), ("g", 3.0, false)];
    for _ in 0..2 {
        file(dir.path(), "a.json", pytest(&base).as_bytes());
        file(dir.path(), "b.json", pytest(&target).as_bytes());
        let line = format!("compare a.json b.json {gate}");
        let told = run(dir.path(), words(&line)).expect(5);
        assert!(told.stderr.contains("of g is worse"), "{}", told.stderr);
        let text = told.text().split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains("statistics of it without samples"), "{text}");
        let report = run(dir.path(), words("compare a.json b.json --report json"))
            .expect(0)
            .json();
        let rows = report["comparisons"]
            .as_array()
            .expect("comparisons")
            .iter();
        let rows: Vec<_> = rows
            .map(|row| row["row"].as_str().unwrap_or_default())
            .collect();
        assert!(rows.contains(&"f") && rows.contains(&"g"), "{rows:?}");
        assert!(
            report["findings"].to_string().contains("g"),
            "{}",
            report["findings"]
        );
        // Also where so many rows are compared that they are summed up.
        for name in ["h", "i", "j", "k"] {
            base.push((name, 1.0, true));
            target.push((name, 1.0, true));
        }
    }
    // Nothing but statistics is no file to compare.
    file(
        dir.path(),
        "c.json",
        pytest(&[("g", 1.0, false)]).as_bytes(),
    );
    run(dir.path(), words("compare c.json c.json")).expect(1);
}

#[test]
fn calls_of_jmh_are_compared_by_their_percentiles() {
    let dir = directory();
    let jmh = |scale: u32| {
        let counts = (1000..1200).map(|us| format!("[{}, 50]", f64::from(us * scale) / 1000.0));
        let counts: Vec<String> = counts.collect();
        let metric = |data: &str| format!("{{\"scoreUnit\": \"ms/op\", {data}}}");
        let calls = metric(&format!(
            "\"rawDataHistogram\": [[[{}]]]",
            counts.join(", ")
        ));
        let means = metric(&format!("\"rawData\": [[{}]]", ["2.0"; 20].join(", ")));
        let row = |name: &str, mode: &str, metric: String| {
            format!(
                "{{\"benchmark\": \"{name}\", \"mode\": \"{mode}\", \"primaryMetric\": {metric}}}"
            )
        };
        format!(
            "[{}, {}]",
            row("calls", "sample", calls),
            row("means", "avgt", means)
        )
    };
    file(dir.path(), "a.json", jmh(1).as_bytes());
    file(dir.path(), "b.json", jmh(3).as_bytes());
    let gate = "--fail-on-regression 5% --fail-unpaired";
    run(dir.path(), words(&format!("compare a.json a.json {gate}"))).expect(0);
    let line = format!("compare a.json b.json {gate} --export-json found.json");
    let told = run(dir.path(), words(&line)).expect(4);
    assert!(
        told.stderr.contains("of calls (sample) is worse"),
        "{}",
        told.stderr
    );
    // What was written is read again.
    run(dir.path(), words("report found.json")).expect(0);
}

#[test]
fn runs_that_drift_do_not_pass_by_it() {
    let dir = directory();
    // Each run goes up and down by half, and the target is in its valley longer.
    let wave = |at: usize, low: f64| match at / 10 % 2 {
        0 => low,
        _ => 150.0,
    };
    let text = |low: f64| -> String {
        (0..100)
            .map(|at| format!("{}\n", wave(at, low) + (at % 7) as f64 / 10.0))
            .collect()
    };
    file(dir.path(), "a.txt", text(100.0).as_bytes());
    file(dir.path(), "b.txt", text(90.0).as_bytes());
    let line = "compare a.txt b.txt --fail-on-regression 5% --fail-unpaired";
    let told = run(dir.path(), words(line)).expect(5);
    let said = "drift within the runs can hide";
    assert!(told.stderr.contains(said), "{}", told.stderr);
    // Undecided as it is, it fails nothing without --fail-unpaired.
    run(
        dir.path(),
        words("compare a.txt b.txt --fail-on-regression 5%"),
    )
    .expect(0);
}
