//! gzip files: read by `decompress` and under the names of the zstd program, and refused with their place.

use std::path::Path;
use std::process::Stdio;

use crate::common::{self, Run, directory, gzip, names, perfkit, samples};

fn content() -> Vec<u8> {
    samples(600_000).swap_remove(0).1
}

fn write(dir: &Path, name: &str, bytes: &[u8]) {
    std::fs::write(dir.join(name), bytes).expect("written");
}

fn read(dir: &Path, name: &str) -> Vec<u8> {
    std::fs::read(dir.join(name)).expect("a file")
}

/// Runs a command line of the binary with `input` on its standard input.
fn run(dir: &Path, line: &str, input: &[u8]) -> Run {
    common::pipe(dir, common::words(line), input)
}

/// The binary under another name, in a directory of its own.
#[cfg(unix)]
fn called(dir: &Path, line: &str) -> Run {
    let mut words = common::words(line);
    let name = words.remove(0);
    let bin = directory();
    let program = common::link_as(bin.path(), &name);
    let output = std::process::Command::new(&program)
        .current_dir(dir)
        .args(words)
        .stdin(Stdio::null())
        .output()
        .expect("it runs");
    output.into()
}

#[test]
fn members_of_files_and_pipes_become_their_content() {
    let dir = directory();
    let dir = dir.path();
    let content = content();
    let one = gzip(&content);
    write(dir, "a.gz", &one);
    write(
        dir,
        "b.tgz",
        &[&one[..], &gzip(b""), &one, &[0; 600]].concat(),
    );
    run(dir, "decompress -q a.gz b.tgz", b"").expect(0);
    assert!(read(dir, "a") == content);
    assert!(read(dir, "b.tar") == [&content[..], &content].concat());
    for flags in ["", "-T1", "-T4"] {
        let piped = run(dir, &format!("decompress {flags} -qq -"), &one).expect(0);
        assert!(piped.stdout == content, "{flags}");
    }
    let report = run(dir, "decompress -t --json b.tgz", b"").expect(0);
    let report: serde_json::Value = serde_json::from_str(&report.stderr).expect("JSON");
    // Three members, each verified.
    assert_eq!(report["validation"]["checked"], 3, "{report}");
    let before = names(dir);
    run(dir, "decompress -qrf .", b"").expect(0);
    assert_eq!(names(dir), before);
}

#[test]
fn what_is_damaged_is_refused_with_its_place_and_leaves_no_file() {
    let dir = directory();
    let dir = dir.path();
    let whole = gzip(&content());
    let end = whole.len();
    let mut changed = whole.clone();
    changed[end - 6] ^= 1;
    let behind = [&whole[..], b"more"].concat();
    let sum = format!("CRC-32 at byte {}: stated ", end - 8);
    let other = format!("at byte {end}, behind the last gzip member, is other data");
    let cut = format!("the data ends at byte {}, inside a gzip member", end - 1);
    for (bytes, expected) in [
        (&changed[..], &sum),
        (&behind[..], &other),
        (&whole[..end - 1], &cut),
    ] {
        write(dir, "a.gz", bytes);
        let refused = run(dir, "decompress -q a.gz", b"").expect(1);
        assert!(refused.stderr.contains(expected), "{}", refused.stderr);
        assert_eq!(names(dir), ["a.gz"]);
    }
    let bytes = content().len();
    write(dir, "a.gz", &whole);
    let refused = run(
        dir,
        &format!("decompress -q --max-output {} a.gz", bytes - 1),
        b"",
    );
    let refused = refused.expect(1);
    assert!(
        refused.stderr.contains("--max-output"),
        "{}",
        refused.stderr
    );
    assert_eq!(names(dir), ["a.gz"]);
    run(
        dir,
        &format!("decompress -q --max-output {bytes} a.gz"),
        b"",
    )
    .expect(0);
}

#[test]
fn gzip_is_written_by_any_number_of_threads() {
    let dir = directory();
    let dir = dir.path();
    let content = content();
    write(dir, "a", &content);
    let plain = run(dir, "compress --format gzip -qq -T1 -9 -c a", b"")
        .expect(0)
        .stdout;
    assert!(plain.len() < content.len() / 2);
    for line in ["-T3 -9 --verify -c a", "-T2 -9 -"] {
        let packed = run(dir, &format!("compress --format gzip -qq {line}"), &content);
        assert!(packed.expect(0).stdout == plain, "{line}");
    }
    // The walk leaves alone what has the suffix.
    std::fs::create_dir(dir.join("d")).expect("made");
    for (name, bytes) in [
        ("d/one", &b"one"[..]),
        ("d/two.gz", &plain),
        ("d/three.zst", b"3"),
    ] {
        write(dir, name, bytes);
    }
    run(dir, "compress --format=gzip -qqr d", b"").expect(0);
    assert_eq!(
        names(&dir.join("d")),
        ["one", "one.gz", "three.zst", "three.zst.gz", "two.gz"]
    );
    run(dir, "decompress -qqf d/one.gz", b"").expect(0);
    assert_eq!(read(dir, "d/one"), b"one");
    for (format, suffix) in [("xz", "xz"), ("lzma", "lzma"), ("lz4", "lz4")] {
        run(
            dir,
            &format!("compress --format {format} -qq --verify a"),
            b"",
        )
        .expect(0);
        let back = run(dir, &format!("decompress -qqc a.{suffix}"), b"").expect(0);
        assert!(back.stdout == content, "{format}");
    }
    for line in [
        "--format gzip --level=0 a",
        "--format gzip -12 a",
        "--format lz4 --long a",
        "--format xz --seekable a",
        "--format gzip --no-check a",
        "--format xz --ultra a",
        "--format brotli a",
    ] {
        run(dir, &format!("compress {line}"), b"").expect(2);
    }
}

/// What was read before the damage goes to standard output, and only there.
#[test]
fn what_precedes_damage_is_printed_and_not_kept() {
    let dir = directory();
    let dir = dir.path();
    let content = content();
    let whole = gzip(&content);
    write(dir, "a.gz", &whole[..whole.len() / 2]);
    let printed = run(dir, "decompress -qc a.gz", b"").expect(1).stdout;
    assert!(printed.len() > content.len() / 4 && content.starts_with(&printed));
    run(dir, "decompress -q a.gz", b"").expect(1);
    assert_eq!(names(dir), ["a.gz"]);
}

#[test]
fn what_is_not_compressed_passes_through_where_asked_for() {
    let dir = directory();
    let dir = dir.path();
    write(dir, "plain", b"plain");
    let shown = run(dir, "decompress -qqc --pass-through plain", b"").expect(0);
    assert_eq!(shown.stdout, b"plain");
    run(dir, "decompress -qqc plain", b"").expect(1);
}

#[cfg(unix)]
#[test]
fn the_names_of_gzip_and_zstd_read_it_as_the_zstd_program_does() {
    let dir = directory();
    let dir = dir.path();
    let content = content();
    write(dir, "a.gz", &gzip(&content));
    write(dir, "plain", b"plain");
    assert!(called(dir, "zstd -dc a.gz").expect(0).stdout == content);
    called(dir, "zstd -tq a.gz").expect(0);
    called(dir, "unzstd -qk a.gz").expect(0);
    assert_eq!(names(dir), ["a", "a.gz", "plain"]);
    let both = [&content[..], b"plain"].concat();
    for name in ["zcat -f", "gzcat -f", "zstdcat"] {
        assert!(
            called(dir, &format!("{name} a.gz plain")).expect(0).stdout == both,
            "{name}"
        );
    }
    called(dir, "gunzip -f a.gz").expect(0);
    assert_eq!(names(dir), ["a", "plain"]);
    let refused = called(dir, "gunzip plain").expect(2);
    assert_eq!(refused.stderr, "gzip: plain: unknown suffix -- ignored\n");
}

/// Its flags and environment are those of [`perfkit`]: nothing else is needed to find gzip's magic number in a
/// pipe that gives one byte at a time.
#[test]
fn a_pipe_of_single_bytes_is_recognised() {
    use std::io::Write as _;
    let file = gzip(b"some text");
    let mut child = perfkit()
        .args(["decompress", "-qq", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("it runs");
    let mut stdin = child.stdin.take().expect("a pipe");
    for byte in &file {
        stdin.write_all(&[*byte]).expect("written");
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    drop(stdin);
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.stdout, b"some text");
}

/// Of the file behind a link, wherever it is, nothing was said.
#[cfg(unix)]
#[test]
fn a_link_at_the_place_of_a_target_is_replaced_and_what_it_leads_to_is_not() {
    for (line, target) in [
        ("gzip -f x.log", "x.log.gz"),
        ("zstd -qf x.log", "x.log.zst"),
        ("xz -qf x.log", "x.log.xz"),
        ("perfkit compress -qqf x.log", "x.log.zst"),
        ("gunzip -f y.gz", "y"),
        ("perfkit decompress -qqf y.gz", "y"),
    ] {
        for dangling in [false, true] {
            let dir = directory();
            let dir = dir.path();
            write(dir, "x.log", b"content");
            write(dir, "y.gz", &gzip(b"content"));
            if !dangling {
                write(dir, "victim", b"theirs");
            }
            std::os::unix::fs::symlink("victim", dir.join(target)).expect("a link");
            let run = called(dir, line);
            assert_eq!(run.code, Some(0), "{line}: {}", run.stderr);
            assert!(!dir.join(target).is_symlink(), "{line}");
            match dangling {
                true => assert!(!dir.join("victim").exists(), "{line}"),
                false => assert_eq!(read(dir, "victim"), b"theirs", "{line}"),
            }
        }
    }
}

/// Scripts remove a source after `gzip -c source > >(reader) && …`.
#[cfg(unix)]
#[test]
fn a_reader_that_has_gone_ends_the_names_of_other_programs_by_its_signal() {
    use std::os::unix::process::ExitStatusExt as _;
    for name in ["gzip", "zstd", "xz", "lz4"] {
        let dir = directory();
        let random: Vec<u8> = (0..3_000_000_u32)
            .map(|at| (at.wrapping_mul(2_654_435_761) >> 13) as u8)
            .collect();
        write(dir.path(), "big", &random);
        let program = common::link_as(dir.path(), name);
        let mut child = std::process::Command::new(&program)
            .current_dir(dir.path())
            .args(["-c", "big"])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("it runs");
        drop(child.stdout.take());
        let status = child.wait().expect("it ends");
        assert_eq!(status.signal(), Some(13), "{name}: {status}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn names_need_not_be_utf_8() {
    use std::os::unix::ffi::OsStrExt as _;
    let name = |bytes: &[u8]| std::ffi::OsStr::from_bytes(bytes).to_owned();
    let dir = directory();
    let dir = dir.path();
    std::fs::write(dir.join(name(b"caf\xe9")), b"content").expect("written");
    for _ in 0..2 {
        called(dir, "gzip -qr .");
        let names: Vec<_> = std::fs::read_dir(dir)
            .expect("a directory")
            .map(|entry| entry.expect("an entry").file_name())
            .collect();
        assert_eq!(names, [name(b"caf\xe9.gz")]);
    }
    assert_eq!(called(dir, "gunzip -r .").code, Some(0));
    let content = std::fs::read(dir.join(name(b"caf\xe9"))).expect("a file");
    assert_eq!(content, b"content");
}

/// What was not named as a target is not written.
#[cfg(unix)]
#[test]
fn the_second_of_two_files_is_the_target_of_lz4() {
    let dir = directory();
    let dir = dir.path();
    let content = content();
    write(dir, "dump", &content);
    std::fs::create_dir(dir.join("r")).expect("made");
    called(dir, "lz4 -q dump named.lz4").expect(0);
    assert!(!dir.join("dump.lz4").exists());
    called(dir, "lz4 -dq named.lz4 r/dump").expect(0);
    assert!(read(dir, "r/dump") == content && read(dir, "dump") == content);
    // A target that is there is kept unless -f says otherwise.
    write(dir, "kept", b"theirs");
    called(dir, "lz4 -q dump kept").expect(1);
    assert_eq!(read(dir, "kept"), b"theirs");
    called(dir, "lz4 -qf dump kept").expect(0);
    // Without one, standard output is the target where it leads somewhere.
    let piped = called(dir, "lz4 -q dump").expect(0);
    write(dir, "piped.lz4", &piped.stdout);
    assert!(called(dir, "lz4 -dq piped.lz4").expect(0).stdout == content);
    assert!(!dir.join("dump.lz4").exists());
    let refused = called(dir, "lz4 -q dump kept r/dump").expect(1);
    assert!(refused.stderr.contains("third file"), "{}", refused.stderr);
    called(dir, "lz4 -q -l dump old.lz4").expect(0);
    assert_eq!(read(dir, "old.lz4")[..4], [2, 0x21, 0x4c, 0x18]);
    for line in [
        "-BD",
        "-B4 -BX",
        "-B5DX --no-frame-crc",
        "--content-size",
        "--fast=9",
        "--best",
    ] {
        called(dir, &format!("lz4 -qf {line} dump other.lz4")).expect(0);
        // Its name says that it is to be decompressed.
        called(dir, "lz4 -qf other.lz4 back").expect(0);
        assert!(read(dir, "back") == content, "{line}");
    }
    called(dir, "lz4 -qf old.lz4 back").expect(0);
    assert!(read(dir, "back") == content);
    called(dir, "lz4 -qf -D dump dump other.lz4").expect(1);
    called(dir, "lz4 -qm dump r/dump").expect(0);
    assert!(dir.join("dump.lz4").exists() && dir.join("r/dump.lz4").exists());
}

#[cfg(unix)]
#[test]
fn rsyncable_is_for_gzip_files_too() {
    let dir = directory();
    let dir = dir.path();
    let content = content();
    write(dir, "a", &content);
    run(
        dir,
        "compress -q --format gzip --rsyncable a -o own.gz",
        b"",
    )
    .expect(0);
    run(
        dir,
        "compress -q --format gzip --no-rsyncable a -o plain.gz",
        b"",
    )
    .expect(0);
    let named = called(dir, "gzip -n --rsyncable -c a").expect(0);
    assert!(read(dir, "own.gz")[10..] == named.stdout[10..]);
    let as_zstd = called(dir, "zstd -q --format=gzip --rsyncable -6 -c a").expect(0);
    assert!(as_zstd.stdout[10..] == named.stdout[10..]);
    assert!(read(dir, "own.gz") != read(dir, "plain.gz"));
    let back = run(dir, "decompress -qq -c own.gz", b"").expect(0);
    assert!(back.stdout == content);
    let refused = run(dir, "compress -q --format xz --rsyncable a", b"").expect(2);
    assert!(
        refused.stderr.contains("settings that only zstd has"),
        "{}",
        refused.stderr
    );
}
