//! This crate reads what the `zstd` CLI writes, and the reverse.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::io::Write as _;
use std::process::{Command, Output, Stdio};
use std::thread;

use crate::common::{self, decode, encode, frame, prose, skippable};
use zstdkit::{DecoderOptions, Dictionary, Encoder, EncoderOptions};

/// Runs the CLI as a filter.
fn zstd(arguments: &[&str], input: &[u8]) -> Output {
    let mut child = Command::new("zstd")
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    thread::scope(|scope| {
        // It may stop reading at an error, which the caller checks.
        scope.spawn(move || drop(stdin.write_all(input)));
        child.wait_with_output().unwrap()
    })
}

fn filter(arguments: &[&str], input: &[u8]) -> Vec<u8> {
    let output = zstd(arguments, input);
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    output.stdout
}

fn contents() -> [Vec<u8>; 5] {
    [
        Vec::new(),
        b"x".to_vec(),
        prose(1, 1000),
        prose(2, 700_000),
        common::noise(3, 300_000),
    ]
}

#[test]
#[cfg_attr(not(peer_zstd), ignore = "zstd CLI is not installed")]
fn cli_reads_what_we_write() {
    for content in contents() {
        for options in [
            EncoderOptions::default(),
            EncoderOptions::default().with_level(-5),
            EncoderOptions::default().with_level(1).with_checksum(false),
            EncoderOptions::default()
                .with_level(19)
                .with_content_size(false),
            EncoderOptions::default()
                .with_long_distance(true)
                .with_window_log(27),
            EncoderOptions::default().with_workers(2),
            EncoderOptions::default().with_window_log(10),
        ] {
            assert!(
                filter(&["-dqc"], &frame(&content, &options)) == content,
                "{options:?}"
            );
            if options.workers == 0 {
                let mut encoder = Encoder::new(&options).unwrap();
                let streamed = encode(&mut encoder, &content, &[7000], 5000, &[2, 5]).unwrap();
                assert!(filter(&["-dqc"], &streamed) == content, "{options:?}");
            }
        }
    }
}

#[test]
#[cfg_attr(not(peer_zstd), ignore = "zstd CLI is not installed")]
fn we_read_what_the_cli_writes() {
    for content in contents() {
        for arguments in [
            &["-1"][..],
            &["-3", "--single-thread"],
            &["-19"],
            &["--fast=5"],
            &["--ultra", "-22", "--size-hint=700000"],
            &["--long=27"],
            &["--no-check"],
            &["-T2", "-B524288"],
            &["--rsyncable"],
            &["--no-compress-literals"],
            &["--target-compressed-block-size=1500"],
        ] {
            let packed = filter(&[arguments, &["-qc"]].concat(), &content);
            let options = DecoderOptions::default();
            for (cuts, rooms) in [(&[usize::MAX][..], &[1 << 20][..]), (&[999], &[1717])] {
                let found = decode(&options, &packed, cuts, rooms);
                let totals = found.result.unwrap();
                assert!(found.content == content, "{arguments:?}");
                assert_eq!(
                    totals.checksums_verified,
                    u64::from(arguments != ["--no-check"])
                );
            }
            assert!(zstdkit::decompress(&packed, &options).unwrap() == content);
        }
    }
}

#[test]
#[cfg_attr(not(peer_zstd), ignore = "zstd CLI is not installed")]
fn several_frames_are_one_stream_to_both() {
    let content = prose(2, 100_000);
    let ours = frame(&content, &EncoderOptions::default());
    let theirs = filter(&["-qc"], &content);
    let stream = [&ours[..], &skippable(4, b"note"), &theirs, &ours].concat();
    let expected = [&content[..], &content, &content].concat();
    assert!(filter(&["-dqc"], &stream) == expected);
    assert!(zstdkit::decompress(&stream, &DecoderOptions::default()).unwrap() == expected);
}

#[test]
#[cfg_attr(not(peer_zstd), ignore = "zstd CLI is not installed")]
fn both_refuse_the_same() {
    let good = frame(&prose(2, 50_000), &EncoderOptions::default());
    let mut flipped = good.clone();
    let end = flipped.len() - 1;
    flipped[end] ^= 1;
    let window = DecoderOptions::default().with_window_log_max(27);
    let huge = EncoderOptions::default()
        .with_window_log(28)
        .with_content_size(false);
    let mut encoder = Encoder::new(&huge).unwrap();
    let huge = encode(&mut encoder, b"content", &[3], 100, &[]).unwrap();
    for bad in [
        &good[..good.len() - 1],
        &good[..10],
        &flipped,
        &[&good[..], b"garbage"].concat(),
        b"\x1f\x8b\x08\x00garbage",
        &huge,
    ] {
        assert!(!zstd(&["-dqc", "--no-pass-through"], bad).status.success());
        assert!(zstdkit::decompress(bad, &window).is_err());
    }
}

/// Records that share most of their words.
fn records(count: u64) -> Vec<Vec<u8>> {
    let record = |n| {
        [
            &b"{\"kind\":\"record\",\"note\":\""[..],
            &prose(n, 200),
            b"\"}",
        ]
        .concat()
    };
    (0..count).map(record).collect()
}

#[test]
#[cfg_attr(not(peer_zstd), ignore = "zstd CLI is not installed")]
fn dictionaries_trained_by_either_serve_both() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let records = records(300);
    let ours = zstdkit::dictionary::train(&records, 4096).unwrap();
    std::fs::write(path("ours"), ours.bytes()).unwrap();
    for (at, record) in records.iter().enumerate() {
        std::fs::write(path(&format!("record{at}")), record).unwrap();
    }
    let output = path("theirs");
    let files = (0..300).map(|at| path(&format!("record{at}")));
    let trained = Command::new("zstd")
        .args(["-q", "--train", "--maxdict=4096", "-o", &output])
        .args(files)
        .output()
        .unwrap();
    assert!(trained.status.success(), "{trained:?}");
    let theirs = Dictionary::new(std::fs::read(&output).unwrap()).unwrap();
    assert!(theirs.id().is_some());
    let plain = Dictionary::new(prose(1, 3000)).unwrap();
    std::fs::write(path("plain"), plain.bytes()).unwrap();

    for (name, dictionary) in [("ours", &ours), ("theirs", &theirs), ("plain", &plain)] {
        let file = path(name);
        let decoding = DecoderOptions::default().with_dictionaries([dictionary.clone()]);
        for content in [&records[7][..], &prose(1, 2000), &prose(5, 300_000), b""] {
            for level in [-3, 3, 9, 19] {
                let options = EncoderOptions::default()
                    .with_level(level)
                    .with_dictionary(dictionary.clone());
                let packed = frame(content, &options);
                assert!(filter(&["-dqc", "-D", &file], &packed) == content, "{name}");
            }
            let packed = filter(&["-qc", "-D", &file], content);
            assert!(
                zstdkit::decompress(&packed, &decoding).unwrap() == content,
                "{name}"
            );
            let found = decode(&decoding, &packed, &[999], &[1717]);
            assert!(found.content == content && found.result.is_ok(), "{name}");
        }
    }
    let options = EncoderOptions::default().with_dictionary(ours);
    let packed = frame(&records[7], &options);
    assert!(
        !zstd(&["-dqc", "-D", &path("theirs")], &packed)
            .status
            .success()
    );
    assert!(!zstd(&["-dqc"], &packed).status.success());
}

#[test]
#[cfg_attr(not(peer_zstd), ignore = "zstd CLI is not installed")]
fn patches_of_either_apply_with_both() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    for bytes in [1000, 300_000, 5_000_000] {
        let old = common::noise(4, bytes);
        let mut new = old.clone();
        new.splice(bytes / 3..bytes / 3 + 5, *b"changed here");
        std::fs::write(path("old"), &old).unwrap();
        std::fs::write(path("new"), &new).unwrap();
        let patch_from = format!("--patch-from={}", path("old"));

        let options = EncoderOptions::default().for_patch(old.clone(), new.len() as u64);
        let patch = frame(&new, &options);
        assert!(patch.len() < 200 + bytes / 500, "{}", patch.len());
        assert!(filter(&["-dqc", &patch_from], &patch) == new);

        let made = Command::new("zstd")
            .args(["-qf", &patch_from, &path("new"), "-o", &path("patch")])
            .output()
            .unwrap();
        assert!(made.status.success(), "{made:?}");
        let patch = std::fs::read(path("patch")).unwrap();
        let decoding = DecoderOptions::default().for_patch(old);
        assert!(zstdkit::decompress(&patch, &decoding).unwrap() == new);
        let found = decode(&decoding, &patch, &[999], &[1717]);
        assert!(found.content == new && found.result.is_ok());
    }
}

/// The tests above must not be skipped silently in CI.
#[test]
fn interop_is_ignored_only_without_the_cli() {
    let there = Command::new("zstd").arg("--version").output().is_ok();
    assert_eq!(
        cfg!(peer_zstd),
        there,
        "touch build.rs: the zstd CLI came or went"
    );
}
