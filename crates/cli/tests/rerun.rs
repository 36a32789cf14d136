//! `perfkit rerun`: the run that a report states, once more.

use crate::common::{directory, file, pipe, run, words};

#[test]
fn a_run_is_repeated_and_says_what_is_different() {
    let dir = directory();
    file(dir.path(), "data", b"some content, some content");
    run(
        dir.path(),
        words("compress -qqf -3 data -o out.zst --export-json first.json"),
    )
    .expect(0);
    let line = "rerun first.json --export-json second.json";
    let again = run(dir.path(), words(line)).expect(0);
    let expected = "perfkit compress -qqf -3 data -o out.zst --export-json second.json";
    assert!(again.stderr.contains(expected), "{}", again.stderr);
    assert!(!again.stderr.contains("input 'data'"), "{}", again.stderr);
    let second = std::fs::read_to_string(dir.path().join("second.json")).expect("written");
    assert!(
        second.contains("\"subcommand\": \"compress\"")
            || second.contains("\"subcommand\":\"compress\"")
    );
    // Another input, then none.
    file(dir.path(), "data", b"SOME content, some content");
    let dry = run(dir.path(), words("rerun --dry-run first.json")).expect(0);
    assert!(
        dry.text()
            .starts_with("perfkit compress -qqf -3 data -o out.zst\n"),
        "{}",
        dry.text()
    );
    assert!(
        dry.text().contains("input 'data': XXH64 "),
        "{}",
        dry.text()
    );
    std::fs::remove_file(dir.path().join("data")).expect("removed");
    let dry = run(dir.path(), words("rerun --dry-run first.json")).expect(0);
    assert!(
        dry.text().contains("26 bytes then, not there now"),
        "{}",
        dry.text()
    );
    run(dir.path(), words("rerun first.json")).expect(1);
}

#[test]
fn what_cannot_be_repeated_is_refused_with_the_reason() {
    let dir = directory();
    let piped = words("compress -qqc --export-json piped.json");
    pipe(dir.path(), piped, b"content").expect(0);
    let refused = run(dir.path(), words("rerun piped.json")).expect(1);
    assert!(
        refused.stderr.contains("the run read standard input"),
        "{}",
        refused.stderr
    );
    file(dir.path(), "foreign.json", b"{\"results\": []}");
    let refused = run(dir.path(), words("rerun foreign.json")).expect(1);
    assert!(
        refused.stderr.contains("not a perfkit report"),
        "{}",
        refused.stderr
    );
    run(dir.path(), words("rerun gone.json")).expect(1);
}

#[cfg(unix)]
#[test]
#[ignore = "long: cargo xtask ci runs it"]
fn programs_of_a_report_run_only_when_it_is_trusted() {
    let dir = directory();
    let line = "compare -qq --interleave 6 --export-json c.json -- touch ran -- true";
    run(dir.path(), words(line)).expect(0);
    let ran = dir.path().join("ran");
    std::fs::remove_file(&ran).expect("removed");
    let refused = run(dir.path(), words("rerun c.json")).expect(1);
    assert!(
        refused.stderr.contains("--trust") && !ran.exists(),
        "{}",
        refused.stderr
    );
    run(dir.path(), words("rerun --trust c.json")).expect(0);
    assert!(ran.exists());
    // Quoted commands are the same.
    let line = [
        "compare",
        "-qq",
        "--interleave=6",
        "touch ran",
        "true",
        "--export-json=q.json",
    ];
    run(dir.path(), line).expect(0);
    std::fs::remove_file(&ran).expect("removed");
    let refused = run(dir.path(), words("rerun q.json")).expect(1);
    assert!(refused.stderr.contains("--trust") && !ran.exists());
    run(dir.path(), words("rerun --trust q.json")).expect(0);
    assert!(ran.exists());
    // The exit code is that of the run.
    let line = "compare -qq --interleave 12 --fail-on-regression --export-json d.json -- true -- sleep 0.4";
    run(dir.path(), words(line)).expect(4);
    run(dir.path(), words("rerun --trust d.json")).expect(4);
}

#[cfg(unix)]
#[test]
fn a_run_under_the_name_of_hyperfine_is_repeated_with_the_same_commands() {
    let dir = directory();
    let say = "echo $HYPERFINE_ITERATION {x} >>calls";
    let line = [
        "hyperfine",
        "-r2",
        "--style=none",
        "-L",
        "x",
        "a,-",
        say,
        "--export-json",
        "h.json",
        "--export-csv=h.csv",
    ];
    run(dir.path(), line).expect(0);
    let calls = dir.path().join("calls");
    let first = std::fs::read_to_string(&calls).expect("read");
    assert_eq!(first, "0 a\n1 a\n0 -\n1 -\n");
    // hyperfine's readers find what they know, and perfkit what it was.
    let shown = run(dir.path(), words("report h.json")).expect(0);
    assert!(shown.text().contains("hyperfine"), "{}", shown.text());
    for file in ["calls", "h.csv"] {
        std::fs::remove_file(dir.path().join(file)).expect("removed");
    }
    let dry = run(dir.path(), words("rerun --dry-run h.json")).expect(0);
    let expected =
        "perfkit hyperfine -r2 '--style=none' -L x a,- 'echo $HYPERFINE_ITERATION {x} >>calls'\n";
    assert!(dry.text().starts_with(expected), "{}", dry.text());
    let refused = run(dir.path(), words("rerun h.json")).expect(1);
    assert!(
        refused.stderr.contains("--trust") && !calls.exists(),
        "{}",
        refused.stderr
    );
    run(
        dir.path(),
        words("rerun --trust h.json --export-json again.json"),
    )
    .expect(0);
    assert_eq!(std::fs::read_to_string(&calls).expect("read"), first);
    assert!(!dir.path().join("h.csv").exists());
    // What the second run wrote can be repeated as well, and its exit code is the run's.
    run(dir.path(), words("rerun --trust again.json")).expect(0);
    run(
        dir.path(),
        [
            "hyperfine",
            "-r1",
            "-i",
            "--style=none",
            "exit 3",
            "--export-json=f.json",
        ],
    )
    .expect(0);
    let path = dir.path().join("f.json");
    let text = std::fs::read_to_string(&path).expect("read");
    let mut file: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let argv = file["perfkit"]["argv"].as_array_mut().expect("words");
    argv.retain(|word| word != "-i");
    std::fs::write(&path, file.to_string()).expect("written");
    run(dir.path(), words("rerun --trust f.json")).expect(1);
}
