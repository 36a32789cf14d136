//! Threads that compress for any number of archives, started when there is work for them.
//!
//! What they are given, and in which order it comes back, is the business of [`in_flight`](super::in_flight).

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::JoinHandle;

use super::engines::Engines;
use crate::error::Error;

/// Threads beyond which more would only take memory.
pub(crate) const THREADS_MAX: usize = 256;

/// Work, with the contexts of the thread that does it.
pub(crate) type Task = Box<dyn FnOnce(&mut Engines) + Send>;

/// Threads for the compression of any number of archives. Cloning shares them; the last clone waits
/// for their end when it is dropped.
///
/// ```
/// use zipstream::{ArchiveOptions, ArchiveWriter, Workers};
///
/// let mut options = ArchiveOptions::default();
/// options.workers = Some(Workers::new(2));
/// let first = ArchiveWriter::with_options(Vec::new(), options.clone())?;
/// let second = ArchiveWriter::with_options(Vec::new(), options)?;
/// # Ok::<(), zipstream::Error>(())
/// ```
#[derive(Clone)]
pub struct Workers(Arc<Pool>);

struct Pool {
    shared: Arc<Shared>,
    threads_max: usize,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    work: Condvar,
}

#[derive(Default)]
struct State {
    todo: VecDeque<Task>,
    threads: Vec<JoinHandle<()>>,
    idle: usize,
    closing: bool,
}

fn lock(shared: &Shared) -> MutexGuard<'_, State> {
    shared.state.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Workers {
    /// Up to so many threads, at least one and at most 256. None is started before there is work.
    pub fn new(threads: usize) -> Self {
        Self(Arc::new(Pool {
            shared: Arc::default(),
            threads_max: threads.clamp(1, THREADS_MAX),
        }))
    }

    /// The threads that all archives of this process share which have none of their own: one for each
    /// processor.
    pub fn shared() -> Self {
        static SHARED: OnceLock<Workers> = OnceLock::new();
        let threads = || std::thread::available_parallelism().map_or(1, usize::from);
        SHARED.get_or_init(|| Self::new(threads())).clone()
    }

    /// How many threads there may be.
    pub fn threads(&self) -> usize {
        self.0.threads_max
    }

    /// Hands out work; fails when there is no thread for it and none can be started.
    pub(crate) fn submit(&self, task: Task) -> Result<(), Error> {
        let shared = &self.0.shared;
        let mut state = lock(shared);
        state.todo.push_back(task);
        let wanted = state.idle < state.todo.len() && state.threads.len() < self.0.threads_max;
        if wanted {
            let served = Arc::clone(shared);
            let builder = std::thread::Builder::new().name("zip".to_owned());
            match builder.spawn(move || serve(&served)) {
                Ok(thread) => state.threads.push(thread),
                Err(error) if state.threads.is_empty() => {
                    state.todo.pop_back();
                    return Err(Error::io(&error));
                }
                // Those that there are will come to it.
                Err(_) => {}
            }
        }
        drop(state);
        shared.work.notify_one();
        Ok(())
    }
}

impl std::fmt::Debug for Workers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Workers")
            .field("threads", &self.threads())
            .finish_non_exhaustive()
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        let mut state = lock(&self.shared);
        state.closing = true;
        state.todo.clear();
        let threads = std::mem::take(&mut state.threads);
        drop(state);
        self.shared.work.notify_all();
        let current = std::thread::current().id();
        for thread in threads {
            // A panic was caught, and told by whoever waits for the work. What surrounds work may hold
            // the last clone, and a thread cannot wait for itself.
            if thread.thread().id() != current {
                let _ = thread.join();
            }
        }
    }
}

fn serve(shared: &Shared) {
    let mut engines = Engines::default();
    loop {
        let mut state = lock(shared);
        let task = loop {
            if state.closing {
                return;
            }
            if let Some(task) = state.todo.pop_front() {
                break task;
            }
            state.idle += 1;
            state = shared
                .work
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
            state.idle -= 1;
        };
        drop(state);
        if catch_unwind(AssertUnwindSafe(|| task(&mut engines))).is_err() {
            // Nobody knows what state they are in.
            engines = Engines::default();
        }
    }
}
