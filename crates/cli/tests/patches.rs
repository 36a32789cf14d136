//! Patches of segments: made and applied by the binary, and what becomes of hostile ones and of wrong files.

use std::fs;
use std::path::Path;

use crate::common::{directory, file, pipe, run, samples, words};

/// An older file and a newer one: something is inserted, something is moved.
fn versions(dir: &Path) -> (Vec<u8>, Vec<u8>) {
    let (_, older) = samples(300_000).swap_remove(0);
    let newer = [&older[100_000..], b"something new", &older[..100_000]].concat();
    file(dir, "older", &older);
    file(dir, "newer", &newer);
    (older, newer)
}

/// A patch of six segments, as a file and as bytes.
fn patch(dir: &Path) -> Vec<u8> {
    let line = "compress -qq --patch-segment 64K --patch-from older newer -o patch";
    run(dir, words(line)).expect(0);
    fs::read(dir.join("patch")).expect("written")
}

#[test]
fn a_patch_of_segments_is_applied_in_every_way() {
    let dir = directory();
    let (_, newer) = versions(dir.path());
    let made = patch(dir.path());
    assert!(made.len() < 20_000, "{}", made.len());
    run(
        dir.path(),
        words("decompress -qq --patch-from older patch -o back"),
    )
    .expect(0);
    assert_eq!(fs::read(dir.path().join("back")).expect("written"), newer);
    let line = words("decompress -qqc --patch-from older");
    assert_eq!(pipe(dir.path(), line, &made).expect(0).stdout, newer);
    run(dir.path(), words("decompress -t --patch-from older patch")).expect(0);
    // Of standard input, whose size nobody states.
    let line = words("compress -qq --patch-segment 64K --patch-from older");
    assert!(pipe(dir.path(), line, &newer).expect(0).stdout == made);
    let line = words("compress -qq --patch-segment 64K --patch-from older -M 64K newer -o no");
    run(dir.path(), line).expect(1);
    assert!(!dir.path().join("no").exists());
    // What is small stays one frame, which every zstd program reads.
    let line = words("compress -qqc --patch-from older newer");
    let one = run(dir.path(), line).expect(0).stdout;
    assert_eq!(one[..4], 0xfd2f_b528_u32.to_le_bytes());
    let line = words("decompress -qqc --patch-from older");
    assert_eq!(pipe(dir.path(), line, &one).expect(0).stdout, newer);
}

#[test]
fn an_empty_version_has_a_patch() {
    let dir = directory();
    file(dir.path(), "older", b"something");
    file(dir.path(), "newer", b"");
    patch(dir.path());
    run(
        dir.path(),
        words("decompress -qq --patch-from older patch -o back"),
    )
    .expect(0);
    assert_eq!(fs::read(dir.path().join("back")).expect("written"), b"");
}

#[test]
fn a_wrong_older_file_leaves_the_target_as_it_is() {
    let dir = directory();
    let (older, _) = versions(dir.path());
    let made = patch(dir.path());
    file(dir.path(), "back", b"as it was");
    let mut changed = older.clone();
    changed[150_000] ^= 1;
    file(dir.path(), "changed", &changed);
    file(dir.path(), "longer", &[&older[..], b"!"].concat());
    let apply = |older: &str, patch: &str| {
        let line = format!("decompress -f --patch-from {older} {patch} -o back");
        let said = run(dir.path(), words(&line)).expect(1).stderr;
        assert_eq!(
            fs::read(dir.path().join("back")).expect("kept"),
            b"as it was"
        );
        said
    };
    for (older, why) in [
        (
            "changed",
            "the older file is not the one that the patch was made from",
        ),
        (
            "longer",
            "the older file has 300001 bytes, but the patch was made from one of 300000 bytes",
        ),
    ] {
        let said = apply(older, "patch");
        assert!(said.contains(why), "{said}");
        assert!(said.contains("help: name the very file"), "{said}");
    }
    file(dir.path(), "cut", &made[..made.len() - 1]);
    assert!(apply("older", "cut").contains("unexpected end of input"));
    let mut damaged = made.clone();
    damaged[70] ^= 1;
    file(dir.path(), "damaged", &damaged);
    assert!(apply("older", "damaged").contains("corrupt patch at byte 0"));
    let said = run(dir.path(), words("decompress -f patch -o back"))
        .expect(1)
        .stderr;
    assert!(said.contains("--patch-from OLDER"), "{said}");
    assert_eq!(
        fs::read(dir.path().join("back")).expect("kept"),
        b"as it was"
    );
    run(
        dir.path(),
        words("decompress -c --patch-from missing patch"),
    )
    .expect(1);
}

#[test]
fn what_does_not_go_with_segments_is_a_mistake_of_the_line() {
    let dir = directory();
    versions(dir.path());
    patch(dir.path());
    for line in [
        "compress -c --patch-segment 64K newer",
        "compress -c --patch-segment 1000 --patch-from older newer",
        "compress -c --patch-segment 2G --patch-from older newer",
        "compress -c --patch-segment 64K --verify --patch-from older newer",
        "compress -c --patch-segment 64K --seekable --patch-from older newer",
        "compress -c --patch-segment 64K --format gzip --patch-from older newer",
    ] {
        run(dir.path(), words(line)).expect(2);
    }
    let line = "decompress -c --range 5..10 --patch-from older patch";
    let said = run(dir.path(), words(line)).expect(1).stderr;
    assert!(said.contains("a patch of segments"), "{said}");
}

#[test]
fn a_listing_says_what_segments_refer_back_to() {
    let dir = directory();
    versions(dir.path());
    patch(dir.path());
    let listed = run(dir.path(), words("decompress -lv --json patch"))
        .expect(0)
        .json();
    let tables = listed["tables"].as_array().expect("tables");
    let segments = tables.iter().find(|table| table["name"] == "segments");
    let rows = segments.expect("a table")["rows"].as_array().expect("rows");
    let whole = |row: usize, column: usize| rows[row][column].as_u64().expect("a number");
    let ranges = rows.iter().filter(|row| row[0] == rows[0][0]).count() as u64;
    assert_eq!(
        (whole(0, 0), whole(0, 1), whole(0, 2)),
        (64 + 16 * ranges, 0, 64 << 10)
    );
    let last = rows.len() - 1;
    assert_eq!(whole(last, 1) + whole(last, 2), 300_013);
    let text = run(dir.path(), words("decompress -lv patch")).expect(0);
    assert!(text.text().contains("segments"), "{}", text.text());
}
