//! `zip` and `unzip` as users run them: what goes in comes out, what is refused stays refused, and
//! nothing is written outside of the target.

use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;

use crate::common::{self, directory, file, names, pipe, run, samples, words};

/// A tree with files of all kinds, a directory, a link and a script.
fn tree(dir: &Path) {
    std::fs::create_dir_all(dir.join("src/deep/hollow")).expect("made");
    for (name, data) in samples(400_000) {
        file(dir, &format!("src/deep/{name}"), &data);
    }
    file(dir, "src/größe.txt", b"size");
    let script = file(dir, "src/run.sh", b"#!/bin/sh\n");
    std::fs::set_permissions(script, PermissionsExt::from_mode(0o755)).expect("set");
    symlink("deep/json", dir.join("src/link")).expect("made");
}

/// Whether two trees hold the same files, links, modes and times.
fn assert_same(one: &Path, other: &Path) {
    assert_eq!(names(one), names(other));
    for name in names(one) {
        let (a, b) = (one.join(&name), other.join(&name));
        let (left, right) = (
            a.symlink_metadata().expect("there"),
            b.symlink_metadata().expect("there"),
        );
        assert_eq!(left.file_type(), right.file_type(), "{name}");
        if left.is_symlink() {
            let link = |path: &Path| std::fs::read_link(path).expect("a link");
            assert_eq!(link(&a), link(&b), "{name}");
            continue;
        }
        assert_eq!(left.mode(), right.mode(), "{name}");
        assert_eq!(left.mtime(), right.mtime(), "{name}");
        if left.is_dir() {
            assert_same(&a, &b);
        } else {
            assert!(std::fs::read(&a).expect("read") == std::fs::read(&b).expect("read"));
        }
    }
}

#[test]
fn a_tree_comes_back_as_it_was() {
    let dir = directory();
    tree(dir.path());
    let mut archives = Vec::new();
    for line in [
        "zip -r a.zip src -T1",
        "zip -r a.zip src -T3",
        "zip -1r a.zip src",
        "zip -0r a.zip src --verify",
        "zip -r -Z zstd a.zip src --verify -T2",
    ] {
        run(dir.path(), words(&format!("{line} --force"))).expect(0);
        archives.push(std::fs::read(dir.path().join("a.zip")).expect("read"));
        for line in ["unzip -d out a.zip -T1", "unzip --strict -d out a.zip -T2"] {
            let ended = run(dir.path(), words(line)).expect(0);
            assert!(ended.stderr.contains("10 ok"), "{}", ended.stderr);
            assert_same(&dir.path().join("src"), &dir.path().join("out/src"));
            std::fs::remove_dir_all(dir.path().join("out")).expect("removed");
        }
        run(dir.path(), words("unzip -t --strict a.zip")).expect(0);
    }
    assert!(
        archives[0] == archives[1],
        "the archive depends on the threads"
    );
}

#[test]
fn names_that_some_systems_take_for_one_are_verified_as_they_are() {
    let dir = directory();
    std::fs::create_dir(dir.path().join("c")).expect("made");
    for name in ["Makefile", "makefile", "e\u{301}", "plain"] {
        file(dir.path(), &format!("c/{name}"), name.as_bytes());
    }
    let packed = run(dir.path(), words("zip -r --verify a.zip c")).expect(0);
    let told = "the archive is right, and strict readers refuse it: ";
    assert!(packed.stderr.contains(told), "{}", packed.stderr);
    let line = "zip -rm --verify b.zip c --export-json r.json";
    run(dir.path(), words(line)).expect(0);
    let report = std::fs::read(dir.path().join("r.json")).expect("read");
    let report: serde_json::Value = serde_json::from_slice(&report).expect("a report");
    assert_eq!(report["validation"]["wrong"], 0);
    assert!(!dir.path().join("c/Makefile").exists());
    run(dir.path(), words("unzip -q b.zip")).expect(0);
    assert!(dir.path().join("c/Makefile").exists() && dir.path().join("c/makefile").exists());
}

#[test]
fn pipes_at_both_ends() {
    let dir = directory();
    tree(dir.path());
    let packed = run(dir.path(), words("zip -qq -r - src")).expect(0).stdout;
    run(dir.path(), words("zip -r a.zip src")).expect(0);
    assert!(packed == std::fs::read(dir.path().join("a.zip")).expect("read"));
    pipe(dir.path(), words("unzip -d out -"), &packed).expect(0);
    assert_same(&dir.path().join("src"), &dir.path().join("out/src"));
    let text = pipe(dir.path(), words("unzip -p - *größe*"), &packed).expect(0);
    assert_eq!(text.text(), "size");

    let stdin = pipe(dir.path(), words("zip -qq - -"), b"from a pipe").expect(0);
    let back = pipe(dir.path(), words("unzip -qqp -"), &stdin.stdout).expect(0);
    assert_eq!(back.text(), "from a pipe");
}

#[test]
fn reproducible_archives_are_the_same_from_another_copy() {
    let dir = directory();
    for (copy, mode) in [("one", 0o600), ("two", 0o644)] {
        let home = dir.path().join(copy);
        std::fs::create_dir_all(home.join("src")).expect("made");
        let path = file(&home, "src/a", b"content");
        std::fs::set_permissions(path, PermissionsExt::from_mode(mode)).expect("set");
        run(&home, words("zip -rX ../out.zip src --force")).expect(0);
        std::fs::rename(dir.path().join("out.zip"), home.join("out.zip")).expect("moved");
    }
    let read = |copy: &str| std::fs::read(dir.path().join(copy).join("out.zip")).expect("read");
    assert_eq!(read("one"), read("two"));
}

#[test]
fn patterns_choose_and_listings_say_what_there_is() {
    let dir = directory();
    tree(dir.path());
    run(
        dir.path(),
        words("zip -rD a.zip src -x *random* -i src/deep/*"),
    )
    .expect(0);
    let listing = run(dir.path(), words("unzip -l --json a.zip"))
        .expect(0)
        .json();
    let rows = listing["tables"][0]["rows"].as_array().expect("rows");
    let names: Vec<_> = rows
        .iter()
        .map(|row| row[4].as_str().expect("a name"))
        .collect();
    let expected = ["binary", "empty", "html", "json", "log", "one", "uuid"];
    assert_eq!(names, expected.map(|name| format!("src/deep/{name}")));
    run(dir.path(), words("unzip a.zip *json -x nothing -d out")).expect(0);
    assert_eq!(common::names(&dir.path().join("out/src/deep")), ["json"]);
}

#[test]
fn files_that_exist_are_kept_skipped_or_replaced() {
    let dir = directory();
    file(dir.path(), "a", b"packed");
    run(dir.path(), words("zip a.zip a")).expect(0);
    let refused = run(dir.path(), words("zip a.zip a")).expect(1);
    assert!(
        refused.stderr.contains("exists already"),
        "{}",
        refused.stderr
    );
    let read = || std::fs::read(dir.path().join("a")).expect("read");
    for (line, code, content) in [
        ("unzip a.zip", 3, "mine"),
        ("unzip -n a.zip", 0, "mine"),
        ("unzip --overwrite a.zip", 0, "packed"),
    ] {
        file(dir.path(), "a", b"mine");
        run(dir.path(), words(line)).expect(code);
        assert_eq!(read(), content.as_bytes(), "{line}");
    }
    assert_eq!(names(dir.path()), ["a", "a.zip"]);
}

#[test]
fn what_cannot_be_packed_costs_nothing_but_itself() {
    let dir = directory();
    file(dir.path(), "a", b"x");
    let ended = run(dir.path(), words("zip a.zip a missing ../up")).expect(3);
    assert!(ended.stderr.contains("'missing'"), "{}", ended.stderr);
    assert!(ended.stderr.contains("'../up'"), "{}", ended.stderr);
    run(dir.path(), words("unzip -t a.zip")).expect(0);
    run(dir.path(), words("zip none.zip missing")).expect(1);
    assert!(!dir.path().join("none.zip").exists());
    // Neither the archive itself nor its beginnings become part of it.
    run(dir.path(), words("zip -r --force a.zip .")).expect(0);
    let listing = run(dir.path(), words("unzip -l --json a.zip"))
        .expect(0)
        .json();
    assert_eq!(
        listing["tables"][0]["rows"].as_array().expect("rows").len(),
        1
    );
}

/// An entry: name, mode and content.
type Made<'a> = (&'a str, u32, &'a [u8]);

/// An archive with these entries.
fn archive(entries: &[Made<'_>]) -> Vec<u8> {
    // Names of one length are exchanged, for the writer refuses the bad ones.
    let mut writer = zipstream::ArchiveWriter::new(Vec::new());
    let stand_in = |index: usize, name: &str| format!("{index}{}", "x".repeat(name.len() - 1));
    for (index, (name, mode, content)) in entries.iter().enumerate() {
        let mut options = if mode & 0o170_000 == 0o120_000 {
            zipstream::EntryOptions::symlink()
        } else {
            zipstream::EntryOptions::default()
        };
        options.mode = mode & 0o7777;
        let name = stand_in(index, name);
        writer
            .add(&name, &options, &mut &content[..])
            .expect("taken");
    }
    let mut archive = writer.finish().expect("finished").0;
    for (index, (name, ..)) in entries.iter().enumerate() {
        let stand_in = stand_in(index, name).into_bytes();
        for at in 0..archive.len().saturating_sub(stand_in.len()) {
            if archive[at..].starts_with(&stand_in) {
                archive[at..at + name.len()].copy_from_slice(name.as_bytes());
            }
        }
    }
    archive
}

const FILE: u32 = 0o100_644;
const LINK: u32 = 0o120_777;

#[test]
fn nothing_is_written_outside_of_the_target() {
    let cases: [(&str, &[Made<'_>], i32); 8] = [
        ("up", &[("../evil", FILE, b"x")], 1),
        (
            "up, and a good one",
            &[("../evil", FILE, b"x"), ("good", FILE, b"x")],
            3,
        ),
        ("absolute", &[("/tmp/perfkit-evil", FILE, b"x")], 1),
        ("backslashes", &[("..\\..\\evil", FILE, b"x")], 1),
        ("a link out", &[("link", LINK, b"../..")], 1),
        ("an absolute link", &[("link", LINK, b"/etc")], 1),
        (
            "through a link",
            &[("link", LINK, b"."), ("link/evil", FILE, b"x")],
            3,
        ),
        (
            "a link behind a way up",
            &[("d/link", LINK, b"x/../../..")],
            1,
        ),
    ];
    for (what, entries, code) in cases {
        for input in ["a.zip", "-"] {
            let dir = directory();
            std::fs::create_dir(dir.path().join("target")).expect("made");
            let bytes = archive(entries);
            file(dir.path(), "a.zip", &bytes);
            let line = words(&format!("unzip -d target {input}"));
            let ended = pipe(dir.path(), line, &bytes);
            // A pipe learns of links too late to count them as failed from the start.
            let failed = ended.code == Some(code) || (input == "-" && ended.code == Some(3));
            assert!(failed, "{what}, {input}: {:?} {}", ended.code, ended.stderr);
            assert_eq!(names(dir.path()), ["a.zip", "target"], "{what}");
            for name in names(&dir.path().join("target")) {
                let metadata = dir.path().join("target").join(&name).symlink_metadata();
                let is_link = metadata.expect("there").is_symlink();
                assert!(!is_link || what == "through a link", "{what}: {name}");
            }
        }
    }
    assert!(!Path::new("/tmp/perfkit-evil").exists());
}

#[test]
fn a_link_that_lies_in_the_target_is_not_written_through() {
    let dir = directory();
    std::fs::create_dir_all(dir.path().join("elsewhere")).expect("made");
    std::fs::create_dir_all(dir.path().join("target")).expect("made");
    symlink("../elsewhere", dir.path().join("target/d")).expect("made");
    symlink("../elsewhere/f", dir.path().join("target/f")).expect("made");
    file(
        dir.path(),
        "a.zip",
        &archive(&[("d/a", FILE, b"x"), ("f", FILE, b"x")]),
    );
    for line in ["unzip -d target a.zip", "unzip --overwrite -d target a.zip"] {
        let ended = run(dir.path(), words(line));
        assert_ne!(ended.code, Some(0), "{line}");
        assert!(names(&dir.path().join("elsewhere")).is_empty(), "{line}");
    }
}

#[test]
fn set_user_id_is_dropped_and_the_last_of_twins_counts() {
    let dir = directory();
    let twins = archive(&[("a", 0o104_755, b"first"), ("b", FILE, b"second")]);
    file(dir.path(), "a.zip", &twins);
    run(dir.path(), words("unzip a.zip -d one")).expect(0);
    let mode = |path: &str| {
        std::fs::metadata(dir.path().join(path))
            .expect("there")
            .mode()
    };
    assert_eq!(mode("one/a") & 0o7000, 0);

    let twins = archive(&[("ab", FILE, b"first"), ("ab", FILE, b"second")]);
    file(dir.path(), "twins.zip", &twins);
    for (flags, content) in [
        ("", &b"second"[..]),
        ("--overwrite", b"second"),
        ("-n", b"first"),
    ] {
        let line = format!("unzip {flags} twins.zip -d two");
        let ended = run(dir.path(), words(&line)).expect(0);
        assert!(ended.stderr.contains("same path"), "{}", ended.stderr);
        let kept = std::fs::read(dir.path().join("two/ab")).expect("read");
        assert_eq!(kept, content, "{line}");
        std::fs::remove_dir_all(dir.path().join("two")).expect("removed");
    }
    let strict = run(dir.path(), words("unzip --strict twins.zip -d three")).expect(1);
    assert!(strict.stderr.contains("same name"), "{}", strict.stderr);
    assert!(!dir.path().join("three").exists());

    file(
        dir.path(),
        "case.zip",
        &archive(&[("ab", FILE, b"1"), ("AB", FILE, b"2")]),
    );
    let ended = run(dir.path(), words("unzip case.zip -d four")).expect(0);
    assert!(ended.stderr.contains("in case only"), "{}", ended.stderr);
}

#[test]
fn limits_end_an_extraction() {
    let dir = directory();
    file(dir.path(), "zeros", &vec![0; 3_000_000]);
    run(dir.path(), words("zip a.zip zeros")).expect(0);
    for flags in ["--max-size 1M", "--max-entry 1M", "--max-ratio 50"] {
        let ended = run(dir.path(), words(&format!("unzip -d out a.zip {flags}"))).expect(1);
        assert!(
            ended.stderr.contains("'zeros'"),
            "{flags}: {}",
            ended.stderr
        );
        assert!(names(&dir.path().join("out")).is_empty(), "{flags}");
    }
}

#[test]
fn damage_is_told_with_its_place_and_leaves_no_file() {
    let dir = directory();
    let mut bytes = archive(&[("a", FILE, &[b'a'; 3000]), ("b", FILE, b"second")]);
    bytes[40] ^= 0x55;
    file(dir.path(), "a.zip", &bytes);
    let ended = run(dir.path(), words("unzip -d out a.zip")).expect(3);
    assert!(ended.stderr.contains("entry 'a'"), "{}", ended.stderr);
    assert!(ended.stderr.contains("at byte"), "{}", ended.stderr);
    assert_eq!(names(&dir.path().join("out")), ["b"]);
    let cut = &bytes[..bytes.len() - 30];
    file(dir.path(), "cut.zip", cut);
    run(dir.path(), words("unzip -t cut.zip")).expect(1);
    pipe(dir.path(), words("unzip -t -"), cut).expect(1);
}

#[cfg(feature = "async")]
#[test]
#[ignore = "long: cargo xtask ci runs it"]
fn zip_bench_compares_both_writers_and_finds_their_archives_the_same() {
    let dir = directory();
    file(dir.path(), "own", &samples(300_000)[2].1);
    let line = "zip-bench --quick --rounds 2 --level 1 -q --report json own";
    let ran = run(dir.path(), words(line)).expect(0);
    let report = ran.json();
    assert_eq!(report["validation"]["ok"], true);
    let table = |name: &str| {
        let tables = report["tables"].as_array().expect("tables");
        let table = tables.iter().find(|table| table["name"] == name);
        table.expect("it is there")["rows"]
            .as_array()
            .expect("rows")
    };
    // Three contents, three cases each; nothing, sync, threads and async at two sizes.
    assert_eq!(table("sync against async").len(), 9);
    assert_eq!(table("memory and processor time").len(), 8);
    let comparisons = report["comparisons"].as_array().expect("comparisons");
    assert_eq!(comparisons.len(), 9);
    let series = report["latencies"].as_array().expect("rows").iter();
    let ticks = series.filter(|row| row["operation"] == "tick").count();
    assert_eq!(ticks, 3, "alone, beside either");
}

#[test]
fn a_local_header_that_contradicts_the_directory_is_told_of_once() {
    let dir = directory();
    let mut bytes = archive(&[("first", FILE, &[b'q'; 3000]), ("second", FILE, b"more")]);
    // The local checksum of the first entry.
    bytes[14] ^= 1;
    file(dir.path(), "a.zip", &bytes);
    let ended = run(dir.path(), words("unzip -d out a.zip")).expect(0);
    let said = "entry 'first': the checksum differs from the directory";
    assert_eq!(ended.stderr.matches(said).count(), 1, "{}", ended.stderr);
    assert_eq!(names(&dir.path().join("out")), ["first", "second"]);
    let ended = run(dir.path(), words("unzip -t a.zip --report json -q")).expect(0);
    let json = ended
        .stderr
        .lines()
        .filter(|line| !line.starts_with("warning"));
    let report: serde_json::Value = serde_json::from_str(&json.collect::<String>()).expect("JSON");
    assert_eq!(report["workload"]["params"]["contradicted_entries"], 1);
    run(dir.path(), words("unzip -t --strict a.zip")).expect(1);
}

#[test]
fn v_alone_lists_and_kept_files_of_a_pipe_are_not_decoded() {
    let dir = directory();
    let mut bytes = archive(&[("first", FILE, &[b'q'; 3000]), ("second", FILE, b"more")]);
    file(dir.path(), "a.zip", &bytes);
    let listed = run(dir.path(), words("unzip -v a.zip")).expect(0);
    assert!(listed.text().contains("crc32"), "{}", listed.text());
    assert_eq!(names(dir.path()), ["a.zip"]);
    run(dir.path(), words("unzip -v -d out a.zip")).expect(0);
    // What would fail to be decoded is not, since it is kept.
    bytes[40] ^= 0x55;
    pipe(dir.path(), words("unzip -n -d out -"), &bytes).expect(0);
    pipe(dir.path(), words("unzip -d new -"), &bytes).expect(1);
}

#[test]
fn stored_files_that_go_from_file_to_file_make_the_archive_that_a_pipe_gets() {
    let dir = directory();
    let data: Vec<u8> = (0..9_000_001_u32).map(|at| (at / 5 % 253) as u8).collect();
    file(dir.path(), "large", &data);
    file(dir.path(), "small", b"small");
    file(dir.path(), "other", &data[..3_000_000]);
    let piped = run(dir.path(), words("zip -0 - large small other")).expect(0);
    for threads in [1, 3] {
        let line = format!("zip -0 --force -T{threads} --verify a.zip large small other");
        run(dir.path(), words(&line)).expect(0);
        let archive = std::fs::read(dir.path().join("a.zip")).expect("an archive");
        assert!(archive == piped.stdout, "{threads} threads");
    }
}

#[test]
fn a_list_is_printed_as_it_is_read_and_whoever_has_read_enough_may_go() {
    let dir = directory();
    file(dir.path(), "a", b"first");
    std::fs::create_dir(dir.path().join("many")).expect("made");
    for number in 0..3000 {
        file(dir.path(), &format!("many/{number:04}\u{202e}"), b"");
    }
    run(dir.path(), words("zip -qqr a.zip a many")).expect(0);
    let listed = run(dir.path(), words("unzip -l a.zip")).expect(0);
    let lines: Vec<&str> = listed.text().lines().collect();
    assert_eq!(lines[0], "entries");
    assert!(
        lines[1].starts_with("  size  compressed  method  modified "),
        "{}",
        lines[1]
    );
    // Names start below each other, and steer no terminal.
    let at = lines[1].find("name").expect("a heading");
    assert_eq!(&lines[2][at..], "a");
    assert_eq!(&lines[4][at..], "many/0000\\u{202e}");
    assert_eq!(
        lines.iter().filter(|line| line.contains("many/")).count(),
        3001
    );
    assert!(listed.text().contains("total"));
    let some = run(dir.path(), words("unzip -l a.zip a")).expect(0);
    let some: Vec<&str> = some.text().lines().collect();
    assert_eq!((&some[2][at..], some[3]), ("a", ""));
    // A listing is what was asked for, however quiet it is to be.
    let quiet = run(dir.path(), words("unzip -qql a.zip")).expect(0);
    let entries = |text: &str| {
        text.lines()
            .take(3004)
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    assert!(entries(quiet.text()) == entries(listed.text()));
    let script = "\"$0\" unzip -l a.zip | head -n 1; exit ${PIPESTATUS[0]}";
    let mut command = std::process::Command::new("bash");
    command
        .arg("-c")
        .arg(script)
        .arg(env!("CARGO_BIN_EXE_perfkit"));
    let ended = command.current_dir(dir.path()).output().expect("runs");
    assert_eq!(ended.status.code(), Some(0));
    assert_eq!(ended.stdout, b"entries\n");
}

#[test]
fn a_pattern_that_matches_nothing_is_a_failure() {
    let dir = directory();
    file(dir.path(), "a", b"first");
    file(dir.path(), "b", b"second");
    run(dir.path(), words("zip -qq a.zip a b")).expect(0);
    let archive = std::fs::read(dir.path().join("a.zip")).expect("read");
    for (line, code) in [
        ("unzip -qq -t IN none", 1),
        ("unzip -qq -l IN none", 1),
        ("unzip -qq -p IN a none", 3),
        ("unzip -qq -l IN none b", 3),
        ("unzip -qq -d out IN none b*", 3),
        ("unzip -qq -t IN a b -x b", 0),
    ] {
        let from_file = run(dir.path(), words(&line.replace("IN", "a.zip")));
        let from_pipe = pipe(dir.path(), words(&line.replace("IN", "-")), &archive);
        for ended in [from_file, from_pipe] {
            // What exists already fails, too.
            let _ = std::fs::remove_dir_all(dir.path().join("out"));
            let ended = ended.expect(code);
            assert_eq!(
                ended.stderr.contains("no entry matches 'none'"),
                code > 0,
                "{line}"
            );
        }
    }
}

#[test]
fn what_is_wrong_with_a_path_is_told_once_and_can_be_left_out() {
    let dir = directory();
    std::fs::create_dir_all(dir.path().join("in/below")).expect("made");
    file(dir.path(), "in/a", b"first");
    let below = dir.path().join("in/below");
    let ended = run(&below, words("zip -qqr a.zip ../../in")).expect(1);
    assert_eq!(
        ended.stderr.matches("is outside of").count(),
        1,
        "{}",
        ended.stderr
    );
    // One file by two names of one path.
    run(&dir.path().join("in"), words("zip -qq a.zip a ./a")).expect(0);
    let line = words("unzip -qq -d in/a in/a.zip");
    let ended = run(dir.path(), line).expect(1);
    assert!(
        ended
            .stderr
            .contains("not a directory: name another one with -d"),
        "{}",
        ended.stderr
    );
    let name = std::os::unix::ffi::OsStrExt::from_bytes(b"bad\xff");
    let name: &std::ffi::OsStr = name;
    std::fs::write(dir.path().join("in").join(name), b"").expect("made");
    let ended = run(dir.path(), words("zip -qqr b.zip in")).expect(3);
    assert!(ended.stderr.contains("is not UTF-8"), "{}", ended.stderr);
    run(dir.path(), words("zip -qqr c.zip in -x in/bad?")).expect(0);
}

#[test]
fn a_link_may_lead_up_from_a_directory_and_not_from_what_could_be_a_link() {
    let dir = directory();
    std::fs::create_dir_all(dir.path().join("s/d/e")).expect("made");
    file(dir.path(), "s/d/f", b"content");
    for (name, target) in [
        ("m", "./d/../d/f"),
        ("n", "d/e/../f"),
        // It leads to the top, and the way up from it leads out.
        ("d/e/top", "../.."),
        ("d/e/out", "top/../outside"),
        ("gone", "nowhere/../d/f"),
    ] {
        symlink(target, dir.path().join("s").join(name)).expect("made");
    }
    run(&dir.path().join("s"), words("zip -r ../a.zip .")).expect(0);
    let ended = run(dir.path(), words("unzip a.zip -d t")).expect(3);
    for name in ["m", "n"] {
        let found = std::fs::read(dir.path().join("t").join(name)).expect("read");
        assert_eq!(found, b"content", "{name}");
    }
    for (name, why) in [("d/e/out", "d/e/top"), ("gone", "nowhere")] {
        assert!(
            dir.path().join("t").join(name).symlink_metadata().is_err(),
            "{name}"
        );
        let told = format!(
            "link '{name}' is not created: it leads up from '{why}', which is not a directory"
        );
        assert!(ended.stderr.contains(&told), "{}", ended.stderr);
    }
}
