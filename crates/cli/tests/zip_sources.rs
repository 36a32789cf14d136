//! What `zip` and `compress` make of files that are not what the system says of them: made up as they
//! are read, without content of their own, or changed by another program meanwhile.
#![cfg(target_os = "linux")]

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::os::unix::fs::FileTypeExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::common::{Run, directory, file, names, perfkit, pipe, run, words};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use zstdkit::workload::{self, Kind};

/// Files that the kernel makes up: the first states 0 bytes, the second a whole page.
const MADE_UP: [&str; 2] = ["/proc/version", "/sys/devices/system/cpu/online"];

/// Ways to write an archive, each of which reads files in its own way.
const WAYS: [&str; 9] = [
    "-T1",
    "-T3",
    "-0",
    "-Z zstd",
    "--password-file pw",
    "--password-file pw -0 -T2",
    "--append",
    "-u",
    "--verify -X",
];

#[test]
fn files_of_no_stated_size_are_packed_whole_in_every_way() {
    let dir = directory();
    file(dir.path(), "pw", b"secret");
    file(dir.path(), "first", b"what was there before");
    for way in WAYS {
        let mode = if way.contains("pw") { way } else { "" };
        let unlock = if mode.is_empty() {
            ""
        } else {
            "--password-file pw"
        };
        for path in MADE_UP {
            let expected = std::fs::read(path).expect("Linux has it");
            run(dir.path(), words("zip --force a.zip first")).expect(0);
            let line = match way {
                "--append" | "-u" => format!("zip {way} a.zip {path}"),
                way => format!("zip --force {way} a.zip {path}"),
            };
            run(dir.path(), words(&line)).expect(0);
            let name = path.trim_start_matches('/');
            let line = format!("unzip -qqp {unlock} a.zip {name}");
            let found = run(dir.path(), words(&line)).expect(0);
            assert_eq!(found.stdout, expected, "{way} {path}");
            run(
                dir.path(),
                words(&format!("unzip -t --strict {unlock} a.zip")),
            )
            .expect(0);
            if !matches!(way, "--append" | "-u" | "--verify -X") {
                let archive = run(dir.path(), words(&format!("zip -qq {way} - {path}"))).expect(0);
                let back = words(&format!("unzip -qqp --unverified {unlock} -"));
                let back = pipe(dir.path(), back, &archive.stdout).expect(0);
                assert_eq!(back.stdout, expected, "{way} {path}, into a pipe");
            }
        }
    }
    run(dir.path(), words("zip --force a.zip /proc/self/status")).expect(0);
    let status = run(dir.path(), words("unzip -qqp a.zip")).expect(0);
    assert!(status.text().contains("VmRSS:"), "{}", status.text());
}

#[test]
fn files_of_no_stated_size_are_compressed_whole_in_every_way() {
    let dir = directory();
    for path in MADE_UP {
        let expected = std::fs::read(path).expect("Linux has it");
        for way in ["", "--seekable", "-T3", "--seekable -T2", "--verify"] {
            let line = format!("compress -qq {way} -c {path}");
            let frame = run(dir.path(), words(&line)).expect(0);
            let back = pipe(dir.path(), words("decompress -qq"), &frame.stdout).expect(0);
            assert_eq!(back.stdout, expected, "{way} {path}");
        }
    }
}

fn fifo(path: &Path) {
    let made = Command::new("mkfifo").arg(path).status();
    assert!(made.expect("mkfifo runs").success());
    let kind = path.metadata().expect("there").file_type();
    assert!(kind.is_fifo());
}

#[test]
fn what_has_no_content_of_its_own_is_named_and_never_packed_in_silence() {
    let dir = directory();
    std::fs::create_dir(dir.path().join("d")).expect("made");
    fifo(&dir.path().join("d/pipe"));
    let _socket =
        std::os::unix::net::UnixListener::bind(dir.path().join("d/socket")).expect("bound");
    file(dir.path(), "d/a", b"content");
    for (line, code, words_of_it) in [
        ("zip a.zip d/a d/pipe", 3, "'d/pipe' is a named pipe"),
        ("zip a.zip d/pipe", 1, "'d/pipe' is a named pipe"),
        ("zip a.zip d/a d/socket", 3, "'d/socket' is a socket"),
        ("zip a.zip d/a /dev/null", 3, "'/dev/null' is a device"),
        ("zip a.zip d/a d/pipe -x *pipe", 0, ""),
        (
            "zip -r a.zip d",
            0,
            "'d/socket' is a socket and was left out",
        ),
        (
            "zip -r a.zip d",
            0,
            "'d/pipe' is a named pipe and was left out",
        ),
    ] {
        let ended = run(dir.path(), words(line)).expect(code);
        assert!(
            ended.stderr.contains(words_of_it),
            "{line}: {}",
            ended.stderr
        );
        assert_eq!(dir.path().join("a.zip").exists(), code != 1, "{line}");
        let _ = std::fs::remove_file(dir.path().join("a.zip"));
    }
    // The same to standard output, where no archive stands for none.
    for (line, code, name) in [
        ("zip -q - d/pipe", 1, "'d/pipe' is a named pipe"),
        ("zip -qr - d/pipe d/socket", 1, "'d/socket' is a socket"),
        ("zip -q - d/missing", 1, "'d/missing'"),
        ("zip -q - d/a d/pipe", 3, "'d/pipe' is a named pipe"),
    ] {
        let ended = run(dir.path(), words(line)).expect(code);
        assert!(ended.stderr.contains(name), "{line}: {}", ended.stderr);
        assert_eq!(ended.stdout.is_empty(), code == 1, "{line}");
    }
    // A link that has a target stays a link; what a shell sends through one has no name to lead to.
    std::os::unix::fs::symlink("pipe", dir.path().join("d/link")).expect("linked");
    run(dir.path(), words("zip -q link.zip d/link")).expect(0);
    for (out, code) in [("-", 1), ("a.zip", 1), ("- d/a", 3), ("a.zip d/a", 3)] {
        let path = env!("CARGO_BIN_EXE_perfkit");
        let line = format!("true | \"$0\" zip -q {out} /proc/self/fd/0");
        let mut shell = Command::new("sh");
        let ended = shell.arg("-c").arg(line).arg(path).current_dir(dir.path());
        let ended = ended.output().expect("sh runs");
        let stderr = String::from_utf8_lossy(&ended.stderr);
        assert_eq!(ended.status.code(), Some(code), "{out}: {stderr}");
        assert!(stderr.contains("fd/0' is a named pipe"), "{stderr}");
        assert!(code == 3 || ended.stdout.is_empty(), "{out}");
        let _ = std::fs::remove_file(dir.path().join("a.zip"));
    }
    std::fs::remove_file(dir.path().join("d/link")).expect("removed");
    let quiet = run(dir.path(), words("zip -qr a.zip d")).expect(0);
    assert!(!quiet.stderr.contains("pipe"), "{}", quiet.stderr);
}

/// What another program does to a file.
#[derive(Debug, Clone, Copy)]
enum Meanwhile {
    Appends,
    Truncates,
    Rewrites,
}

const ALL: [Meanwhile; 3] = [
    Meanwhile::Appends,
    Meanwhile::Truncates,
    Meanwhile::Rewrites,
];
/// More than any pipe, buffer and thread of a run can hold back.
const BIG_BYTES: usize = 16 << 20;
const CUT_BYTES: u64 = 12 << 20;

impl Meanwhile {
    fn happens(self, path: &Path) {
        let mut file = OpenOptions::new().append(true).open(path).expect("opened");
        match self {
            Self::Appends => file.write_all(b"one more line").expect("written"),
            Self::Truncates => file.set_len(CUT_BYTES).expect("cut"),
            Self::Rewrites => file
                .set_modified(std::time::SystemTime::UNIX_EPOCH)
                .expect("set"),
        }
    }

    fn word(self) -> &'static str {
        match self {
            Self::Appends => "grew",
            Self::Truncates => "shrank",
            Self::Rewrites => "was written to",
        }
    }
}

/// Runs a command whose output is not read until `meanwhile` has happened to the file that it reads.
fn blocked(dir: &Path, line: &str, path: &Path, meanwhile: Meanwhile) -> Run {
    let mut child = perfkit()
        .current_dir(dir)
        .args(words(line))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("perfkit runs");
    let mut stdout = child.stdout.take().expect("a pipe");
    let mut taken = vec![0; 1000];
    stdout.read_exact(&mut taken).expect("it has begun");
    meanwhile.happens(path);
    stdout.read_to_end(&mut taken).expect("read");
    let mut run = Run::from(child.wait_with_output().expect("it ends"));
    run.stdout = taken;
    run
}

#[test]
fn a_file_that_changes_on_its_way_into_a_pipe_is_named_and_the_archive_holds_what_was_read() {
    let dir = directory();
    file(dir.path(), "pw", b"secret");
    let content = workload::generate(Kind::Random, 1, BIG_BYTES);
    for way in [
        "-T1",
        "-T3",
        "-Z zstd -T1",
        "-Z zstd -T2",
        "--password-file pw",
        "-0",
    ] {
        for meanwhile in ALL {
            let big = file(dir.path(), "big", &content);
            let ended = blocked(dir.path(), &format!("zip -q {way} - big"), &big, meanwhile);
            let message = &ended.stderr;
            if let ("-0", Meanwhile::Truncates) = (way, meanwhile) {
                // Its header has gone out, with a size that cannot be had.
                assert_eq!(ended.code, Some(1), "{message}");
                assert!(message.contains("'big': it became shorter"), "{message}");
                continue;
            }
            assert_eq!(ended.code, Some(3), "{way} {meanwhile:?}: {message}");
            let expected = format!("'big' changed while it was packed: it {}", meanwhile.word());
            assert!(message.contains(&expected), "{way}: {message}");
            file(dir.path(), "a.zip", &ended.stdout);
            let unlock = if way.contains("pw") {
                "--password-file pw"
            } else {
                ""
            };
            let test = format!("unzip -t --strict {unlock} a.zip");
            run(dir.path(), words(&test)).expect(0);
            let print = format!("unzip -qqp {unlock} a.zip");
            let found = run(dir.path(), words(&print)).expect(0).stdout;
            let read = found.len().min(content.len());
            assert!(found[..read] == content[..read], "{way} {meanwhile:?}");
            let least = match meanwhile {
                Meanwhile::Truncates => CUT_BYTES as usize,
                _ => BIG_BYTES,
            };
            assert!(found.len() >= least, "{way} {meanwhile:?}: {}", found.len());
        }
    }
}

#[test]
fn a_file_that_changes_is_not_compressed_and_named() {
    let dir = directory();
    let content = workload::generate(Kind::Random, 1, BIG_BYTES);
    for way in ["", "-T3", "--seekable", "--seekable -T3"] {
        for meanwhile in ALL {
            let big = file(dir.path(), "big", &content);
            let line = format!("compress -q {way} -c big");
            let ended = blocked(dir.path(), &line, &big, meanwhile);
            let message = &ended.stderr;
            assert_eq!(ended.code, Some(1), "{way} {meanwhile:?}: {message}");
            let expected = format!("cannot compress 'big': it {}", meanwhile.word());
            assert!(message.contains(&expected), "{way}: {message}");
        }
    }
}

/// Whether a file is being written to the directory, and something of it is there.
fn is_under_way(dir: &Path) -> bool {
    let mut names = names(dir).into_iter();
    let part = names.find(|name| name.ends_with(".part"));
    part.and_then(|part| dir.join(part).metadata().ok())
        .is_some_and(|metadata| metadata.len() > 0)
}

/// Stops the process in the middle of its work, if it is to be met there.
fn stopped_midway(dir: &Path, child: &mut Child, work: impl FnOnce()) -> bool {
    let process = Pid::from_raw(child.id() as i32);
    while child.try_wait().expect("asked").is_none() {
        if is_under_way(dir) {
            kill(process, Signal::SIGSTOP).expect("stopped");
            let midway = is_under_way(dir);
            work();
            kill(process, Signal::SIGCONT).expect("goes on");
            return midway;
        }
        std::thread::sleep(Duration::from_micros(100));
    }
    false
}

/// Whether a file changed while it was packed into a file in this way, and how that ended. Another
/// process cannot be made to stop at a given byte, so that this may come too late.
fn changed_on_its_way(dir: &Path, way: &str, meanwhile: Meanwhile) -> bool {
    let big = dir.join("big");
    File::create(&big)
        .and_then(|file| file.set_len(4 * BIG_BYTES as u64))
        .expect("made");
    let mut child = perfkit()
        .current_dir(dir)
        .args(words(&format!("zip -q --force {way} a.zip first big last")))
        .stderr(Stdio::piped())
        .spawn()
        .expect("perfkit runs");
    let midway = stopped_midway(dir, &mut child, || meanwhile.happens(&big));
    let ended = Run::from(child.wait_with_output().expect("it ends"));
    let unlock = if way.contains("pw") {
        "--password-file pw"
    } else {
        ""
    };
    run(dir, words(&format!("unzip -t --strict {unlock} a.zip"))).expect(0);
    let listing = run(dir, words("unzip -l --json a.zip")).expect(0).json();
    let size = listing["tables"][0]["rows"][1][0].as_u64().expect("a size");
    assert_eq!(listing["tables"][0]["rows"][2][4], "last");
    if ended.code == Some(0) {
        assert_eq!(size, 4 * BIG_BYTES as u64, "{way} {meanwhile:?}");
        return false;
    }
    assert_eq!(ended.code, Some(3), "{way} {meanwhile:?}: {}", ended.stderr);
    let expected = format!("'big' changed while it was packed: it {}", meanwhile.word());
    assert!(ended.stderr.contains(&expected), "{way}: {}", ended.stderr);
    assert!(
        ended.stderr.contains(&format!("contains the {size} bytes")),
        "{}",
        ended.stderr
    );
    midway
}

#[test]
#[ignore = "long: cargo xtask ci runs it"]
fn a_file_that_changes_on_its_way_into_a_file_is_named_and_the_archive_holds_what_was_read() {
    let dir = directory();
    file(dir.path(), "pw", b"secret");
    file(dir.path(), "first", b"first");
    file(dir.path(), "last", b"last");
    for way in [
        "-0 -T1",
        "-0 -T3",
        "-0 --password-file pw -T1",
        "-0 --password-file pw -T2",
    ] {
        for meanwhile in ALL {
            let met = (0..50).any(|_| changed_on_its_way(dir.path(), way, meanwhile));
            assert!(
                met,
                "{way} {meanwhile:?}: never met in the middle of its work"
            );
        }
    }
}
