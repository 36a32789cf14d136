//! `decompress -l`: what it says of a file, of several, of frames, and of what is not stated.

use crate::common::{directory, file, pipe, run, words};

#[test]
fn several_files_have_a_row_each_and_a_total_of_whole_numbers() {
    let dir = directory();
    file(dir.path(), "a", &[b'a'; 100_000]);
    file(dir.path(), "b", &[b'b'; 200_001]);
    run(dir.path(), words("compress -qq a b")).expect(0);
    let report = run(dir.path(), words("decompress -l a.zst b.zst --report json")).expect(0);
    let report = report.json();
    let keys: Vec<_> = report["tables"][0]["columns"]
        .as_array()
        .expect("columns")
        .iter()
        .filter_map(|column| column["key"].as_str())
        .collect();
    assert_eq!(
        keys,
        [
            "frames",
            "skips",
            "compressed_bytes",
            "uncompressed_bytes",
            "ratio",
            "check",
            "window_bytes",
            "seekable",
            "file"
        ]
    );
    let whole = |table: usize, row: usize, column: usize| {
        report["tables"][table]["rows"][row][column]
            .as_u64()
            .expect("an integer")
    };
    for column in [0, 1, 2, 3] {
        assert_eq!(
            whole(0, 0, column) + whole(0, 1, column),
            whole(1, 0, column)
        );
    }
    assert_eq!((whole(1, 0, 3), whole(1, 0, 8)), (300_001, 2));
    assert_eq!(report["tables"][1]["name"], "total");
    let alone = run(dir.path(), words("decompress -l a.zst")).expect(0);
    assert!(!alone.text().contains("total"), "{}", alone.text());
}

#[test]
fn a_listing_has_no_rates_and_no_bytes_written() {
    let dir = directory();
    file(dir.path(), "a", &[b'a'; 3_000_000]);
    run(dir.path(), words("compress -qq a")).expect(0);
    let text = run(dir.path(), words("decompress -l a.zst")).expect(0);
    let headline = text.text().lines().next().unwrap_or_default();
    assert!(headline.starts_with("list  1 input"), "{headline}");
    for wrong in ["→", "B/s", "ratio", "CPU-second"] {
        assert!(!headline.contains(wrong), "{headline}");
    }
}

#[test]
fn what_is_not_stated_is_shown_as_unknown() {
    let dir = directory();
    let stream = pipe(
        dir.path(),
        words("compress --no-content-size --no-check"),
        b"content",
    );
    file(dir.path(), "x.zst", &stream.expect(0).stdout);
    let text = run(dir.path(), words("decompress -l x.zst")).expect(0);
    let row = text
        .text()
        .lines()
        .find(|line| line.contains("x.zst"))
        .expect("a row");
    let cells: Vec<&str> = row
        .split("  ")
        .map(str::trim)
        .filter(|c| !c.is_empty())
        .collect();
    assert_eq!((cells[3], cells[4], cells[5]), ("—", "—", "none"), "{row}");
    let report = run(dir.path(), words("decompress -l x.zst --json"))
        .expect(0)
        .json();
    assert!(report["tables"][0]["rows"][0][3].is_null());
}

#[test]
fn the_long_form_has_every_frame_before_the_files() {
    let dir = directory();
    let frame = pipe(dir.path(), ["compress"], b"content").expect(0).stdout;
    file(dir.path(), "two.zst", &frame.repeat(2));
    let report = run(dir.path(), words("decompress -lv two.zst --json"))
        .expect(0)
        .json();
    assert_eq!(report["tables"][0]["name"], "frames");
    assert_eq!(report["tables"][0]["rows"][1][0], frame.len());
    assert_eq!(report["tables"][1]["rows"][0][0], 2);
}

/// Names of every byte that a file name may hold but its separator, and two that differ in a byte that
/// is not UTF-8.
#[cfg(unix)]
#[test]
fn listings_and_reports_tell_names_apart_whatever_their_bytes() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt as _;

    let dir = directory();
    let all: Vec<u8> = (1..=u8::MAX).filter(|byte| *byte != b'/').collect();
    let mut names: Vec<Vec<u8>> = all.chunks(64).map(<[u8]>::to_vec).collect();
    names.extend([&b"a\xff"[..], b"a\xfe", b"a\\xff", b"a\\\xff"].map(<[u8]>::to_vec));
    for name in &mut names {
        std::fs::write(dir.path().join(OsStr::from_bytes(name)), "content").expect("written");
        let raw = [
            OsStr::new("compress"),
            OsStr::new("-qq"),
            OsStr::new("--"),
            OsStr::from_bytes(name),
        ];
        run(dir.path(), raw).expect(0);
        name.extend_from_slice(b".zst");
    }
    let expected: Vec<String> = names.iter().map(|name| escaped(name)).collect();
    let different: std::collections::HashSet<_> = expected.iter().collect();
    assert_eq!(different.len(), names.len());
    for command in ["decompress -l", "decompress -t"] {
        for format in ["--json", "--report=json", "--report=jsonl"] {
            let flags = command.split(' ').chain([format, "--"]).map(OsStr::new);
            let line = flags.chain(names.iter().map(|name| OsStr::from_bytes(name)));
            if command.ends_with("-t") && format == "--json" {
                continue;
            }
            let ended = run(dir.path(), line).expect(0);
            let report: serde_json::Value = match command.ends_with("-t") {
                true => serde_json::from_str(&ended.stderr).expect("JSON"),
                false => ended.json(),
            };
            let words = |list: &serde_json::Value| -> Vec<String> {
                let list = list.as_array().expect("a list").iter();
                list.map(|word| word.as_str().expect("text").to_owned())
                    .collect()
            };
            let argv = words(&report["command"]["argv"]);
            assert_eq!(
                argv[argv.len() - names.len()..],
                expected,
                "{command} {format}"
            );
            let inputs = report["workload"]["inputs"].as_array().expect("a list");
            let paths: Vec<_> = inputs.iter().map(|input| input["path"].as_str()).collect();
            let wanted: Vec<_> = expected.iter().map(|name| Some(name.as_str())).collect();
            assert_eq!(paths, wanted, "{command} {format}");
        }
    }
}

/// A name as the schema of reports says that it stands there.
#[cfg(unix)]
fn escaped(name: &[u8]) -> String {
    let hostile =
        std::str::from_utf8(name).is_err() || name.windows(4).any(|part| part == b"\\xff");
    let mut text = String::new();
    for chunk in name.utf8_chunks() {
        for letter in chunk.valid().chars() {
            text.extend((hostile && letter == '\\').then_some('\\'));
            text.push(letter);
        }
        for byte in chunk.invalid() {
            text += &format!("\\x{byte:02x}");
        }
    }
    text
}
