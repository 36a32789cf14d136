//! A running `perfkit fix acceptor`, and an initiator that runs until it has said something.

use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;

use super::{Run, perfkit, signals, words};

/// Runs a line until it says this text on standard error, then asks it to end.
pub(crate) fn run_until_said(dir: &Path, line: &str, text: &str) -> Run {
    let path = dir.join("said by a line");
    let stderr = std::fs::File::create(&path).expect("room");
    let mut child = perfkit()
        .current_dir(dir)
        .args(words(line))
        .stdout(Stdio::piped())
        .stderr(stderr)
        .spawn()
        .expect("it starts");
    let said = || std::fs::read_to_string(&path).unwrap_or_default();
    let end = Instant::now() + signals::PATIENCE;
    let mut is_over = false;
    while !said().contains(text) && !is_over {
        std::thread::sleep(Duration::from_millis(5));
        is_over = Instant::now() > end || child.try_wait().expect("asked").is_some();
    }
    // Not over a process that was waited for: its number may be another's by now.
    if child.try_wait().expect("asked").is_none() {
        signals::send(&child, Signal::SIGTERM);
    }
    let ended = child.wait_with_output().expect("it ends");
    let stderr = said();
    assert!(stderr.contains(text), "never: {text}, but {stderr}");
    Run {
        code: super::code(ended.status),
        stdout: ended.stdout,
        stderr,
    }
}

/// An acceptor that returns orders. Killed when dropped.
pub(crate) struct Acceptor {
    pub(crate) child: Child,
    pub(crate) port: u16,
    said: PathBuf,
}

impl Acceptor {
    /// Starts it with these settings at a free port. What it says is kept, whatever earlier ones said.
    pub(crate) fn start(dir: &Path, settings: &str, flags: &str) -> Self {
        std::fs::write(dir.join("acceptor.cfg"), settings).expect("room");
        let (ready, said) = (dir.join("ready"), dir.join("said"));
        let _ = std::fs::remove_file(&ready);
        let mut file = std::fs::OpenOptions::new();
        let stderr = file.append(true).create(true).open(&said).expect("room");
        let line = format!("fix acceptor --settings acceptor.cfg --ready-file ready {flags}");
        let child = perfkit()
            .current_dir(dir)
            .args(words(&line))
            .stdout(Stdio::null())
            .stderr(stderr)
            .spawn()
            .expect("it starts");
        let mut acceptor = Self {
            child,
            port: 0,
            said,
        };
        signals::until("it listens", || {
            let text = std::fs::read_to_string(&ready).unwrap_or_default();
            let port = text.lines().next().and_then(|line| line.rsplit(':').next());
            acceptor.port = port.and_then(|port| port.parse().ok()).unwrap_or(0);
            acceptor.port != 0
        });
        acceptor
    }

    /// A number of bytes that `/proc` has of the process.
    pub(crate) fn memory(&self, name: &str) -> u64 {
        let path = format!("/proc/{}/status", self.child.id());
        let text = std::fs::read_to_string(path).unwrap_or_default();
        let line = text.lines().find(|line| line.starts_with(name));
        let kib = line.and_then(|line| line.split_whitespace().nth(1)?.parse::<u64>().ok());
        kib.unwrap_or(0) << 10
    }

    /// What it said.
    pub(crate) fn said(&self) -> String {
        std::fs::read_to_string(&self.said).unwrap_or_default()
    }

    /// Asks it to end.
    pub(crate) fn terminate(&self) {
        signals::send(&self.child, Signal::SIGTERM);
    }

    /// Waits until it has ended: its exit code and what it said.
    pub(crate) fn ended(mut self) -> (Option<i32>, String) {
        let code = super::code(self.child.wait().expect("it ends"));
        (code, self.said())
    }
}

impl Drop for Acceptor {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
