//! One large entry of an archive: ranges of it, its index, and what cannot have either.

use std::fmt::Write as _;
use std::path::Path;

use crate::common::{directory, file, pipe, run, words};

/// Lines of 15 MB, so that an index has several points.
fn lines() -> Vec<u8> {
    let mut text = String::new();
    for number in 0..700_000_u32 {
        let _ = writeln!(text, "line {number} {}", number * 7 % 1000);
    }
    text.into_bytes()
}

/// An archive of a large and a small entry.
fn archive(dir: &Path) -> Vec<u8> {
    let content = lines();
    file(dir, "large", &content);
    file(dir, "small", &b"little ".repeat(99));
    run(dir, words("zip -q -1 a.zip large small")).expect(0);
    content
}

#[test]
fn a_range_is_that_of_the_content_with_an_index_and_without() {
    let dir = directory();
    let dir = dir.path();
    let content = archive(dir);
    let made = run(dir, words("unzip -t a.zip large --write-index large.idx")).expect(0);
    assert!(made.stderr.contains("1 entry"), "{}", made.stderr);
    let end = content.len();
    for (range, bytes) in [
        ("0..10", 0..10),
        ("9000000..9000100", 9_000_000..9_000_100),
        ("5M..6M", 5 << 20..6 << 20),
        ("..4M", 0..4 << 20),
        ("10M..", 10 << 20..end),
        ("1..1", 0..0),
        ("1T..2T", 0..0),
    ] {
        for index in ["", " --index large.idx", " --index large.idx -T 2"] {
            let line = format!("unzip -q -p a.zip large --range {range}{index}");
            let ran = run(dir, words(&line)).expect(0);
            assert!(ran.stdout == content[bytes.clone()], "{line}");
        }
    }
    for threads in [1, 2, 5] {
        let line = format!("unzip -q -p a.zip large --index large.idx -T {threads}");
        assert!(run(dir, words(&line)).expect(0).stdout == content, "{line}");
    }
    // The report counts what was read: two parts of three at most.
    let line = "unzip -p a.zip large --index large.idx --range 1M..2M --report json";
    let ran = run(dir, words(line)).expect(0);
    let report: serde_json::Value = serde_json::from_str(&ran.stderr).expect("JSON");
    let read = report["throughput"]["bytes_in"].as_u64().expect("counted");
    let all = std::fs::metadata(dir.join("a.zip")).expect("there").len();
    assert!(read > 0 && read < 2 * all / 3, "{read} of {all}");
}

#[test]
fn an_index_of_another_content_and_a_damaged_one_are_refused() {
    let dir = directory();
    let dir = dir.path();
    archive(dir);
    run(
        dir,
        words("unzip -qq -t a.zip large --write-index large.idx"),
    )
    .expect(0);
    // It is not overwritten unless that is asked for.
    run(
        dir,
        words("unzip -q -t a.zip large --write-index large.idx"),
    )
    .expect(1);
    run(
        dir,
        words("unzip -qq -t --overwrite a.zip large --write-index large.idx"),
    )
    .expect(0);
    for (line, said) in [
        (
            "unzip -p a.zip small --index large.idx",
            "the index is of another content",
        ),
        (
            "unzip -p a.zip large --index a.zip",
            "it does not start like an index",
        ),
        (
            "unzip -p a.zip large --index none.idx",
            "cannot read 'none.idx'",
        ),
        (
            "unzip -p a.zip other --index large.idx",
            "no entry matches 'other'",
        ),
    ] {
        let ran = run(dir, words(line)).expect(1);
        assert!(ran.stderr.contains(said), "{line}: {}", ran.stderr);
        assert!(ran.stdout.is_empty(), "{line}");
    }
    // Damage is found before any byte of its part is written.
    let mut archive = std::fs::read(dir.join("a.zip")).expect("read");
    let middle = archive.len() / 2;
    archive[middle..middle + 40].fill(0xee);
    std::fs::write(dir.join("a.zip"), archive).expect("written");
    let ran = run(dir, words("unzip -p a.zip large --index large.idx")).expect(1);
    assert!(lines().starts_with(&ran.stdout) && !ran.stdout.is_empty());
    run(
        dir,
        words("unzip -p a.zip large --index large.idx --range ..1M"),
    )
    .expect(0);
}

#[test]
fn what_has_no_index_is_said() {
    let dir = directory();
    let dir = dir.path();
    archive(dir);
    for line in [
        "unzip -p a.zip --range 0..1",
        "unzip -p a.zip large --index",
        "unzip --range 0..1 a.zip large",
        "unzip -p a.zip large --write-index x",
        "unzip -p a.zip large --range 2..1",
    ] {
        run(dir, words(line)).expect(2);
    }
    let archive = std::fs::read(dir.join("a.zip")).expect("read");
    pipe(dir, words("unzip -p - large --range 0..1"), &archive).expect(2);
    run(dir, words("zip -q -Z store s.zip large")).expect(0);
    let ran = run(dir, words("unzip -t s.zip large --write-index s.idx")).expect(1);
    assert!(
        ran.stderr.contains("only deflate entries have an index"),
        "{}",
        ran.stderr
    );
    assert!(!dir.join("s.idx").exists());
    // A range needs no index where nothing is compressed.
    let ran = run(dir, words("unzip -q -p s.zip large --range 5..9")).expect(0);
    assert_eq!(ran.stdout, b"0 0\n");
}
