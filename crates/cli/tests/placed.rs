//! Files of many frames, whose content threads write at its place: the file is that of one thread,
//! and so is what is said when there is none.

#![cfg(unix)]

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::MetadataExt as _;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::common::{Run, directory, file, names, perfkit, run};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use zstdkit::EncoderOptions;
use zstdkit::workload::{Kind, generate};

/// Bytes of content of a frame.
const FRAME_BYTES: usize = 700_000;
const FRAMES: usize = 9;

fn content() -> Vec<u8> {
    generate(Kind::Source, 1, FRAMES * FRAME_BYTES)
}

fn frames() -> Vec<Vec<u8>> {
    let frame = |part| zstdkit::compress(part, &EncoderOptions::default()).expect("compressed");
    content().chunks(FRAME_BYTES).map(frame).collect()
}

/// Decompresses `stream` into a file, by one thread and by three; both leave the same.
fn both(stream: &[u8]) -> Result<Vec<u8>, String> {
    let dir = directory();
    file(dir.path(), "in.zst", stream);
    let [one, three] = ["-T1", "-T3"].map(|threads| {
        let ran = run(dir.path(), ["decompress", "-qqf", threads, "in.zst"]);
        if ran.code == Some(0) {
            let found = fs::read(dir.path().join("in")).expect("read");
            fs::remove_file(dir.path().join("in")).expect("removed");
            return Ok(found);
        }
        assert_eq!(names(dir.path()), ["in.zst"], "something was left");
        Err(ran.stderr)
    });
    assert!(one == three, "{:?} and {:?}", one.err(), three.err());
    one
}

#[test]
fn the_file_is_that_of_one_thread() {
    let frames = frames();
    assert!(both(&frames.concat()).as_ref() == Ok(&content()));
    // Without sizes, from some frame on; with frames that are skipped; with empty ones.
    let unsized_ = EncoderOptions::default().with_content_size(false);
    for replaced in [0, 4, FRAMES - 1] {
        let mut mixed = frames.clone();
        let part = content()[replaced * FRAME_BYTES..][..FRAME_BYTES].to_vec();
        mixed[replaced] = zstdkit::compress(&part, &unsized_).expect("compressed");
        mixed.insert(replaced, b"\x50\x2a\x4d\x18\x03\0\0\0abc".to_vec());
        let empty = zstdkit::compress(b"", &EncoderOptions::default()).expect("compressed");
        mixed.push(empty);
        assert!(
            both(&mixed.concat()).as_ref() == Ok(&content()),
            "{replaced}"
        );
    }
}

#[test]
fn a_fault_leaves_no_file_and_is_told_as_by_one_thread() {
    let frames = frames();
    let stream = frames.concat();
    let fifth: usize = frames[..5].iter().map(Vec::len).sum();
    let mut bad = stream.clone();
    bad[fifth - 2] ^= 1;
    let said = both(&bad).expect_err("a wrong checksum");
    assert!(said.contains(&format!("byte {}", fifth - 4)), "{said}");
    let mut bad = stream.clone();
    bad[fifth + frames[5].len() / 2] ^= 0x55;
    both(&bad).expect_err("corrupt data");
    let mut bad = stream.clone();
    let stated = &mut bad[fifth + 5..fifth + 9];
    assert_eq!(stated, (FRAME_BYTES as u32).to_le_bytes());
    stated.copy_from_slice(&(FRAME_BYTES as u32 + 1).to_le_bytes());
    let said = both(&bad).expect_err("a wrong size");
    assert!(said.contains(&format!("byte {fifth}")), "{said}");
    let said = both(&stream[..stream.len() - 1]).expect_err("cut off");
    assert!(said.contains("truncated"), "{said}");
    both(&[&stream[..], b"trailing text"].concat()).expect_err("trailing data");
}

#[test]
fn an_existing_file_stays_when_its_replacement_fails() {
    let dir = directory();
    let mut bad = frames().concat();
    let middle = bad.len() / 2;
    bad[middle] ^= 0x55;
    file(dir.path(), "in.zst", &bad);
    file(dir.path(), "in", b"before");
    run(dir.path(), ["decompress", "-qf", "-T3", "in.zst"]).expect(1);
    assert_eq!(fs::read(dir.path().join("in")).expect("read"), b"before");
    assert_eq!(names(dir.path()), ["in", "in.zst"]);
}

#[test]
fn zeros_become_holes() {
    let dir = directory();
    let mut content = vec![0; 8 << 20];
    content[3 << 20] = 1;
    content.extend(generate(Kind::Random, 1, 2 << 20));
    content.extend(vec![0; 1 << 20]);
    let frame = |part| zstdkit::compress(part, &EncoderOptions::default()).expect("compressed");
    let stream: Vec<u8> = content.chunks(1 << 20).flat_map(frame).collect();
    file(dir.path(), "in.zst", &stream);
    for sparse in ["--sparse", "--no-sparse"] {
        run(dir.path(), ["decompress", "-qf", "-T3", sparse, "in.zst"]).expect(0);
        assert!(fs::read(dir.path().join("in")).expect("read") == content);
        let held = fs::metadata(dir.path().join("in")).expect("there").blocks() * 512;
        let expected = match sparse {
            "--sparse" => 3 << 20,
            _ => 11 << 20,
        };
        assert!(held.abs_diff(expected) <= 1 << 20, "{sparse}: {held} bytes");
    }
}

#[test]
fn what_cannot_be_written_is_told() {
    let dir = directory();
    file(dir.path(), "in.zst", &frames().concat());
    let binary = perfkit();
    // In blocks of 512 bytes: the limit falls into the fourth frame.
    let script = format!(
        "ulimit -f {}; trap '' XFSZ; exec \"$0\" \"$@\"",
        7 * FRAME_BYTES / 1024
    );
    let mut command = Command::new("sh");
    command.arg("-c").arg(script).arg(binary.get_program());
    command.args(binary.get_args());
    command.args(["decompress", "-q", "-T3", "in.zst"]);
    let failed = Run::from(command.current_dir(dir.path()).output().expect("runs")).expect(1);
    assert!(
        failed.stderr.contains("cannot write 'in'"),
        "{}",
        failed.stderr
    );
    assert_eq!(names(dir.path()), ["in.zst"]);
}

#[test]
fn an_interrupt_leaves_nothing() {
    let dir = directory();
    let mut child = perfkit()
        .current_dir(dir.path())
        .args(["decompress", "-q", "-T3", "-", "-o", "out"])
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("runs");
    let mut stdin = child.stdin.take().expect("a pipe");
    stdin.write_all(&frames().concat()).expect("written");
    let begun = Instant::now();
    while written_bytes(dir.path()) < 3 * FRAME_BYTES as u64 {
        assert!(
            begun.elapsed() < Duration::from_secs(120),
            "nothing is written"
        );
        std::thread::sleep(Duration::from_millis(2));
    }
    let pid = Pid::from_raw(i32::try_from(child.id()).expect("a number"));
    kill(pid, Signal::SIGINT).expect("sent");
    Run::from(child.wait_with_output().expect("ends")).expect(130);
    drop(stdin);
    assert_eq!(names(dir.path()), [""; 0]);
}

/// The length of all files.
fn written_bytes(dir: &std::path::Path) -> u64 {
    let entries = fs::read_dir(dir).expect("listed").flatten();
    entries
        .filter_map(|entry| Some(entry.metadata().ok()?.len()))
        .sum()
}
