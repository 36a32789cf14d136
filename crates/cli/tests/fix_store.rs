//! `perfkit fix store` and the parts of `fix-bench` over stores and queues.

use std::fs::OpenOptions;
use std::io::{Seek as _, SeekFrom, Write as _};
use std::path::Path;

use crate::common::{Run, directory, pipe, run, words};
use fixcore::store::{Options, Store};

fn heartbeat(number: u64) -> Vec<u8> {
    let body = format!("35=0\x0149=A\x0156=B\x0134={number}\x0152=20260305-14:15:16.789\x01");
    let head = format!("8=FIX.4.4\x019={}\x01", body.len());
    let bytes = [head.as_bytes(), body.as_bytes()].concat();
    let sum = bytes.iter().fold(0_u8, |sum, byte| sum.wrapping_add(*byte));
    [&bytes[..], format!("10={sum:03}\x01").as_bytes()].concat()
}

/// A store of so many heartbeats in segments of 4 KiB.
fn filled(dir: &Path, messages: u64) {
    let mut options = Options::default();
    options.segment_bytes = 4096;
    let mut store = Store::open(dir, options).expect("a store");
    for number in 1..=messages {
        store.append(number, &heartbeat(number)).expect("room");
    }
    store.set_next_target(77).expect("room");
}

fn overwrite(path: &Path, at: u64, bytes: &[u8]) {
    let mut file = OpenOptions::new().write(true).open(path).expect("a file");
    file.seek(SeekFrom::Start(at)).expect("a place");
    file.write_all(bytes).expect("room");
}

fn lines(run: &Run) -> Vec<serde_json::Value> {
    let lines = run.text().lines();
    lines
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect()
}

#[test]
fn a_dump_has_every_message_by_its_number() {
    let dir = directory();
    filled(&dir.path().join("session"), 90);
    let dumped = run(dir.path(), words("fix store dump -qq session")).expect(0);
    let found = lines(&dumped);
    assert_eq!(found.len(), 90);
    for (number, line) in (1..).zip(&found) {
        let message = String::from_utf8(heartbeat(number)).expect("text");
        assert_eq!(
            (&line["number"], &line["message"]),
            (&number.into(), &message.into())
        );
    }
    assert_eq!(found[0]["offset"], 128);
    let raw = run(dir.path(), words("fix store dump --raw -qq session")).expect(0);
    let parsed = pipe(dir.path(), words("fix parse -qq"), &raw.stdout).expect(0);
    assert_eq!(lines(&parsed).len(), 90);
    let report = run(dir.path(), words("fix store stats --report json session"))
        .expect(0)
        .json();
    let row = &report["tables"][0]["rows"][0];
    assert_eq!(
        (&row[0], &row[2], &row[3]),
        (&90.into(), &1.into(), &90.into())
    );
    assert_eq!((&row[4], &row[5]), (&91.into(), &77.into()));
    run(dir.path(), words("fix store verify session")).expect(0);
}

#[test]
fn what_is_bad_is_named_by_its_file_and_byte() {
    let dir = directory();
    let session = dir.path().join("session");
    filled(&session, 90);
    let offset = |number: usize| {
        let dumped = run(dir.path(), words("fix store dump -qq session"));
        lines(&dumped)[number - 1]["offset"]
            .as_u64()
            .expect("an offset")
    };
    let (second, third) = (offset(2), offset(3));
    overwrite(&session.join("0000000001.segment"), second + 30, b"x");
    let bad = run(dir.path(), words("fix store verify -qq session")).expect(3);
    let found = lines(&bad);
    assert_eq!(found.len(), 1);
    assert_eq!(found[0]["offset"], second);
    assert_eq!(found[0]["error"], "checksum mismatch");
    let file = found[0]["file"].as_str().expect("a file");
    assert!(file.ends_with("0000000001.segment"), "{file}");
    let dumped = run(dir.path(), words("fix store dump -qq session")).expect(3);
    let found = lines(&dumped);
    assert_eq!(found.len(), 89);
    assert_eq!(
        (&found[1]["number"], &found[1]["offset"]),
        (&3.into(), &third.into())
    );
}

#[test]
fn a_torn_end_is_named_and_nothing_is_changed() {
    let dir = directory();
    let session = dir.path().join("session");
    filled(&session, 3);
    let path = session.join("0000000001.segment");
    overwrite(&path, 3000, b"half a record");
    let before = std::fs::read(&path).expect("a segment");
    let bad = run(dir.path(), words("fix store verify -qq session")).expect(3);
    assert!(bad.text().contains("torn"), "{}", bad.text());
    assert_eq!(std::fs::read(&path).expect("a segment"), before);
    run(dir.path(), words("fix store verify missing")).expect(1);
    std::fs::create_dir(dir.path().join("empty")).expect("a directory");
    let none = run(dir.path(), words("fix store stats empty")).expect(1);
    assert!(
        none.stderr.contains("there is no store in"),
        "{}",
        none.stderr
    );
}

#[test]
fn the_benchmarks_get_every_message_back() {
    let dir = directory();
    for (part, of) in [
        ("store --store-messages 2000 --store-dir .", "store"),
        ("spsc", "published by 32"),
        ("deferred", "at once"),
    ] {
        let line = format!("fix-bench {part} --batches 2 --report json");
        let report = run(dir.path(), words(&line)).expect(0).json();
        assert_eq!(report["validation"]["ok"], true, "{part}");
        let rows = report["tables"][0]["rows"].as_array().expect("rows");
        assert!(rows.iter().any(|row| row[0] == of), "{part}");
    }
    assert_eq!(
        std::fs::read_dir(dir.path()).expect("a directory").count(),
        0
    );
}
