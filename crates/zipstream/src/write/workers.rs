//! Threads that compress for any number of archives, started when there is work.
//!
//! Which jobs they get and in which order results return is up to [`in_flight`](super::in_flight).

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::JoinHandle;

use super::engines::Engines;
use crate::error::Error;

/// More threads would only take memory.
pub(crate) const THREADS_MAX: usize = 256;

/// Work, and the contexts of the thread that does it.
pub(crate) type Task = Box<dyn FnOnce(&mut Engines) + Send>;

/// Threads that compress for any number of archives. Clones share them; dropping the last clone
/// waits until they have ended.
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
    /// Up to `threads` threads, at least one and at most 256. None starts before there is work.
    pub fn new(threads: usize) -> Self {
        Self(Arc::new(Pool {
            shared: Arc::default(),
            threads_max: threads.clamp(1, THREADS_MAX),
        }))
    }

    /// Threads for all archives of this process that have none of their own: one per CPU.
    pub fn shared() -> Self {
        static SHARED: OnceLock<Workers> = OnceLock::new();
        let threads = || std::thread::available_parallelism().map_or(1, usize::from);
        SHARED.get_or_init(|| Self::new(threads())).clone()
    }

    /// The most threads there may be.
    pub fn threads(&self) -> usize {
        self.0.threads_max
    }

    /// Submits work; fails if no thread runs and none can be started.
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
                // The running threads will do it.
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
            // A panic was caught and is reported to whoever waits for the work. An observer may
            // hold the last clone, and a thread cannot wait for itself.
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
            // A panic may have left them in any state.
            engines = Engines::default();
        }
    }
}
