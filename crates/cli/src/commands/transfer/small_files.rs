//! Small files among the jobs, several at a time, a directory per thread where there are many.
//!
//! The threads leave to the calling thread what is not a small file. It receives what came of each
//! job in order, and does those.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

use files::plan::Job;
use files::sink::Buffer;
use ordered::Pool;

use crate::commands::transfer::Stage;
use crate::commands::transfer::job::{Common, Finished, Hand, one};
use crate::commands::transfer::stream::Times;
use crate::term::signal;

/// Fewer jobs are done before a thread for them has started.
const JOBS_MIN: usize = 4;
/// Jobs of a directory that one thread takes at a time.
const TAKEN_OF_DIRECTORY: usize = 1024;
/// Jobs that a thread takes at a time where there are too few directories to go around.
const TAKEN: usize = 32;
/// Portions that may be done before one that takes long.
const PORTIONS_AHEAD: usize = 1024;

/// A thread's own.
struct Helper<S> {
    stage: S,
    times: Times,
    /// The buffer of the previous job.
    spare: Option<Buffer>,
}

/// Receives what came of a job, in order; whether more are to be begun. `Stop::Declined`: nothing yet,
/// it is the receiver's to do, with the stage and the times that it gets.
pub(super) type Receive<'a, S> = dyn FnMut(usize, Finished, &mut S, &mut Times) -> bool + 'a;

/// Why not all was done.
pub(super) enum Undone {
    /// It was asked to stop, or the user interrupted it.
    Stopped,
    /// A thread panicked.
    Panicked,
}

/// Does small files on the threads that the options ask for. `None`: the jobs are better done by one.
pub(super) fn run<S: Stage>(
    jobs: &[Job],
    stage: &mut S,
    times: &mut Times,
    common: Common<'_>,
    receive: &mut Receive<'_, S>,
) -> Option<Result<(), Undone>> {
    let portions = portions(jobs, common.options.threads);
    let threads = common.options.threads.min(portions.len());
    if threads < 2 || jobs.len() < JOBS_MIN {
        return None;
    }
    let helpers = (0..threads).map_while(|_| {
        Some(Helper {
            stage: stage.another()?,
            times: times.another(),
            spare: None,
        })
    });
    let helpers: Vec<_> = helpers.collect();
    if helpers.is_empty() {
        return None;
    }
    let over = AtomicBool::new(false);
    let is_over = || over.load(Ordering::Relaxed) || signal::interrupted();
    let mut portions = portions.into_iter();
    let mut received = 0;
    let ended = Pool::new().name("file").in_flight(PORTIONS_AHEAD).run(
        helpers,
        |portion: &mut Range<usize>, _| {
            let next = portions.next().filter(|_| !is_over());
            next.map(|next| *portion = next).is_some()
        },
        |helper, portion, done: &mut Vec<Finished>| {
            let mut hand = Hand {
                stage: &mut helper.stage,
                times: &mut helper.times,
                spare: &mut helper.spare,
                helps: true,
            };
            let some = portion.clone().take_while(|_| !is_over());
            done.extend(some.map(|at| one(&jobs[at], &mut hand, common, None)));
        },
        |portion, done| {
            for (at, finished) in portion.clone().zip(done.drain(..)) {
                received += 1;
                if !receive(at, finished, stage, times) {
                    over.store(true, Ordering::Relaxed);
                }
            }
            Ok::<(), std::convert::Infallible>(())
        },
    );
    if let Err(ordered::Error::Thread(_)) = ended.result {
        return None;
    }
    for helper in ended.workers {
        stage.merge(helper.stage);
        times.merge(helper.times);
    }
    Some(match ended.result {
        Err(_) => Err(Undone::Panicked),
        Ok(()) if received < jobs.len() => Err(Undone::Stopped),
        Ok(()) => Ok(()),
    })
}

/// The jobs in portions for this many threads: writers to one directory wait for each other.
fn portions(jobs: &[Job], threads: usize) -> Vec<Range<usize>> {
    let cut = |all: Range<usize>, most: usize| {
        let starts = all.clone().step_by(most);
        starts.map(move |start| start..all.end.min(start + most))
    };
    let directories = || jobs.chunk_by(|a, b| a.source.parent() == b.source.parent());
    if directories().count() < 4 * threads {
        return cut(0..jobs.len(), TAKEN).collect();
    }
    let mut portions = Vec::new();
    let mut start = 0;
    for run in directories() {
        portions.extend(cut(start..start + run.len(), TAKEN_OF_DIRECTORY));
        start += run.len();
    }
    portions
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;
    use std::sync::Arc;
    use std::sync::atomic::AtomicUsize;
    use std::sync::mpsc::channel;

    use super::*;
    use crate::commands::transfer::{Opening, Options, Overwrite, Stop, Stream, run};
    use crate::failure::{Failure, Result};
    use files::plan::{Destination, Jobs};
    use report::ExitStatus;
    use report::Outcome;

    /// What becomes of some job.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    enum Fate {
        Good,
        Fails,
        Panics,
    }

    /// Makes an empty file of every job; what it does instead with one of them.
    #[derive(Clone)]
    struct Empty {
        special: PathBuf,
        fate: Fate,
        opened: Arc<AtomicUsize>,
    }

    impl Stage for Empty {
        fn open(&mut self, job: &Job) -> Result<Opening> {
            self.opened.fetch_add(1, Ordering::Relaxed);
            match self.fate {
                Fate::Fails if job.source == self.special => Err(Failure::new("injected")),
                Fate::Panics if job.source == self.special => panic!("injected"),
                _ => Ok(Opening::default()),
            }
        }

        fn run(&mut self, _: &mut Stream<'_>) -> std::result::Result<(), Stop> {
            Ok(())
        }

        fn another(&self) -> Option<Self> {
            Some(self.clone())
        }
    }

    /// Runs the jobs under a time limit: a run that waits for ever fails the test.
    fn ended(files: usize, threads: usize, fate: Fate) -> (Outcome, Vec<String>) {
        let (say, hear) = channel();
        std::thread::spawn(move || {
            let dir = tempfile::tempdir().unwrap();
            let mut jobs = Jobs::default();
            for file in 0..files {
                let source = dir.path().join(format!("{file}"));
                std::fs::write(&source, "content").unwrap();
                let destination = Destination::File(source.with_extension("out"));
                jobs.jobs.push(Job {
                    source,
                    destination,
                });
            }
            let mut stage = Empty {
                special: dir.path().join(format!("{}", files / 2)),
                fate,
                opened: Arc::default(),
            };
            let options = Options {
                overwrite: Overwrite::Never,
                rm: false,
                sparse: false,
                verify: None,
                hash: false,
                progress: false,
                warnings: false,
                threads,
            };
            let times = Times::unreported("test", &jobs);
            let outcome = run(
                jobs,
                &mut stage,
                times,
                &options,
                None,
                Outcome::new("test"),
            );
            let done = outcome.workload.inputs.iter();
            let name = |path: &str| path.rsplit('/').next().unwrap_or_default().to_owned();
            let done = done.map(|input| name(&input.path)).collect();
            let _ = say.send((outcome, done));
        });
        let ended = hear.recv_timeout(std::time::Duration::from_secs(60));
        ended.expect("the run ends")
    }

    #[test]
    fn threads_do_every_job_and_tell_of_them_in_order() {
        let threads = 4;
        for files in [0, 1, 3, 4, 5, 12, 33, 130] {
            let all: Vec<String> = (0..files).map(|file| file.to_string()).collect();
            for fate in [Fate::Good, Fate::Fails] {
                let alone = ended(files, 1, fate);
                let (outcome, done) = ended(files, threads, fate);
                assert_eq!((outcome.status, &done), (alone.0.status, &alone.1));
                let mut expected = all.clone();
                if fate == Fate::Fails {
                    expected.retain(|name| *name != (files / 2).to_string());
                }
                assert_eq!(done, expected);
            }
        }
    }

    #[test]
    fn a_thread_that_panics_ends_the_run_with_a_failure() {
        for files in [33, 130, 400] {
            let (outcome, done) = ended(files, 4, Fate::Panics);
            assert_eq!(outcome.status, ExitStatus::Failure);
            assert!(!outcome.complete && done.len() < files);
        }
    }
}
