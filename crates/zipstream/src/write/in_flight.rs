//! The jobs of one archive that are in flight, and their order.
//!
//! The number of jobs is bounded by a small multiple of the threads, which bounds the memory.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::Waker;
use std::time::Duration;

use super::batch::Job;
use super::engines::Engines;
use super::options::JobObserver;
use super::workers::Workers;
use crate::error::{Error, internal};

/// Jobs in flight per thread: one running and one waiting.
const JOBS_PER_THREAD: usize = 2;

/// A finished job.
pub(crate) type Done = (Job, Result<(), Error>);

/// The jobs in flight.
pub(crate) struct InFlight {
    shared: Arc<Shared>,
    workers: Workers,
    observer: Option<JobObserver>,
    jobs_max: usize,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    /// A job finished.
    done: Condvar,
}

#[derive(Default)]
struct State {
    /// The jobs in flight, in order; `None` while a job runs.
    slots: VecDeque<Option<Done>>,
    /// The number of the first slot.
    first: u64,
    /// Nothing waits for the jobs any more.
    closing: bool,
    /// A job panicked and will not come back.
    broken: bool,
    /// Woken when the oldest job is finished.
    waker: Option<Waker>,
}

fn lock(shared: &Shared) -> MutexGuard<'_, State> {
    shared.state.lock().unwrap_or_else(PoisonError::into_inner)
}

impl InFlight {
    /// Jobs for `workers`, enough at a time for `threads` threads.
    pub(crate) fn new(workers: Workers, threads: usize, observer: Option<JobObserver>) -> Self {
        Self {
            shared: Arc::default(),
            workers,
            observer,
            jobs_max: threads.max(1) * JOBS_PER_THREAD,
        }
    }

    /// Submits a job. No more than [`jobs_max`](InFlight::jobs_max) should be in flight.
    pub(crate) fn submit(&self, job: Job) -> Result<(), Error> {
        let mut state = lock(&self.shared);
        let number = state.first + state.slots.len() as u64;
        state.slots.push_back(None);
        drop(state);
        let shared = Arc::clone(&self.shared);
        let observer = self.observer.clone();
        self.workers.submit(Box::new(move |engines| {
            run(&shared, number, job, engines, observer.as_ref());
        }))
    }

    /// How many jobs should be in flight at most.
    pub(crate) fn jobs_max(&self) -> usize {
        self.jobs_max
    }

    /// Wakes `waker` when the oldest job is finished; returns `false` if it is finished already or
    /// none is in flight.
    #[cfg(feature = "tokio")]
    pub(crate) fn wake_when_done(&self, waker: &Waker) -> bool {
        let mut state = lock(&self.shared);
        if state.broken || !matches!(state.slots.front(), Some(None)) {
            return false;
        }
        match &mut state.waker {
            Some(known) => known.clone_from(waker),
            none => *none = Some(waker.clone()),
        }
        true
    }

    /// Waits until the oldest job is finished, but no longer than `limit`.
    pub(crate) fn wait_within(&self, limit: Duration) {
        let state = lock(&self.shared);
        let running =
            |state: &mut State| !state.broken && matches!(state.slots.front(), Some(None));
        let waited = self.shared.done.wait_timeout_while(state, limit, running);
        drop(waited);
    }

    /// The oldest job, once it is finished. Returns `None` if none is in flight, or if it is not
    /// finished and `wait` is false.
    pub(crate) fn next(&self, wait: bool) -> Result<Option<Done>, Error> {
        let mut state = lock(&self.shared);
        loop {
            match state.slots.front() {
                None => return Ok(None),
                Some(Some(_)) => {
                    state.first += 1;
                    return Ok(state.slots.pop_front().flatten());
                }
                Some(None) if state.broken => return Err(internal("a worker thread panicked")),
                Some(None) if !wait => return Ok(None),
                Some(None) => {
                    state = self
                        .shared
                        .done
                        .wait(state)
                        .unwrap_or_else(PoisonError::into_inner);
                }
            }
        }
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        lock(&self.shared).closing = true;
    }
}

/// Reports a job that panics.
struct Alarm<'a>(&'a Shared);

impl Drop for Alarm<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let mut state = lock(self.0);
            state.broken = true;
            tell(self.0, state, true);
        }
    }
}

/// Wakes whoever waits for a job.
fn tell(shared: &Shared, mut state: MutexGuard<'_, State>, oldest: bool) {
    let waker = if oldest { state.waker.take() } else { None };
    drop(state);
    shared.done.notify_one();
    if let Some(waker) = waker {
        waker.wake();
    }
}

fn run(
    shared: &Shared,
    number: u64,
    mut job: Job,
    engines: &mut Engines,
    observer: Option<&JobObserver>,
) {
    if lock(shared).closing {
        return;
    }
    let _alarm = Alarm(shared);
    let described = job.describe();
    let mut result = Ok(());
    let mut work = || result = job.run(engines);
    match observer {
        Some(observer) => observer(described, &mut work),
        None => work(),
    }
    let mut state = lock(shared);
    // The slot exists: only finished jobs leave, in order.
    let index = (number - state.first) as usize;
    if let Some(slot) = state.slots.get_mut(index) {
        *slot = Some((job, result));
    }
    tell(shared, state, index == 0);
}
