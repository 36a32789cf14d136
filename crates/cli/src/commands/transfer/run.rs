//! All jobs of a run: small files in parallel, the others one after the other, reported in their order.

use std::io::{self, IsTerminal as _};
use std::ops::ControlFlow;

use files::conflicts::{Files, Flagged};
use files::plan::{Destination, Job, Jobs, Place};
use files::target::{self, Target};
use latency::report::Input;
use report::{ExitStatus, INPUTS_LISTED, Outcome, names};

use crate::commands::transfer::job::{Common, Finished, Hand, one};
use crate::commands::transfer::small_files::{self, Undone};
use crate::commands::transfer::stage::{Done, Options, Stage};
use crate::commands::transfer::stream::{Stop, Times};
use crate::failure::{Failure, Result};
use crate::io::context;
use crate::term::message;
use crate::term::progress::Progress;

/// Processes all jobs, small files in parallel, and reports them in their order.
pub(crate) fn run<S: Stage>(
    jobs: Jobs,
    stage: &mut S,
    mut times: Times,
    options: &Options<'_>,
    tell: Option<Done<'_>>,
    outcome: Outcome,
) -> Outcome {
    let wanted = options.progress;
    // Without a bar, there is no need to ask for the size of every file.
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
        kept: 0,
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
    if account.kept > 0 && options.warnings {
        remark_kept(account.kept);
    }
    account.close(times)
}

/// Processes the jobs, and commits their joined target if there is one.
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

/// What the jobs have done so far.
struct Account<'a> {
    outcome: Outcome,
    tell: Option<Done<'a>>,
    done: u64,
    failed: u64,
    /// Jobs whose targets were there.
    kept: u64,
    /// Why no more jobs follow.
    stopped: Option<Stop>,
}

impl Account<'_> {
    /// Adds the result of a job; returns whether it was the last one.
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
                // It appears completely or not at all.
            }
            Err(Stop::Kept) => {
                self.kept += 1;
                return ControlFlow::Continue(());
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
            kept,
            stopped,
            ..
        } = self;
        outcome.complete = stopped.is_none() && failed == 0;
        outcome.status = match stopped {
            Some(Stop::Interrupted) => ExitStatus::Interrupted,
            Some(Stop::Failed(_)) => ExitStatus::Failure,
            // The reader of our output has gone, which is not a failure; earlier failures still count.
            _ if failed == 0 => ExitStatus::Ok,
            _ if done + kept == 0 => ExitStatus::Failure,
            _ => ExitStatus::Partial,
        };
        times.close(&mut outcome);
        if kept > 0 {
            let params = &mut outcome.workload.params;
            params.insert("targets_kept".to_owned(), kept.into());
        }
        outcome
    }
}

/// Says how many targets were there already.
pub(crate) fn remark_kept(kept: u64) {
    message::remark(&match kept {
        1 => "1 target was there and is kept".to_owned(),
        _ => format!("{kept} targets were there and are kept"),
    });
}

/// Makes the directories that mirrored targets need.
pub(crate) fn make_directories(place: &Place, jobs: &Jobs) -> Result<()> {
    let Place::Mirror(_) = place else {
        return Ok(());
    };
    for job in &jobs.jobs {
        // A store has none.
        if let Destination::File(path) = &job.destination
            && files::url::of(path).is_none()
            && let Some(directory) = path.parent()
        {
            std::fs::create_dir_all(directory)
                .map_err(|error| Failure::io("write", directory, &error))?;
        }
    }
    Ok(())
}

/// The target that several sources are joined into.
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

/// Prints notes about requests that have no effect.
fn remark(jobs: &Jobs, options: &Options<'_>) {
    if !options.warnings {
        return;
    }
    if jobs.jobs.is_empty() && jobs.failures.is_empty() {
        message::note(
            "nothing to do: no files found",
            "see --help for what -r takes",
        );
    }
    let stdout = |job: &Job| job.destination == Destination::Stdout;
    if options.rm && jobs.jobs.iter().any(stdout) {
        message::note(
            "sources are kept: --rm has no effect with standard output",
            "name a target with -o to have them removed",
        );
    }
}

/// Before anything is opened, refuses what can only end badly: waiting for a person to type a whole file,
/// `binary` output to a terminal, and files that would overwrite one another or the `references`.
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
            .help("name a file, or pipe data in; see --help"));
    }
    if binary && !force {
        // A name that is derived from one of several sources is checked when it is written.
        let named = |job: &&Job| jobs.jobs.len() == 1 || job.destination == Destination::Stdout;
        let mut destinations = jobs.jobs.iter().filter(named).map(|job| &job.destination);
        if let Some(destination) = destinations.find(|destination| to_terminal(destination)) {
            let name = match destination {
                Destination::File(path) => format!("'{}'", path.display()),
                _ => "standard output".to_owned(),
            };
            return Err(Failure::usage(format!(
                "{name} is a terminal: binary data is not written to it"
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
        // The name of a joined target is checked where it is opened.
        Destination::Joined | Destination::Nowhere => false,
    }
}
