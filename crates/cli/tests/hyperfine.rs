//! Under the name of hyperfine the binary does what that program does: the same command lines run the same
//! commands as often and in the same order, write the same files and end with the same exit codes. Compared with
//! the program itself where there is one (else `ignored`), and with expectations of our own everywhere.

mod lines;

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};

use libtest_mimic::Trial;
use serde_json::Value;

use crate::common::{Run, directory, file};
use crate::peer;

use lines::LINES;

/// The tests, each with whether what it needs is here.
pub(crate) fn trials() -> Vec<Trial> {
    // Others lack some of these flags.
    let version = Command::new("hyperfine").arg("--version").output();
    let hyperfine = version.is_ok_and(|found| found.stdout.starts_with(b"hyperfine 1.21."));
    peer::trials![
        hyperfine => [lines_do_what_they_do_with_hyperfine],
        true => [
            setup_prepare_conclude_and_cleanup_go_around_runs,
            failures_end_it_with_one_and_mistakes_with_two,
            every_run_is_in_the_json_with_its_exit_code,
            the_summary_has_a_ratio_and_a_verdict,
            the_order_of_the_summary_is_the_one_asked_for,
            rounds_are_in_random_order_with_a_control,
            the_name_and_the_word_are_the_same,
            what_is_read_is_not_written,
            a_page_has_the_runs_of_all_commands_over_each_other,
            output_goes_where_it_is_asked_to,
            an_interrupt_leaves_the_finished_rounds_and_ends_by_the_signal,
            an_interrupt_leaves_the_finished_runs_or_no_file,
        ],
    ]
}

/// What a command line left.
#[derive(Debug, PartialEq)]
struct Left {
    code: Option<i32>,
    calls: String,
    files: BTreeMap<String, String>,
    json: Vec<Value>,
    lines: Vec<String>,
    says_nothing: bool,
}

/// Runs a command line of a program in an empty directory, with an export of JSON.
fn left(program: &Path, line: &[&str]) -> Left {
    let dir = directory();
    file(dir.path(), "in", b"input\n");
    let run = hyperfine(
        program,
        dir.path(),
        &[&["--export-json", "r.json"], line].concat(),
    );
    let mut files = BTreeMap::new();
    for entry in std::fs::read_dir(dir.path()).expect("read") {
        let name = entry
            .expect("an entry")
            .file_name()
            .into_string()
            .expect("text");
        let text = std::fs::read_to_string(dir.path().join(&name)).expect("text");
        files.insert(name, text);
    }
    let calls = files.remove("calls").unwrap_or_default();
    let json = files.remove("r.json").unwrap_or_default();
    let json: Value = serde_json::from_str(&json).unwrap_or_default();
    let results = json["results"].as_array().cloned().unwrap_or_default();
    let shape = |text: String| -> String {
        let digit = |c: char| if c.is_ascii_digit() { '0' } else { c };
        // Numbers differ from run to run, and the unit of a table with them.
        let words = text.split([' ', ',', '\n', '[', ']']);
        words
            .filter(|word| {
                !word.is_empty() && !word.chars().all(|c| c.is_ascii_digit() || c == '.')
            })
            .filter(|word| !["ms", "s", "µs", "±"].contains(word))
            .map(|word| word.chars().map(digit).collect::<String>() + " ")
            .collect()
    };
    Left {
        code: run.code,
        calls,
        files: files
            .into_iter()
            .map(|(name, text)| (name, shape(text)))
            .collect(),
        json: results.into_iter().map(without_times).collect(),
        lines: run.text().lines().filter_map(kind).collect(),
        says_nothing: run.stdout.is_empty(),
    }
}

/// A result without what differs from run to run, with how many there were.
fn without_times(mut result: Value) -> Value {
    let object = result.as_object_mut().expect("an object");
    for key in ["times", "memory_usage_byte"] {
        let count = object[key].as_array().map(Vec::len);
        object.insert(key.to_owned(), count.into());
    }
    for key in ["mean", "stddev", "median", "user", "system", "min", "max"] {
        let is_number = object[key].is_number();
        object.insert(key.to_owned(), is_number.into());
    }
    result
}

/// The lines that say which command it is about, and which kind of line it is. There is no summary where a
/// command took no longer than the shell, which happens with these.
fn kind(line: &str) -> Option<String> {
    let kinds = ["  Time (mean", "  Time (abs", "  Range ("];
    let found = kinds.iter().find(|kind| line.starts_with(**kind));
    match line.starts_with("Benchmark ") {
        true => Some(line.to_owned()),
        false => found.map(|kind| (*kind).to_owned()),
    }
}

fn hyperfine(program: &Path, dir: &Path, line: &[&str]) -> Run {
    let output = Command::new(program)
        .args(line)
        .current_dir(dir)
        .env("NO_COLOR", "1")
        .stdin(Stdio::null())
        .output();
    output.expect("it runs").into()
}

/// The binary under the name.
fn own() -> (tempfile::TempDir, std::path::PathBuf) {
    let dir = directory();
    let path = dir.path().join("hyperfine");
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_perfkit"), &path).expect("linked");
    (dir, path)
}

/// Runs a line under the name in an empty directory, which is returned with what was said.
fn run(line: &[&str]) -> (tempfile::TempDir, Run) {
    let (_binary, path) = own();
    let dir = directory();
    let run = hyperfine(&path, dir.path(), line);
    (dir, run)
}

fn read(dir: &tempfile::TempDir, name: &str) -> String {
    std::fs::read_to_string(dir.path().join(name)).expect("read")
}

fn lines_do_what_they_do_with_hyperfine() {
    let (_binary, path) = own();
    let mut wrong = Vec::new();
    for (code, line) in LINES {
        let (theirs, ours) = (left(Path::new("hyperfine"), line), left(&path, line));
        assert_eq!(theirs.code, Some(*code), "{line:?}");
        if ours != theirs {
            wrong.push(format!("{line:?}\n  theirs {theirs:?}\n  ours   {ours:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn setup_prepare_conclude_and_cleanup_go_around_runs() {
    let say = |what: &str| format!("echo {what}$HYPERFINE_ITERATION >>calls");
    let (setup, prepare, conclude, cleanup) = (say("s"), say("p"), say("c"), say("u"));
    let (a, b) = (say("a"), say("b"));
    let line = [
        "-w1", "-r2", "-s", &setup, "-p", &prepare, "-C", &conclude, "-c", &cleanup, &a, &b,
    ];
    let (dir, run) = run(&line);
    run.expect(0);
    let of =
        |name: &str| format!("s pwarmup-0 {name}warmup-0 cwarmup-0 p0 {name}0 c0 p1 {name}1 c1 u");
    let calls = read(&dir, "calls").replace('\n', " ");
    assert_eq!(calls.trim(), format!("{} {}", of("a"), of("b")));
}

fn failures_end_it_with_one_and_mistakes_with_two() {
    for (code, line) in LINES.iter().filter(|(code, _)| *code > 0) {
        let (_, run) = run(line);
        assert_eq!(run.code, Some(*code), "{line:?}: {}", run.stderr);
        assert!(
            run.stderr.to_lowercase().contains("error: "),
            "{line:?}: {}",
            run.stderr
        );
    }
    let (_, run) = run(&["-r3", "exit 3"]);
    assert!(
        run.stderr
            .contains("'exit 3' ended with exit code 3 in run 1"),
        "{}",
        run.stderr
    );
    assert!(run.stderr.contains("help: -i goes on"), "{}", run.stderr);
}

fn every_run_is_in_the_json_with_its_exit_code() {
    let line = [
        "-r3",
        "-i",
        "-N",
        "-L",
        "code",
        "0,7",
        "--export-json",
        "r.json",
        "sh -c 'exit {code}'",
    ];
    let (dir, run) = run(&line);
    run.expect(0);
    let json: Value = serde_json::from_str(&read(&dir, "r.json")).expect("JSON");
    let second = &json["results"][1];
    assert_eq!(second["command"], "sh -c 'exit 7'");
    assert_eq!(second["exit_codes"], serde_json::json!([7, 7, 7]));
    assert_eq!(second["parameters"]["code"], "7");
    let times: Vec<f64> = second["times"]
        .as_array()
        .expect("times")
        .iter()
        .filter_map(Value::as_f64)
        .collect();
    assert_eq!(times.len(), 3);
    let mean = times.iter().sum::<f64>() / 3.0;
    assert!((second["mean"].as_f64().expect("mean") - mean).abs() < 1e-12);
    // What reports are read by reads this, too.
    let shown = crate::common::run(dir.path(), ["report", "r.json"]).expect(0);
    assert!(shown.text().contains("sh -c 'exit 7'"), "{}", shown.text());
}

fn the_summary_has_a_ratio_and_a_verdict() {
    // Far enough apart for a machine that takes a tenth of a second to start a program.
    let (_, run) = run(&["-N", "-r8", "sleep 0.6", "sleep 0.01"]);
    let run = run.expect(0);
    let text = run.text();
    assert!(text.contains("Benchmark 2: sleep 0.01\n"), "{text}");
    assert!(text.contains("8 runs"), "{text}");
    let summary = text.split("Summary\n").nth(1).expect("a summary");
    let lines: Vec<&str> = summary.lines().collect();
    assert_eq!(lines[0], "  sleep 0.01 ran");
    let (ratio, rest) = lines[1].trim().split_once(" ± ").expect("a deviation");
    assert!(
        (1.0..60.0).contains(&ratio.parse::<f64>().expect("a ratio")),
        "{text}"
    );
    assert!(rest.ends_with(" times faster than sleep 0.6"), "{text}");
    assert!(lines[2].contains(" (95 %): "), "{text}");
    assert!(lines[3].contains("--interleave"), "{text}");
}

fn the_order_of_the_summary_is_the_one_asked_for() {
    let compared = |flags: &[&str]| {
        // Far apart, for a busy machine.
        let (_, run) = run(&[flags, &["-N", "-r2", "sleep 1.4", "sleep 0.05"]].concat());
        let run = run.expect(0);
        let text = run.text().split(" \n").last().unwrap_or_default();
        let names = text.lines().filter_map(|line| line.split("sleep ").nth(1));
        let names = names.map(str::to_owned).collect::<Vec<_>>().join(", ");
        (text.lines().next().unwrap_or_default().to_owned(), names)
    };
    let is = |head: &str, names: &str| (head.to_owned(), names.to_owned());
    assert_eq!(compared(&[]), is("Summary", "0.05 ran, 1.4"));
    let head = "Relative speed comparison";
    assert_eq!(compared(&["--sort", "command"]), is(head, "1.4, 0.05"));
    let found = compared(&["--sort=command", "--reference", "sleep 0.7"]);
    let names = "0.7 (reference), 1.4 (slower), 0.05 (faster)";
    assert_eq!(found, is(head, names));
    let found = compared(&["--reference", "sleep 0.7"]);
    assert_eq!(found, is("Summary", "0.7 ran, 0.05, 1.4"));
}

fn rounds_are_in_random_order_with_a_control() {
    // Long enough to have a mean above that of the shell's start.
    let say = |what: &str| format!("echo {what}$HYPERFINE_ITERATION >>calls; sleep 0.03");
    let (a, b) = (say("a"), say("b"));
    let (dir, run) = run(&["--interleave", "-r12", "--export-json", "r.json", &a, &b]);
    let run = run.expect(0);
    assert!(
        run.text()
            .contains("rounds in random order, with a control"),
        "{}",
        run.text()
    );
    let calls = read(&dir, "calls");
    let calls: Vec<&str> = calls.lines().collect();
    assert_eq!(calls.len(), 12 * 3);
    let mut orders = std::collections::BTreeSet::new();
    for (number, round) in calls.chunks(3).enumerate() {
        let mut sorted = round.to_vec();
        sorted.sort_unstable();
        let (a, b) = (format!("a{number}"), format!("b{number}"));
        assert_eq!(sorted, [a.as_str(), &a, &b]);
        orders.insert(round.iter().map(|call| &call[..1]).collect::<String>());
    }
    assert_eq!(orders.len(), 3, "{orders:?}");
    // The control is not among the results.
    let json: Value = serde_json::from_str(&read(&dir, "r.json")).expect("JSON");
    let counts = json["results"].as_array().expect("results").iter();
    let counts: Vec<_> = counts
        .map(|one| one["times"].as_array().map(Vec::len))
        .collect();
    assert_eq!(counts, [Some(12), Some(12)]);
}

fn an_interrupt_leaves_the_finished_rounds_and_ends_by_the_signal() {
    use crate::common::signals::{send, until};
    use nix::sys::signal::Signal;

    let dir = directory();
    let script = |name: &str| format!("sh -c 'echo {name} >>calls; sleep 0.01'");
    let child = crate::common::perfkit()
        .arg("hyperfine")
        .current_dir(dir.path())
        .args(["--interleave", "-N", "-r100000", "--export-json", "r.json"])
        .args([script("a"), script("b")])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it runs");
    // Three runs a round: with the tenth, three rounds are finished.
    let calls = dir.path().join("calls");
    until("three rounds", || {
        let calls = std::fs::read_to_string(&calls).unwrap_or_default();
        calls.lines().count() >= 10
    });
    send(&child, Signal::SIGINT);
    let output = child.wait_with_output().expect("it ends");
    let by = std::os::unix::process::ExitStatusExt::signal(&output.status);
    assert_eq!(by, Some(Signal::SIGINT as i32));
    let run = Run::from(output);
    assert!(run.text().contains("runs, cut short"), "{}", run.text());
    assert!(run.text().contains("Summary\n"), "{}", run.text());
    assert!(
        run.stderr.contains("interrupted: this is of "),
        "{}",
        run.stderr
    );
    let json: Value = serde_json::from_str(&read(&dir, "r.json")).expect("JSON");
    for result in json["results"].as_array().expect("results") {
        assert_eq!(result["cut_short"], true);
        let times = result["times"].as_array().map(Vec::len);
        assert!(times >= Some(3), "{times:?}");
    }
}

fn an_interrupt_leaves_the_finished_runs_or_no_file() {
    use crate::common::signals::{send, until};
    use nix::sys::signal::Signal;

    for (seconds, finished) in [("0.01", 3), ("30", 0)] {
        let dir = directory();
        let child = crate::common::perfkit()
            .arg("hyperfine")
            .current_dir(dir.path())
            .args(["-N", "-r100000", "--export-json", "r.json"])
            .arg(format!("sh -c 'echo a >>calls; exec sleep {seconds}'"))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("it runs");
        let calls = dir.path().join("calls");
        until("enough runs", || {
            let calls = std::fs::read_to_string(&calls).unwrap_or_default();
            calls.lines().count() > finished
        });
        send(&child, Signal::SIGINT);
        let output = child.wait_with_output().expect("it ends");
        let by = std::os::unix::process::ExitStatusExt::signal(&output.status);
        assert_eq!(by, Some(Signal::SIGINT as i32));
        if finished == 0 {
            assert!(!dir.path().join("r.json").exists());
            continue;
        }
        let json: Value = serde_json::from_str(&read(&dir, "r.json")).expect("JSON");
        let result = &json["results"][0];
        assert_eq!(result["cut_short"], true);
        let times = result["times"].as_array().map(Vec::len);
        assert!(times >= Some(finished), "{times:?}");
    }
}

fn the_name_and_the_word_are_the_same() {
    let (_, by_name) = run(&["--help"]);
    let dir = directory();
    let by_word = crate::common::run(dir.path(), ["hyperfine", "--help"]).expect(0);
    assert_eq!(by_name.expect(0).stdout, by_word.stdout);
    assert!(by_word.text().contains("--interleave"));
    let (_, version) = run(&["-V"]);
    assert!(version.expect(0).text().starts_with("hyperfine "));
}

fn what_is_read_is_not_written() {
    for flags in [["--output", "./same"], ["--export-json", "same"]] {
        let (_binary, path) = own();
        let dir = directory();
        file(dir.path(), "same", b"kept");
        let line = [&flags[..], &["--input", "same", "-r1", "cat"]].concat();
        let refused = hyperfine(&path, dir.path(), &line);
        assert_eq!(refused.code, Some(2), "{flags:?}: {}", refused.stderr);
        assert_eq!(read(&dir, "same"), "kept");
    }
}

fn a_page_has_the_runs_of_all_commands_over_each_other() {
    let line = [
        "-N",
        "-r8",
        "--export-html",
        "runs.html",
        "sleep 0.3",
        "sleep 0.01",
    ];
    for flags in [&[][..], &["--interleave"]] {
        let (dir, run) = run(&[flags, &line].concat());
        run.expect(0);
        let page = read(&dir, "runs.html");
        // Of both commands: the distributions, the table, and the verdict with its interval.
        for part in [
            "<h1>perfkit hyperfine",
            "<figcaption>Comparison",
            "<figcaption>Percentile spectrum",
            "<figcaption>Histogram",
            "sleep 0.01 service",
            "sleep 0.3 takes",
            "more time than sleep 0.01",
            "start of a process",
            "--export-html runs.html",
        ] {
            assert!(page.contains(part), "{part} in {page}");
        }
        assert!(!page.contains("as the files state it"), "{page}");
        // The report in the page is one that everything else reads.
        let (_, json) = page.split_once("id=\"report\">").expect("a report");
        let (json, _) = json.split_once("</script>").expect("it ends");
        file(dir.path(), "runs.json", json.as_bytes());
        let shown = crate::common::run(dir.path(), ["report", "runs.json"]).expect(0);
        assert!(shown.text().contains("commands\n"), "{}", shown.text());
    }
    let (_, shown) = run(&["-r1", "-N", "--style=none", "--export-html", "-", "true"]);
    let shown = shown.expect(0);
    assert!(
        shown.text().starts_with("<!DOCTYPE html>"),
        "{}",
        shown.text()
    );
}

fn output_goes_where_it_is_asked_to() {
    let (dir, shown) = run(&[
        "-r1",
        "--show-output",
        "-N",
        "sh -c 'echo seen; echo said >&2'",
    ]);
    let shown = shown.expect(0);
    assert!(shown.text().contains("seen\n") && shown.stderr.contains("said\n"));
    drop(dir);
    let (dir, hidden) = run(&["-r2", "--output", "./out", "echo kept"]);
    assert!(!hidden.expect(0).text().contains("\nkept\n"));
    assert_eq!(read(&dir, "out"), "kept\n");
    let (_, none) = run(&["-r1", "--style=none", "true"]);
    assert_eq!(none.expect(0).text(), "");
    let (_, table) = run(&["-r1", "--style=none", "--export-markdown", "-", "echo '|'"]);
    let table = table.expect(0);
    assert!(
        table.text().contains("| `echo '\\|'` |"),
        "{}",
        table.text()
    );
}
