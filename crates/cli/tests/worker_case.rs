//! Expressions and events for workers, and runs of them on whichever broker.

use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::RecvTimeoutError;
use std::time::Duration;

use nix::sys::signal::Signal;
use serde_json::Value;

use crate::common::signals::{send, until};
use crate::common::{Run, directory, file, perfkit, words};

/// A broker whose streams have addresses.
pub(crate) trait Urls {
    fn url(&self, stream: &str) -> String;
}

/// A number of the environment, for runs at full size.
pub(crate) fn number(name: &str, otherwise: u64) -> u64 {
    let value = std::env::var(name)
        .ok()
        .and_then(|value| value.parse().ok());
    value.unwrap_or(otherwise)
}

pub(crate) fn events() -> u64 {
    number("PERFKIT_WORKERS_EVENTS", 30_000)
}

/// Lets a server stand still, for longer than workers are waited for.
pub(crate) fn stall(server: &Child) {
    send(server, Signal::SIGSTOP);
    std::thread::sleep(Duration::from_secs(number("PERFKIT_WORKERS_STALL", 3)));
    send(server, Signal::SIGCONT);
}

/// Expressions, events, and what `betree match` says of them without a server.
pub(crate) struct Case {
    pub(crate) dir: tempfile::TempDir,
    pub(crate) plain: Vec<u8>,
}

impl Case {
    pub(crate) fn new(events: u64) -> Self {
        let dir = directory();
        let case = Self {
            dir,
            plain: Vec::new(),
        };
        case.run(&format!(
            "betree generate ad --expressions 300 --events {events} -o ad -q"
        ))
        .expect(0);
        case.run("betree build --domains ad/domains --expressions ad/expressions -o s.snap -q")
            .expect(0);
        case.with_plain()
    }

    pub(crate) fn with_plain(mut self) -> Self {
        let plain = self.run("betree match --snapshot s.snap --events ad/events --keep-going -qq");
        self.plain = plain.stdout;
        self
    }

    pub(crate) fn events(&self) -> PathBuf {
        self.dir.path().join("ad/events")
    }

    pub(crate) fn command(&self, line: &str) -> Command {
        let mut command = perfkit();
        command.current_dir(self.dir.path()).args(words(line));
        command
    }

    pub(crate) fn run(&self, line: &str) -> Run {
        self.command(line).output().expect("perfkit runs").into()
    }

    pub(crate) fn spawn(&self, line: &str) -> Child {
        let mut command = self.command(line);
        let command = command.stdout(Stdio::null()).stderr(Stdio::piped());
        command.spawn().expect("perfkit runs")
    }

    pub(crate) fn feed(&self, broker: &impl Urls) {
        let to = broker.url("IN");
        self.run(&format!(
            "betree feed --create --block 8K --to {to} ad/events"
        ))
        .expect(0);
    }

    /// Takes these lines as events, and feeds each as a block of its own.
    pub(crate) fn feed_each(&self, broker: &impl Urls, lines: &[String]) {
        let text = format!("{}\n", lines.join("\n"));
        file(self.dir.path(), "ad/events", text.as_bytes());
        let to = broker.url("IN");
        self.run(&format!(
            "betree feed --create --block 1 --to {to} ad/events"
        ))
        .expect(0);
    }

    /// The lines of the events.
    pub(crate) fn lines(&self) -> Vec<String> {
        let text = std::fs::read_to_string(self.events()).expect("text");
        text.lines().map(str::to_owned).collect()
    }

    /// The command line of a worker that is quick to be missed.
    pub(crate) fn worker(broker: &impl Urls, more: &str) -> String {
        let (from, to) = (broker.url("IN"), broker.url("OUT"));
        format!(
            "betree match --from {from} --to {to} --snapshot s.snap --create --ack-wait 2s --report json {more}"
        )
    }

    /// Every event is answered, in order, and rightly.
    pub(crate) fn assert_joined(&self, broker: &impl Urls) {
        let (blocks, from) = (broker.url("IN"), broker.url("OUT"));
        let joined = self
            .run(&format!("betree join --events {blocks} --from {from}"))
            .expect(0);
        assert_eq!(joined.stdout.len(), self.plain.len(), "{}", joined.stderr);
        assert!(joined.stdout == self.plain, "answers differ");
    }
}

/// A worker whose words can be read while it goes on.
pub(crate) struct Telling {
    pub(crate) process: Child,
    said: PathBuf,
}

impl Telling {
    pub(crate) fn start(case: &Case, line: &str) -> Self {
        let said = case.dir.path().join("said");
        let mut command = case.command(line);
        let file = std::fs::File::create(&said).expect("a file");
        let command = command.stdout(Stdio::null()).stderr(file);
        Self {
            process: command.spawn().expect("perfkit runs"),
            said,
        }
    }

    pub(crate) fn said(&self) -> String {
        std::fs::read_to_string(&self.said).expect("text")
    }

    pub(crate) fn until_said(&self, what: &str) {
        until(what, || self.said().contains(what));
    }

    /// Asks it to stop, and returns the parameters of its report.
    pub(crate) fn stop(self, code: i32) -> Value {
        send(&self.process, Signal::SIGTERM);
        let said = self.ended(code);
        report(&said)["workload"]["params"].clone()
    }

    /// Waits until it has ended, and returns what it has said. One that does not end is killed, and is a failure.
    pub(crate) fn ended(mut self, code: i32) -> String {
        until("it ends", || {
            self.process.try_wait().expect("a process").is_some()
        });
        let status = self.process.wait().expect("it has ended");
        let said = self.said();
        assert_eq!(status.code(), Some(code), "{said}");
        said
    }
}

impl Drop for Telling {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Longer than any worker takes on a busy machine, and than all outages that it waits for.
const END: Duration = Duration::from_secs(5 * 60);

/// Waits for a worker, and returns the parameters of its report. One that does not end is killed, and is a failure.
pub(crate) fn finish(worker: Child, code: i32) -> (Value, String) {
    let id = worker.id();
    let (ended, wait) = std::sync::mpsc::channel::<()>();
    let watch = std::thread::spawn(move || {
        let is_late = wait.recv_timeout(END) == Err(RecvTimeoutError::Timeout);
        if is_late {
            let _ = Command::new("kill").args(["-9", &id.to_string()]).status();
        }
        is_late
    });
    let output = worker.wait_with_output().expect("it ends");
    drop(ended);
    let is_late = watch.join().expect("no panic");
    let run: Run = output.into();
    assert!(!is_late, "it does not end: {}", run.stderr);
    let run = run.expect(code);
    let params = report(&run.stderr)["workload"]["params"].clone();
    (params, run.stderr)
}

/// The report among what a command says.
pub(crate) fn report(said: &str) -> Value {
    let start = said.find("\n{").map_or(0, |at| at + 1);
    let end = said.rfind('}').map_or(0, |at| at + 1);
    let report: Value = serde_json::from_str(&said[start..end.max(start)]).unwrap_or_default();
    assert!(report["workload"].is_object(), "no report: {said}");
    report
}

pub(crate) fn count(params: &Value, name: &str) -> u64 {
    params[name]
        .as_u64()
        .unwrap_or_else(|| panic!("no {name} in {params}"))
}

/// What a worker says when the process of this id has taken over with `--format ids`.
pub(crate) fn taken_over_by(id: u32) -> String {
    format!(
        "-{id} has taken over the consumer match (--take-over): its workers have --format ids from now on"
    )
}
