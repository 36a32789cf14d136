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
    // The exit code is that of the run.
    let line = "compare -qq --interleave 16 --fail-on-regression --export-json d.json -- true -- sleep 0.1";
    run(dir.path(), words(line)).expect(4);
    run(dir.path(), words("rerun --trust d.json")).expect(4);
}
