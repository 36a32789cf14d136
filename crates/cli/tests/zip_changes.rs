//! Archives that `perfkit zip` changes, repairs and splits, as those find them who did not make them: names that
//! are there twice, directories that changed, lists without names, programs before archives, old parts.
#![cfg(unix)]

use std::fs::{File, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::time::{Duration, SystemTime};

use zipstream::{ArchiveOptions, ArchiveReader, ArchiveWriter, EntryOptions, Scratch};

use crate::common::{directory, file, link_as, names, pipe, run, words};

/// A moment in the year 2020, and later ones.
fn at(seconds: u64) -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(1_590_000_000 + seconds)
}

/// Gives a file or a directory a time.
fn date(dir: &Path, name: &str, seconds: u64) {
    let opened = File::open(dir.join(name)).expect("opened");
    opened.set_modified(at(seconds)).expect("set");
}

/// An archive with these entries, of one time; names may repeat.
pub(crate) fn archive(dir: &Path, name: &str, entries: &[(&str, &str)]) {
    let options = ArchiveOptions::new().repeated_names(true);
    let mut writer = ArchiveWriter::with_options(Vec::new(), options).expect("started");
    for (name, content) in entries {
        let mut one = ArchiveWriter::new(Vec::new());
        let entry = EntryOptions::default().modified(1_590_000_000);
        one.add(name, &entry, &mut content.as_bytes())
            .expect("added");
        let one = ArchiveReader::open(one.finish().expect("finished").0).expect("an archive");
        let entry = one.entries().next().expect("one").expect("a record");
        writer
            .copy(&one, &entry, &mut Scratch::default())
            .expect("copied");
    }
    file(dir, name, &writer.finish().expect("finished").0);
}

/// The names and contents of an archive.
pub(crate) fn held(dir: &Path, name: &str) -> Vec<String> {
    let bytes = std::fs::read(dir.join(name)).expect("read");
    let reader = ArchiveReader::open(&bytes[..]).expect("an archive");
    let entries = reader.entries().map(|entry| entry.expect("a record"));
    let shown = entries.map(|entry| {
        let content = reader.read(&entry).expect("read");
        format!(
            "{}={}",
            entry.name_lossy(),
            String::from_utf8_lossy(&content)
        )
    });
    shown.collect()
}

#[test]
fn an_archive_with_a_name_twice_can_be_changed() {
    let twice = [("a", "1"), ("b", "2"), ("c", "3"), ("b", "4")];
    let link = directory();
    let zip = link_as(link.path(), "zip");
    for (own, named, expected) in [
        // What is not asked for stays.
        ("--delete d.zip a", "-d d.zip a", vec!["b=2", "c=3", "b=4"]),
        (
            "--comment x d.zip",
            "-z d.zip",
            vec!["a=1", "b=2", "c=3", "b=4"],
        ),
        (
            "-u d.zip a c",
            "-u d.zip a c",
            vec!["a=1", "b=2", "c=3", "b=4"],
        ),
        (
            "--append d.zip n",
            "d.zip n",
            vec!["a=1", "b=2", "c=3", "b=4", "n=new"],
        ),
        (
            "--append --verify d.zip n",
            "-T d.zip n",
            vec!["a=1", "b=2", "c=3", "b=4", "n=new"],
        ),
        // All entries of a name go, and one takes their place.
        ("--delete d.zip b", "-d d.zip b", vec!["a=1", "c=3"]),
        ("-u d.zip b", "-u d.zip b", vec!["a=1", "b=newer", "c=3"]),
        ("--freshen d.zip", "-f d.zip", vec!["a=1", "b=newer", "c=3"]),
        ("--filesync d.zip b", "-FS d.zip b", vec!["b=newer"]),
    ] {
        let dir = directory();
        for (name, content, seconds) in [
            ("a", "1", 0),
            ("c", "3", 0),
            ("b", "newer", 9),
            ("n", "new", 9),
        ] {
            file(dir.path(), name, content.as_bytes());
            date(dir.path(), name, seconds);
        }
        let sorted = |mut entries: Vec<String>| {
            entries.sort();
            entries
        };
        let expected = sorted(expected.into_iter().map(str::to_owned).collect());
        archive(dir.path(), "d.zip", &twice);
        run(dir.path(), words(&format!("zip {own}"))).expect(0);
        assert_eq!(sorted(held(dir.path(), "d.zip")), expected, "{own}");
        archive(dir.path(), "d.zip", &twice);
        let mut program = std::process::Command::new(&zip);
        program.args(words(named)).current_dir(dir.path());
        let ended = crate::common::feed(program, b"a comment\n");
        assert!(
            ended.status.success() || named == "-u d.zip a c",
            "{named}: {ended:?}"
        );
        assert_eq!(sorted(held(dir.path(), "d.zip")), expected, "zip {named}");
    }
}

#[test]
fn directories_are_refreshed_like_files() {
    for line in [
        "zip -ru a.zip src",
        "zip -r --freshen a.zip src",
        "zip --freshen a.zip",
        "zip -u a.zip",
        "zip -r --filesync a.zip src",
    ] {
        let dir = directory();
        std::fs::create_dir_all(dir.path().join("src/lib")).expect("made");
        file(dir.path(), "src/lib/a", b"content");
        for name in ["src/lib/a", "src/lib", "src"] {
            date(dir.path(), name, 0);
        }
        run(dir.path(), words("zip -r a.zip src")).expect(0);
        let rights = Permissions::from_mode(0o710);
        std::fs::set_permissions(dir.path().join("src/lib"), rights).expect("set");
        date(dir.path(), "src/lib", 100);
        run(dir.path(), words(line)).expect(0);
        let bytes = std::fs::read(dir.path().join("a.zip")).expect("read");
        let reader = ArchiveReader::open(&bytes[..]).expect("an archive");
        assert_eq!(reader.len(), 3, "{line}");
        let entry = reader.find("src/lib/").expect("read").expect("there");
        let time = entry.time().seconds_utc(|local| local);
        assert_eq!(time, 1_590_000_100, "{line}");
        assert_eq!(entry.mode().map(|mode| mode & 0o777), Some(0o710), "{line}");
    }
}

#[test]
fn nothing_to_pack_is_an_error_and_makes_no_archive() {
    let dir = directory();
    file(dir.path(), "a", b"content");
    file(dir.path(), "none", b"\n\n");
    std::fs::create_dir(dir.path().join("empty")).expect("made");
    run(dir.path(), words("zip held.zip a")).expect(0);
    let before = std::fs::read(dir.path().join("held.zip")).expect("read");
    for (line, told) in [
        ("zip new.zip --from-file none", "'none' names no file"),
        (
            "zip --force held.zip --from-file none",
            "'none' names no file",
        ),
        ("zip -u held.zip --from-file none", "'none' names no file"),
        ("zip new.zip --from-file -", "standard input names no file"),
        ("zip new.zip a -i *.java", "-i and -x leave nothing"),
        ("zip new.zip a -x a", "-i and -x leave nothing"),
        ("zip -u new.zip a -x a", "-i and -x leave nothing"),
        ("zip -rD new.zip empty", "there is nothing to pack"),
        ("zip -rD - empty", "there is nothing to pack"),
    ] {
        let ended = run(dir.path(), words(line)).expect(1);
        assert!(ended.stderr.contains(told), "{line}: {}", ended.stderr);
        assert!(ended.stdout.is_empty(), "{line}");
        assert!(!dir.path().join("new.zip").exists(), "{line}");
        let after = std::fs::read(dir.path().join("held.zip")).expect("read");
        assert!(before == after, "{line}");
    }
}

#[test]
fn a_list_of_find_packs_directories_as_entries() {
    let dir = directory();
    std::fs::create_dir_all(dir.path().join("src/lib")).expect("made");
    file(dir.path(), "src/lib/a", b"content");
    let list = b"src\nsrc/lib\nsrc/lib/a\n";
    let ended = pipe(dir.path(), words("zip -qq a.zip --from-file -"), list).expect(0);
    assert_eq!(ended.stderr, "");
    assert_eq!(
        held(dir.path(), "a.zip"),
        ["src/=", "src/lib/=", "src/lib/a=content"]
    );
    // Names of any characters, as `find -print0` ends them.
    file(dir.path(), "two\nlines", b"content");
    let list = b"src/lib/a\0two\nlines\0";
    pipe(dir.path(), words("zip -qq b.zip --from-file -"), list).expect(0);
    let listed = held(dir.path(), "b.zip");
    assert_eq!(listed, ["src/lib/a=content", "two\nlines=content"]);
    // What is in a directory leaves out its entry as well.
    run(dir.path(), words("zip -qqr c.zip src -x src/lib/*")).expect(0);
    assert_eq!(held(dir.path(), "c.zip"), ["src/="]);
}

#[test]
fn repair_keeps_what_precedes_a_sound_archive() {
    let dir = directory();
    file(dir.path(), "a", &vec![0; 5 << 20]);
    file(dir.path(), "b", b"second");
    run(dir.path(), words("zip plain.zip a b")).expect(0);
    let plain = std::fs::read(dir.path().join("plain.zip")).expect("read");
    let program = b"#!/bin/sh\necho it runs\nexit 0\n";
    for (before, name) in [(&b""[..], "none"), (program, "program"), (b"GIF89a", "any")] {
        file(dir.path(), "s.zip", &[before, &plain].concat());
        let ended = run(dir.path(), words("zip --force --repair s.zip new.zip")).expect(0);
        assert!(!ended.stderr.contains("lost,"), "{name}: {}", ended.stderr);
        let new = std::fs::read(dir.path().join("new.zip")).expect("read");
        assert!(new.starts_with(&[before, b"PK\x03\x04"].concat()), "{name}");
        run(dir.path(), words("unzip -t new.zip")).expect(0);
    }
    std::fs::create_dir(dir.path().join("folder")).expect("made");
    for line in ["zip --repair folder x.zip", "zip --merge x.zip folder"] {
        let ended = run(dir.path(), words(line)).expect(1);
        let told = "'folder' is a directory";
        assert!(ended.stderr.contains(told), "{line}: {}", ended.stderr);
    }
}

#[test]
fn an_archive_that_cannot_be_changed_leads_to_its_repair() {
    let dir = directory();
    file(dir.path(), "a", b"content");
    run(dir.path(), words("zip a.zip a")).expect(0);
    let whole = std::fs::read(dir.path().join("a.zip")).expect("read");
    for broken in [
        &whole[..whole.len() - 9],
        &[&whole[..], b"and more"].concat(),
    ] {
        file(dir.path(), "a.zip", broken);
        let ended = run(dir.path(), words("zip --delete a.zip a")).expect(1);
        let help = "perfkit zip --repair 'a.zip' NEW";
        assert!(ended.stderr.contains(help), "{}", ended.stderr);
        run(dir.path(), words("zip --force --repair a.zip new.zip")).expect(0);
        assert_eq!(held(dir.path(), "new.zip"), ["a=content"]);
    }
}

#[test]
fn old_parts_are_removed_or_in_the_way() {
    let dir = directory();
    for name in ["a", "b", "c", "d"] {
        file(dir.path(), name, name.as_bytes());
    }
    run(dir.path(), words("zip all.zip a b c d")).expect(0);
    let split = |entries: u32| format!("zip --merge --split-entries {entries} e.zip all.zip");
    run(dir.path(), words(&split(1))).expect(0);
    // Parts of a run with more than nine, and what only looks like a part.
    for name in ["e-01.zip", "e-02.zip"] {
        std::fs::copy(dir.path().join("e-1.zip"), dir.path().join(name)).expect("copied");
    }
    file(dir.path(), "e-2026.zip", b"not a part");
    for name in ["e-1.zip", "e-2.zip"] {
        std::fs::remove_file(dir.path().join(name)).expect("removed");
    }
    let refused = run(dir.path(), words(&split(2))).expect(1);
    assert!(
        refused.stderr.contains("'e-3.zip' exists already") && refused.stderr.contains("--force"),
        "{}",
        refused.stderr
    );
    assert!(!dir.path().join("e-1.zip").exists());
    run(dir.path(), words(&format!("{} --force", split(2)))).expect(0);
    let parts: Vec<_> = names(dir.path())
        .into_iter()
        .filter(|name| name.starts_with("e-"))
        .collect();
    assert_eq!(parts, ["e-1.zip", "e-2.zip", "e-2026.zip"]);
    // A part is not written over what it is made of.
    let line = "zip --force --merge --split-entries 1 e.zip e-1.zip e-2.zip";
    let refused = run(dir.path(), words(line)).expect(1);
    let told = "is an archive that is read and a part that is written";
    assert!(refused.stderr.contains(told), "{}", refused.stderr);
    assert_eq!(held(dir.path(), "e-2.zip"), ["c=c", "d=d"]);
}

#[test]
fn files_get_the_modes_that_the_archive_states() {
    let dir = directory();
    for (name, mode) in [("a", 0o664), ("b", 0o777), ("c", 0o600), ("d", 0o640)] {
        let path = file(dir.path(), name, b"content");
        std::fs::set_permissions(path, Permissions::from_mode(mode)).expect("set");
    }
    run(dir.path(), words("zip a.zip a b c d")).expect(0);
    // Whatever the umask is.
    let binary = env!("CARGO_BIN_EXE_perfkit");
    let line = format!("umask 077 && '{binary}' unzip -qq a.zip -d out");
    let ended = std::process::Command::new("sh")
        .args(["-c", &line])
        .current_dir(dir.path())
        .status();
    assert!(ended.expect("sh runs").success());
    for (name, mode) in [("a", 0o664), ("b", 0o777), ("c", 0o600), ("d", 0o640)] {
        let found = dir.path().join("out").join(name).metadata().expect("there");
        assert_eq!(found.permissions().mode() & 0o7777, mode, "{name}");
    }
}

#[test]
fn a_help_line_that_several_failures_share_is_printed_once() {
    let dir = directory();
    for name in ["a", "b", "c"] {
        file(dir.path(), name, b"content");
    }
    run(dir.path(), words("zip a.zip a b c")).expect(0);
    let ended = run(dir.path(), words("unzip -qq a.zip")).expect(3);
    assert_eq!(ended.stderr.matches("exists already").count(), 3);
    assert_eq!(ended.stderr.matches("help:").count(), 1, "{}", ended.stderr);
    let ended = run(dir.path(), words("unzip -qq a.zip none")).expect(1);
    let help = "help: list the names: perfkit unzip -1 'a.zip'";
    assert!(ended.stderr.contains(help), "{}", ended.stderr);
}
