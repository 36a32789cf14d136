//! What `perfkit unzip -l` prints: the listing, the names alone, comments, and nothing else.

use std::path::Path;

use crate::common::{directory, file, pipe, run, words};

/// An archive of `src/a` with 1,234,567 bytes and `src/b`, and a comment.
fn packed(dir: &Path) {
    std::fs::create_dir(dir.join("src")).expect("made");
    file(dir, "src/a", &vec![b'a'; 1_234_567]);
    file(dir, "src/b", b"second");
    let mut line = words("zip -r a.zip src --comment");
    line.push("Of today.\nSee b.".to_owned());
    run(dir, line).expect(0);
}

#[test]
fn a_listing_is_a_listing_and_nothing_else() {
    let dir = directory();
    packed(dir.path());
    let archive = std::fs::read(dir.path().join("a.zip")).expect("read");
    for line in [
        "unzip -l IN",
        "unzip -lv IN",
        "unzip -v IN",
        "unzip -lqq IN",
    ] {
        let from_file = run(dir.path(), words(&line.replace("IN", "a.zip"))).expect(0);
        let from_pipe = pipe(dir.path(), words(&line.replace("IN", "-")), &archive).expect(0);
        // A pipe is not read to the comment.
        let headings_of_file = vec!["entries", "total", "comment"];
        for (listed, expected) in [
            (&from_file, headings_of_file),
            (&from_pipe, vec!["entries", "total"]),
        ] {
            let text = listed.text();
            let headings = text.lines().filter(|line| !line.is_empty());
            let headings: Vec<_> = headings.filter(|line| !line.starts_with(' ')).collect();
            assert_eq!(headings, expected, "{line}: {text}");
            assert!(text.contains("src/a") && text.contains("src/b"), "{text}");
            assert_eq!(listed.stderr, "", "{line}");
        }
        assert!(
            from_file.text().contains("  Of today.\n  See b.\n"),
            "{}",
            from_file.text()
        );
    }
}

#[test]
fn names_alone_are_one_per_line() {
    let dir = directory();
    packed(dir.path());
    let archive = std::fs::read(dir.path().join("a.zip")).expect("read");
    for flags in ["-1", "-Z1", "-l1", "--names", "-1q"] {
        let listed = run(dir.path(), words(&format!("unzip {flags} a.zip"))).expect(0);
        assert_eq!(listed.text(), "src/\nsrc/a\nsrc/b\n", "{flags}");
        let listed = pipe(dir.path(), words(&format!("unzip {flags} -")), &archive).expect(0);
        assert_eq!(
            listed.text(),
            "src/\nsrc/a\nsrc/b\n",
            "{flags}, from a pipe"
        );
        let some = run(dir.path(), words(&format!("unzip {flags} a.zip *b gone"))).expect(3);
        assert_eq!(some.text(), "src/b\n");
        assert!(
            some.stderr.contains("no entry matches 'gone'"),
            "{}",
            some.stderr
        );
    }
    let csv = run(dir.path(), words("unzip -1 --report csv a.zip")).expect(0);
    assert_eq!(csv.text(), "name\nsrc/\nsrc/a\nsrc/b\n");
    run(dir.path(), words("unzip -1t a.zip")).expect(2);
}

#[test]
fn machines_get_plain_sizes_and_all_comments() {
    let dir = directory();
    packed(dir.path());
    let csv = run(dir.path(), words("unzip -l --report csv a.zip")).expect(0);
    assert!(csv.text().contains("\n1234567,"), "{}", csv.text());
    let json = run(dir.path(), words("unzip -lv --json a.zip"))
        .expect(0)
        .json();
    assert_eq!(json["workload"]["params"]["comment"], "Of today.\nSee b.");
    let columns = json["tables"][0]["columns"].as_array().expect("columns");
    let last = columns.last().expect("one");
    assert_eq!(last["key"], "comment");
    let row = &json["tables"][0]["rows"][1];
    assert_eq!((&row[0], &row[4]), (&1_234_567.into(), &"src/a".into()));
    assert_eq!(row[9], serde_json::Value::Null);
}

#[cfg(unix)]
#[test]
fn comments_of_entries_are_columns_of_the_long_listing() {
    let dir = directory();
    packed(dir.path());
    let zip = dir.path().join("zip");
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_perfkit"), &zip).expect("linked");
    let mut command = std::process::Command::new(&zip);
    command
        .current_dir(dir.path())
        .args(["-qc", "a.zip", "src/b"]);
    // One that would clear a screen.
    let ended = crate::common::feed(command, b"of b\x1b[2J\n");
    assert!(ended.status.success(), "{ended:?}");
    let listed = run(dir.path(), words("unzip -lv a.zip src/b")).expect(0);
    assert!(
        listed.text().contains("of b\\u{1b}[2J\n"),
        "{}",
        listed.text()
    );
}

/// An archive of one stored entry.
fn single(name: &str) -> Vec<u8> {
    let fixed = |signature: &[u8]| {
        let mut bytes = signature.to_vec();
        bytes.extend_from_slice(&[20, 0, 0, 0, 0, 0, 0, 0, 0x21, 0]);
        bytes.extend_from_slice(&[0; 12]);
        bytes.extend_from_slice(&(name.len() as u16).to_le_bytes());
        bytes
    };
    let mut bytes = fixed(b"PK\x03\x04");
    bytes.extend_from_slice(&[0, 0]);
    bytes.extend_from_slice(name.as_bytes());
    let start = bytes.len() as u32;
    bytes.extend_from_slice(&fixed(b"PK\x01\x02\x14\0"));
    bytes.extend_from_slice(&[0; 16]);
    bytes.extend_from_slice(name.as_bytes());
    let size = bytes.len() as u32 - start;
    bytes.extend_from_slice(b"PK\x05\x06\0\0\0\0\x01\0\x01\0");
    bytes.extend_from_slice(&size.to_le_bytes());
    bytes.extend_from_slice(&start.to_le_bytes());
    bytes.extend_from_slice(&[0, 0]);
    bytes
}

#[test]
fn a_very_long_name_leaves_an_error_readable() {
    let dir = directory();
    for name in [format!("../{}", "x".repeat(60_000)), "../y ".repeat(12_000)] {
        file(dir.path(), "a.zip", &single(&name));
        for line in ["unzip -d out a.zip", "unzip -d out a.zip gone"] {
            let ended = run(dir.path(), words(line)).expect(1);
            assert!(
                ended.stderr.len() < 6_000,
                "{line}: {} bytes",
                ended.stderr.len()
            );
            assert!(!ended.stderr.is_empty());
        }
        // A listing has the whole name.
        let listed = run(dir.path(), words("unzip -1 a.zip")).expect(0);
        assert_eq!(listed.text().trim_end_matches('\n'), name);
    }
}
