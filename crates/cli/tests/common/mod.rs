//! What the tests of the binary share: running it, and data to run it on.

#![allow(dead_code, reason = "each test binary uses its own part of this")]

#[cfg(unix)]
pub(crate) mod acceptor;
pub(crate) mod commands;
pub(crate) mod fix;
pub(crate) mod inputs;
#[cfg(unix)]
pub(crate) mod pty;
#[cfg(unix)]
pub(crate) mod server;
#[cfg(unix)]
pub(crate) mod signals;

use std::ffi::OsStr;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Output, Stdio};

use zipstream::Crc32;
use zipstream::deflate::Compressor;
use zstdkit::workload::{self, Kind};

/// The binary under test, ready for arguments, with an environment that neither colours its output nor sets its flags.
pub(crate) fn perfkit() -> Command {
    linked(Path::new(env!("CARGO_BIN_EXE_perfkit")))
}

/// Variables that say how to run the binary under test. All others of its prefix are defaults of whoever runs the
/// tests, or are for the tests themselves.
const KEPT: [&str; 2] = ["PERFKIT_IO", "PERFKIT_ISA"];

/// The same by a link to it, which has another name.
pub(crate) fn linked(binary: &Path) -> Command {
    let mut command = if signals_are_ignored() {
        let mut command = Command::new("env");
        command.arg("--default-signal=HUP,INT,TERM").arg(binary);
        command
    } else {
        Command::new(binary)
    };
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if text.starts_with("PERFKIT_") && !KEPT.contains(&&*text) {
            command.env_remove(name);
        }
    }
    command
        .env_remove("CLICOLOR_FORCE")
        .env("NO_COLOR", "1")
        .env("PERFKIT_CONFIG", "")
        .stdin(Stdio::null());
    command
}

/// A link to the binary in this directory, by another name.
#[cfg(unix)]
pub(crate) fn link_as(dir: &Path, name: &str) -> PathBuf {
    let path = dir.join(name);
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_perfkit"), &path).expect("linked");
    path
}

/// Whether these tests were started to ignore SIGHUP, SIGINT or SIGTERM, as shells without job
/// control start what runs in the background. The binary would go on ignoring them.
fn signals_are_ignored() -> bool {
    /// Bit N-1 stands for signal N: SIGHUP is 1, SIGINT 2, SIGTERM 15.
    const WATCHED: u64 = 1 | 1 << 1 | 1 << 14;
    signal_mask("self", "SigIgn:") & WATCHED != 0
}

/// Waits until a child of [`perfkit`] runs the binary and no longer `env`, which only starts it.
///
/// # Panics
///
/// After a minute.
#[cfg(unix)]
pub(crate) fn until_perfkit_runs(child: &std::process::Child) {
    if !signals_are_ignored() {
        return;
    }
    let running = format!("/proc/{}/exe", child.id());
    signals::until("the binary", || {
        std::fs::read_link(&running)
            .is_ok_and(|path| path == Path::new(env!("CARGO_BIN_EXE_perfkit")))
    });
}

/// A set of signals of a process, as Linux tells it; empty elsewhere and when the process is gone.
fn signal_mask(process: &str, key: &str) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let mask = status
        .lines()
        .find_map(|line| line.strip_prefix(key))
        .and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.unwrap_or(0)
}

/// As much of the output of a run is shown where its exit code is not as expected.
const SHOWN_CHARS: usize = 8_000;

/// What a run left.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: String,
}

impl Run {
    /// The run, which must have ended with `code`.
    pub(crate) fn expect(self, code: i32) -> Self {
        if self.code != Some(code) {
            // A report says what failed; data of a few kilobytes shows no more than its beginning would.
            let text = String::from_utf8_lossy(&self.stdout);
            let text: String = text.chars().take(SHOWN_CHARS).collect();
            assert_eq!(
                self.code,
                Some(code),
                "stderr: {}\nstdout: {text}",
                self.stderr
            );
        }
        self
    }

    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.stdout).expect("standard output is text")
    }

    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.stdout).expect("standard output is JSON")
    }
}

impl From<Output> for Run {
    fn from(output: Output) -> Self {
        Self {
            code: code(output.status),
            stdout: output.stdout,
            stderr: String::from_utf8(output.stderr).expect("standard error is text"),
        }
    }
}

/// The exit code, and of an interrupted process the 130 that a shell gives it. None of one that any other signal
/// ended.
pub(crate) fn code(status: ExitStatus) -> Option<i32> {
    #[cfg(unix)]
    let interrupted = std::os::unix::process::ExitStatusExt::signal(&status) == Some(2);
    #[cfg(not(unix))]
    let interrupted = false;
    status.code().or(interrupted.then_some(130))
}

/// Runs the binary in `dir`.
pub(crate) fn run<S: AsRef<OsStr>>(dir: &Path, arguments: impl IntoIterator<Item = S>) -> Run {
    perfkit()
        .current_dir(dir)
        .args(arguments)
        .output()
        .expect("perfkit runs")
        .into()
}

/// Runs the binary with `input` on its standard input.
pub(crate) fn pipe<S: AsRef<OsStr>>(
    dir: &Path,
    arguments: impl IntoIterator<Item = S>,
    input: &[u8],
) -> Run {
    let mut command = perfkit();
    command.current_dir(dir).args(arguments);
    feed(command, input).into()
}

/// Runs any command with `input` on its standard input.
pub(crate) fn feed(mut command: Command, input: &[u8]) -> Output {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command runs");
    let mut stdin = child.stdin.take().expect("a pipe");
    let input = input.to_vec();
    let writer = std::thread::spawn(move || {
        // A program that refuses its input closes it early.
        let _ = stdin.write_all(&input);
    });
    let output = child.wait_with_output().expect("the command ends");
    writer.join().expect("the writer ends");
    output
}

/// The words of a command line.
pub(crate) fn words(line: &str) -> Vec<String> {
    line.split_whitespace().map(str::to_owned).collect()
}

/// An empty directory of this test's own.
pub(crate) fn directory() -> tempfile::TempDir {
    tempfile::tempdir().expect("a temporary directory")
}

/// Five kinds of data and two edge cases, each of a size that ends inside a block.
pub(crate) fn samples(bytes: usize) -> Vec<(&'static str, Vec<u8>)> {
    let generate = |kind| workload::generate(kind, 7, bytes);
    vec![
        ("json", generate(Kind::JsonLines)),
        ("html", generate(Kind::Html)),
        ("log", generate(Kind::Log)),
        ("binary", generate(Kind::Binary)),
        ("uuid", generate(Kind::UuidText)),
        ("random", generate(Kind::Random)),
        ("empty", Vec::new()),
        ("one", vec![b'x']),
    ]
}

/// Writes `bytes` under `name` and returns the path.
pub(crate) fn file(dir: &Path, name: &str, bytes: &[u8]) -> PathBuf {
    let path = dir.join(name);
    std::fs::write(&path, bytes).expect("written");
    path
}

/// The names in a directory, sorted.
pub(crate) fn names(dir: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(dir).expect("a directory");
    let mut names: Vec<String> = entries
        .map(|entry| {
            entry
                .expect("an entry")
                .file_name()
                .to_string_lossy()
                .into_owned()
        })
        .collect();
    names.sort();
    names
}

/// The names of the entries of an archive, sorted, by our own listing.
pub(crate) fn listed(dir: &Path, archive: &str) -> Vec<String> {
    let list = run(dir, ["unzip", "-l", archive, "--json"]).expect(0);
    let list = list.json();
    let rows = list["tables"][0]["rows"].as_array().expect("rows");
    let name = |row: &serde_json::Value| row[4].as_str().expect("a name").to_owned();
    let mut names: Vec<_> = rows.iter().map(name).collect();
    names.sort();
    names
}

/// The content of an entry of `a.zip`.
pub(crate) fn content(dir: &Path, name: &str) -> String {
    let line = format!("unzip -qqp a.zip {name}");
    run(dir, words(&line)).expect(0).text().to_owned()
}

/// A gzip file of one member.
pub(crate) fn gzip(content: &[u8]) -> Vec<u8> {
    let mut out = b"\x1f\x8b\x08\0\0\0\0\0\0\xff".to_vec();
    Compressor::new(6).compress(content, 0, true, &mut out);
    let mut sum = Crc32::new();
    sum.update(content);
    out.extend_from_slice(&sum.sum().to_le_bytes());
    out.extend_from_slice(&(content.len() as u32).to_le_bytes());
    out
}
