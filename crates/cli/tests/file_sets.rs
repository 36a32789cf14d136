//! Commands that write several files: a set appears whole, or the old one stays.

#![cfg(unix)]

use std::path::Path;
use std::process::{Child, Stdio};

use crate::common::signals::{send, until, until_signals_are_handled};
use crate::common::{Run, directory, file, names, perfkit, run, words};
use nix::sys::signal::Signal;

const SET: [&str; 3] = ["domains", "events", "expressions"];

/// An old set, and what replaces it unless the run is ended.
fn begin(dir: &Path) -> Child {
    for name in SET {
        file(dir, name, b"old");
    }
    let line = "betree generate ad -o . -f --expressions 3 --events 100000000";
    let child = perfkit()
        .current_dir(dir)
        .args(words(line))
        .stderr(Stdio::piped())
        .spawn()
        .expect("runs");
    until("three temporary files", || names(dir).len() == 6);
    // The small ones are complete long before the events are.
    until("events are written", || {
        let entries = std::fs::read_dir(dir).expect("listed");
        let large =
            |entry: &std::fs::DirEntry| entry.metadata().is_ok_and(|found| found.len() > 1 << 16);
        entries.filter_map(Result::ok).any(|entry| large(&entry))
    });
    child
}

fn is_old(dir: &Path) {
    assert_eq!(names(dir), SET);
    for name in SET {
        assert_eq!(
            std::fs::read(dir.join(name)).expect("read"),
            b"old",
            "{name}"
        );
    }
}

#[test]
fn a_signal_leaves_the_old_set_and_no_temporary_file() {
    for signal in [Signal::SIGINT, Signal::SIGTERM] {
        let dir = directory();
        let child = begin(dir.path());
        until_signals_are_handled(&child);
        send(&child, signal);
        Run::from(child.wait_with_output().expect("ends")).expect(130);
        is_old(dir.path());
    }
}

/// The name that comes last in the set is taken by a directory when all files are written.
#[test]
fn where_one_file_cannot_be_replaced_none_is() {
    for form in ["lines", "erlang"] {
        let dir = directory();
        for name in SET {
            file(dir.path(), name, b"old");
        }
        let line = format!("betree generate bool -o . -f --form {form} --events 6000");
        let mut child = perfkit()
            .current_dir(dir.path())
            .args(words(&line))
            .stderr(Stdio::piped())
            .spawn()
            .expect("runs");
        until("temporary files", || names(dir.path()).len() > SET.len());
        std::fs::remove_file(dir.path().join("events")).expect("removed");
        std::fs::create_dir(dir.path().join("events")).expect("made");
        assert_eq!(child.try_wait().expect("asked"), None, "it ended too soon");
        let failed = Run::from(child.wait_with_output().expect("ends")).expect(1);
        assert!(
            failed.stderr.contains("is a directory"),
            "{}",
            failed.stderr
        );
        assert_eq!(names(dir.path()), SET);
        for name in ["domains", "expressions"] {
            let content = std::fs::read(dir.path().join(name)).expect("read");
            assert_eq!(content, b"old", "{name}");
        }
    }
}

#[test]
fn manual_pages_of_two_versions_are_not_mixed() {
    let dir = directory();
    run(dir.path(), ["man", "--dir", "."]).expect(0);
    let pages = names(dir.path());
    let (last, others) = pages.split_last().expect("pages");
    for page in others {
        file(dir.path(), page, b"old");
    }
    std::fs::remove_file(dir.path().join(last)).expect("removed");
    std::fs::create_dir(dir.path().join(last)).expect("made");
    let failed = run(dir.path(), ["man", "--dir", "."]).expect(1);
    assert!(
        failed.stderr.contains("is a directory"),
        "{}",
        failed.stderr
    );
    assert_eq!(names(dir.path()), pages);
    for page in others {
        let content = std::fs::read(dir.path().join(page)).expect("read");
        assert_eq!(content, b"old", "{page}");
    }
    std::fs::remove_dir(dir.path().join(last)).expect("removed");
    run(dir.path(), ["man", "--dir", "."]).expect(0);
    assert_eq!(names(dir.path()), pages);
    for page in &pages {
        let content = std::fs::read(dir.path().join(page)).expect("read");
        assert!(content.len() > 100, "{page}");
    }
}
