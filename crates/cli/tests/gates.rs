//! What continuous integration reads of gates and comparisons: JUnit, CSV, every round, and what would decide.

use crate::common::{directory, file, run, words};
use crate::reports::WRK2_OUTPUT;

fn column(count: u32, of: impl Fn(u32) -> u32) -> String {
    (0..count).map(|nth| format!("{}\n", of(nth))).collect()
}

#[test]
fn gates_and_limits_are_test_cases_of_junit() {
    let dir = directory();
    file(dir.path(), "base", column(100, |_| 10).as_bytes());
    file(dir.path(), "slow", column(100, |_| 20).as_bytes());
    let xml = |line: &str, code: i32| {
        run(
            dir.path(),
            words(&format!("{line} -qq -f --export-junit r.xml")),
        )
        .expect(code);
        std::fs::read_to_string(dir.path().join("r.xml")).expect("written")
    };
    let limited = "compare base slow --fail-on-regression 5% --fail-on-regression 200%";
    let found = xml(&format!("{limited} --fail-unpaired"), 4);
    for part in [
        "tests=\"2\" failures=\"1\" errors=\"0\" skipped=\"0\"",
        "<testsuite name=\"perfkit compare\"",
        "name=\"numbers: 5%\"",
        "<failure type=\"missed\" message=\"the median of numbers is worse by +100 %, more than the 5 %",
        "name=\"numbers: 200%\" time=\"0\"/>",
    ] {
        assert!(found.contains(part), "{part}: {found}");
    }
    // Two separate runs only suggest it.
    let found = xml(limited, 0);
    assert!(
        found.contains("failures=\"0\" errors=\"0\" skipped=\"1\""),
        "{found}"
    );
    file(dir.path(), "data", &b"some content ".repeat(9_000));
    let job = "compress data -o out.zst --slo max<=10s --slo min<=1ns --slo p99.99<=10s";
    let found = xml(job, 4);
    assert!(found.contains("tests=\"3\" failures=\"2\""), "{found}");
    assert!(
        found.contains("name=\"max&lt;=10s\" time=\"0\"/>"),
        "{found}"
    );
    assert!(found.contains("<failure type=\"not decided\""), "{found}");
    let found = xml(&format!("{job} --slo-undecided pass"), 4);
    assert!(
        found.contains("failures=\"1\" errors=\"0\" skipped=\"1\""),
        "{found}"
    );
    // A saved report is judged anew, and the limits of a comparison stay.
    run(
        dir.path(),
        words(&format!("{limited} -qq --export-json c.json")),
    )
    .expect(0);
    let found = xml("report c.json", 0);
    assert!(found.contains("name=\"numbers: 5%\""), "{found}");
    let missing = "compress data -f -o out.zst --slo p99<=1s --export-junit no/such/r.xml";
    run(dir.path(), words(missing)).expect(1);
}

#[test]
fn what_csv_has_is_what_its_help_says() {
    let dir = directory();
    let help = run(dir.path(), words("compare --help")).expect(0);
    let flat = help.text().split_whitespace().collect::<Vec<_>>().join(" ");
    let says = "One line per comparison of compare, per setting of compress-bench, and per distribution of any other command";
    assert!(flat.contains(says), "{flat}");
    file(dir.path(), "base", column(100, |_| 10).as_bytes());
    run(
        dir.path(),
        words("compare base base -qq --export-csv c.csv"),
    )
    .expect(0);
    let csv = std::fs::read_to_string(dir.path().join("c.csv")).expect("written");
    assert!(csv.starts_with("command,row,baseline,target,"), "{csv}");
    assert_eq!(csv.lines().count(), 2);
}

#[cfg(unix)]
#[test]
fn every_round_is_in_the_report_on_request() {
    let dir = directory();
    let line = "compare -qq --interleave 6x2 --samples --export-json c.json --export-csv c.csv --csv-table rounds -- true -- true";
    run(dir.path(), words(line)).expect(0);
    let json = std::fs::read_to_string(dir.path().join("c.json")).expect("written");
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    let tables = json["tables"].as_array().expect("tables");
    let rounds = tables.iter().find(|table| table["name"] == "rounds");
    let records = rounds.expect("the table")["records"]
        .as_array()
        .expect("rows");
    assert_eq!(records.len(), 6);
    for (nth, record) in records.iter().enumerate() {
        assert_eq!(record["round"], nth + 1);
        for side in ["baseline", "target", "control"] {
            assert!(
                record[format!("{side}_wall_ns")].as_u64() > Some(0),
                "{record}"
            );
            assert!(record[format!("{side}_cpu_ns")].is_u64(), "{record}");
        }
    }
    let csv = std::fs::read_to_string(dir.path().join("c.csv")).expect("written");
    assert!(csv.starts_with("round,baseline_wall_ns,"), "{csv}");
    // Which programs ran is known, and others in their places are noticed.
    let programs = json["workload"]["programs"].as_array().expect("programs");
    assert_eq!(programs.len(), 1);
    assert!(programs[0]["xxh64"].is_string(), "{programs:?}");
    let plain = "compare --interleave 6 --report json -- true -- true";
    let plain = run(dir.path(), words(plain)).expect(0).json();
    let tables = plain["tables"].as_array().expect("tables");
    assert!(tables.iter().all(|table| table["name"] != "rounds"));
}

#[cfg(unix)]
#[test]
fn a_program_that_changed_is_a_difference_of_a_rerun() {
    use std::os::unix::fs::PermissionsExt as _;
    let dir = directory();
    let path = file(dir.path(), "job", b"#!/bin/sh\ntrue\n");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).expect("set");
    run(
        dir.path(),
        words("compare -qq --interleave 6 --export-json c.json -- ./job -- true"),
    )
    .expect(0);
    run(
        dir.path(),
        words("hyperfine -N -r1 --style=none ./job --export-json h.json"),
    )
    .expect(0);
    let says = |name: &str| {
        let line = format!("rerun --dry-run {name}");
        run(dir.path(), words(&line))
            .expect(0)
            .text()
            .contains("program './job': XXH64 ")
    };
    assert!(!says("c.json") && !says("h.json"));
    std::fs::write(&path, "#!/bin/sh\nfals\n").expect("written");
    assert!(says("c.json") && says("h.json"));
}

#[test]
fn a_command_for_a_shell_is_refused_and_says_how_to_name_one() {
    let dir = directory();
    for (line, sign) in [
        ("echo a | cat", "|"),
        ("echo a > b", ">"),
        ("true && true", "&&"),
        ("echo $HOME", "$HOME"),
    ] {
        let refused = run(dir.path(), ["compare", "--interleave=6", "true", line]).expect(2);
        let said = format!("the command '{line}' has '{sign}', and no shell runs it");
        assert!(refused.stderr.contains(&said), "{}", refused.stderr);
        assert!(refused.stderr.contains("sh -c"), "{}", refused.stderr);
    }
    assert!(!dir.path().join("b").exists());
}

#[cfg(unix)]
#[test]
fn a_command_with_a_shell_of_its_own_or_a_quoted_sign_runs() {
    let dir = directory();
    let line = [
        "compare",
        "-qq",
        "--interleave=6",
        "sh -c 'echo a | cat'",
        "echo '|' \">\"",
    ];
    run(dir.path(), line).expect(0);
}

#[test]
fn a_tail_that_is_not_compared_says_how_many_values_it_needs() {
    let dir = directory();
    // Neighbours that differ by much do not depend on each other.
    let spread = |nth: u32| 10_000 + (nth.wrapping_mul(2_654_435_761) >> 20);
    for (count, code) in [(436, 5), (437, 0)] {
        file(dir.path(), "base", column(count, spread).as_bytes());
        let line = "compare base base -qq --fail-unpaired --fail-on-regression p99:500%";
        let found = run(dir.path(), words(line)).expect(code);
        let says = found
            .stderr
            .contains("436 values of the baseline, 437 needed");
        assert_eq!(says, code == 5, "{}", found.stderr);
    }
}

/// What wrk2 prints before the rates if something failed.
const WRK2_ERRORS: &str = "  1000 requests in 10.00s, 1.00MB read
  Socket errors: connect 0, read 0, write 0, timeout 36
  Non-2xx or 3xx responses: 10
Requests/sec:";

#[test]
fn errors_that_wrk2_states_are_those_of_a_gate_and_its_maximum_is_exact() {
    let dir = directory();
    let printed = WRK2_OUTPUT.replace("Requests/sec:", WRK2_ERRORS);
    file(dir.path(), "wrk2.txt", printed.as_bytes());
    let gated = |gate: &str, code: i32| {
        let line = ["report", "wrk2.txt", "--slo", gate];
        run(dir.path(), line).expect(code)
    };
    let failed = gated("error_rate<=1%", 4);
    assert!(
        failed.stderr.contains("46 of 1036 failed"),
        "{}",
        failed.stderr
    );
    gated("error_rate<=10%", 0);
    gated("throughput>=99", 0);
    gated("max<=12ms", 0);
    gated("min<=311us", 4);
    // The same of the report that was made of it.
    run(
        dir.path(),
        words("report wrk2.txt -qq --export-json w.json"),
    )
    .expect(0);
    run(dir.path(), words("report w.json --slo error_rate<=1%")).expect(4);
    run(dir.path(), words("report w.json --slo max<=12ms")).expect(0);
    let shown = run(dir.path(), words("report wrk2.txt")).expect(0);
    assert!(
        shown.text().contains("requests that failed"),
        "{}",
        shown.text()
    );
}

#[test]
fn test_cases_of_an_earlier_run_do_not_outlive_one_that_failed() {
    let dir = directory();
    file(dir.path(), "base", column(100, |_| 10).as_bytes());
    file(dir.path(), "bad", b"10\nx\n");
    let cases = || std::fs::read_to_string(dir.path().join("r.xml")).expect("written");
    for failing in [
        "compare base gone --fail-on-regression 5%",
        "compare base bad --fail-on-regression 5%",
        "compare --interleave 6 --fail-on-regression 5% -- true -- false",
        "report gone --slo p50<=1s",
    ] {
        run(
            dir.path(),
            words("compare base base -qq -f --fail-on-regression 5% --export-junit r.xml"),
        )
        .expect(0);
        assert!(cases().contains("errors=\"0\""), "{}", cases());
        let flags = "-qq -f --export-junit r.xml";
        let (command, rest) = failing.split_once(' ').expect("words");
        let failed = run(dir.path(), words(&format!("{command} {flags} {rest}"))).expect(1);
        let found = cases();
        assert!(
            found.contains("tests=\"1\" failures=\"0\" errors=\"1\""),
            "{failing}: {found}"
        );
        let reason = failed.stderr.lines().next().expect("a line");
        let reason = reason.trim_start_matches("perfkit: ").split('\'').next();
        assert!(found.contains(reason.expect("text")), "{failing}: {found}");
        // What is there is replaced only if that is asked for.
        let before = cases();
        let line = format!("{command} -qq --export-junit r.xml {rest}");
        run(dir.path(), words(&line)).expect(1);
        assert_eq!(cases(), before, "{failing}");
    }
}

#[test]
fn a_median_that_doubles_among_two_usual_values_passes_no_gate() {
    let dir = directory();
    let two = |of_upper: u32| {
        move |nth: u32| {
            let place = if nth * 37 % 100 < of_upper {
                200_000
            } else {
                100_000
            };
            place + nth
        }
    };
    file(dir.path(), "base", column(1_000, two(35)).as_bytes());
    file(dir.path(), "slow", column(1_000, two(65)).as_bytes());
    let line = "compare base slow -qq --fail-unpaired --fail-on-regression 5%";
    let told = run(dir.path(), words(line));
    assert!(
        matches!(told.code, Some(4 | 5)),
        "{:?} {}",
        told.code,
        told.stderr
    );
    let remedy = "look at the distributions (-v), and limit a percentile";
    let is_told = told.code == Some(4) || told.stderr.contains(remedy);
    assert!(is_told, "{}", told.stderr);
    let line = "compare slow base -qq --fail-unpaired --fail-on-regression 5%";
    let told = run(dir.path(), words(line));
    assert_ne!(told.code, Some(4), "{}", told.stderr);
    file(
        dir.path(),
        "zeros",
        column(100, |nth| u32::from(nth >= 80)).as_bytes(),
    );
    file(dir.path(), "ones", column(100, |_| 1).as_bytes());
    let line = "compare zeros ones -qq --fail-unpaired --fail-on-regression 5%";
    let told = run(dir.path(), words(line)).expect(5);
    assert!(
        told.stderr.contains("the baseline's own median is 0"),
        "{}",
        told.stderr
    );
}
