//! Tests that are watched: a run in which a test waits for ever is ended, and says which tests were running.
//!
//! Not here: how commands are shown and started (`sh`), and what their output means to a chore.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io::{BufRead, BufReader, IsTerminal as _, Write as _};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use crate::sh;

/// How long a run may take.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// Among tests, without any line of output: other harnesses than the usual one do not name those that take long.
    pub(crate) stuck: Duration,
    /// In all.
    pub(crate) total: Duration,
}

/// Far longer than any test, and than any build and run of all tests, takes on a busy machine.
pub(crate) const LIMITS: Limits = Limits {
    stuck: Duration::from_secs(10 * 60),
    total: Duration::from_secs(60 * 60),
};

/// How often it is looked at.
const LOOK: Duration = Duration::from_millis(250);
/// What a run that was ended may still take to be gone.
const GONE: Duration = Duration::from_secs(30);

/// Like [`sh::run_keeping`], within limits. At a terminal there are none: whoever sits there decides, and
/// interrupts all of it.
pub(crate) fn run_keeping(
    command: &mut Command,
    keep: impl Fn(&str) -> bool,
) -> Result<Vec<String>> {
    match cfg!(unix) && !std::io::stderr().is_terminal() {
        true => run_within(LIMITS, command, keep),
        false => sh::run_keeping(command, keep),
    }
}

fn run_within(
    limits: Limits,
    command: &mut Command,
    keep: impl Fn(&str) -> bool,
) -> Result<Vec<String>> {
    let shown = sh::shown(command);
    println!("$ {shown}");
    std::io::stdout().flush()?;
    own_group(command);
    let mut child = command
        .stdout(Stdio::piped())
        .spawn()
        .with_context(|| format!("cannot start {shown}"))?;
    let seen = Arc::new(Mutex::new(Seen::new(Instant::now())));
    let (ended, wait) = channel::<()>();
    let watching = (Arc::clone(&seen), child.id());
    let watcher = std::thread::spawn(move || watch(limits, &watching.0, watching.1, &wait));
    let kept = read(&mut child, &seen, keep);
    let status = child.wait();
    drop(ended);
    let stopped = watcher.join().unwrap_or_default();
    if let Some(why) = stopped {
        bail!("{shown} was ended: {why}");
    }
    let (kept, status) = (kept?, status?);
    if !status.success() {
        bail!("{shown} ended with {status}");
    }
    Ok(kept)
}

/// Shows the output, and returns the lines that `keep` wants.
fn read(
    child: &mut Child,
    seen: &Mutex<Seen>,
    keep: impl Fn(&str) -> bool,
) -> std::io::Result<Vec<String>> {
    let mut kept = Vec::new();
    let Some(stdout) = child.stdout.take() else {
        return Ok(kept);
    };
    for line in BufReader::new(stdout).split(b'\n') {
        let line = line?;
        let line = String::from_utf8_lossy(&line).into_owned();
        println!("{line}");
        lock(seen).line(&line, Instant::now());
        if keep(&line) {
            kept.push(line);
        }
    }
    Ok(kept)
}

/// Has the command and all that it starts be one process group, so that no other process is ended with it.
#[cfg(unix)]
fn own_group(command: &mut Command) {
    use std::os::unix::process::CommandExt as _;
    command.process_group(0);
}

#[cfg(not(unix))]
fn own_group(_: &mut Command) {}

/// Ends the group of this process where a limit is passed; says why it did.
fn watch(limits: Limits, seen: &Mutex<Seen>, group: u32, ended: &Receiver<()>) -> Option<String> {
    let why = loop {
        if ended.recv_timeout(LOOK) != Err(RecvTimeoutError::Timeout) {
            return None;
        }
        let now = Instant::now();
        if let Some(why) = lock(seen).passed(limits, now) {
            break why;
        }
    };
    println!("{why}\n{}", processes(group));
    let kill = format!("kill -s KILL -- -{group}");
    let _ = sh::command("sh").args(["-c", &kill]).status();
    if ended.recv_timeout(GONE) == Err(RecvTimeoutError::Timeout) {
        // Something outside of the group still has the output open.
        println!("its output does not end: giving up");
        let _ = std::io::stdout().flush();
        std::process::exit(1);
    }
    Some(why)
}

/// The processes of a group: they show what hangs.
fn processes(group: u32) -> String {
    let columns = "pid=,pgid=,etime=,stat=,args=";
    let all = sh::text(sh::command("ps").args(["-e", "-o", columns])).unwrap_or_default();
    let group = group.to_string();
    let ours = all
        .lines()
        .filter(|line| line.split_whitespace().nth(1) == Some(group.as_str()));
    ours.fold(String::new(), |mut text, line| {
        let _ = writeln!(text, "  {}", line.trim());
        text
    })
}

fn lock(seen: &Mutex<Seen>) -> MutexGuard<'_, Seen> {
    seen.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What the output has told so far.
#[derive(Debug)]
struct Seen {
    begun: Instant,
    last_line: Instant,
    /// Whether a program runs its tests, and nothing is built.
    tests: bool,
    /// Tests that take more than a minute and have not ended.
    slow: BTreeSet<String>,
}

impl Seen {
    fn new(now: Instant) -> Self {
        Self {
            begun: now,
            last_line: now,
            tests: false,
            slow: BTreeSet::new(),
        }
    }

    /// Reads a line of the test harness.
    fn line(&mut self, line: &str, now: Instant) {
        self.last_line = now;
        if line.starts_with("test result:") {
            self.tests = false;
            self.slow.clear();
            return;
        }
        self.tests |= line.starts_with("running ") && line.contains(" test");
        let Some(rest) = line.strip_prefix("test ") else {
            return;
        };
        if let Some((name, _)) = rest.split_once(" has been running for over ") {
            self.slow.insert(name.to_owned());
        } else if let Some((name, _)) = rest.split_once(" ... ") {
            self.slow.remove(name);
        }
    }

    /// Why the run is ended now, if it is.
    fn passed(&self, limits: Limits, now: Instant) -> Option<String> {
        let minutes = |time: Duration| time.as_secs().div_ceil(60);
        let names: Vec<&str> = self.slow.iter().map(String::as_str).collect();
        let names = match names.is_empty() {
            true => "no test took more than a minute".to_owned(),
            false => format!("these tests do not end: {}", names.join(", ")),
        };
        let tests = self.tests || !self.slow.is_empty();
        let stuck = tests && now.duration_since(self.last_line) >= limits.stuck;
        if stuck {
            let quiet = minutes(limits.stuck);
            return Some(format!("{names} (nothing else for {quiet} min)"));
        }
        let late = now.duration_since(self.begun) >= limits.total;
        late.then(|| format!("it takes more than {} min; {names}", minutes(limits.total)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SLOW: &str = "test io::waits has been running for over 60 seconds";

    #[test]
    fn a_test_that_does_not_end_is_named_and_others_put_that_off() {
        let begin = Instant::now();
        let after = |minutes: u64| begin + Duration::from_secs(60 * minutes);
        let mut seen = Seen::new(begin);
        // A build says nothing for long.
        assert_eq!(seen.passed(LIMITS, after(59)), None);
        let late = seen.passed(LIMITS, after(60)).unwrap();
        assert!(late.contains("60 min"), "{late}");
        seen.line(SLOW, after(10));
        seen.line("test io::other ... ok", after(20));
        assert_eq!(seen.passed(LIMITS, after(29)), None);
        let stuck = seen.passed(LIMITS, after(30)).unwrap();
        assert!(stuck.contains("do not end: io::waits"), "{stuck}");
        seen.line("test io::waits ... ok", after(36));
        assert_eq!(seen.passed(LIMITS, after(59)), None);
        seen.line(SLOW, after(37));
        seen.line("test result: ok. 2 passed; 0 failed", after(38));
        assert_eq!(seen.passed(LIMITS, after(59)), None);
        // A harness that says nothing of tests that take long.
        seen.line("running 4 tests", after(40));
        assert_eq!(seen.passed(LIMITS, after(49)), None);
        let stuck = seen.passed(LIMITS, after(50)).unwrap();
        assert!(stuck.contains("nothing else for 10 min"), "{stuck}");
    }

    #[test]
    #[cfg(unix)]
    fn a_run_that_hangs_is_ended_with_all_that_it_started() {
        let limits = Limits {
            stuck: Duration::from_millis(100),
            total: Duration::from_secs(600),
        };
        // The child of the shell keeps its output open.
        let script = format!("echo '{SLOW}'; sleep 3000 & sleep 3000");
        let error = run_within(limits, sh::command("sh").args(["-c", &script]), |_| true);
        let error = error.unwrap_err().to_string();
        assert!(error.contains("do not end: io::waits"), "{error}");
    }

    #[test]
    #[cfg(unix)]
    fn a_run_that_ends_is_as_without_limits() {
        let run = |script: &str| {
            let mut command = sh::command("sh");
            run_within(LIMITS, command.args(["-c", script]), |line| line != "b")
        };
        assert_eq!(run("echo a; echo b; echo c").unwrap(), ["a", "c"]);
        let error = run("echo a; exit 3").unwrap_err().to_string();
        assert!(error.contains("exit status: 3"), "{error}");
    }
}
