//! Input that was cut, at every byte: what is missing is never passed over in silence.
#![cfg(unix)]

use std::fs::OpenOptions;
use std::ops::Range;
use std::path::Path;
use std::process::Stdio;

use crate::common::{directory, file, perfkit, pipe, run, words};

/// Frames of every kind: skippable, with and without a checksum, of several blocks, with a seek table
/// behind them. Their ends.
fn frames() -> (Vec<u8>, Vec<usize>) {
    let dir = directory();
    let text = "nothing ends before its end. ".repeat(90);
    let input = file(dir.path(), "input", text.as_bytes());
    let compress = |flags: &str| {
        let line = format!("compress -qq -c {flags} input");
        run(dir.path(), words(&line)).expect(0).stdout
    };
    let (plain, bare) = (compress(""), compress("--no-check"));
    let seekable = compress("--seekable=1K");
    assert!(input.exists());
    let skippable = [&b"\x50\x2a\x4d\x18\x05\0\0\0"[..], b"12345"].concat();
    let mut stream = Vec::new();
    let mut ends = Vec::new();
    for part in [&skippable, &plain, &skippable, &bare] {
        stream.extend_from_slice(part);
        ends.push(stream.len());
    }
    // Each frame of it is one, and so is its table.
    let at = stream.len();
    stream.extend_from_slice(&seekable);
    let list = {
        file(dir.path(), "all.zst", &stream);
        run(dir.path(), words("decompress -lv --json all.zst"))
            .expect(0)
            .json()
    };
    let rows = list["tables"][0]["rows"].as_array().expect("rows");
    let offsets = rows
        .iter()
        .map(|row| row[0].as_u64().expect("an offset") as usize);
    ends.extend(offsets.filter(|offset| *offset > at));
    ends.push(stream.len());
    (stream, ends)
}

/// Which of the numbered files a run names as failed.
fn failed(stderr: &str, cuts: Range<usize>) -> Vec<usize> {
    let named = |cut: &usize| {
        let name = format!("'cut{cut}.zst'");
        stderr
            .lines()
            .any(|line| line.starts_with("perfkit: ") && line.contains(&name))
    };
    cuts.filter(named).collect()
}

#[test]
fn a_stream_that_is_cut_in_a_frame_fails_in_every_way() {
    let dir = directory();
    let (stream, ends) = frames();
    let cuts = 0..stream.len();
    let mut files = Vec::new();
    for cut in cuts.clone() {
        files.push(format!("cut{cut}.zst"));
        file(dir.path(), &files[cut], &stream[..cut]);
    }
    let expected: Vec<_> = cuts.clone().filter(|cut| !ends.contains(cut)).collect();
    assert!(expected.len() > 300 && ends.len() > 6, "{ends:?}");
    for way in [
        "decompress -t",
        "decompress -t -T3",
        "decompress -l",
        "decompress -qc",
        "decompress -qf",
    ] {
        let ended = run(dir.path(), words(way).iter().chain(&files)).expect(3);
        assert_eq!(failed(&ended.stderr, cuts.clone()), expected, "{way}");
    }
    for cut in expected.iter().step_by(7) {
        let ended = pipe(dir.path(), words("decompress -t"), &stream[..*cut]).expect(1);
        assert!(ended.stderr.contains("standard input"), "{}", ended.stderr);
    }
}

#[test]
#[ignore = "long: cargo xtask ci runs it"]
fn a_range_fails_where_the_cut_is_before_its_end() {
    let dir = directory();
    let (stream, ends) = frames();
    let whole = pipe(dir.path(), words("decompress -qq"), &stream)
        .expect(0)
        .stdout;
    let cuts = 0..stream.len();
    let files: Vec<_> = cuts.clone().map(|cut| format!("cut{cut}.zst")).collect();
    for cut in cuts.clone() {
        file(dir.path(), &files[cut], &stream[..cut]);
    }
    for range in ["..10", "2700..2710", "5..", "2000..6000", ".."] {
        for cut in cuts.clone() {
            // The first frame, the table, every end of a frame and what is beside it, and some more.
            let near = ends.iter().any(|end| cut.abs_diff(*end) < 2);
            if !(cut < 20 || near || cut % 11 == 0) {
                continue;
            }
            let line = format!("decompress -q --range {range} {}", files[cut]);
            let ended = run(dir.path(), words(&line));
            let (from, to) = range.split_once("..").expect("a range");
            let from: usize = from.parse().unwrap_or(0);
            let to = to.parse().unwrap_or(whole.len());
            if ended.code == Some(0) {
                // Only where all of it was there, or the file ends with a frame and holds no more.
                let got = &ended.stdout[..];
                let complete = got == &whole[from..to];
                let ends_there = ends.contains(&cut) && whole[from..].starts_with(got);
                assert!(complete || ends_there, "{line}: {} bytes", got.len());
            } else {
                let message = &ended.stderr;
                assert_eq!(ended.code, Some(1), "{line}: {message}");
                assert!(
                    message.contains("byte") || message.contains("empty"),
                    "{line}: {message}"
                );
            }
        }
    }
    // What the first frame alone would say is not said where that is cut.
    let ended = run(dir.path(), words("decompress -q --range ..10 cut9.zst")).expect(1);
    assert!(
        ended.stderr.contains("'cut9.zst'") && ended.stderr.contains("byte"),
        "{}",
        ended.stderr
    );
}

/// An archive with an entry of every shape: stored, deflate, zstd, a directory, a link, with a descriptor.
fn archive(dir: &Path) -> Vec<u8> {
    std::fs::create_dir(dir.join("d")).expect("made");
    file(dir, "d/a", b"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa");
    file(dir, "d/b", b"stored");
    std::os::unix::fs::symlink("a", dir.join("d/link")).expect("made");
    run(dir, words("zip -qq -r a.zip d")).expect(0);
    file(dir, "c", &[b'c'; 200]);
    run(dir, words("zip -qq --append -Z zstd a.zip c")).expect(0);
    std::fs::read(dir.join("a.zip")).expect("read")
}

#[test]
#[ignore = "long: cargo xtask ci runs it"]
fn an_archive_that_is_cut_fails_at_every_byte_of_it() {
    let dir = directory();
    let whole = archive(dir.path());
    for way in [
        "unzip -t",
        "unzip -t --strict",
        "unzip -l",
        "unzip -qqp",
        "unzip -q -d out",
    ] {
        for cut in 0..whole.len() {
            // Into a pipe, where all comes in order, each byte counts; a file is opened by its end.
            let line = words(&format!("{way} -"));
            if cut % 7 == 0 || whole.len() - cut < 50 {
                let ended = pipe(dir.path(), line, &whole[..cut]);
                assert!(
                    matches!(ended.code, Some(1 | 3)),
                    "{way} - {cut}: {}",
                    ended.stderr
                );
                assert!(ended.stderr.contains("perfkit: "), "{way} - {cut}");
                let _ = std::fs::remove_dir_all(dir.path().join("out"));
            }
            if cut % 17 == 0 || whole.len() - cut < 30 {
                file(dir.path(), "cut.zip", &whole[..cut]);
                let ended = run(dir.path(), words(&format!("{way} cut.zip")));
                assert_eq!(ended.code, Some(1), "{way} {cut}: {}", ended.stderr);
            }
        }
    }
}

#[test]
fn a_full_disk_behind_standard_output_ends_it_with_one_failure() {
    let dir = directory();
    let whole = archive(dir.path());
    for (line, input) in [
        ("unzip -p a.zip", &[][..]),
        ("unzip -p -T2 a.zip", &[]),
        ("unzip -p -", &whole),
        ("unzip -l a.zip", &[]),
        ("unzip -l --json a.zip", &[]),
        ("decompress -c a.zst", &[]),
        ("decompress --range ..3 a.zst", &[]),
        ("compress -c c", &[]),
        ("compress -c --seekable c", &[]),
        ("zip - c", &[]),
        ("zip -0 - c", &[]),
    ] {
        run(dir.path(), words("compress -qqf c -o a.zst")).expect(0);
        let full = OpenOptions::new().write(true).open("/dev/full");
        let Ok(full) = full else {
            return; // Not on this system.
        };
        let mut child = perfkit()
            .current_dir(dir.path())
            .args(words(line))
            .stdin(Stdio::piped())
            .stdout(full)
            .stderr(Stdio::piped())
            .spawn()
            .expect("perfkit runs");
        let mut stdin = child.stdin.take().expect("a pipe");
        let _ = std::io::Write::write_all(&mut stdin, input);
        drop(stdin);
        let ended = child.wait_with_output().expect("it ends");
        let message = String::from_utf8_lossy(&ended.stderr);
        assert_eq!(ended.status.code(), Some(1), "{line}: {message}");
        let told = message.matches("cannot write standard output").count();
        assert_eq!(told, 1, "{line}: {message}");
    }
}
