//! Who may read what `zip` and `unzip` write, what they never replace, and what a killed run leaves.
#![cfg(unix)]

use std::fs::{File, Permissions};
use std::io::{Read as _, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Child, Stdio};

use crate::common::{directory, file, names, perfkit, pipe, run, words};

fn set(path: &Path, mode: u32) {
    std::fs::set_permissions(path, Permissions::from_mode(mode)).expect("set");
}

fn mode(path: &Path) -> u32 {
    path.metadata().expect("there").permissions().mode() & 0o777
}

/// A public and a private file, and directories of both kinds with public files.
fn sources(dir: &Path) {
    for name in ["open", "closed"] {
        std::fs::create_dir(dir.join(name)).expect("made");
        set(&file(dir, &format!("{name}/a"), b"content"), 0o644);
        set(&dir.join(name), if name == "open" { 0o755 } else { 0o700 });
    }
    set(&file(dir, "public", b"for all"), 0o644);
    set(&file(dir, "private", b"for me"), 0o600);
}

#[test]
fn an_archive_is_readable_by_nobody_who_may_not_read_all_of_its_sources() {
    let dir = directory();
    sources(dir.path());
    let archive = dir.path().join("a.zip");
    for (line, expected) in [
        ("zip a.zip public", 0o644),
        ("zip a.zip private", 0o600),
        ("zip a.zip public private", 0o600),
        ("zip -0 a.zip private", 0o600),
        ("zip -X a.zip private", 0o600),
        ("zip --verify a.zip private", 0o600),
        ("zip -r a.zip open", 0o644),
        ("zip -r a.zip closed", 0o600),
        ("zip -rD a.zip closed", 0o600),
    ] {
        run(dir.path(), words(line)).expect(0);
        // What the umask of these tests takes is gone as well.
        assert_eq!(mode(&archive) & !0o044, 0o600, "{line}");
        assert_eq!(
            mode(&archive) & !expected,
            0,
            "{line}: {:o}",
            mode(&archive)
        );
        std::fs::remove_file(&archive).expect("removed");
    }
    let mut stdin = perfkit();
    let private = File::open(dir.path().join("private")).expect("opened");
    stdin
        .current_dir(dir.path())
        .args(["zip", "a.zip", "-"])
        .stdin(private);
    assert!(stdin.output().expect("it runs").status.success());
    assert_eq!(mode(&archive), 0o600, "standard input");
}

#[test]
fn what_is_added_narrows_an_archive_and_nothing_widens_it() {
    let dir = directory();
    sources(dir.path());
    let archive = dir.path().join("a.zip");
    for (line, before, expected) in [
        ("zip --append a.zip private", 0o644, 0o600),
        ("zip --append a.zip private", 0o664, 0o600),
        ("zip --append a.zip open/a -r", 0o640, 0o640),
        ("zip --append a.zip open/a -r", 0o600, 0o600),
        ("zip -u a.zip private", 0o644, 0o600),
        ("zip -u a.zip open/a", 0o640, 0o640),
        ("zip --append --verify a.zip private", 0o644, 0o600),
        ("zip --delete a.zip public", 0o640, 0o640),
        ("zip --repair a.zip b.zip --force", 0o640, 0o640),
    ] {
        run(dir.path(), words("zip --force a.zip public open/a")).expect(0);
        let keep = match line.contains("open/a") {
            true => "zip --force a.zip public",
            false => "zip --force a.zip public closed/a",
        };
        run(dir.path(), words(keep)).expect(0);
        set(&archive, before);
        let ended = run(dir.path(), words(line)).expect(0);
        let made = match line.contains("--repair") {
            true => dir.path().join("b.zip"),
            false => archive.clone(),
        };
        assert_eq!(mode(&made), expected, "{line}: {}", ended.stderr);
        run(
            dir.path(),
            ["unzip", "-t", "--strict", made.to_str().expect("text")],
        )
        .expect(0);
    }
}

#[test]
fn files_out_of_a_pipe_are_their_owners_alone_until_their_mode_is_known() {
    let dir = directory();
    sources(dir.path());
    run(dir.path(), words("zip a.zip private public")).expect(0);
    let whole = std::fs::read(dir.path().join("a.zip")).expect("read");
    pipe(dir.path(), words("unzip -d whole -"), &whole).expect(0);
    assert_eq!(mode(&dir.path().join("whole/private")), 0o600);
    assert_eq!(mode(&dir.path().join("whole/public")) & 0o700, 0o600);
    // The directory, which says the modes, never comes.
    pipe(
        dir.path(),
        words("unzip -d cut -"),
        &whole[..whole.len() - 30],
    )
    .expect(3);
    for name in ["private", "public"] {
        assert_eq!(mode(&dir.path().join("cut").join(name)), 0o600, "{name}");
    }
}

#[test]
fn files_of_no_stated_mode_are_no_wider_than_their_archive() {
    let dir = directory();
    file(dir.path(), "a", b"content");
    run(dir.path(), words("zip a.zip a")).expect(0);
    let mut bytes = std::fs::read(dir.path().join("a.zip")).expect("read");
    let record = bytes
        .windows(4)
        .position(|four| four == b"PK\x01\x02")
        .expect("a record");
    // Made by a system without modes.
    bytes[record + 5] = 0;
    bytes[record + 38..record + 42].fill(0);
    let archive = file(dir.path(), "dos.zip", &bytes);
    set(&archive, 0o600);
    run(dir.path(), words("unzip dos.zip -d closed")).expect(0);
    assert_eq!(mode(&dir.path().join("closed/a")), 0o600);
    let mut stdin = perfkit();
    let source = File::open(&archive).expect("opened");
    stdin
        .current_dir(dir.path())
        .args(["unzip", "-", "-d", "piped"])
        .stdin(source);
    assert!(stdin.output().expect("it runs").status.success());
    assert_eq!(mode(&dir.path().join("piped/a")), 0o600);
    run(dir.path(), words("unzip --overwrite dos.zip -d closed")).expect(0);
    assert_eq!(mode(&dir.path().join("closed/a")), 0o600, "replaced");
}

#[test]
fn a_file_that_is_no_archive_is_never_replaced_by_one() {
    let dir = directory();
    for line in [
        "zip --force text text",
        "zip --force text other",
        "zip text other",
        "zip -r --force text other",
        "zip --force -X text other",
        "zip --repair a.zip text --force",
    ] {
        file(dir.path(), "text", b"precious words");
        file(dir.path(), "other", b"other words");
        run(dir.path(), words("zip --force a.zip other")).expect(0);
        let refused = run(dir.path(), words(line)).expect(2);
        let told = "'text' is not a ZIP archive, and an archive would replace it";
        assert!(refused.stderr.contains(told), "{line}: {}", refused.stderr);
        let help = "the first name is the archive: perfkit zip OUT PATH";
        assert!(refused.stderr.contains(help), "{}", refused.stderr);
        let left = std::fs::read(dir.path().join("text")).expect("read");
        assert_eq!(left, b"precious words", "{line}");
    }
    // An archive, one that was cut, one behind a program, an empty file: those are replaced.
    let whole = std::fs::read(dir.path().join("a.zip")).expect("read");
    let cut = &whole[..whole.len() / 2];
    let behind = [&b"#!/bin/sh\n"[..], &whole].concat();
    for target in [&whole[..], cut, &behind, b""] {
        file(dir.path(), "b.zip", target);
        run(dir.path(), words("zip b.zip other")).expect(1);
        run(dir.path(), words("zip --force b.zip other")).expect(0);
        run(dir.path(), words("unzip -t --strict b.zip")).expect(0);
    }
}

/// A run that has begun to write and waits for more input.
fn waiting(dir: &Path, line: &str) -> Child {
    let before = parts(dir);
    let mut child = perfkit()
        .current_dir(dir)
        .args(words(line))
        .stdin(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("perfkit runs");
    crate::common::signals::until("a temporary file", || {
        assert!(
            child.try_wait().expect("asked").is_none(),
            "{line}: it ended"
        );
        parts(dir).iter().any(|part| !before.contains(part))
    });
    child
}

fn parts(dir: &Path) -> Vec<String> {
    let part = |name: &String| name.starts_with(".perfkit-") && name.ends_with(".part");
    names(dir).into_iter().filter(part).collect()
}

#[test]
fn what_a_killed_run_left_goes_with_the_next_and_what_a_live_one_writes_stays() {
    for (first, next) in [
        ("zip a.zip -", "zip a.zip small"),
        ("compress -o a.zst -", "compress small -o a.zst"),
        ("zip a.zip -", "compress --train -r samples -o dictionary"),
    ] {
        let dir = directory();
        file(dir.path(), "small", b"content");
        std::fs::create_dir(dir.path().join("samples")).expect("made");
        for sample in 0..200 {
            let text =
                format!("sample {sample} of many that are alike: {}", sample * 31).repeat(20);
            file(dir.path(), &format!("samples/{sample}"), text.as_bytes());
        }
        let mut killed = waiting(dir.path(), first);
        killed.kill().expect("killed");
        killed.wait().expect("ended");
        let left = parts(dir.path());
        assert_eq!(left.len(), 1, "{first}");
        let mut live = waiting(dir.path(), "zip live.zip -");
        let written: Vec<_> = parts(dir.path());
        assert_eq!(
            written.len(),
            1,
            "the second removes what the first left: {written:?}"
        );
        assert_ne!(written, left);
        let ended = run(dir.path(), words(next)).expect(0);
        assert_eq!(parts(dir.path()), written, "{next}: {}", ended.stderr);
        live.stdin
            .take()
            .expect("a pipe")
            .write_all(b"late")
            .expect("written");
        assert!(live.wait().expect("ended").success());
        let late = run(dir.path(), words("unzip -qqp live.zip")).expect(0);
        assert_eq!(late.text(), "late");
        assert_eq!(parts(dir.path()), [""; 0]);
    }
}

#[test]
fn the_next_run_names_what_it_removes() {
    let dir = directory();
    file(dir.path(), "small", b"content");
    let mut killed = waiting(dir.path(), "zip a.zip -");
    killed.kill().expect("killed");
    killed.wait().expect("ended");
    let left = parts(dir.path()).remove(0);
    let ended = run(dir.path(), words("zip a.zip small")).expect(0);
    let told = format!("'{left}' is removed: a run that was killed had left it");
    assert!(ended.stderr.contains(&told), "{}", ended.stderr);
    // Extracting over files that exist goes through files of such names too.
    file(dir.path(), ".perfkit-123-4.part", b"half of something");
    run(dir.path(), words("unzip --overwrite a.zip")).expect(0);
    assert_eq!(parts(dir.path()), [""; 0]);
    let mut text = String::new();
    File::open(dir.path().join("small"))
        .and_then(|mut file| file.read_to_string(&mut text))
        .expect("read");
    assert_eq!(text, "content");
}
