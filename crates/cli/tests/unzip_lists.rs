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
    let zip = crate::common::link_as(dir.path(), "zip");
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

/// An archive of one empty file, made by DOS, with these bytes for its name in both headers.
fn named(name: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let name_bytes = u16::try_from(name.len()).expect("short").to_le_bytes();
    out.extend(b"PK\x03\x04\x14\0\0\0\0\0\0\0\x21\x50");
    out.extend([0; 12]);
    out.extend(name_bytes);
    out.extend([0; 2]);
    out.extend(name);
    let directory = out.len();
    out.extend(b"PK\x01\x02");
    out.extend([20, 0, 20, 0, 0, 0, 0, 0, 0, 0, 0x21, 0x50]);
    out.extend([0; 12]);
    out.extend(name_bytes);
    out.extend([0; 16]);
    out.extend(name);
    let bytes = out.len() - directory;
    out.extend(b"PK\x05\x06\0\0\0\0\x01\0\x01\0");
    out.extend(u32::try_from(bytes).expect("short").to_le_bytes());
    out.extend(u32::try_from(directory).expect("short").to_le_bytes());
    out.extend([0; 2]);
    out
}

#[test]
fn names_that_state_no_charset_are_read_in_the_one_that_the_user_states() {
    let dir = directory();
    let dir = dir.path();
    for (charset, raw, name) in [
        ("CP866", &b"\x8f\xa8\xe1\xec\xac\xae.txt"[..], "Письмо.txt"),
        ("Shift_JIS", b"\x93\xfa\x96{.txt", "日本.txt"),
        ("gbk", b"\xd6\xd0\xce\xc4.txt", "中文.txt"),
        ("850", b"\xd1.txt", "Ð.txt"),
        // These are valid UTF-8, too, and what the user states counts.
        ("windows-1252", "ü.txt".as_bytes(), "Ã¼.txt"),
        ("utf-8", "ü.txt".as_bytes(), "ü.txt"),
        ("CP437", b"plain.txt", "plain.txt"),
    ] {
        let archive = named(raw);
        file(dir, "a.zip", &archive);
        let line = format!("unzip -1 -O {charset} a.zip");
        assert_eq!(run(dir, words(&line)).expect(0).text().trim_end(), name);
        let line = format!("unzip -1 --charset {charset} -");
        let listed = pipe(dir, words(&line), &archive).expect(0);
        assert_eq!(listed.text().trim_end(), name);
        for source in ["a.zip", "-"] {
            let line = format!("unzip -O {charset} {source} -d out-{charset}-{source}");
            pipe(dir, words(&line), &archive).expect(0);
            let out = dir.join(format!("out-{charset}-{source}"));
            assert_eq!(crate::common::names(&out), [name], "{charset} {source}");
        }
    }
    // What is invalid in it is named, and nothing is made of it.
    file(dir, "a.zip", &named(b"\xff"));
    let failed = run(dir, words("unzip -O utf-8 a.zip -d none")).expect(1);
    assert!(failed.stderr.contains("charset"), "{}", failed.stderr);
    let failed = run(dir, words("unzip -O klingon a.zip")).expect(2);
    assert!(failed.stderr.contains("CP866"), "{}", failed.stderr);
    run(dir, words("unzip --strict -O cp866 a.zip")).expect(2);
}
