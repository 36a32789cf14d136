//! Under the name `unzip`: what is in the place of a file, links that lead out, and damage to what is around the entries.
#![cfg(unix)]

use std::fs::Permissions;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::process::Command;

use zipstream::{ArchiveWriter, EntryOptions};

use crate::common::{Run, directory, feed, file, link_as, pipe, run};

/// Runs a command line of `unzip`, whose name is linked in the directory.
fn unzip(dir: &Path, line: &str) -> Run {
    let mut command = Command::new(dir.join("unzip"));
    command
        .args(line.split(' '))
        .current_dir(dir)
        .env("NO_COLOR", "1");
    feed(command, b"").into()
}

/// A directory with the name `unzip`, and an archive `a.zip` of these names, each with its name as its content; a name
/// `LINK>TARGET` is a link.
fn packed(names: &[&str]) -> (tempfile::TempDir, Vec<u8>) {
    let dir = directory();
    link_as(dir.path(), "unzip");
    let mut writer = ArchiveWriter::new(Vec::new());
    for name in names {
        let added = match (name.split_once('>'), name.ends_with('/')) {
            (Some((link, target)), _) => {
                writer.add(link, &EntryOptions::symlink(), &mut target.as_bytes())
            }
            (None, true) => writer.add(name, &EntryOptions::directory(), &mut &b""[..]),
            (None, false) => writer.add(name, &EntryOptions::default(), &mut name.as_bytes()),
        };
        added.expect("added");
    }
    let (archive, _) = writer.finish().expect("finished");
    file(dir.path(), "a.zip", &archive);
    (dir, archive)
}

fn read(dir: &Path, name: &str) -> String {
    std::fs::read_to_string(dir.join(name)).unwrap_or_default()
}

#[test]
fn a_link_is_older_than_its_entry_and_is_replaced_itself() {
    for flags in ["-uo", "-fo", "-o"] {
        let (dir, _) = packed(&["x"]);
        file(dir.path(), "target", b"stays");
        symlink("target", dir.path().join("x")).expect("linked");
        let ended = unzip(dir.path(), &format!("{flags} a.zip"));
        assert_eq!(ended.code, Some(0), "{flags}: {}", ended.stderr);
        assert!(!dir.path().join("x").is_symlink(), "{flags}");
        assert_eq!(read(dir.path(), "x"), "x", "{flags}");
        assert_eq!(read(dir.path(), "target"), "stays", "{flags}");
    }
    let (dir, _) = packed(&["x"]);
    symlink("nowhere", dir.path().join("x")).expect("linked");
    let ended = unzip(dir.path(), "-u a.zip");
    assert!(
        ended.stderr.contains("'x' exists and is a symbolic link"),
        "{}",
        ended.stderr
    );
    assert!(ended.stderr.contains("replace 'x'"), "{}", ended.stderr);
    assert!(dir.path().join("x").is_symlink());
}

#[test]
fn links_lead_out_only_where_that_is_asked_for() {
    let (dir, _) = packed(&["d/out>../../far", "abs>/etc/hostname", "d/in>f", "d/f"]);
    let kept = unzip(dir.path(), "-o a.zip -d one");
    assert_eq!(kept.code, Some(1), "{}", kept.stderr);
    assert_eq!(
        kept.stderr.matches("leads out of the target").count(),
        2,
        "{}",
        kept.stderr
    );
    assert!(!dir.path().join("one/abs").is_symlink());
    assert!(dir.path().join("one/d/in").is_symlink());
    let made = unzip(dir.path(), "-o: a.zip -d two");
    assert_eq!((made.code, &*made.stderr), (Some(0), ""));
    for (link, target) in [
        ("d/out", "../../far"),
        ("abs", "/etc/hostname"),
        ("d/in", "f"),
    ] {
        let found = std::fs::read_link(dir.path().join("two").join(link)).expect(link);
        assert_eq!(found, Path::new(target));
    }
    // Nothing is written through one that is there.
    let (dir, _) = packed(&["l/x"]);
    std::fs::create_dir(dir.path().join("other")).expect("made");
    symlink("other", dir.path().join("l")).expect("linked");
    let refused = unzip(dir.path(), "-o: a.zip");
    assert_eq!(refused.code, Some(2), "{}", refused.stderr);
    assert!(!dir.path().join("other/x").exists());
}

#[test]
fn a_file_in_the_place_of_a_directory_stays_as_it_is() {
    let (dir, _) = packed(&["s/", "s/x", "z"]);
    let s = file(dir.path(), "s", b"a file");
    std::fs::set_permissions(&s, Permissions::from_mode(0o640)).expect("set");
    let ended = unzip(dir.path(), "-o a.zip");
    assert_eq!(ended.code, Some(2), "{}", ended.stderr);
    assert!(
        ended.stderr.contains("where a directory should be"),
        "{}",
        ended.stderr
    );
    assert_eq!(
        (read(dir.path(), "s"), read(dir.path(), "z")),
        ("a file".into(), "z".into())
    );
    let mode = s.metadata().expect("there").permissions().mode();
    assert_eq!(mode & 0o777, 0o640);
}

/// bsdtar packs `.` as `./`.
#[test]
fn the_directory_itself_may_be_an_entry() {
    let dir = directory();
    link_as(dir.path(), "unzip");
    let mut writer = ArchiveWriter::new(Vec::new());
    for name in ["_/", "_/x"] {
        let options = match name.ends_with('/') {
            true => EntryOptions::directory(),
            false => EntryOptions::default(),
        };
        writer.add(name, &options, &mut &b""[..]).expect("added");
    }
    let (mut archive, _) = writer.finish().expect("finished");
    for at in 0..archive.len() - 1 {
        if &archive[at..at + 2] == b"_/" {
            archive[at] = b'.';
        }
    }
    file(dir.path(), "a.zip", &archive);
    let ended = unzip(dir.path(), "a.zip -d one");
    assert_eq!((ended.code, &*ended.stderr), (Some(0), ""));
    assert!(dir.path().join("one/x").is_file());
    assert!(!ended.text().contains("./"), "{}", ended.text());
    run(dir.path(), ["unzip", "a.zip", "-d", "two"]).expect(0);
    assert!(dir.path().join("two/x").is_file());
    let piped = pipe(dir.path(), ["unzip", "-", "-d", "three"], &archive).expect(0);
    assert!(dir.path().join("three/x").is_file(), "{}", piped.stderr);
}

#[test]
fn every_bit_of_the_end_record_is_survived_where_that_is_certain() {
    let (dir, archive) = packed(&["a", "b", "c"]);
    let end = archive.len() - 22;
    // Disks, counts, the size and the offset of the directory.
    for byte in 4..20 {
        for bit in 0..8 {
            let mut damaged = archive.clone();
            damaged[end + byte] ^= 1 << bit;
            file(dir.path(), "a.zip", &damaged);
            let ended = unzip(dir.path(), "-qo a.zip -d out");
            let wanted = match byte {
                4..10 => 1,
                10..12 => 3,
                _ => 2,
            };
            assert_eq!(
                ended.code,
                Some(wanted),
                "byte {byte}, bit {bit}: {}",
                ended.stderr
            );
            for name in ["a", "b", "c"] {
                let path = dir.path().join("out").join(name);
                assert_eq!(
                    std::fs::read(path).expect("read"),
                    name.as_bytes(),
                    "{byte} {bit}"
                );
            }
            std::fs::remove_dir_all(dir.path().join("out")).expect("removed");
        }
    }
}

#[test]
fn entries_before_a_damaged_record_are_had() {
    let (dir, archive) = packed(&["a", "b", "c"]);
    let records = archive
        .windows(4)
        .enumerate()
        .filter(|(_, bytes)| *bytes == b"PK\x01\x02");
    let records: Vec<usize> = records.map(|(at, _)| at).collect();
    for (number, at) in records.iter().enumerate() {
        let mut damaged = archive.clone();
        damaged[at + 1] = 0;
        file(dir.path(), "a.zip", &damaged);
        let ended = unzip(dir.path(), "-o a.zip -d out");
        assert_eq!(ended.code, Some(3), "{}", ended.stderr);
        assert!(
            ended.stderr.contains("entries are missing"),
            "{}",
            ended.stderr
        );
        let had = ["a", "b", "c"].map(|name| dir.path().join("out").join(name).is_file());
        assert_eq!(had, [number > 0, number > 1, false]);
        let _ = std::fs::remove_dir_all(dir.path().join("out"));
        // Whoever changes it would lose the others.
        run(dir.path(), ["zip", "--append", "a.zip", "unzip"]).expect(1);
    }
}

#[test]
fn another_local_name_is_said() {
    let (dir, mut archive) = packed(&["first", "b"]);
    archive[30] = b'F';
    file(dir.path(), "a.zip", &archive);
    for line in ["-o a.zip", "-t a.zip", "-p a.zip"] {
        let ended = unzip(dir.path(), line);
        assert_eq!(ended.code, Some(1), "{line}: {}", ended.stderr);
        assert!(
            ended
                .stderr
                .contains("'first' has another name in its local header, 'First'"),
            "{}",
            ended.stderr
        );
    }
    assert_eq!(read(dir.path(), "first"), "first");
}

/// One notation in lists, errors and warnings.
#[test]
fn control_characters_have_one_notation() {
    let (dir, mut archive) = packed(&["o\u{1}\u{1b}dd"]);
    let content = archive.len() - 22;
    let at = archive[..content]
        .windows(5)
        .position(|bytes| bytes == b"o\x01\x1bdd")
        .expect("a name");
    archive[at + 5] ^= 1;
    file(dir.path(), "a.zip", &archive);
    for line in [
        "-t a.zip",
        "-o a.zip",
        "-l a.zip o\u{1}\u{1b}dd",
        "a.zip o\u{1}\u{1b}de",
        "o\u{1}\u{1b}df",
    ] {
        let ended = unzip(dir.path(), line);
        let said = format!("{}{}", ended.text(), ended.stderr);
        assert!(said.contains("o^A^[d"), "{line}: {said}");
        assert!(!said.contains("\\u{"), "{line}: {said}");
    }
}
