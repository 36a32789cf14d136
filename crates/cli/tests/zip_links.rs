//! Under the name `zip`: links that lead nowhere or to themselves, archives with several names, and what `-FS`, `-O` and
//! `-FF` say of what is not there.
#![cfg(unix)]

use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use crate::common::{Run, directory, feed, file, link_as};
use crate::zip_changes::{archive, held};

fn zip(dir: &Path, line: &str) -> Run {
    let programs = directory();
    let mut command = Command::new(link_as(programs.path(), "zip"));
    command
        .args(line.split(' '))
        .current_dir(dir)
        .env("NO_COLOR", "1");
    feed(command, b"").into()
}

#[test]
fn a_link_into_itself_is_left_out_and_nothing_is_lost() {
    let dir = directory();
    std::fs::create_dir(dir.path().join("d")).expect("made");
    file(dir.path(), "d/a", b"a");
    symlink(".", dir.path().join("d/loop")).expect("linked");
    symlink("y", dir.path().join("d/x")).expect("linked");
    symlink("x", dir.path().join("d/y")).expect("linked");
    let packed = zip(dir.path(), "-r a.zip d");
    assert_eq!(packed.code, Some(0), "{}", packed.stderr);
    assert!(
        packed
            .stderr
            .contains("'d/loop' leads to 'd', which it is in"),
        "{}",
        packed.stderr
    );
    assert!(
        packed.stderr.contains("'d/x' is a link that leads nowhere"),
        "{}",
        packed.stderr
    );
    assert_eq!(held(dir.path(), "a.zip"), ["d/=", "d/a=a"]);
    assert_eq!(zip(dir.path(), "b.zip d/x").code, Some(12));
}

#[test]
fn other_names_of_an_archive_keep_it() {
    let dir = directory();
    archive(dir.path(), "one.zip", &[("a", "old")]);
    std::fs::hard_link(dir.path().join("one.zip"), dir.path().join("two.zip")).expect("linked");
    file(dir.path(), "b", b"new");
    let changed = zip(dir.path(), "one.zip b");
    assert_eq!(changed.code, Some(0), "{}", changed.stderr);
    assert!(changed.stderr.contains("hard links"), "{}", changed.stderr);
    assert_eq!(held(dir.path(), "one.zip"), ["a=old", "b=new"]);
    assert_eq!(held(dir.path(), "two.zip"), ["a=old"]);
    // Now they are two files.
    file(dir.path(), "b", b"newer");
    assert_eq!(zip(dir.path(), "one.zip b").stderr, "");
}

/// Another archive is made of one that is there.
#[test]
fn nothing_moves_where_there_is_no_archive_to_change() {
    let dir = directory();
    file(dir.path(), "a", b"stays");
    for line in [
        "-m none.zip a -O new.zip",
        "none.zip a -O new.zip",
        "-d none.zip a -O new.zip",
        "-u none.zip -O new.zip",
    ] {
        let ended = zip(dir.path(), line);
        assert_eq!(ended.code, Some(18), "{line}: {}", ended.stderr);
        assert!(
            ended.stderr.contains("no archive 'none.zip'"),
            "{line}: {}",
            ended.stderr
        );
        assert!(!dir.path().join("new.zip").exists(), "{line}");
    }
    assert!(dir.path().join("a").exists());
}

#[test]
fn what_is_said_of_an_archive_that_stays_is_true() {
    let dir = directory();
    std::fs::create_dir(dir.path().join("d")).expect("made");
    file(dir.path(), "d/a", b"a");
    file(dir.path(), "d/b", b"b");
    zip(dir.path(), "-qr a.zip d").expect(0);
    let same = "as the files are";
    let said = |line: &str| zip(dir.path(), line).expect(0).text().to_owned();
    assert!(said("-FSr a.zip d").contains(same));
    assert!(!said("-FSr a.zip d -x d/b").contains(same));
    std::fs::remove_file(dir.path().join("d/b")).expect("removed");
    symlink("nowhere", dir.path().join("d/b")).expect("linked");
    assert!(!said("-FSr a.zip d").contains(same));
}

/// 18 is a file that cannot be read.
#[test]
fn what_is_lost_of_an_archive_ends_with_3() {
    let dir = directory();
    archive(dir.path(), "a.zip", &[("a", "first"), ("b", "second")]);
    let mut bytes = std::fs::read(dir.path().join("a.zip")).expect("read");
    let at = bytes
        .windows(6)
        .position(|bytes| bytes == b"second")
        .expect("a content");
    bytes[at] ^= 1;
    file(dir.path(), "a.zip", &bytes);
    let saved = zip(dir.path(), "-FF a.zip -O saved.zip");
    assert_eq!(saved.code, Some(3), "{}", saved.stderr);
    assert_eq!(held(dir.path(), "saved.zip"), ["a=first"]);
}
