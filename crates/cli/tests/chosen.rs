//! What `compress` and `decompress` take beyond the everyday: lists of files, directories for targets, single parameters
//! of zstd, a limit of memory, and targets that are there already.

use std::io::Write as _;
use std::process::Stdio;

use crate::common::{Run, directory, file, names, perfkit, run, samples, words};

#[test]
fn lists_name_files_and_directories_take_targets() {
    let dir = directory();
    std::fs::create_dir_all(dir.path().join("in/deep")).expect("made");
    for name in ["in/a", "in/deep/b", "c"] {
        file(dir.path(), name, name.as_bytes());
    }
    file(dir.path(), "list", b"in/a\nin/deep/b\n");
    let line = [
        "compress",
        "-qq",
        "--filelist",
        "list",
        "c",
        "--output-dir-flat",
        ".",
    ];
    run(dir.path(), line).expect(0);
    assert_eq!(
        names(dir.path()),
        ["a.zst", "b.zst", "c", "c.zst", "in", "list"]
    );
    let line = ["compress", "-qq", "-r", "in", "--output-dir-mirror=out"];
    run(dir.path(), line).expect(0);
    file(dir.path(), "packed", b"out/in/a.zst\nout/in/deep/b.zst\n");
    let line = [
        "decompress",
        "-qq",
        "--filelist=packed",
        "--output-dir-mirror",
        "back",
    ];
    run(dir.path(), line).expect(0);
    let back = std::fs::read(dir.path().join("back/out/in/deep/b")).expect("there");
    assert_eq!(back, b"in/deep/b");
    // A list that names nothing, one that is not there, and one that a target would replace.
    file(dir.path(), "empty", b"\n");
    run(dir.path(), ["compress", "--filelist", "empty"]).expect(1);
    run(dir.path(), ["compress", "--filelist", "missing"]).expect(1);
    let line = ["compress", "-f", "c", "--filelist", "list", "-o", "list"];
    assert_ne!(run(dir.path(), line).code, Some(0));
    assert_eq!(
        std::fs::read(dir.path().join("list")).expect("kept").len(),
        15
    );
}

#[test]
fn single_parameters_are_those_of_the_frame() {
    let dir = directory();
    let (_, data) = samples(300_000).swap_remove(0);
    file(dir.path(), "a", &data);
    let line = [
        "compress",
        "-qq",
        "--zstd=wlog=15,strat=1",
        "--no-content-size",
        "a",
    ];
    run(dir.path(), line).expect(0);
    let listed = run(dir.path(), ["decompress", "-l", "--json", "a.zst"]).expect(0);
    assert!(listed.text().contains("32768"), "{}", listed.text());
    run(dir.path(), ["decompress", "-qq", "a.zst", "-o", "back"]).expect(0);
    assert!(std::fs::read(dir.path().join("back")).expect("there") == data);
    for wrong in ["wlog=99", "wlog", "foo=1"] {
        let line = ["compress", "-f", &format!("--zstd={wrong}"), "a"].map(str::to_owned);
        run(dir.path(), line).expect(2);
    }
    let line = ["compress", "-f", "--format", "gzip", "--zstd=wlog=15", "a"];
    run(dir.path(), line).expect(2);
}

#[test]
fn a_limit_of_memory_lowers_threads_and_window() {
    let dir = directory();
    let (_, data) = samples(9_000_000).swap_remove(2);
    file(dir.path(), "a", &data);
    let window = |line: &[&str]| {
        run(dir.path(), line.iter().copied()).expect(0);
        run(dir.path(), ["decompress", "-qq", "-t", "a.zst"]).expect(0);
        let listed = run(dir.path(), ["decompress", "-l", "-v", "--json", "a.zst"]).expect(0);
        listed.text().to_owned()
    };
    let free = window(&["compress", "-qqf", "-16", "-T2", "--no-content-size", "a"]);
    let held = window(&[
        "compress",
        "-qqf",
        "-16",
        "-T2",
        "-M",
        "4M",
        "--no-content-size",
        "a",
    ]);
    assert_ne!(free, held);
    window(&[
        "compress",
        "-qqf",
        "-9",
        "-T2",
        "--seekable=1M",
        "--memory-limit=8M",
        "a",
    ]);
    let refused = run(dir.path(), ["compress", "-f", "-19", "-M", "100K", "a"]).expect(1);
    assert!(
        refused.stderr.contains("the limit is 102400"),
        "{}",
        refused.stderr
    );
    let line = ["compress", "-f", "--long=27", "--memory-limit=16M", "-"];
    let refused = crate::common::pipe(dir.path(), line, &data).expect(1);
    assert!(
        refused.stderr.contains("the limit is 16777216"),
        "{}",
        refused.stderr
    );
}

#[test]
fn a_target_that_another_process_makes_meanwhile_is_kept_where_that_is_asked() {
    for line in [
        "compress -qq --skip-existing - -o out",
        "zip -qq --skip-existing out -",
        "compress -qq - -o out",
        "zip -qq out -",
    ] {
        let dir = directory();
        let mut child = perfkit()
            .current_dir(dir.path())
            .args(words(line))
            .stdin(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("runs");
        let mut stdin = child.stdin.take().expect("a pipe");
        // More than what the pipe holds: it has been read from, so the target was looked for before.
        let content = samples(2_000_000).swap_remove(0).1;
        stdin.write_all(&content).expect("written");
        file(dir.path(), "out", b"theirs");
        drop(stdin);
        let wanted = i32::from(!line.contains("--skip-existing"));
        let ended = Run::from(child.wait_with_output().expect("ends")).expect(wanted);
        assert_eq!(ended.stderr.is_empty(), wanted == 0, "{}", ended.stderr);
        let kept = std::fs::read(dir.path().join("out")).expect("there");
        assert_eq!(kept, b"theirs", "{line}");
        assert_eq!(names(dir.path()), ["out"], "{line}");
    }
}
