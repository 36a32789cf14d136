//! The runs of one of the sides, and their times.

use std::ffi::{OsStr, OsString};
use std::process::{Command, Stdio};

use bench::programs;
use latency::report::{Input, LatencyName};
use latency::{BucketPolicy, Recorder, Spec};

use crate::commands::child::{self, Run};
use crate::commands::compare::flags::CompareArgs;
use crate::failure::{Failure, Result};
use crate::session::Session;
use crate::term::signal;

/// One of the two commands, and one of the three sides.
pub(super) struct Side {
    pub(super) name: &'static str,
    words: Vec<OsString>,
    pub(super) wall: Recorder,
    pub(super) cpu: Recorder,
    pub(super) turns: Turns,
    pub(super) rss_max_bytes: u64,
    pub(super) failures: u64,
}

/// What turns took besides their time, a number each.
#[derive(Debug, Default)]
pub(super) struct Turns {
    /// Nanoseconds of processor time.
    pub(super) cpu: Vec<f64>,
    /// Peak memory.
    pub(super) rss: Vec<f64>,
}

impl Turns {
    /// Leaves the turn of a round out that was not finished.
    pub(super) fn keep(&mut self, rounds: usize) {
        self.cpu.truncate(rounds);
        self.rss.truncate(rounds);
    }
}

/// Characters of a command line that name it in a table.
const NAME_CHARS: usize = 48;

impl Side {
    pub(super) fn new(name: &'static str, words: &[OsString], session: &Session) -> Self {
        let recorder = || {
            let spec = Spec::new(LatencyName::Service, "run").series(name);
            Recorder::new(
                session.spec(spec.buckets(BucketPolicy::Off)),
                session.run_start(),
            )
        };
        Self {
            name,
            words: words.to_vec(),
            wall: recorder(),
            cpu: recorder(),
            turns: Turns::default(),
            rss_max_bytes: 0,
            failures: 0,
        }
    }

    /// The command line.
    pub(super) fn line(&self) -> String {
        let words: Vec<_> = self
            .words
            .iter()
            .map(|word| word.to_string_lossy())
            .collect();
        words.join(" ")
    }

    /// The programs that it runs, as they are now.
    pub(super) fn programs(&self) -> Vec<Input> {
        programs::identities(self.words.iter().map(OsString::as_os_str))
    }

    /// The command line, short enough for a heading.
    pub(super) fn title(&self) -> String {
        let line = self.line();
        match line.char_indices().nth(NAME_CHARS) {
            Some((end, _)) => format!("{}…", &line[..end]),
            None => line,
        }
    }

    /// A batch of runs, and what they took; `None` when a signal ended it.
    pub(super) fn turn(&mut self, batch: u32, args: &CompareArgs) -> Result<Option<f64>> {
        let (mut wall, mut cpu, mut rss) = (0.0, 0.0, 0);
        for _ in 0..batch {
            let Some(run) = self.once(args)? else {
                return Ok(None);
            };
            let (wall_ns, cpu_ns) = self.record(&run);
            wall += wall_ns as f64;
            cpu += cpu_ns as f64;
            rss = run.used.rusage.maxrss.max(rss);
        }
        self.turns.cpu.push(cpu);
        self.turns.rss.push(rss as f64);
        Ok(Some(wall))
    }

    /// One run, or `None` when a signal ended it: what it took then says nothing.
    pub(super) fn once(&self, args: &CompareArgs) -> Result<Option<Run>> {
        if let Some(script) = &args.prepare
            && !prepare(script)?
        {
            return Ok(None);
        }
        let program = self
            .words
            .first()
            .map(OsString::as_os_str)
            .unwrap_or_default();
        let mut command = Command::new(program);
        command
            .args(&self.words[1..])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let run = child::run(&mut command)
            .map_err(|error| Failure::program(self.name, program.as_ref(), &error))?;
        let Some(run) = run.filter(|_| !signal::interrupted()) else {
            return Ok(None);
        };
        if !run.used.status.success() && !args.ignore_failure {
            return Err(Failure::new(format!(
                "the {} '{}' failed: {}",
                self.name,
                program.to_string_lossy(),
                run.used.status
            ))
            .help("run it by hand to see its output, or add --ignore-failure to continue"));
        }
        Ok(Some(run))
    }

    /// Adds a run to the distributions; its wall and processor time in nanoseconds.
    fn record(&mut self, run: &Run) -> (u64, u64) {
        let wall_ns = self.wall.record_span(run.start, run.end);
        let usage = &run.used.rusage;
        let cpu_ns = u64::try_from((usage.utime + usage.stime).as_nanos()).unwrap_or(u64::MAX);
        self.cpu.record_ns(cpu_ns);
        self.rss_max_bytes = self.rss_max_bytes.max(usage.maxrss);
        self.failures += u64::from(!run.used.status.success());
        (wall_ns, cpu_ns)
    }
}

/// Runs what goes before a run; whether no signal ended it.
fn prepare(script: &OsStr) -> Result<bool> {
    let (shell, flag) = if cfg!(windows) {
        ("cmd", "/C")
    } else {
        ("sh", "-c")
    };
    let mut command = Command::new(shell);
    command
        .arg(flag)
        .arg(script)
        .stdin(Stdio::null())
        .stdout(Stdio::null());
    let run = child::run(&mut command)
        .map_err(|error| Failure::program("shell", shell.as_ref(), &error))?;
    match run.filter(|_| !signal::interrupted()) {
        None => Ok(false),
        Some(run) if run.used.status.success() => Ok(true),
        Some(run) => Err(Failure::new(format!(
            "--prepare '{}' failed: {}",
            script.to_string_lossy(),
            run.used.status
        ))
        .help("run it by hand to see why")),
    }
}
