//! Threads that do the small files among the jobs, side by side, a directory each where there are
//! many: what they leave to the first thread, and how it gets what came of theirs in order.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{Scope, ScopedJoinHandle};

use crate::commands::transfer::Stage;
use crate::commands::transfer::job::{Common, Finished, Hand, one};
use crate::commands::transfer::stream::{Stop, Times};
use crate::io::plan::Job;
use crate::term::signal;

/// Fewer jobs are done before a thread for them has started.
const JOBS_MIN: usize = 4;
/// Jobs of which a thread tells at a time.
const TOLD: usize = 64;
/// Jobs that a thread takes at a time where there are too few directories to go around.
const TAKEN: usize = 32;

/// The threads, as the one sees them that tells what came of the jobs.
pub(super) struct Crew<'scope, S> {
    helpers: Vec<ScopedJoinHandle<'scope, (S, Times)>>,
    results: Receiver<(usize, Vec<Finished>)>,
    /// What came before it was its turn, by the number of its first job.
    early: BTreeMap<usize, Vec<Finished>>,
    /// What comes next.
    present: std::vec::IntoIter<Finished>,
}

/// What the threads share.
pub(super) struct Work<'a> {
    jobs: &'a [Job],
    units: Vec<Range<usize>>,
    next: AtomicUsize,
    /// Whether there is no more to be begun.
    over: AtomicBool,
}

impl<'a> Work<'a> {
    /// The jobs in portions for `threads`: writers to one directory wait for each other.
    pub(super) fn new(jobs: &'a [Job], threads: usize) -> Self {
        let mut units = Vec::new();
        let mut start = 0;
        for run in jobs.chunk_by(|a, b| a.source.parent() == b.source.parent()) {
            units.push(start..start + run.len());
            start += run.len();
        }
        if units.len() < 4 * threads {
            let starts = (0..jobs.len()).step_by(TAKEN);
            units = starts
                .map(|start| start..jobs.len().min(start + TAKEN))
                .collect();
        }
        Self {
            jobs,
            units,
            next: AtomicUsize::new(0),
            over: AtomicBool::new(false),
        }
    }

    /// Has no further job begun.
    pub(super) fn stop(&self) {
        self.over.store(true, Ordering::Relaxed);
    }

    /// Has no further job begun by any thread when the one that holds this panics: what came of
    /// its jobs is lost, so the run cannot end well.
    pub(super) fn guard(&self) -> Guard<'_> {
        Guard(self)
    }

    fn is_over(&self) -> bool {
        self.over.load(Ordering::Relaxed) || signal::interrupted()
    }

    fn portion(&self) -> Option<Range<usize>> {
        let unit = self.next.fetch_add(1, Ordering::Relaxed);
        self.units.get(unit).cloned()
    }
}

/// Stops the work when it is dropped by a panic.
pub(super) struct Guard<'a>(&'a Work<'a>);

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.stop();
        }
    }
}

impl<'scope, S: Stage> Crew<'scope, S> {
    /// Starts the threads that the options ask for. `None`: the jobs are better done by one.
    pub(super) fn start<'env>(
        scope: &'scope Scope<'scope, 'env>,
        work: &'env Work<'env>,
        stage: &S,
        times: &Times,
        common: Common<'env>,
    ) -> Option<Self> {
        let threads = common.options.threads.min(work.units.len());
        if threads < 2 || work.jobs.len() < JOBS_MIN {
            return None;
        }
        let (tell, results) = channel();
        let mut helpers = Vec::new();
        for _ in 0..threads {
            let Some(stage) = stage.another() else {
                break;
            };
            let (tell, times) = (tell.clone(), times.another());
            let helper = std::thread::Builder::new()
                .name("file".to_owned())
                .spawn_scoped(scope, move || help(work, common, stage, times, &tell));
            // With fewer threads than asked for it takes longer, and that is all.
            helpers.extend(helper.ok());
        }
        (!helpers.is_empty()).then(|| Self {
            helpers,
            results,
            early: BTreeMap::new(),
            present: Vec::new().into_iter(),
        })
    }

    /// What came of job `at`, to be asked for in order. [`Stop::Declined`]: nothing yet, it is the
    /// caller's to do.
    pub(super) fn result(&mut self, at: usize) -> Finished {
        loop {
            if let Some(finished) = self.present.next() {
                return finished;
            }
            if let Some(portion) = self.early.remove(&at) {
                self.present = portion.into_iter();
                continue;
            }
            match self.results.recv() {
                Ok((first, portion)) => {
                    self.early.insert(first, portion);
                }
                // All have ended without a word about it: they were asked to.
                Err(_) => return Err(Stop::Interrupted),
            }
        }
    }

    /// Waits for the threads, and adds what they counted and recorded; how many of them panicked.
    pub(super) fn finish(self, stage: &mut S, times: &mut Times) -> usize {
        let mut panicked = 0;
        for helper in self.helpers {
            match helper.join() {
                Ok((theirs, recorded)) => {
                    stage.merge(theirs);
                    times.merge(recorded);
                }
                Err(_) => panicked += 1,
            }
        }
        panicked
    }
}

/// The life of a thread.
fn help<S: Stage>(
    work: &Work<'_>,
    common: Common<'_>,
    mut stage: S,
    mut times: Times,
    tell: &Sender<(usize, Vec<Finished>)>,
) -> (S, Times) {
    let mut spare = None;
    let mut hand = Hand {
        stage: &mut stage,
        times: &mut times,
        spare: &mut spare,
        helps: true,
    };
    let _guard = work.guard();
    while let Some(portion) = work.portion() {
        for first in portion.clone().step_by(TOLD) {
            let some = first..portion.end.min(first + TOLD);
            let some = some.take_while(|_| !work.is_over());
            let done: Vec<_> = some
                .map(|at| one(&work.jobs[at], &mut hand, common, None))
                .collect();
            if work.is_over() && done.is_empty() {
                return (stage, times);
            }
            // Nobody listens any more when the first thread has panicked.
            let _ = tell.send((first, done));
        }
    }
    (stage, times)
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;
    use std::sync::Arc;

    use super::*;
    use crate::commands::transfer::{Opening, Options, Overwrite, Stream, run};
    use crate::exit::ExitStatus;
    use crate::failure::{Failure, Result};
    use crate::io::plan::{Destination, Jobs};
    use crate::io::sink::Written;
    use crate::io::source::Summary;
    use crate::session::Outcome;

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

        fn check(&mut self, _: &Job, _: &Summary, _: &Written) -> Result<()> {
            Ok(())
        }

        fn another(&self) -> Option<Self> {
            Some(self.clone())
        }

        fn merge(&mut self, _: Self) {}
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
