//! Threads that do jobs and give them back in the order they came in.
//!
//! No more jobs are out than a small multiple of the threads, which bounds the memory.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use super::batch::Job;
use super::options::Around;
use crate::engine::{Engines, internal};
use crate::error::Error;

/// Jobs that are out at a time, for each thread: one at work and one waiting.
const JOBS_PER_THREAD: usize = 2;
/// Threads beyond which more would only take memory.
pub(crate) const THREADS_MAX: usize = 256;

/// A job that came back.
pub(crate) type Done = (Job, Result<(), Error>);

/// The threads, and the jobs that are out.
pub(crate) struct Lanes {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
    jobs_max: usize,
}

struct Shared {
    state: Mutex<State>,
    /// Something is to be done, or nothing ever will be.
    work: Condvar,
    /// Something was done.
    done: Condvar,
}

#[derive(Default)]
struct State {
    todo: VecDeque<(u64, Job)>,
    /// The jobs that are out, in order; `None` while they are.
    slots: VecDeque<Option<Done>>,
    /// The number of the first slot.
    first: u64,
    closing: bool,
    /// A thread panicked: its job will not come back.
    broken: bool,
}

fn lock(shared: &Shared) -> MutexGuard<'_, State> {
    shared.state.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Lanes {
    pub(crate) fn start(threads: usize, around: Option<&Around>) -> Result<Self, Error> {
        let shared = Arc::new(Shared {
            state: Mutex::default(),
            work: Condvar::new(),
            done: Condvar::new(),
        });
        let mut lanes = Self {
            shared,
            threads: Vec::with_capacity(threads),
            jobs_max: threads * JOBS_PER_THREAD,
        };
        for _ in 0..threads {
            let shared = Arc::clone(&lanes.shared);
            let around = around.cloned();
            let thread = std::thread::Builder::new()
                .name("zip".to_owned())
                .spawn(move || serve(&shared, around.as_ref()))
                .map_err(|error| Error::io(&error))?;
            lanes.threads.push(thread);
        }
        Ok(lanes)
    }

    /// Hands out a job. There must be [`room`](Lanes::has_room) for it.
    pub(crate) fn submit(&self, job: Job) {
        let mut state = lock(&self.shared);
        let number = state.first + state.slots.len() as u64;
        state.slots.push_back(None);
        state.todo.push_back((number, job));
        drop(state);
        self.shared.work.notify_one();
    }

    pub(crate) fn has_room(&self) -> bool {
        lock(&self.shared).slots.len() < self.jobs_max
    }

    /// The oldest job that is out, once it is done; `None` when none is out or, unless `wait`,
    /// when it is not done.
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

impl Drop for Lanes {
    fn drop(&mut self) {
        let mut state = lock(&self.shared);
        state.closing = true;
        state.todo.clear();
        drop(state);
        self.shared.work.notify_all();
        for thread in self.threads.drain(..) {
            // A panic in a thread has been told as an error.
            let _ = thread.join();
        }
    }
}

/// Tells of a thread that ends by a panic.
struct Alarm<'a>(&'a Shared);

impl Drop for Alarm<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            lock(self.0).broken = true;
            self.0.done.notify_all();
        }
    }
}

fn serve(shared: &Shared, around: Option<&Around>) {
    let _alarm = Alarm(shared);
    let mut engines = Engines::default();
    loop {
        let mut state = lock(shared);
        let (number, mut job) = loop {
            if state.closing {
                return;
            }
            if let Some(next) = state.todo.pop_front() {
                break next;
            }
            state = shared
                .work
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        };
        drop(state);
        let described = job.describe();
        let mut result = Ok(());
        let mut work = || result = job.run(&mut engines);
        match around {
            Some(around) => around(described, &mut work),
            None => work(),
        }
        let mut state = lock(shared);
        // Within the slots: only done ones leave, in order.
        let index = (number - state.first) as usize;
        if let Some(slot) = state.slots.get_mut(index) {
            *slot = Some((job, result));
        }
        drop(state);
        shared.done.notify_one();
    }
}
