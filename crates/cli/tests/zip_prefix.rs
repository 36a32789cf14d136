//! Archives behind a program, such as self-extracting ones: the program stays and works when they are
//! changed, by `perfkit zip` and under the name `zip`.
#![cfg(unix)]

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use crate::common::{directory, file, pipe, run, words};

const PROGRAM: &[u8] = b"#!/bin/sh\necho it runs\nexit 0\n";

/// The program, and behind it an archive of `a` and `b` whose offsets count from its own start.
fn packed(dir: &Path) {
    file(dir, "a", b"first");
    file(dir, "b", b"second");
    file(dir, "new", b"third");
    run(dir, words("zip --force plain.zip a b")).expect(0);
    let plain = std::fs::read(dir.join("plain.zip")).expect("read");
    let archive = file(dir, "s.zip", &[PROGRAM, &plain].concat());
    std::fs::set_permissions(archive, PermissionsExt::from_mode(0o755)).expect("set");
}

fn names(dir: &Path) -> String {
    let listed = run(dir, words("unzip -1 s.zip")).expect(0);
    listed.text().replace('\n', " ")
}

/// Whether the program and all entries are as they should be.
fn check(dir: &Path, expected: &str, line: &str) {
    let bytes = std::fs::read(dir.join("s.zip")).expect("read");
    assert!(
        bytes.starts_with(&[PROGRAM, b"PK\x03\x04"].concat()),
        "{line}"
    );
    let mode = dir
        .join("s.zip")
        .metadata()
        .expect("there")
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o755, "{line}");
    let ran = Command::new("sh")
        .arg(dir.join("s.zip"))
        .output()
        .expect("sh runs");
    assert_eq!(ran.stdout, b"it runs\n", "{line}");
    let tested = run(dir, words("unzip -t s.zip")).expect(0);
    // Offsets count from the start of the file, so no reader has to guess.
    assert!(
        !tested.stderr.contains("precede"),
        "{line}: {}",
        tested.stderr
    );
    assert_eq!(names(dir), expected, "{line}");
}

#[test]
fn the_program_before_an_archive_stays() {
    for (line, expected) in [
        ("zip --append s.zip new", "a b new "),
        ("zip --append --verify s.zip new", "a b new "),
        ("zip -u s.zip new a", "a b new "),
        ("zip --delete s.zip a", "b "),
        ("zip --delete --verify s.zip a", "b "),
        ("zip --comment text s.zip", "a b "),
        ("zip --filesync s.zip b new", "b new "),
    ] {
        let dir = directory();
        packed(dir.path());
        run(dir.path(), words(line)).expect(0);
        check(dir.path(), expected, line);
        // Once more, now with offsets from the start of the file.
        file(dir.path(), "more", b"fourth");
        run(dir.path(), words("zip --append s.zip more")).expect(0);
        check(dir.path(), &format!("{expected}more "), line);
        run(dir.path(), words("zip --delete s.zip more")).expect(0);
        check(dir.path(), expected, line);
    }
}

#[test]
fn the_program_stays_under_the_name_zip() {
    let dir = directory();
    packed(dir.path());
    let zip = dir.path().join("zip");
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_perfkit"), &zip).expect("linked");
    let zip = |line: &str| {
        let mut command = Command::new(&zip);
        command.current_dir(dir.path()).args(words(line));
        let ended = command.output().expect("it runs");
        assert!(ended.status.success(), "{line}: {ended:?}");
        String::from_utf8(ended.stdout).expect("text")
    };
    zip("-A s.zip");
    check(dir.path(), "a b ", "-A");
    assert!(zip("-A s.zip").contains("are right"));
    packed(dir.path());
    zip("-q s.zip new");
    check(dir.path(), "a b new ", "add");
    zip("-qd s.zip a");
    check(dir.path(), "b new ", "-d");
}

#[test]
fn an_archive_behind_a_program_is_read_from_a_pipe() {
    let dir = directory();
    let dir = dir.path();
    packed(dir);
    let plain = std::fs::read(dir.join("plain.zip")).expect("read");
    // A constant of the program and a header that cannot be one are not where the archive begins.
    let programs: [&[u8]; 6] = [
        PROGRAM,
        b"P",
        b"PK\x03",
        b"MZ PK\x03\x04 and PK\x03\x04\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff",
        b"PPPKPK\x03PK",
        &[0; 300_000],
    ];
    run(dir, words("zip --append s.zip new")).expect(0);
    let adjusted = std::fs::read(dir.join("s.zip")).expect("read");
    let prefixed = programs.map(|program| [program, &plain].concat());
    let sfx = prefixed
        .iter()
        .map(|archive| (archive, "a b ", archive.len() - plain.len()));
    let sfx: Vec<_> = sfx
        .chain([(&adjusted, "a b new ", PROGRAM.len())])
        .collect();
    for (number, (archive, expected, preceding)) in sfx.into_iter().enumerate() {
        let listed = pipe(dir, words("unzip -1 -"), archive).expect(0);
        assert_eq!(listed.text().replace('\n', " "), expected, "{number}");
        let note = format!("{preceding} bytes precede the archive");
        assert!(listed.stderr.contains(&note), "{number}: {}", listed.stderr);
        // Modes come from the directory, whose offsets count from either place.
        let out = format!("out{number}");
        let done = pipe(dir, words(&format!("unzip - -d {out}")), archive).expect(0);
        assert!(done.stderr.contains(&note), "{number}: {}", done.stderr);
        assert_eq!(
            std::fs::read(dir.join(&out).join("b")).expect("read"),
            b"second"
        );
        let mode = |path: &Path| path.metadata().expect("there").permissions().mode();
        assert_eq!(
            mode(&dir.join(&out).join("a")),
            mode(&dir.join("a")),
            "{number}"
        );
        pipe(dir, words("unzip -t --strict -"), archive).expect(1);
    }
    for nothing in [PROGRAM, &[b'P'; 70_000]] {
        let failed = pipe(dir, words("unzip -t -"), nothing).expect(1);
        let said = format!("begins in the first {} bytes", nothing.len());
        assert!(failed.stderr.contains(&said), "{}", failed.stderr);
    }
}
