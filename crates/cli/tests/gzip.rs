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
    let program = bin.path().join(name);
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_perfkit"), &program).expect("a link");
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
    for name in ["zcat", "gzcat", "zstdcat"] {
        assert!(
            called(dir, &format!("{name} a.gz plain")).expect(0).stdout == both,
            "{name}"
        );
    }
    called(dir, "gunzip -f a.gz").expect(0);
    assert_eq!(names(dir), ["a", "plain"]);
    let refused = called(dir, "gunzip plain").expect(1);
    assert!(refused.stderr.starts_with("gunzip: "), "{}", refused.stderr);
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
