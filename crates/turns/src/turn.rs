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

use crate::away::Away;
use crate::berth::Berth;
use crate::contexts::Contexts;
use crate::gate::{Conductor, Gate, Wish, stretched_ns};
use crate::idle::parked;
use crate::keeps::Keeps;

thread_local! {
    static HERE: RefCell<Here> = RefCell::default();
}

/// What belongs to this thread, or to the runtime that it runs.
#[derive(Default)]
struct Here {
    /// The runtime that begins turns.
    runtime: Option<Id>,
    gate: Arc<Gate>,
    contexts: Option<Arc<Contexts>>,
}

/// The part of a task in the turns of its thread. It may wander to another thread.
///
/// Whatever waits in line leaves it when this is dropped.
#[derive(Debug)]
pub struct Turn {
    stream: u64,
    waiting: Option<Place>,
    /// Its place among the tasks with a context.
    berth: Option<Berth>,
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
            berth: None,
        }
    }

    /// Whether it stands in line for a turn.
    pub fn waits(&self) -> bool {
        self.waiting.is_some() || self.berth.as_ref().is_some_and(Berth::waits)
    }

    /// Counts work on this thread, in nanoseconds.
    pub fn held(&self, ns: u64) {
        HERE.with_borrow(|here| self.count(here, ns));
    }

    fn count(&self, here: &Here, ns: u64) {
        here.gate.held(self.stream, ns);
        if let Some(berth) = &self.berth {
            berth.sign(here.contexts.as_ref());
        }
    }

    /// Whether the context with this address was the last one that was used on this thread: much of it is still in
    /// the cache.
    pub fn is_warm(&self, context: usize) -> bool {
        HERE.with_borrow(|here| here.gate.is_warm(context))
    }

    /// Counts work on this thread, in nanoseconds, with the context at this address.
    pub fn held_with(&self, ns: u64, context: usize) {
        HERE.with_borrow(|here| {
            self.count(here, ns);
            here.gate.touch(context);
        });
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
        let wish = Wish {
            stream: self.stream,
            next_ns,
            turn_ns: threshold_ns,
            keeps,
        };
        if let Some(place) = &mut self.waiting {
            let admitted = ready!(place.poll(context));
            let before = self.waiting.take().filter(|_| admitted);
            let Some(place) = before else {
                return Poll::Ready(());
            };
            return HERE.with_borrow_mut(|here| {
                let ticket = Arc::ptr_eq(&here.gate, &place.gate).then_some(place.ticket);
                match here.gate.is_late(ticket, threshold_ns) {
                    true => self.wait(here, ticket, wish, context),
                    false => Poll::Ready(()),
                }
            });
        }
        HERE.with_borrow_mut(|here| {
            match keeps {
                Keeps::Nothing => {}
                Keeps::NewContext => ready!(self.poll_open(here, context)),
                Keeps::Context => self.works(here),
            }
            if !here.gate.is_over(wish) {
                return Poll::Ready(());
            }
            self.wait(here, None, wish, context)
        })
    }

    /// How long a call may be now although calls should take no longer than this, for another thread of the runtime has
    /// nothing to do and takes what waits: up to four times as long, within 800 µs. 0: there is no such thread.
    pub fn longest_ns(&self, threshold_ns: u64) -> u64 {
        match Handle::try_current() {
            Ok(runtime) if try_id().is_some() && parked(&runtime) > 0 => stretched_ns(threshold_ns),
            _ => 0,
        }
    }

    /// The task gives its context back: others may open one.
    pub fn give_back(&mut self) {
        self.berth = None;
    }

    /// The task waits for something that is not computed: others may open a context meanwhile.
    pub fn pause(&self) {
        if let Some(berth) = &self.berth {
            berth.pause();
        }
    }

    /// Ready when this task may open a context.
    fn poll_open(&mut self, here: &mut Here, context: &mut Context<'_>) -> Poll<()> {
        if let Some(berth) = self.berth.as_ref().filter(|berth| berth.waits()) {
            return berth.poll(context);
        }
        let Some(runtime) = Handle::try_current().ok() else {
            return Poll::Ready(());
        };
        here.settle(Some(&runtime));
        let Some(contexts) = here.contexts.clone() else {
            return Poll::Ready(());
        };
        let berth = self.berth.take().filter(|berth| berth.is_of(&contexts));
        let berth = self
            .berth
            .insert(berth.unwrap_or_else(|| Berth::new(contexts, here.runtime)));
        match berth.enter(context.waker()) {
            true => Poll::Ready(()),
            false => Poll::Pending,
        }
    }

    /// The task has a context: it counts among those at work, also if it did not for a while.
    fn works(&mut self, here: &Here) {
        let Some(contexts) = &here.contexts else {
            return;
        };
        match &self.berth {
            Some(berth) if berth.is_of(contexts) => berth.works(),
            _ => {
                let berth = self
                    .berth
                    .insert(Berth::new(contexts.clone(), here.runtime));
                berth.works();
            }
        }
    }

    /// Waits in line, at the place of a ticket that it had here.
    fn wait(
        &mut self,
        here: &mut Here,
        before: Option<u64>,
        wish: Wish,
        context: &mut Context<'_>,
    ) -> Poll<()> {
        let runtime = Handle::try_current().ok();
        if here.settle(runtime.as_ref()) {
            // The work counted so far was that of another runtime, which has returned since.
            return Poll::Ready(());
        }
        let gate = &here.gate;
        let id = runtime.as_ref().map(Handle::id);
        let worker = runtime.filter(|runtime| {
            try_id().is_some() || runtime.runtime_flavor() == RuntimeFlavor::CurrentThread
        });
        if worker.as_ref().is_some_and(|runtime| parked(runtime) > 0) && gate.stretch(wish) {
            return Poll::Ready(());
        }
        let seat = self.berth.as_ref().map(|berth| berth.seat().clone());
        let (ticket, conductor) = gate.join(before, wish, seat, context.waker());
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
    pub fn away(&mut self) -> Away {
        HERE.with_borrow_mut(|here| {
            here.settle(Handle::try_current().ok().as_ref());
            self.works(here);
        });
        self.berth.as_ref().map(Berth::away).unwrap_or_default()
    }

    /// Waits like [`poll_take`](Self::poll_take). The future may be dropped; its place in line is kept for the next
    /// call.
    pub async fn take(&mut self, next_ns: u64, threshold_ns: u64, keeps: Keeps) {
        poll_fn(|context| self.poll_take(context, next_ns, threshold_ns, keeps)).await;
    }
}

impl Here {
    /// Makes this what belongs to this runtime. Says whether it was that of another one.
    fn settle(&mut self, runtime: Option<&Handle>) -> bool {
        let id = runtime.map(Handle::id);
        if self.runtime == id {
            return false;
        }
        let now = Self {
            runtime: id,
            gate: Arc::default(),
            contexts: runtime.map(Contexts::of),
        };
        let before = std::mem::replace(self, now);
        if before.runtime.is_none() {
            self.gate.take_over(&before.gate);
        }
        before.runtime.is_some()
    }
}

impl Default for Turn {
    fn default() -> Self {
        Self::new()
    }
}

impl Place {
    /// Ready when it no longer waits: whether it was admitted to a turn that others have, too.
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<bool> {
        if !self.gate.waits(self.ticket, context.waker()) {
            self.gate.arrived(self.next_ns);
            return Poll::Ready(true);
        }
        if self.runtime != Handle::try_current().ok().map(|runtime| runtime.id()) {
            // The task goes on elsewhere, and the runtime that begins those turns may no longer be driven.
            self.gate.leave(self.ticket);
            return Poll::Ready(false);
        }
        let Some(alone) = &mut self.alone else {
            return Poll::Pending;
        };
        ready!(alone.as_mut().poll(context));
        self.gate.clear();
        self.gate.leave(self.ticket);
        Poll::Ready(false)
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
