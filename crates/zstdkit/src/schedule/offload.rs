//! A few threads for work that must not block the calling thread.
//!
//! Each job is one chunk of work and belongs to one future, so the queue is as long as there are futures that
//! wait. Once a future was polled its job needs it no more: one that is kept and not polled holds up no other. No
//! runtime is needed: futures are woken by their own wakers.

use std::any::Any;
use std::collections::VecDeque;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::thread::{self, JoinHandle, Thread};

use crate::error::OffloadError;

type Job = Box<dyn FnOnce() + Send>;

/// Threads that run jobs for futures.
///
/// Each thread runs one job at a time, in the order in which their futures were first polled. Dropping a future
/// removes its job from the queue; a running job is completed and its result dropped. A panic becomes the error of its
/// future, and the thread continues. Dropping the `Offload` waits for running jobs, drops the queued ones, whose
/// futures get [`OffloadError::Stopped`], and joins the threads.
pub struct Offload {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
}

#[derive(Default)]
struct Shared {
    state: Mutex<Queue>,
}

#[derive(Default)]
struct Queue {
    jobs: VecDeque<(u64, Job)>,
    /// Idle threads, the most recently used at the end. That one is woken first: its contexts are warm,
    /// and work that stays on one thread disturbs other CPUs less.
    idle: Vec<Thread>,
    next_id: u64,
    stopped: bool,
}

/// A result that waits for its future, or a future that waits for its result.
struct Slot<T>(Mutex<Content<T>>);

enum Content<T> {
    Empty(Option<Waker>),
    Full(Result<T, OffloadError>),
    Taken,
}

impl Offload {
    /// Starts this many threads, and one if this is 0.
    pub fn new(threads: usize) -> std::io::Result<Self> {
        Self::with_setup(threads, |_| ())
    }

    /// The same. Each thread first calls `setup` with its number, counted from 0. Use it to pin these
    /// threads or to lower their priority: the library does neither by itself.
    ///
    /// ```
    /// use zstdkit::schedule::Offload;
    ///
    /// let (tell, told) = std::sync::mpsc::channel();
    /// let offload = Offload::with_setup(2, move |nth| tell.send(nth).unwrap())?;
    /// drop(offload);
    /// assert_eq!(told.iter().sum::<usize>(), 1);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn with_setup(
        threads: usize,
        setup: impl Fn(usize) + Send + Sync + 'static,
    ) -> std::io::Result<Self> {
        let setup = Arc::new(setup);
        let mut offload = Self {
            shared: Arc::default(),
            threads: Vec::new(),
        };
        for nth in 0..threads.max(1) {
            let (shared, setup) = (offload.shared.clone(), setup.clone());
            let thread = thread::Builder::new()
                .name("zstdkit-offload".into())
                .spawn(move || {
                    // A thread whose setup fails still works.
                    let _ = catch_unwind(AssertUnwindSafe(|| setup(nth)));
                    drop(setup);
                    shared.serve();
                })?;
            offload.threads.push(thread);
        }
        Ok(offload)
    }

    /// A future of the result of `job`. The job is queued when the future is first polled.
    ///
    /// ```
    /// # use std::{pin::pin, sync::Arc, task::{Context, Poll, Wake, Waker}, thread};
    /// # struct Unpark(thread::Thread);
    /// # impl Wake for Unpark { fn wake(self: Arc<Self>) { self.0.unpark() } }
    /// # fn block_on<F: Future>(future: F) -> F::Output {
    /// #     let waker = Waker::from(Arc::new(Unpark(thread::current())));
    /// #     let mut future = pin!(future);
    /// #     loop {
    /// #         match future.as_mut().poll(&mut Context::from_waker(&waker)) {
    /// #             Poll::Ready(value) => return value,
    /// #             Poll::Pending => thread::park(),
    /// #         }
    /// #     }
    /// # }
    /// let offload = zstdkit::schedule::Offload::new(1)?;
    /// assert_eq!(block_on(offload.run(|| 6 * 7)), Ok(42));
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn run<T: Send + 'static>(
        &self,
        job: impl FnOnce() -> T + Send + 'static,
    ) -> OffloadFuture<T> {
        let slot = Arc::new(Slot(Mutex::new(Content::Empty(None))));
        let filled = Fill(slot.clone());
        let job: Job = Box::new(move || {
            let result = catch_unwind(AssertUnwindSafe(job));
            filled
                .0
                .fill(result.map_err(|panic| OffloadError::Panicked(message(&*panic))));
        });
        OffloadFuture {
            shared: self.shared.clone(),
            slot,
            id: self.shared.lock().id(),
            job: Some(job),
        }
    }

    /// Drops a value on one of the threads, after the jobs that are queued.
    #[cfg(feature = "tokio")]
    pub(crate) fn discard(&self, value: impl Send + 'static) {
        let id = self.shared.lock().id();
        self.shared.push(id, Box::new(move || drop(value)));
    }

    /// The number of queued jobs, without running ones.
    pub fn queued(&self) -> usize {
        self.shared.lock().jobs.len()
    }
}

impl Drop for Offload {
    fn drop(&mut self) {
        let jobs = {
            let mut queue = self.shared.lock();
            queue.stopped = true;
            std::mem::take(&mut queue.jobs)
        };
        self.threads
            .iter()
            .for_each(|thread| thread.thread().unpark());
        // Outside the lock: dropping a job may run any code.
        drop(jobs);
        for thread in self.threads.drain(..) {
            // A job may own the last handle. Its thread cannot join itself, it just ends.
            if thread.thread().id() != thread::current().id() {
                let _ = thread.join();
            }
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn serve(&self) {
        let mut queue = self.lock();
        loop {
            if queue.stopped {
                return;
            }
            let Some((_, job)) = queue.jobs.pop_front() else {
                queue.idle.push(thread::current());
                drop(queue);
                thread::park();
                queue = self.lock();
                // After a spurious wake-up it is still listed as idle.
                let own = thread::current().id();
                queue.idle.retain(|thread| thread.id() != own);
                continue;
            };
            drop(queue);
            // Dropping what the job left behind may panic.
            let _ = catch_unwind(AssertUnwindSafe(job));
            queue = self.lock();
        }
    }

    /// Queues a job, or drops it if the threads were stopped.
    fn push(&self, id: u64, job: Job) {
        let mut queue = self.lock();
        if queue.stopped {
            drop(queue);
            // The drop fills its slot.
            drop(job);
            return;
        }
        queue.jobs.push_back((id, job));
        let idle = queue.idle.pop();
        drop(queue);
        if let Some(thread) = idle {
            thread.unpark();
        }
    }

    /// Removes the job of a future.
    fn leave(&self, id: u64) {
        let mut queue = self.lock();
        let place = queue.jobs.iter().position(|(of, _)| *of == id);
        let job = place.and_then(|place| queue.jobs.remove(place));
        drop(queue);
        drop(job);
    }
}

impl Queue {
    fn id(&mut self) -> u64 {
        self.next_id += 1;
        self.next_id
    }
}

impl<T> Slot<T> {
    fn lock(&self) -> MutexGuard<'_, Content<T>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn fill(&self, result: Result<T, OffloadError>) {
        let mut content = self.lock();
        let Content::Empty(waker) = &mut *content else {
            return;
        };
        let waker = waker.take();
        *content = Content::Full(result);
        drop(content);
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

/// Fills the slot of a job even if it is dropped without having run.
struct Fill<T>(Arc<Slot<T>>);

impl<T> Drop for Fill<T> {
    fn drop(&mut self) {
        self.0.fill(Err(OffloadError::Stopped));
    }
}

/// The future of a job's result, from [`Offload::run`].
#[must_use = "a job is queued when its future is polled"]
pub struct OffloadFuture<T> {
    shared: Arc<Shared>,
    slot: Arc<Slot<T>>,
    id: u64,
    /// The job until it is queued.
    job: Option<Job>,
}

impl<T> OffloadFuture<T> {
    /// Queues the job.
    fn enter(&mut self) {
        if let Some(job) = self.job.take() {
            self.shared.push(self.id, job);
        }
    }
}

impl<T> Future for OffloadFuture<T> {
    type Output = Result<T, OffloadError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        // Set the waker before the job can end, so that its end finds it.
        let before = match &mut *self.slot.lock() {
            Content::Empty(waker) => waker.replace(context.waker().clone()),
            Content::Full(_) | Content::Taken => None,
        };
        // Without the lock: it is not known what that does.
        drop(before);
        self.enter();
        let mut content = self.slot.lock();
        match std::mem::replace(&mut *content, Content::Taken) {
            Content::Full(result) => Poll::Ready(result),
            Content::Empty(waker) => {
                *content = Content::Empty(waker);
                Poll::Pending
            }
            Content::Taken => Poll::Ready(Err(OffloadError::Stopped)),
        }
    }
}

impl<T> Drop for OffloadFuture<T> {
    fn drop(&mut self) {
        let ended = !matches!(*self.slot.lock(), Content::Empty(_));
        if !ended {
            self.shared.leave(self.id);
        }
    }
}

fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("no message").to_owned()
}

impl std::fmt::Debug for Offload {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Offload")
            .field("threads", &self.threads.len())
            .field("queued", &self.queued())
            .finish_non_exhaustive()
    }
}

impl<T> std::fmt::Debug for OffloadFuture<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OffloadFuture")
            .field("queued", &self.job.is_none())
            .finish_non_exhaustive()
    }
}
