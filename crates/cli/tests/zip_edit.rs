//! Archives that are changed: what is added, replaced and deleted, what stays as it is, and that the
//! archive that was there is untouched when anything fails.

use std::fs::File;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::{Duration, SystemTime};

use crate::common::{content, directory, file, listed, names, pipe, run, samples, words};

/// `src` with three files, and an archive of it.
fn packed(dir: &Path) {
    std::fs::create_dir(dir.join("src")).expect("made");
    file(dir, "src/a", &samples(1_400_000)[0].1);
    file(dir, "src/b", b"second");
    file(dir, "src/c", b"third");
    run(dir, words("zip -r a.zip src")).expect(0);
}

#[test]
fn what_is_new_is_added_and_what_is_there_is_told_of() {
    let dir = directory();
    packed(dir.path());
    let archive = dir.path().join("a.zip");
    std::fs::set_permissions(&archive, PermissionsExt::from_mode(0o600)).expect("set");
    file(dir.path(), "src/d", b"fourth");
    file(dir.path(), "src/b", b"another");
    let ended = run(dir.path(), words("zip --append a.zip src/b src/d")).expect(3);
    assert!(
        ended.stderr.contains("'src/b' is already in the archive"),
        "{}",
        ended.stderr
    );
    assert_eq!(
        listed(dir.path(), "a.zip"),
        ["src/", "src/a", "src/b", "src/c", "src/d"]
    );
    assert_eq!(content(dir.path(), "src/b"), "second");
    assert_eq!(content(dir.path(), "src/d"), "fourth");
    run(dir.path(), words("unzip -t --strict a.zip")).expect(0);
    let mode = std::fs::metadata(&archive)
        .expect("there")
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o600);
    // One that is not there yet is made.
    run(dir.path(), words("zip --append new.zip src/d")).expect(0);
    run(dir.path(), words("unzip -t --strict new.zip")).expect(0);
}

#[test]
fn what_is_newer_replaces_what_is_older() {
    let dir = directory();
    packed(dir.path());
    file(dir.path(), "src/b", b"newer");
    file(dir.path(), "src/c", b"older");
    file(dir.path(), "src/e", b"new");
    let later = SystemTime::now() + Duration::from_secs(100);
    let earlier = SystemTime::now() - Duration::from_secs(100);
    for (name, time) in [("src/b", later), ("src/c", earlier)] {
        let opened = File::options().write(true).open(dir.path().join(name));
        opened.expect("opened").set_modified(time).expect("set");
    }
    // The directory, which has a new file, is not newer either.
    let directory = File::open(dir.path().join("src")).expect("opened");
    directory.set_modified(earlier).expect("set");
    let ended = run(
        dir.path(),
        words("zip -ur a.zip src --verify --report json"),
    )
    .expect(0);
    let report: serde_json::Value = serde_json::from_str(&ended.stderr).expect("JSON");
    let params = &report["workload"]["params"];
    assert_eq!(
        (&params["kept_entries"], &params["dropped_entries"]),
        (&3.into(), &1.into())
    );
    assert_eq!(
        listed(dir.path(), "a.zip"),
        ["src/", "src/a", "src/b", "src/c", "src/e"]
    );
    assert_eq!(content(dir.path(), "src/b"), "newer");
    assert_eq!(content(dir.path(), "src/c"), "third");
    run(dir.path(), words("unzip -t --strict a.zip")).expect(0);
}

#[test]
fn what_matches_is_deleted() {
    let dir = directory();
    packed(dir.path());
    let before = std::fs::read(dir.path().join("a.zip")).expect("read");
    let ended = run(dir.path(), words("zip --delete a.zip none*")).expect(1);
    assert!(
        ended.stderr.contains("no entry matches"),
        "{}",
        ended.stderr
    );
    assert!(before == std::fs::read(dir.path().join("a.zip")).expect("read"));
    run(dir.path(), words("zip --delete a.zip src/[ab] -x src/b")).expect(0);
    assert_eq!(listed(dir.path(), "a.zip"), ["src/", "src/b", "src/c"]);
    run(dir.path(), words("unzip -t --strict a.zip")).expect(0);
    let ended = run(dir.path(), words("zip --delete a.zip none src/c")).expect(3);
    assert!(
        ended.stderr.contains("no entry matches 'none'"),
        "{}",
        ended.stderr
    );
    assert_eq!(listed(dir.path(), "a.zip"), ["src/", "src/b"]);
    run(dir.path(), words("zip --delete a.zip *")).expect(0);
    assert!(listed(dir.path(), "a.zip").is_empty());
    run(dir.path(), words("zip --delete missing.zip a")).expect(1);
    run(dir.path(), words("zip --delete - a")).expect(2);
}

#[test]
fn encrypted_entries_stay_closed_and_open_with_their_password() {
    let dir = directory();
    packed(dir.path());
    file(dir.path(), "one", b"one\n");
    file(dir.path(), "two", b"two\n");
    let zip = |line: &str| run(dir.path(), words(line)).expect(0);
    zip("zip -r --password-file one b.zip src");
    file(dir.path(), "d", b"fourth");
    zip("zip --append b.zip d --password-file two");
    zip("zip --delete b.zip src/b");
    let out = zip("unzip -qqp b.zip src/c --password-file one");
    assert_eq!(out.text(), "third");
    assert_eq!(
        zip("unzip -qqp b.zip d --password-file two").text(),
        "fourth"
    );
    let wrong = run(dir.path(), words("unzip -t b.zip d --password-file one")).expect(1);
    assert!(wrong.stderr.contains("wrong password"), "{}", wrong.stderr);
}

#[test]
fn an_archive_that_is_not_right_stays_as_it_is() {
    let dir = directory();
    packed(dir.path());
    file(dir.path(), "d", b"new");
    let whole = std::fs::read(dir.path().join("a.zip")).expect("read");
    let mut moved = whole.clone();
    // A local header that is none.
    moved[0] = b'X';
    // What follows would be lost; what precedes stays, see `zip_prefix`.
    let followed = [&whole[..], b"something else"].concat();
    let cut = whole[..whole.len() - 30].to_vec();
    for broken in [moved, followed, cut] {
        file(dir.path(), "a.zip", &broken);
        // What is only added to is not looked at where it stays.
        let local = broken[0] == b'X';
        let lines = [
            "zip -u a.zip d",
            "zip --delete a.zip src/c",
            "zip --append a.zip d",
        ];
        for line in &lines[..lines.len() - usize::from(local)] {
            run(dir.path(), words(line)).expect(1);
            assert!(
                broken == std::fs::read(dir.path().join("a.zip")).expect("read"),
                "{line}"
            );
            assert_eq!(names(dir.path()), ["a.zip", "d", "src"], "{line}");
        }
    }
    let bytes = pipe(dir.path(), words("zip -qq - -"), b"x")
        .expect(0)
        .stdout;
    file(dir.path(), "a.zip", &bytes);
    // A source that cannot be read costs no more than itself.
    run(dir.path(), words("zip --append a.zip missing d")).expect(3);
    assert_eq!(listed(dir.path(), "a.zip"), ["-", "d"]);
}

#[test]
fn what_is_whole_of_a_broken_archive_is_saved() {
    let dir = directory();
    packed(dir.path());
    let whole = std::fs::read(dir.path().join("a.zip")).expect("read");
    let mut flipped = whole.clone();
    flipped[100] ^= 1;
    for (broken, code, entries) in [
        (&whole[..whole.len() - 22], 0, 4),
        (&flipped[..], 3, 3),
        (&whole[..whole.len() / 2], 3, 1),
    ] {
        file(dir.path(), "broken.zip", broken);
        let line = "zip --force --repair broken.zip a.zip --report json";
        let ended = run(dir.path(), words(line)).expect(code);
        let report: serde_json::Value = serde_json::from_str(
            ended
                .stderr
                .lines()
                .filter(|line| !line.starts_with("warning"))
                .collect::<String>()
                .as_str(),
        )
        .expect("JSON");
        assert_eq!(report["tables"][0]["rows"][0][0], entries);
        assert_eq!(listed(dir.path(), "a.zip").len(), entries);
        run(dir.path(), words("unzip -t --strict a.zip")).expect(0);
    }
    file(dir.path(), "broken.zip", b"nothing of the kind");
    run(dir.path(), words("zip --repair broken.zip b.zip")).expect(1);
    run(dir.path(), words("zip --repair broken.zip")).expect(2);
    assert!(!dir.path().join("b.zip").exists());
}
