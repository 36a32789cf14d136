//! Threads that do the small files among the jobs, side by side, a directory each where there are
//! many: what they leave to the first thread, and how it gets what came of theirs in order.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{Scope, ScopedJoinHandle};

use super::Stage;
use super::job::{Common, Finished, Hand, one};
use super::stream::{Stop, Times};
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

    fn is_over(&self) -> bool {
        self.over.load(Ordering::Relaxed) || signal::interrupted()
    }

    fn portion(&self) -> Option<Range<usize>> {
        let unit = self.next.fetch_add(1, Ordering::Relaxed);
        self.units.get(unit).cloned()
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

    /// Waits for the threads, and adds what they counted and recorded.
    pub(super) fn finish(self, stage: &mut S, times: &mut Times) {
        for helper in self.helpers {
            match helper.join() {
                Ok((theirs, recorded)) => {
                    stage.merge(theirs);
                    times.merge(recorded);
                }
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
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
