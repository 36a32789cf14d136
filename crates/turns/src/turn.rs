//! Yielding: how long the current thread has been held by tasks that compute since its runtime last looked at
//! its other tasks.

use std::cell::RefCell;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::task::{Context, Poll, ready};
use std::time::Instant;

use tokio::runtime::{Handle, Id, RuntimeFlavor};
use tokio::task::{try_id, yield_now};

use crate::gate::{Away, Conductor, Gate, Wish};
use crate::keeps::Keeps;

thread_local! {
    /// The turn of this thread, and the runtime that begins turns.
    static HERE: RefCell<(Option<Id>, Arc<Gate>)> = RefCell::default();
}

/// The part of a task in the turns of its thread. It may wander to another thread.
///
/// Whatever waits in line leaves it when this is dropped.
#[derive(Debug)]
pub struct Turn {
    stream: u64,
    waiting: Option<Place>,
}

/// A place in line.
struct Place {
    gate: Arc<Gate>,
    /// The runtime that begins the turns of the gate.
    runtime: Option<Id>,
    ticket: u64,
    /// The expected time of the call.
    next_ns: u64,
    /// Ends when the runtime has looked at its other tasks, if this stream waits alone.
    alone: Option<Pin<Box<dyn Future<Output = ()> + Send + Sync>>>,
}

impl Turn {
    /// A task that has done nothing yet.
    pub fn new() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Self {
            stream: NEXT.fetch_add(1, Relaxed),
            waiting: None,
        }
    }

    /// Whether it stands in line for a turn.
    pub fn waits(&self) -> bool {
        self.waiting.is_some()
    }

    /// Counts work on this thread, in nanoseconds.
    pub fn held(&self, ns: u64) {
        HERE.with_borrow(|(_, gate)| gate.held(self.stream, ns));
    }

    /// Whether the context with this address was the last one that was used on this thread: much of it is still in
    /// the cache.
    pub fn is_warm(&self, context: usize) -> bool {
        HERE.with_borrow(|(_, gate)| gate.is_warm(context))
    }

    /// The context with this address is used now.
    pub fn touch(&self, context: usize) {
        HERE.with_borrow(|(_, gate)| gate.touch(context));
    }

    /// Ready when a call of this length may begin. It yields before if it would hold the thread for too
    /// long: others wait for both the work done and the next call, so the sum should stay within the
    /// threshold. The first call of a turn may always begin, however long it is.
    pub fn poll_take(
        &mut self,
        context: &mut Context<'_>,
        next_ns: u64,
        threshold_ns: u64,
        keeps: Keeps,
    ) -> Poll<()> {
        if let Some(place) = &mut self.waiting {
            ready!(place.poll(context));
            self.waiting = None;
            return Poll::Ready(());
        }
        let wish = Wish {
            stream: self.stream,
            next_ns,
            turn_ns: threshold_ns,
            keeps,
        };
        HERE.with_borrow_mut(|here| {
            if !here.1.is_over(wish) && (keeps != Keeps::NewContext || !here.1.is_crowded()) {
                return Poll::Ready(());
            }
            self.wait(here, wish, context)
        })
    }

    fn wait(
        &mut self,
        here: &mut (Option<Id>, Arc<Gate>),
        wish: Wish,
        context: &mut Context<'_>,
    ) -> Poll<()> {
        let runtime = Handle::try_current().ok();
        if settle(here, runtime.as_ref()) {
            // The work counted so far was that of another runtime, which has returned since.
            return Poll::Ready(());
        }
        let gate = &here.1;
        let id = runtime.as_ref().map(Handle::id);
        let worker = runtime.filter(|runtime| {
            try_id().is_some() || runtime.runtime_flavor() == RuntimeFlavor::CurrentThread
        });
        if worker.as_ref().is_some_and(has_spare_thread) && gate.stretch() {
            return Poll::Ready(());
        }
        let (ticket, conductor) = gate.join(wish, context.waker(), worker.as_ref());
        let alone = match (conductor, worker) {
            (Conductor::Another, _) => None,
            (Conductor::Itself, Some(_)) => Some(Box::pin(yield_now()) as Pin<Box<_>>),
            (Conductor::Wanted, Some(runtime)) => {
                gate.conduct(&runtime);
                None
            }
            // Nothing but this future runs on this thread, or an executor that nothing is known of.
            (_, None) => {
                gate.open();
                None
            }
        };
        let gate = gate.clone();
        let mut place = Place {
            gate,
            runtime: id,
            ticket,
            next_ns: wish.next_ns,
            alone,
        };
        if let Some(alone) = &mut place.alone {
            // It has not looked yet: this asks it to.
            let _ = alone.as_mut().poll(context);
        }
        self.waiting = Some(place);
        Poll::Pending
    }

    /// Another thread begins to work for this task, with its context.
    pub fn away(&self) -> Away {
        HERE.with_borrow_mut(|here| {
            settle(here, Handle::try_current().ok().as_ref());
            here.1.away()
        })
    }

    /// Waits like [`poll_take`](Self::poll_take). The future may be dropped; its place in line is kept for the next
    /// call.
    pub async fn take(&mut self, next_ns: u64, threshold_ns: u64, keeps: Keeps) {
        poll_fn(|context| self.poll_take(context, next_ns, threshold_ns, keeps)).await;
    }
}

/// Whether another thread of this runtime has nothing to do, and takes the tasks that wait for this one.
#[cfg(target_has_atomic = "64")]
fn has_spare_thread(runtime: &Handle) -> bool {
    let metrics = runtime.metrics();
    // An odd count: the thread is parked.
    runtime.runtime_flavor() == RuntimeFlavor::MultiThread
        && (0..metrics.num_workers())
            .any(|worker| metrics.worker_park_unpark_count(worker) % 2 == 1)
}

/// The runtime does not say so on this target.
#[cfg(not(target_has_atomic = "64"))]
fn has_spare_thread(_: &Handle) -> bool {
    false
}

/// Makes the gate of this thread that of its runtime. Says whether it was that of another one.
fn settle(here: &mut (Option<Id>, Arc<Gate>), runtime: Option<&Handle>) -> bool {
    let id = runtime.map(Handle::id);
    if here.0 == id {
        return false;
    }
    let (known, before) = std::mem::replace(here, (id, Arc::new(Gate::of(id))));
    if known.is_none() {
        here.1.take_over(&before);
    }
    known.is_some()
}

impl Default for Turn {
    fn default() -> Self {
        Self::new()
    }
}

impl Place {
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<()> {
        if !self.gate.waits(self.ticket, context.waker()) {
            self.gate.arrived(self.next_ns);
            return Poll::Ready(());
        }
        if self.runtime != Handle::try_current().ok().map(|runtime| runtime.id()) {
            // It goes on elsewhere. Nobody may drive the runtime that begins those turns.
            self.gate.leave(self.ticket);
            return Poll::Ready(());
        }
        let Some(alone) = &mut self.alone else {
            return Poll::Pending;
        };
        ready!(alone.as_mut().poll(context));
        self.gate.clear();
        self.gate.leave(self.ticket);
        Poll::Ready(())
    }
}

impl std::fmt::Debug for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Place")
            .field("ticket", &self.ticket)
            .field("alone", &self.alone.is_some())
            .finish_non_exhaustive()
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        if let Some(place) = self.waiting.take() {
            place.gate.leave(place.ticket);
        }
    }
}

/// The result of `work`, and the nanoseconds it took.
pub fn timed<T>(work: impl FnOnce() -> T) -> (T, u64) {
    let start = Instant::now();
    let value = work();
    let ns = u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX);
    (value, ns)
}

#[cfg(test)]
mod tests;
