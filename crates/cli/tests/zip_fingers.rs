//! `perfkit zip` under the fingers of those who know Info-ZIP: no letter does what would harm them.

use std::fs::File;
use std::path::Path;
use std::time::{Duration, SystemTime};

use crate::common::{content, directory, file, listed, names, pipe, run, words};

/// Gives a file a time that many seconds from now.
fn shift(dir: &Path, name: &str, seconds: i64) {
    let by = Duration::from_secs(seconds.unsigned_abs());
    let now = SystemTime::now();
    let time = if seconds < 0 { now - by } else { now + by };
    let opened = File::options().write(true).open(dir.join(name));
    opened.expect("opened").set_modified(time).expect("set");
}

/// `src/a`, `src/b` and `src/sub/c`, and an archive of them.
fn packed(dir: &Path) {
    std::fs::create_dir_all(dir.join("src/sub")).expect("made");
    for name in ["src/a", "src/b", "src/sub/c"] {
        file(dir, name, name.as_bytes());
    }
    run(dir, words("zip -rD a.zip src")).expect(0);
}

#[test]
fn overwriting_an_archive_takes_a_long_word() {
    let dir = directory();
    packed(dir.path());
    file(dir.path(), "other", b"other");
    let before = std::fs::read(dir.path().join("a.zip")).expect("read");
    let refused = run(dir.path(), words("zip a.zip other")).expect(1);
    assert!(
        refused.stderr.contains("add --force to overwrite"),
        "{}",
        refused.stderr
    );
    // What those who know another meaning of the letter type: nothing is touched, and both flags are named.
    let refused = run(dir.path(), words("zip -fr a.zip src other")).expect(2);
    assert!(
        refused
            .stderr
            .contains("--freshen replaces older entries, --force overwrites"),
        "{}",
        refused.stderr
    );
    assert_eq!(
        std::fs::read(dir.path().join("a.zip")).expect("read"),
        before
    );
    for line in [
        "zip --freshen a.zip other",
        "zip --freshen -r a.zip src other",
        "zip --freshen a.zip",
    ] {
        run(dir.path(), words(line)).expect(0);
        assert_eq!(
            listed(dir.path(), "a.zip"),
            ["src/a", "src/b", "src/sub/c"],
            "{line}"
        );
    }
    run(dir.path(), words("zip --freshen new.zip other")).expect(1);
    assert!(!dir.path().join("new.zip").exists());
    run(dir.path(), words("zip --force a.zip other")).expect(0);
    assert_eq!(listed(dir.path(), "a.zip"), ["other"]);
    assert_ne!(
        before,
        std::fs::read(dir.path().join("a.zip")).expect("read")
    );
    let exported = "zip --append a.zip src/a --export-json other";
    let refused = run(dir.path(), words(exported)).expect(1);
    assert!(
        refused.stderr.contains("add --force to overwrite"),
        "{}",
        refused.stderr
    );
}

#[test]
fn freshen_replaces_what_is_older_and_adds_nothing() {
    let dir = directory();
    packed(dir.path());
    for (name, seconds) in [("src/a", 100), ("src/b", -100)] {
        file(dir.path(), name, b"changed");
        shift(dir.path(), name, seconds);
    }
    file(dir.path(), "src/new", b"new");
    run(dir.path(), words("zip -rD --freshen a.zip src")).expect(0);
    assert_eq!(listed(dir.path(), "a.zip"), ["src/a", "src/b", "src/sub/c"]);
    assert_eq!(content(dir.path(), "src/a"), "changed");
    assert_eq!(content(dir.path(), "src/b"), "src/b");
    // Without names, all entries are meant; entries without a file stay.
    file(dir.path(), "src/sub/c", b"later");
    shift(dir.path(), "src/sub/c", 100);
    std::fs::remove_file(dir.path().join("src/b")).expect("removed");
    run(dir.path(), words("zip --freshen a.zip")).expect(0);
    assert_eq!(content(dir.path(), "src/sub/c"), "later");
    assert_eq!(content(dir.path(), "src/b"), "src/b");
    file(dir.path(), "src/a", b"once more");
    shift(dir.path(), "src/a", 200);
    run(dir.path(), words("zip -u a.zip")).expect(0);
    assert_eq!(content(dir.path(), "src/a"), "once more");
    run(dir.path(), words("unzip -t --strict a.zip")).expect(0);
}

#[test]
fn filesync_makes_an_archive_what_the_files_are_and_nothing_of_what_is_missing() {
    let dir = directory();
    packed(dir.path());
    file(dir.path(), "src/a", b"older, but different");
    shift(dir.path(), "src/a", -500);
    std::fs::remove_file(dir.path().join("src/b")).expect("removed");
    file(dir.path(), "src/new", b"new");
    // What became a directory is no file any more.
    std::fs::remove_dir_all(dir.path().join("src/sub")).expect("removed");
    file(dir.path(), "src/sub", b"a file now");
    let before = std::fs::read(dir.path().join("a.zip")).expect("read");
    for line in [
        "zip --filesync a.zip gone",
        "zip -r --filesync a.zip src gone",
    ] {
        let ended = run(dir.path(), words(line)).expect(1);
        assert!(
            ended.stderr.contains("--filesync would delete"),
            "{}",
            ended.stderr
        );
        assert!(before == std::fs::read(dir.path().join("a.zip")).expect("read"));
    }
    run(dir.path(), words("zip -rD --filesync a.zip src")).expect(0);
    assert_eq!(listed(dir.path(), "a.zip"), ["src/a", "src/new", "src/sub"]);
    assert_eq!(content(dir.path(), "src/a"), "older, but different");
    run(dir.path(), words("unzip -t --strict a.zip")).expect(0);
}

#[test]
fn move_removes_what_is_packed_and_only_that() {
    let dir = directory();
    packed(dir.path());
    file(dir.path(), "src/kept.o", b"not packed");
    run(dir.path(), words("zip -rm b.zip src -x *.o")).expect(0);
    assert_eq!(names(&dir.path().join("src")), ["kept.o"]);
    assert_eq!(
        listed(dir.path(), "b.zip"),
        ["src/", "src/a", "src/b", "src/sub/", "src/sub/c"]
    );
    run(dir.path(), words("unzip -t --strict b.zip")).expect(0);
    // Nothing is removed where anything failed, or nothing was written.
    for (line, code) in [
        ("zip -m c.zip src/kept.o gone", 3),
        ("zip -m b.zip src/kept.o", 1),
        ("zip -m - src/kept.o", 2),
        ("zip -mX c.zip src/kept.o", 2),
    ] {
        run(dir.path(), words(line)).expect(code);
        assert!(dir.path().join("src/kept.o").exists(), "{line}");
    }
    #[cfg(unix)]
    {
        file(dir.path(), "content", b"what the link leads to");
        std::os::unix::fs::symlink("content", dir.path().join("link")).expect("linked");
        let followed = words("zip -m d.zip link --symlinks follow");
        let ended = run(dir.path(), followed).expect(3);
        assert!(
            ended.stderr.contains("'link' is not removed"),
            "{}",
            ended.stderr
        );
        run(dir.path(), words("zip -mu d.zip link content")).expect(0);
        assert!(!dir.path().join("content").exists());
    }
    // -m was the method once, and takes no name for an archive.
    for method in ["zstd", "store", "deflate"] {
        let line = format!("zip -m {method} e.zip src");
        let refused = run(dir.path(), words(&line)).expect(2);
        let told = format!("'{method}' is the name of a method");
        assert!(refused.stderr.contains(&told), "{}", refused.stderr);
        assert!(
            refused.stderr.contains("the method is -Z"),
            "{}",
            refused.stderr
        );
    }
}

#[test]
fn names_without_directories_and_names_from_a_list() {
    let dir = directory();
    packed(dir.path());
    run(dir.path(), words("zip -rj b.zip src -x src/b")).expect(0);
    assert_eq!(listed(dir.path(), "b.zip"), ["a", "c"]);
    file(dir.path(), "a", b"another");
    let twins = run(dir.path(), words("zip -rj c.zip src a")).expect(3);
    assert!(
        twins.stderr.contains("would both be entry 'a'"),
        "{}",
        twins.stderr
    );
    file(dir.path(), "list", b"src/a\r\n\nsrc/sub/c\n-\n");
    file(dir.path(), "-", b"a file of that name");
    run(dir.path(), words("zip d.zip a --from-file list")).expect(0);
    assert_eq!(
        listed(dir.path(), "d.zip"),
        ["-", "a", "src/a", "src/sub/c"]
    );
    let list = "src/b\nsrc/sub\n";
    pipe(
        dir.path(),
        words("zip -r e.zip --from-file -"),
        list.as_bytes(),
    )
    .expect(0);
    assert_eq!(
        listed(dir.path(), "e.zip"),
        ["src/b", "src/sub/", "src/sub/c"]
    );
    let twice = words("zip f.zip - --from-file -");
    let twice = pipe(dir.path(), twice, b"src/a\n").expect(2);
    assert!(
        twice.stderr.contains("standard input is named twice"),
        "{}",
        twice.stderr
    );
    run(dir.path(), words("zip f.zip --from-file gone")).expect(1);
    assert!(!dir.path().join("f.zip").exists());
}

#[test]
fn comments_are_set_kept_and_removed() {
    let dir = directory();
    packed(dir.path());
    let archive = || std::fs::read(dir.path().join("a.zip")).expect("read");
    let entries = listed(dir.path(), "a.zip");
    run(dir.path(), ["zip", "--comment", "one comment", "a.zip"]).expect(0);
    assert!(archive().ends_with(b"\x0b\0one comment"));
    // It stays when entries change.
    file(dir.path(), "new", b"new");
    run(dir.path(), words("zip --append a.zip new")).expect(0);
    assert!(archive().ends_with(b"\x0b\0one comment"));
    run(dir.path(), words("zip --delete a.zip new")).expect(0);
    pipe(dir.path(), words("zip -z a.zip"), b"two\nlines\n.\nmore").expect(0);
    assert!(archive().ends_with(b"\x0a\0two\r\nlines"));
    assert_eq!(listed(dir.path(), "a.zip"), entries);
    run(dir.path(), ["zip", "--comment", "", "a.zip"]).expect(0);
    assert!(archive().ends_with(b"\0\0"));
    run(dir.path(), words("zip --comment new b.zip src/a")).expect(0);
    let made = std::fs::read(dir.path().join("b.zip")).expect("read");
    assert!(made.ends_with(b"\x03\0new"));
    run(dir.path(), words("unzip -t --strict a.zip")).expect(0);
    run(dir.path(), words("zip --comment x gone.zip")).expect(1);
    assert!(!dir.path().join("gone.zip").exists());
    let long = "x".repeat(70_000);
    run(dir.path(), ["zip", "--comment", &long, "a.zip"]).expect(1);
    assert!(archive().ends_with(b"\0\0"));
}

#[test]
fn a_second_pattern_is_never_packed() {
    let dir = directory();
    packed(dir.path());
    for line in [
        "zip -r b.zip src -x src/a src/b",
        "zip -r b.zip -x src/a src",
    ] {
        let refused = run(dir.path(), words(line)).expect(2);
        assert!(
            refused.stderr.contains("takes one pattern"),
            "{}",
            refused.stderr
        );
        assert!(!dir.path().join("b.zip").exists(), "{line}");
    }
    let refused = run(dir.path(), words("unzip a.zip -d out -x src/a src/b")).expect(2);
    assert!(
        refused.stderr.contains("takes one pattern"),
        "{}",
        refused.stderr
    );
    assert!(!dir.path().join("out").exists());
}

#[test]
fn the_name_of_a_directory_means_what_is_in_it() {
    let dir = directory();
    packed(dir.path());
    run(dir.path(), words("unzip a.zip src/sub -d out")).expect(0);
    assert_eq!(names(&dir.path().join("out/src")), ["sub"]);
    assert_eq!(names(&dir.path().join("out/src/sub")), ["c"]);
    run(dir.path(), words("unzip a.zip -x src/sub/ -d less")).expect(0);
    assert_eq!(names(&dir.path().join("less/src")), ["a", "b"]);
    run(dir.path(), words("zip -rD b.zip src -x src/sub")).expect(0);
    assert_eq!(listed(dir.path(), "b.zip"), ["src/a", "src/b"]);
    run(dir.path(), words("zip -rD c.zip src -i src/sub")).expect(0);
    assert_eq!(listed(dir.path(), "c.zip"), ["src/sub/c"]);
    run(dir.path(), words("zip --delete a.zip src/su")).expect(1);
    run(dir.path(), words("zip --delete a.zip src/sub")).expect(0);
    assert_eq!(listed(dir.path(), "a.zip"), ["src/a", "src/b"]);
    run(dir.path(), words("zip --delete a.zip src -x src/b")).expect(0);
    assert_eq!(listed(dir.path(), "a.zip"), ["src/b"]);
}

#[test]
fn a_path_may_lead_up_as_far_as_it_led_down() {
    let dir = directory();
    packed(dir.path());
    file(dir.path(), "t1", b"first");
    run(dir.path(), words("zip b.zip src/../t1 src/sub/../a")).expect(0);
    assert_eq!(listed(dir.path(), "b.zip"), ["src/a", "t1"]);
    let below = dir.path().join("src");
    run(&below, words("zip c.zip ../t1")).expect(1);
    // The same file twice is one entry.
    run(dir.path(), words("zip d.zip t1 src/../t1")).expect(0);
    assert_eq!(listed(dir.path(), "d.zip"), ["t1"]);
}
