//! FIX engines of others as counterparties, and ours: processes that obey lines and say what happened.
//!
//! QuickFIX for C++ needs `c++` and its headers, QuickFIX/J needs `java`, `javac` and its archives in the
//! directory `PERFKIT_QUICKFIXJ`.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;
use nix::unistd::Pid;

use crate::common::{perfkit, signals, words};

/// Which engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Cpp,
    Java,
}

/// Longer than anything that is waited for may take.
const PATIENCE: Duration = Duration::from_secs(120);

fn source(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/peer")
        .join(name)
}

fn built() -> &'static Path {
    static DIRECTORY: OnceLock<tempfile::TempDir> = OnceLock::new();
    DIRECTORY
        .get_or_init(|| tempfile::tempdir().expect("a directory"))
        .path()
}

/// Whether QuickFIX for C++ is here.
pub(crate) fn has_cpp() -> bool {
    Path::new("/usr/include/quickfix/Session.h").exists()
        && super::works(Command::new("c++").arg("--version"))
}

fn archives() -> Option<PathBuf> {
    std::env::var_os("PERFKIT_QUICKFIXJ").map(PathBuf::from)
}

/// Whether QuickFIX/J is here.
pub(crate) fn has_java() -> bool {
    archives().is_some_and(|path| path.is_dir())
        && super::works(Command::new("javac").arg("-version"))
}

/// A command that starts the engine, which is compiled the first time.
fn command(kind: Kind) -> Command {
    static CPP: OnceLock<PathBuf> = OnceLock::new();
    static JAVA: OnceLock<String> = OnceLock::new();
    let make = |command: &mut Command| {
        let made = command.output().expect("it runs");
        let said = String::from_utf8_lossy(&made.stderr);
        assert!(made.status.success(), "{command:?}: {said}");
    };
    match kind {
        Kind::Cpp => {
            let program = CPP.get_or_init(|| {
                let program = built().join("quickfix");
                // The headers have exception specifications, which C++17 dropped.
                make(
                    Command::new("c++")
                        .args(["-std=gnu++14", "-O1", "-w", "-o"])
                        .arg(&program)
                        .arg(source("quickfix.cpp"))
                        .args(["-lquickfix", "-lpthread"]),
                );
                program
            });
            Command::new(program)
        }
        Kind::Java => {
            let path = JAVA.get_or_init(|| {
                let archives = archives().expect("checked").join("*");
                let path = format!("{}:{}", built().display(), archives.display());
                make(
                    Command::new("javac")
                        .args(["-cp", &path, "-d"])
                        .arg(built())
                        .arg(source("QuickFixJ.java")),
                );
                path
            });
            let mut command = Command::new("java");
            command.args(["-XX:TieredStopAtLevel=1", "-cp", path, "QuickFixJ"]);
            command
        }
    }
}

/// A counterparty at work. Killed when dropped.
pub(crate) struct Peer {
    child: Child,
    lines: Receiver<String>,
    /// Everything it said.
    pub(crate) said: Vec<String>,
    /// What was already waited for.
    seen: usize,
}

impl Peer {
    /// Starts it with settings in a directory, as `acceptor` or `initiator`.
    pub(crate) fn start(kind: Kind, dir: &Path, settings: &str, role: &str) -> Self {
        let path = dir.join(format!("{role}-peer.cfg"));
        std::fs::write(&path, settings).expect("written");
        let mut child = command(kind)
            .current_dir(dir)
            .arg(&path)
            .arg(role)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("it starts");
        let output = child.stdout.take().expect("a pipe");
        let (to, lines) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                if to.send(line).is_err() {
                    return;
                }
            }
        });
        let (said, seen) = (Vec::new(), 0);
        let mut peer = Self {
            child,
            lines,
            said,
            seen,
        };
        peer.until("ready");
        // An initiator connects meanwhile, on a thread of its own: its logon may stand before that line.
        peer.seen = 0;
        peer
    }

    /// Gives it a line.
    pub(crate) fn tell(&mut self, line: &str) {
        let input = self.child.stdin.as_mut().expect("a pipe");
        writeln!(input, "{line}").expect("it reads");
    }

    /// Waits for a line that has this text, behind the last one that was waited for.
    pub(crate) fn until(&mut self, text: &str) -> String {
        self.until_some(text, |line| line.contains(text))
    }

    /// The same for a line that has all of these.
    pub(crate) fn until_all(&mut self, texts: &[&str]) -> String {
        self.until_some(&texts.join(" and "), |line| {
            texts.iter().all(|text| line.contains(text))
        })
    }

    /// Waits until it said this many lines with a text, from its start on.
    pub(crate) fn until_count(&mut self, text: &str, count: usize) {
        let end = Instant::now() + PATIENCE;
        let mut found = self.count(text);
        while found < count {
            let line = self.line(&format!("{count} times {text} after {found}"), end);
            found += usize::from(line.contains(text));
        }
    }

    /// How many lines with a text it said.
    pub(crate) fn count(&self, text: &str) -> usize {
        self.said.iter().filter(|line| line.contains(text)).count()
    }

    fn until_some(&mut self, what: &str, is: impl Fn(&str) -> bool) -> String {
        let end = Instant::now() + PATIENCE;
        loop {
            while let Some(line) = self.said.get(self.seen) {
                self.seen += 1;
                if is(line) {
                    return line.clone();
                }
            }
            self.line(what, end);
        }
    }

    /// Its next line. The end is that of the whole wait: heartbeats are lines, too, and never end.
    fn line(&mut self, what: &str, end: Instant) -> String {
        let left = end.saturating_duration_since(Instant::now());
        match self.lines.recv_timeout(left) {
            Ok(line) => {
                self.said.push(line.clone());
                line
            }
            Err(RecvTimeoutError::Timeout) => panic!("never: {what}; it said {:#?}", self.last()),
            Err(_) => panic!("it ended before {what}; it said {:#?}", self.last()),
        }
    }

    fn last(&self) -> &[String] {
        &self.said[self.said.len().saturating_sub(40)..]
    }

    /// The number that it sends next and the one that it expects, once they stand still: it counts a message
    /// after it has told of it.
    pub(crate) fn numbers(&mut self) -> (u64, u64) {
        let mut last = self.numbers_now();
        let mut same = 0;
        while same < 3 {
            std::thread::sleep(Duration::from_millis(30));
            let now = self.numbers_now();
            same = if now == last { same + 1 } else { 0 };
            last = now;
        }
        last
    }

    fn numbers_now(&mut self) -> (u64, u64) {
        self.seen = self.said.len();
        self.tell("numbers");
        let line = self.until_some("numbers", |line| line.starts_with("numbers "));
        let mut numbers = line
            .split(' ')
            .skip(1)
            .map(|n| n.parse().expect("a number"));
        (
            numbers.next().expect("sent"),
            numbers.next().expect("expected"),
        )
    }

    /// How often each order came in, by its id.
    pub(crate) fn orders(&self) -> BTreeMap<String, usize> {
        let mut orders = BTreeMap::new();
        for line in &self.said {
            let words: Vec<&str> = line.split(' ').collect();
            if let ["app", "in", "D", _, id, _] = words[..] {
                *orders.entry(id.to_owned()).or_default() += 1;
            }
        }
        orders
    }

    /// Ends it at once.
    pub(crate) fn kill(mut self) -> Vec<String> {
        let _ = self.child.kill();
        let _ = self.child.wait();
        while let Ok(line) = self.lines.recv_timeout(Duration::from_secs(5)) {
            self.said.push(line);
        }
        std::mem::take(&mut self.said)
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Our own side. Killed when dropped.
pub(crate) struct Ours {
    child: Child,
    /// The port of an acceptor.
    pub(crate) port: u16,
}

impl Ours {
    /// `perfkit fix acceptor --app echo` with settings in a directory.
    pub(crate) fn acceptor(dir: &Path, settings: &str) -> Self {
        let _ = std::fs::remove_file(dir.join("ready"));
        let line = "fix acceptor --settings ours.cfg --app echo --ready-file ready";
        let mut ours = Self::start(dir, settings, line);
        let ready = dir.join("ready");
        let started = Instant::now();
        // The file is there before what is written into it.
        let text = loop {
            match std::fs::read_to_string(&ready) {
                Ok(text) if text.ends_with('\n') => break text,
                _ => {}
            }
            let ended = ours.child.try_wait().expect("waited").is_some();
            assert!(!ended, "it ended: {}", ours.errors());
            assert!(started.elapsed() < PATIENCE, "it does not listen");
            std::thread::sleep(Duration::from_millis(10));
        };
        let port = text.trim().rsplit(':').next().unwrap_or_default();
        ours.port = port.parse().expect("a port");
        ours
    }

    /// `perfkit fix initiator` with settings in a directory and further flags.
    pub(crate) fn initiator(dir: &Path, settings: &str, flags: &str) -> Self {
        let line = format!("fix initiator --settings ours.cfg {flags}");
        Self::start(dir, settings, &line)
    }

    fn start(dir: &Path, settings: &str, line: &str) -> Self {
        std::fs::write(dir.join("ours.cfg"), settings).expect("written");
        let child = perfkit()
            .current_dir(dir)
            .args(words(&format!("{line} -f --export-json report.json")))
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("it starts");
        Self { child, port: 0 }
    }

    fn errors(&mut self) -> String {
        let mut text = String::new();
        let Some(mut pipe) = self.child.stderr.take() else {
            return text;
        };
        // The pipe ends with the process, which ends in time or is killed.
        let process = Pid::from_raw(self.child.id().cast_signed());
        let (ended, wait) = channel::<()>();
        let watch = std::thread::spawn(move || {
            let late = wait.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout);
            if late {
                let _ = nix::sys::signal::kill(process, Signal::SIGKILL);
            }
            late
        });
        let _ = pipe.read_to_string(&mut text);
        drop(ended);
        let late = watch.join().expect("it does not panic");
        assert!(!late, "perfkit did not end; it said {text}");
        text
    }

    /// Asks it to end, and waits; its exit code and what it said.
    pub(crate) fn stop(mut self) -> (Option<i32>, String) {
        signals::send(&self.child, Signal::SIGTERM);
        self.end()
    }

    /// Waits for its end.
    pub(crate) fn end(&mut self) -> (Option<i32>, String) {
        let said = self.errors();
        (self.child.wait().expect("it ends").code(), said)
    }

    /// Ends it at once.
    pub(crate) fn kill(mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Ours {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
