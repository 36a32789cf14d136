//! What `compress` and `decompress` share: jobs from sources to targets, timed and accounted for.
//!
//! The codec is a [`Stage`]. Everything around it stands here once: what the codec works with in
//! `stream`, a job from opening to committing in `job`, several small files at a time in `small_files`. Time is
//! taken around calls of the codec only: waiting for input or output is in the row `file`.

mod job;
mod small_files;
mod stream;

use std::io::{self, IsTerminal as _};
use std::ops::ControlFlow;
use std::path::Path;

use latency::report::Input;
use zstdkit::DecoderOptions;

use crate::commands::transfer::job::{Common, Finished, Hand, one};
use crate::commands::transfer::small_files::Undone;
pub(crate) use crate::commands::transfer::stream::{
    Operation, ROWS, Stop, Stream, Times, write_error,
};
use crate::exit::ExitStatus;
use crate::export::names;
use crate::failure::{Failure, Result};
use crate::io::BUFFER_BYTES;
use crate::io::conflicts::{Files, Flagged};
use crate::io::context;
use crate::io::plan::{Destination, Job, Jobs};
use crate::io::sink::Written;
use crate::io::source::Summary;
use crate::io::target::{self, Target};
use crate::session::{INPUTS_LISTED, Outcome};
use crate::term::message;
use crate::term::progress::Progress;

/// A codec between a source and a sink.
pub(crate) trait Stage: Sized + Send + 'static {
    /// Looks at a source before it is read.
    fn open(&mut self, _: &Job) -> Result<Opening> {
        Ok(Opening::default())
    }

    /// Takes one whole source through the codec into the sink.
    fn run(&mut self, stream: &mut Stream<'_>) -> std::result::Result<(), Stop>;

    /// Looks at what was read and written after both ended; the place for verification.
    fn check(&mut self, job: &Job, read: &Summary, written: &Written) -> Result<()>;

    /// One that does the same on another thread with small files. `None`: it cannot be had.
    fn another(&self) -> Option<Self>;

    /// Adds what another one counted.
    fn merge(&mut self, other: Self);
}

/// How a source is to be read, and its output written.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Opening {
    /// The byte of the source from which it is read.
    pub(crate) start: u64,
    /// Whether only a part of it will be read.
    pub(crate) partial: bool,
    /// Whether the stage has threads of its own that work while output is written, so that none is
    /// needed for that.
    pub(crate) threaded: bool,
    /// Whether the stage has a use for a hash of the source that another thread computes.
    pub(crate) hash: bool,
    /// Bytes of each buffer that a thread which reads or writes hands over: at least what the
    /// stage makes room for at a time.
    pub(crate) buffer_bytes: usize,
}

impl Default for Opening {
    fn default() -> Self {
        Self {
            start: 0,
            partial: false,
            threaded: false,
            hash: false,
            buffer_bytes: BUFFER_BYTES,
        }
    }
}

/// How the jobs are to be done.
#[derive(Clone, Copy)]
pub(crate) struct Options<'a> {
    /// Which existing targets are replaced.
    pub(crate) overwrite: Overwrite,
    /// Whether sources are removed once their targets are complete.
    pub(crate) rm: bool,
    /// Whether zeros may become holes.
    pub(crate) sparse: bool,
    /// How to decode output as it is written, to hash it.
    pub(crate) verify: Option<&'a DecoderOptions>,
    /// Whether inputs are hashed.
    pub(crate) hash: bool,
    /// Whether progress is shown.
    pub(crate) progress: bool,
    /// Whether warnings are.
    pub(crate) warnings: bool,
    /// Small files that are done at a time.
    pub(crate) threads: usize,
}

/// Who is told of a job that is done: what was read for it, and what was written.
pub(crate) type Done<'a> = &'a dyn Fn(&Job, &Summary, &Written);

/// What happens to targets that exist.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Overwrite {
    /// They are kept, and the job fails.
    Never,
    /// They are replaced.
    Always,
    /// As the answer to this question has it.
    Ask(fn(&Path) -> bool),
}

impl From<bool> for Overwrite {
    fn from(force: bool) -> Self {
        if force { Self::Always } else { Self::Never }
    }
}

impl Overwrite {
    fn allows(self, path: &Path) -> bool {
        match self {
            Self::Never => false,
            Self::Always => true,
            Self::Ask(answer) => path.is_file() && answer(path),
        }
    }
}

/// Does all jobs, small files among them several at a time, and accounts for them in their order.
pub(crate) fn run<S: Stage>(
    jobs: Jobs,
    stage: &mut S,
    mut times: Times,
    options: &Options<'_>,
    tell: Option<Done<'_>>,
    outcome: Outcome,
) -> Outcome {
    let wanted = options.progress;
    // Asking for the size of every file is for nothing when nobody sees it.
    let total = Progress::shows(wanted)
        .then(|| total_bytes(&jobs))
        .flatten();
    let progress = Progress::start(wanted, total);
    remark(&jobs, options);
    for error in &jobs.failures {
        message::failure(&error.into());
    }
    let mut account = Account {
        outcome,
        tell,
        done: 0,
        failed: jobs.failures.len() as u64,
        stopped: None,
    };
    match joined(&jobs, options) {
        Ok(joined) => {
            let common = Common {
                options,
                progress: &progress,
            };
            all(&jobs, stage, &mut times, common, joined, &mut account);
        }
        Err(failure) => {
            message::failure(&failure);
            account.stopped = Some(Stop::Failed(failure));
        }
    }
    if jobs.joined.is_some() && (account.failed > 0 || account.stopped.is_some()) {
        account.done = 0;
    }
    progress.finish();
    account.close(times)
}

/// Does the jobs and commits what all of them become, if that is one target.
fn all<S: Stage>(
    jobs: &Jobs,
    stage: &mut S,
    times: &mut Times,
    common: Common<'_>,
    joined: Option<Target>,
    account: &mut Account<'_>,
) {
    let mut spare = None;
    let mut do_it = |at: usize, finished: Finished, stage: &mut S, times: &mut Times| {
        let job = &jobs.jobs[at];
        let mut finished = finished;
        if matches!(finished, Err(Stop::Declined)) {
            if account.stopped.is_some() {
                return false;
            }
            let mut hand = Hand {
                stage,
                times,
                spare: &mut spare,
                helps: false,
            };
            finished = one(job, &mut hand, common, joined.as_ref());
        }
        account.add(job, finished, joined.is_some()).is_continue()
    };
    let done = match joined {
        Some(_) => None,
        None => small_files::run(&jobs.jobs, stage, times, common, &mut do_it),
    };
    match done {
        None => {
            let mut all = 0..jobs.jobs.len();
            all.all(|at| do_it(at, Err(Stop::Declined), stage, times));
        }
        Some(Ok(())) => {}
        Some(Err(Undone::Stopped)) => {
            account.stopped.get_or_insert(Stop::Interrupted);
        }
        Some(Err(Undone::Panicked)) => {
            let failure = Failure::new("a thread that works on files panicked")
                .help("please report this as a bug with the command line");
            message::failure(&failure);
            account.stopped = Some(Stop::Failed(failure));
        }
    }
    if let Some(target) = joined.filter(|_| account.failed == 0 && account.stopped.is_none())
        && let Err(error) = target.commit()
    {
        message::failure(&error.into());
        account.failed = 1;
    }
}

/// What the jobs have come to.
struct Account<'a> {
    outcome: Outcome,
    tell: Option<Done<'a>>,
    done: u64,
    failed: u64,
    /// Why there will be no more.
    stopped: Option<Stop>,
}

impl Account<'_> {
    /// Adds what came of a job; whether that was the last.
    fn add(&mut self, job: &Job, finished: Finished, joined: bool) -> ControlFlow<()> {
        match finished {
            Ok((read, written)) => {
                self.done += 1;
                if let Some(tell) = self.tell {
                    tell(job, &read, &written);
                }
                let workload = &mut self.outcome.workload;
                if workload.inputs.len() < INPUTS_LISTED {
                    workload.inputs.push(Input {
                        path: names::path(&job.source),
                        bytes: read.bytes,
                        xxh64: read.xxh64.map(|hash| format!("{hash:016x}")),
                    });
                }
                workload.inputs_total += 1;
                self.outcome.bytes_out += written.bytes;
                return ControlFlow::Continue(());
            }
            Err(Stop::Failed(failure)) => {
                self.failed += 1;
                message::failure(&failure);
                if !joined {
                    return ControlFlow::Continue(());
                }
                // It appears whole or not at all.
            }
            Err(stop) => {
                self.stopped.get_or_insert(stop);
            }
        }
        ControlFlow::Break(())
    }

    fn close(self, times: Times) -> Outcome {
        let Self {
            mut outcome,
            done,
            failed,
            stopped,
            ..
        } = self;
        outcome.complete = stopped.is_none() && failed == 0;
        outcome.status = match stopped {
            Some(Stop::Interrupted) => ExitStatus::Interrupted,
            Some(Stop::Failed(_)) => ExitStatus::Failure,
            // Whoever read our output has gone, which is no failure; what failed before still is
            // one.
            _ if failed == 0 => ExitStatus::Ok,
            _ if done == 0 => ExitStatus::Failure,
            _ => ExitStatus::Partial,
        };
        times.close(&mut outcome);
        outcome
    }
}

/// The target that several sources become.
fn joined(jobs: &Jobs, options: &Options<'_>) -> Result<Option<Target>> {
    let path = jobs.joined.as_deref();
    let create = |path| Target::create(path, options.overwrite.allows(path), None, context());
    Ok(path.map(create).transpose()?)
}

/// The size of all sources, if the file system knows it.
fn total_bytes(jobs: &Jobs) -> Option<u64> {
    let size = |job: &Job| {
        let metadata = std::fs::metadata(&job.source).ok()?;
        metadata.is_file().then_some(metadata.len())
    };
    jobs.jobs.iter().map(size).sum()
}

/// Says what will not be done although it was asked for.
fn remark(jobs: &Jobs, options: &Options<'_>) {
    if !options.warnings {
        return;
    }
    if jobs.jobs.is_empty() && jobs.failures.is_empty() {
        message::note(
            "nothing to do: no file was found",
            "see --help for what -r takes",
        );
    }
    let stdout = |job: &Job| job.destination == Destination::Stdout;
    if options.rm && jobs.jobs.iter().any(stdout) {
        message::note(
            "sources are kept: --rm does nothing for standard output",
            "name a target with -o to have them removed",
        );
    }
}

/// Refuses, before anything is opened, what could only end badly: to wait for a person to type a
/// whole file, `binary` output on a terminal, and files that would overwrite one another or the
/// `references`.
pub(crate) fn refuse(
    jobs: &Jobs,
    force: bool,
    references: &[Flagged<'_>],
    exports: &[Flagged<'_>],
    binary: bool,
) -> Result<()> {
    let stdin = jobs.jobs.iter().any(|job| job.source.as_os_str() == "-");
    if stdin && !force && io::stdin().is_terminal() {
        return Err(Failure::usage("standard input is a terminal")
            .help("name a file, or send something in a pipe; see --help"));
    }
    if binary && !force {
        // A name that comes of a source's, of many, is looked at when it is written to.
        let named = |job: &&Job| jobs.jobs.len() == 1 || job.destination == Destination::Stdout;
        let mut destinations = jobs.jobs.iter().filter(named).map(|job| &job.destination);
        if let Some(destination) = destinations.find(|destination| to_terminal(destination)) {
            let name = match destination {
                Destination::File(path) => format!("'{}'", path.display()),
                _ => "standard output".to_owned(),
            };
            return Err(Failure::usage(format!(
                "{name} is a terminal: binary is not written to it"
            ))
            .help("redirect it, name a file with -o, or add -f"));
        }
    }
    Ok(Files::default()
        .reads_all(references)
        .writes_all(exports.iter().copied())
        .jobs(&jobs.jobs, jobs.joined.as_deref())
        .check()?)
}

fn to_terminal(destination: &Destination) -> bool {
    match destination {
        Destination::File(path) => target::is_terminal(path),
        Destination::Stdout => io::stdout().is_terminal(),
        // A joined target is looked at by its name where it is opened.
        Destination::Joined | Destination::Nowhere => false,
    }
}
