//! Files of many frames: written seekable, read on threads, and read in part.

use std::fs;

use crate::common::{pipe, run};
use zstdkit::workload::{Kind, generate};

#[test]
fn seekable_files_do_not_depend_on_threads_and_are_read_in_part() {
    let dir = tempfile::tempdir().expect("a directory");
    let content = generate(Kind::Log, 1, 3_000_000);
    fs::write(dir.path().join("log"), &content).expect("written");
    for threads in ["1", "3"] {
        let name = format!("log{threads}.zst");
        let flags = [
            "compress",
            "-q",
            "--seekable=256K",
            "-T",
            threads,
            "--verify",
        ];
        run(
            dir.path(),
            flags.iter().copied().chain(["log", "-o", &name]),
        )
        .expect(0);
    }
    let [one, three] =
        ["log1.zst", "log3.zst"].map(|n| fs::read(dir.path().join(n)).expect("read"));
    assert!(one == three, "threads show in the file");

    let range = |words: &str, file: &str| {
        let words = ["decompress", "-q", "--range", words, file];
        run(dir.path(), words).expect(0).stdout
    };
    for (words, part) in [
        ("0..10", &content[..10]),
        ("256K..257K", &content[256 << 10..257 << 10]),
        ("2999990..", &content[2_999_990..]),
        ("..1M", &content[..1 << 20]),
        ("2M..9G", &content[2 << 20..]),
        ("5..5", &[]),
        ("3000000..", &[]),
    ] {
        assert!(range(words, "log3.zst") == part, "{words}");
    }
    let whole = run(dir.path(), ["decompress", "-q", "-T3", "-c", "log3.zst"]).expect(0);
    assert!(whole.stdout == content, "threads show in the content");
    let listed = run(dir.path(), ["decompress", "-l", "--json", "log3.zst"])
        .expect(0)
        .json();
    assert_eq!(listed["tables"][0]["rows"][0][7], 12, "{listed}");
    let beyond = run(
        dir.path(),
        ["decompress", "-q", "--range", "4M..", "log3.zst"],
    )
    .expect(1);
    assert!(
        beyond.stderr.contains("has 3000000 bytes"),
        "{}",
        beyond.stderr
    );
    let piped = pipe(
        dir.path(),
        ["decompress", "-q", "--range", "0..4", "-"],
        &one,
    )
    .expect(1);
    assert!(
        piped.stderr.contains("it is a stream, not a file"),
        "{}",
        piped.stderr
    );
}

#[test]
fn frames_without_a_table_are_found_by_their_headers_and_read_on_threads() {
    let dir = tempfile::tempdir().expect("a directory");
    let content = generate(Kind::Random, 1, 6_000_000);
    let stream: Vec<u8> = content
        .chunks(1_000_000)
        .flat_map(|part| zstdkit::compress(part, &Default::default()).expect("compressed"))
        .collect();
    fs::write(dir.path().join("many.zst"), &stream).expect("written");
    let words = ["decompress", "-q", "--range", "999990..2000010", "many.zst"];
    let part = run(dir.path(), words).expect(0);
    assert!(part.stdout == content[999_990..2_000_010]);
    for threads in ["-T1", "-T2"] {
        run(dir.path(), ["decompress", "-qf", threads, "many.zst"]).expect(0);
        assert!(fs::read(dir.path().join("many")).expect("read") == content);
        let piped = pipe(dir.path(), ["decompress", "-q", threads, "-"], &stream).expect(0);
        assert!(piped.stdout == content);
    }
    // The error names the byte, whichever thread met it.
    let mut bad = stream.clone();
    let last = bad.len() - 1;
    bad[last] ^= 1;
    fs::write(dir.path().join("bad.zst"), &bad).expect("written");
    let [one, two] = ["-T1", "-T2"].map(|threads| {
        let failed = run(dir.path(), ["decompress", "-q", threads, "bad.zst"]).expect(1);
        assert!(!dir.path().join("bad").exists());
        let first = failed.stderr.lines().next().map(str::to_owned);
        first.unwrap_or_default()
    });
    assert_eq!(one, two);
    assert!(one.contains(&format!("byte {}", last - 3)), "{one}");
}

/// Enough runs of frames that every buffer on the way to the pipe is used many times.
#[test]
fn many_runs_of_frames_go_through_a_pipe() {
    let dir = tempfile::tempdir().expect("a directory");
    let content = generate(Kind::Log, 1, 24_000_000);
    let frames: Vec<u8> = content
        .chunks(1_000_000)
        .flat_map(|part| zstdkit::compress(part, &Default::default()).expect("compressed"))
        .collect();
    fs::write(dir.path().join("log.zst"), &frames).expect("written");
    for words in [
        &["decompress", "-qq", "-T2", "-c", "log.zst"][..],
        &["decompress", "-qq", "-T2"],
    ] {
        let back = pipe(dir.path(), words, &frames).expect(0).stdout;
        assert!(back == content, "{words:?}");
    }
}

#[test]
fn several_seekable_files_are_not_joined() {
    let dir = tempfile::tempdir().expect("a directory");
    for name in ["a", "b"] {
        fs::write(dir.path().join(name), name).expect("written");
    }
    let refused = run(dir.path(), ["compress", "-q", "--seekable", "-c", "a", "b"]).expect(2);
    assert!(
        refused.stderr.contains("-c would join 2"),
        "{}",
        refused.stderr
    );
}
