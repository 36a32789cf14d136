//! `decompress -l`: what it says of a file, of several, of frames, and of what is not stated.

mod common;

use common::{directory, file, pipe, run, words};

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
