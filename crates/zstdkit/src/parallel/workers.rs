//! Threads that do jobs of one kind and give results in the order of the jobs.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{
    Receiver, RecvError, RecvTimeoutError, Sender, SyncSender, TryRecvError, channel, sync_channel,
};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use crate::error::Error;

/// The work of a thread, with the state that it keeps between jobs.
pub(super) type Worker<J, R> = Box<dyn FnMut(J) -> R + Send>;
/// Makes the work of a thread, and makes it anew after a panic.
pub(super) type Make<J, R> = Box<dyn Fn() -> Result<Worker<J, R>, Error> + Send>;

type Queue<J, R> = (
    Sender<(J, SyncSender<R>)>,
    Arc<Mutex<Receiver<(J, SyncSender<R>)>>>,
);

/// A pool of threads that are started one by one when there are more jobs than threads. On drop each
/// thread ends after its current job; drop does not wait for them.
pub(super) struct OrderedWorkers<J, R> {
    threads_max: usize,
    threads: usize,
    queue: Queue<J, R>,
    /// One receiver for each job, in order.
    results: VecDeque<Receiver<R>>,
}

impl<J: Send + 'static, R: Send + 'static> OrderedWorkers<J, R> {
    pub(super) fn new(threads_max: usize) -> Self {
        let (jobs, taken) = channel();
        Self {
            threads_max: threads_max.max(1),
            threads: 0,
            queue: (jobs, Arc::new(Mutex::new(taken))),
            results: VecDeque::new(),
        }
    }

    /// Whether no job is in progress.
    pub(super) fn is_idle(&self) -> bool {
        self.results.is_empty()
    }

    /// Whether a result should be taken before the next job: one more job than threads is in
    /// progress.
    pub(super) fn is_full(&self) -> bool {
        self.results.len() > self.threads_max
    }

    pub(super) fn threads(&self) -> usize {
        self.threads
    }

    /// Submits a job. `make` is for a new thread.
    pub(super) fn submit(
        &mut self,
        job: J,
        make: impl FnOnce() -> Make<J, R>,
    ) -> Result<(), Error> {
        if self.threads < self.threads_max && self.threads <= self.results.len() {
            let make = make();
            match make().map(|worker| self.start(worker, make)) {
                Ok(true) => self.threads += 1,
                // Fewer threads are slower but enough. No thread at all is an error.
                Ok(false) if self.threads == 0 => return Err(no_thread()),
                Err(error) if self.threads == 0 => return Err(error),
                Ok(false) | Err(_) => self.threads_max = self.threads,
            }
        }
        let (done, result) = sync_channel(1);
        // Cannot fail: the receiver is kept alive here.
        let _ = self.queue.0.send((job, done));
        self.results.push_back(result);
        Ok(())
    }

    /// Adds a result after those of all earlier jobs.
    pub(super) fn finished(&mut self, result: R) {
        let (done, ready) = sync_channel(1);
        let _ = done.send(result);
        self.results.push_back(ready);
    }

    /// The next result, after waiting for it no longer than `limit`. `None`: it is not ready, or there is no
    /// job. An error: the job panicked.
    pub(super) fn next_within(&mut self, limit: Duration) -> Result<Option<R>, RecvError> {
        let Some(first) = self.results.front() else {
            return Ok(None);
        };
        let result = match limit.is_zero() {
            true => first.try_recv().map_err(|error| match error {
                TryRecvError::Empty => RecvTimeoutError::Timeout,
                TryRecvError::Disconnected => RecvTimeoutError::Disconnected,
            }),
            false => first.recv_timeout(limit),
        };
        match result {
            Ok(result) => {
                self.results.pop_front();
                Ok(Some(result))
            }
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => Err(RecvError),
        }
    }

    /// Abandons all jobs. Those that no thread has begun are dropped.
    pub(super) fn forget(&mut self) {
        if let Ok(waiting) = self.queue.1.try_lock() {
            while waiting.try_recv().is_ok() {}
        }
        self.results.clear();
    }

    fn start(&self, worker: Worker<J, R>, make: Make<J, R>) -> bool {
        let queue = Arc::clone(&self.queue.1);
        let mut worker = Some(worker);
        std::thread::Builder::new()
            .name("zstd".to_owned())
            .spawn(move || {
                loop {
                    let job = queue.lock().unwrap_or_else(PoisonError::into_inner).recv();
                    let Ok((job, done)) = job else { return };
                    if worker.is_none() {
                        worker = make().ok();
                    }
                    let Some(work) = &mut worker else { continue };
                    match catch_unwind(AssertUnwindSafe(|| work(job))) {
                        // Fails if the job was abandoned.
                        Ok(result) => drop(done.send(result)),
                        // Its state may be anything now. The thread goes on: later jobs wait for it.
                        Err(_) => worker = None,
                    }
                }
            })
            .is_ok()
    }
}

pub(super) fn no_thread() -> Error {
    crate::error::Repr::Memory {
        bytes: None,
        what: "a worker thread",
    }
    .into()
}
