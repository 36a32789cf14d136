//! The line of those who wait for memory of a pool.
//!
//! # What holds
//! - Memory is given in order of arrival: only the first in line tries to take some, each time some is given back.
//!   One that was called and does not come is passed over until it does; its place stays its own.
//! - What an attempt that fails gives back is no memory that came back: it would call the first in line to try again,
//!   for ever.
//! - Who waits holds nothing that others need: no context of the stream, no place in the turn of a thread, no job on
//!   an offload thread. Threads never wait for memory.
//! - So each wait is for contexts of others, and those come back: by themselves when their work ends; at the hands of
//!   the keeper where they lie idle between two calls of a stream, if the stream can do without; and where nothing
//!   comes back for [`STILL_TICKS`], because tasks keep contexts and wait for each other, the first in line is served
//!   beyond the budget, and the next one every [`AGAIN_TICKS`] until some comes back. So is the first one after
//!   [`UNSERVED_TICKS`] in which memory came back and none in line got any: it is taken and given back by calls that do
//!   not wait here. Beyond the limit of the pool it fails instead, and so do those behind it who have waited as long.
//!   Every wait ends, then, unless who waits is not polled.
//!
//! The keeper is a thread that exists only while the line is not empty. It is the only one here that looks at a clock. Where
//! the system has no thread for it, none waits: all are served beyond the budget.

use std::cell::Cell;
use std::collections::{BTreeMap, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed, Ordering::SeqCst};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::task::Waker;
use std::thread;
use std::time::{Duration, Instant};

/// How often the keeper looks.
const TICK: Duration = Duration::from_millis(5);
/// How long it sleeps at most where all were passed over.
const ASLEEP: Duration = Duration::from_secs(3600);
/// A stream that was not called for as long, in ticks, gives its context back where it can.
const REST_TICKS: u64 = 2;
/// Who was called and did not come for as long is passed over.
const ABSENT_TICKS: u64 = 20;
/// After this many ticks in which no memory came back, the first in line is served beyond the budget.
pub(crate) const STILL_TICKS: u64 = 400;
/// And the next in line after this many more.
pub(crate) const AGAIN_TICKS: u64 = 5;
/// The same two, for a line in which none was served, although memory comes back all the time.
const UNSERVED_REST_TICKS: u64 = 20;
const UNSERVED_TICKS: u64 = 4_000;

/// The most streams that are asked for their context in a tick: one for each who waits, and no more than this.
const RESTS_PER_TICK_MAX: usize = 16;

thread_local! {
    /// Whether one of the line tries to take memory here.
    static TRIES: Cell<bool> = const { Cell::new(false) };
}

/// A stream with a context that is idle between two of its calls.
pub(crate) trait Rests: Send + Sync {
    /// The tick of its last call, if it could give its context back.
    fn rested(&self) -> Option<u64>;

    /// Gives the context back, if it still has it.
    fn give_back(&self);
}

/// The line of a pool.
#[derive(Default)]
pub(crate) struct Line {
    /// How many wait. Read without the lock.
    count: AtomicUsize,
    tick: AtomicU64,
    state: Mutex<State>,
    /// Wakes the keeper: the line is empty, or one that was absent came back.
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// In order of arrival, and so of their tickets.
    waiting: VecDeque<Waiter>,
    next_ticket: u64,
    resting: BTreeMap<u64, Weak<dyn Rests>>,
    next_rest: u64,
    /// Whether there is a keeper.
    kept: bool,
    /// Ticks since memory came back.
    still: u64,
    /// Ticks since one in line was served.
    unserved: u64,
    /// How many ticks the first one had waited in vain when it was last sent beyond the budget.
    patience: u64,
    waits: Waits,
}

/// What waiting for memory has cost so far.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Waits {
    /// Who waits now.
    pub(crate) waiting: u64,
    /// Waits so far, with those of now.
    pub(crate) waited: u64,
    /// The longest, in nanoseconds, with those of now.
    pub(crate) longest_ns: u64,
    /// How many were served beyond the budget.
    pub(crate) beyond_budget: u64,
    /// How many failed, because there was nothing beyond the budget either.
    pub(crate) exhausted: u64,
}

struct Waiter {
    ticket: u64,
    waker: Waker,
    /// When it was called, if it has not come since.
    called: Option<u64>,
    absent: bool,
    beyond: bool,
    since: Instant,
    /// The tick in which it joined.
    joined: u64,
}

/// What a waiter may do now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    Wait,
    /// Try to take memory.
    First,
    /// Take it, whatever the budget says, within the limit; or fail.
    Beyond,
}

/// What the keeper has found to do.
#[derive(Default)]
struct Acts {
    now: u64,
    call: Option<Waker>,
    resting: Vec<Arc<dyn Rests>>,
    /// How many of them are asked.
    rests: usize,
}

impl Line {
    /// Whether none waits.
    pub(crate) fn is_empty(&self) -> bool {
        self.count.load(SeqCst) == 0
    }

    /// Joins the line; returns the ticket. Who has joined tries once more, if [`place`](Self::place) says so: memory
    /// that came back before is not announced.
    pub(crate) fn join(self: &Arc<Self>, waker: &Waker) -> u64 {
        let waker = waker.clone();
        let mut state = self.lock();
        let ticket = state.next_ticket;
        state.next_ticket += 1;
        state.waits.waited += 1;
        if state.waiting.is_empty() {
            (state.still, state.unserved) = (0, 0);
        }
        state.waiting.push_back(Waiter {
            ticket,
            waker,
            called: None,
            absent: false,
            beyond: false,
            since: Instant::now(),
            joined: self.now(),
        });
        self.count.store(state.waiting.len(), SeqCst);
        if state.kept {
            self.changed.notify_one();
            return ticket;
        }
        state.still = 0;
        let line = self.clone();
        let keeper = thread::Builder::new().name("zstdkit-memory".into());
        state.kept = keeper.spawn(move || line.keep()).is_ok();
        ticket
    }

    /// What this ticket may do. It is called by this waker from now on.
    pub(crate) fn place(&self, ticket: u64, waker: &Waker) -> Place {
        // What wakers do when they are cloned and dropped is not known: not under the lock.
        let mut waker = waker.clone();
        let mut state = self.lock();
        let Some(at) = state.find(ticket) else {
            return Place::First;
        };
        let waiter = &mut state.waiting[at];
        std::mem::swap(&mut waiter.waker, &mut waker);
        waiter.called = None;
        let (was_absent, beyond) = (std::mem::take(&mut waiter.absent), waiter.beyond);
        if was_absent {
            self.changed.notify_one();
        }
        match state.waiting.iter().take(at).all(|before| before.absent) {
            _ if !state.kept => Place::Beyond,
            true if beyond => Place::Beyond,
            true => Place::First,
            false => Place::Wait,
        }
    }

    /// Leaves the line, and calls who is first now.
    pub(crate) fn leave(&self, ticket: u64) {
        let mut state = self.lock();
        let Some(waiter) = state.find(ticket).and_then(|at| state.waiting.remove(at)) else {
            return;
        };
        state.waits.note(waiter.since);
        self.count.store(state.waiting.len(), SeqCst);
        if state.waiting.is_empty() {
            self.changed.notify_one();
        }
        let call = state.call(self.now());
        drop(state);
        wake(call);
    }

    /// One was served.
    pub(crate) fn served(&self) {
        self.lock().unserved = 0;
    }

    /// One was served beyond the budget.
    pub(crate) fn went_beyond(&self) {
        self.lock().waits.beyond_budget += 1;
    }

    /// One failed: there was nothing beyond the budget either. Those who have waited as long try now, too, and not one
    /// after another as long as this one.
    pub(crate) fn exhausted(&self) {
        let now = self.now();
        let mut state = self.lock();
        state.waits.exhausted += 1;
        let patience = state.patience;
        for waiter in &mut state.waiting {
            waiter.beyond |= now.saturating_sub(waiter.joined) >= patience;
        }
    }

    /// What `make` makes. If it fails, memory that it took and gave back does not count as released.
    pub(crate) fn attempt<T>(make: impl FnOnce() -> T) -> T {
        /// Unwinding ends the attempt, too.
        struct Ends(bool);
        impl Drop for Ends {
            fn drop(&mut self) {
                TRIES.set(self.0);
            }
        }
        let _ends = Ends(TRIES.replace(true));
        make()
    }

    /// Memory came back, or may.
    pub(crate) fn released(&self) {
        if self.is_empty() || TRIES.get() {
            return;
        }
        let mut state = self.lock();
        state.still = 0;
        let call = state.call(self.now());
        drop(state);
        wake(call);
    }

    /// Has the keeper ask this stream for its context; returns the number for [`unlist`](Self::unlist).
    pub(crate) fn list(&self, stream: Weak<dyn Rests>) -> u64 {
        let mut state = self.lock();
        let number = state.next_rest;
        state.next_rest += 1;
        state.resting.insert(number, stream);
        number
    }

    pub(crate) fn unlist(&self, number: u64) {
        let stream = self.lock().resting.remove(&number);
        drop(stream);
    }

    /// The current tick.
    pub(crate) fn now(&self) -> u64 {
        self.tick.load(Relaxed)
    }

    pub(crate) fn waits(&self) -> Waits {
        let state = self.lock();
        let mut waits = state.waits;
        waits.waiting = state.waiting.len() as u64;
        // In order of arrival: the first has waited for the longest.
        if let Some(first) = state.waiting.front() {
            waits.note(first.since);
        }
        waits
    }

    /// The work of the keeper, until none waits.
    fn keep(&self) {
        let mut state = self.lock();
        let mut next = Instant::now() + TICK;
        while !state.waiting.is_empty() {
            let all_absent = state.waiting.iter().all(|waiter| waiter.absent);
            // Those who come wake it early. However many they are, the tick is not put off.
            let until = match all_absent {
                true => ASLEEP,
                false => next.saturating_duration_since(Instant::now()),
            };
            if !until.is_zero() {
                let waited = self.changed.wait_timeout(state, until);
                (state, _) = waited.unwrap_or_else(PoisonError::into_inner);
                continue;
            }
            next = Instant::now() + TICK;
            let acts = self.tick(&mut state);
            drop(state);
            // Wakers belong to other crates and may panic. Those who wait still need the keeper.
            let _ = catch_unwind(AssertUnwindSafe(|| acts.run()));
            state = self.lock();
        }
        state.kept = false;
    }

    fn tick(&self, state: &mut State) -> Acts {
        let now = self.tick.fetch_add(1, Relaxed) + 1;
        let mut acts = Acts {
            now,
            ..Acts::default()
        };
        let mut passed = false;
        for waiter in &mut state.waiting {
            let late = |called: u64| now.saturating_sub(called) >= ABSENT_TICKS;
            if !waiter.absent && waiter.called.is_some_and(late) {
                (waiter.absent, passed) = (true, true);
            }
        }
        state.still += 1;
        state.unserved += 1;
        if state.still >= STILL_TICKS || state.unserved >= UNSERVED_TICKS {
            // Until memory comes back, the next ones have waited long enough.
            (state.patience, state.still) = match state.still >= STILL_TICKS {
                true => (STILL_TICKS, STILL_TICKS - AGAIN_TICKS),
                false => (UNSERVED_TICKS, 0),
            };
            state.unserved = 0;
            if let Some(first) = state.waiting.iter_mut().find(|waiter| !waiter.absent) {
                (first.beyond, passed) = (true, true);
            }
        } else if state.still >= REST_TICKS || state.unserved >= UNSERVED_REST_TICKS {
            acts.resting = state.resting.values().filter_map(Weak::upgrade).collect();
            acts.rests = state.waiting.len().min(RESTS_PER_TICK_MAX);
        }
        if passed {
            acts.call = state.call(now);
        }
        acts
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn find(&self, ticket: u64) -> Option<usize> {
        let tickets = self
            .waiting
            .binary_search_by_key(&ticket, |waiter| waiter.ticket);
        tickets.ok()
    }

    /// Who is to be woken: the first, unless it was called already.
    fn call(&mut self, now: u64) -> Option<Waker> {
        let first = self.waiting.iter_mut().find(|waiter| !waiter.absent)?;
        let again = first.called.is_some() && !first.beyond;
        first.called.get_or_insert(now);
        (!again).then(|| first.waker.clone())
    }
}

impl Waits {
    fn note(&mut self, since: Instant) {
        let ns = u64::try_from(since.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.longest_ns = self.longest_ns.max(ns);
    }
}

impl Acts {
    /// Does it, without the lock of the line.
    fn run(self) {
        wake(self.call);
        let since = |stream: &Arc<dyn Rests>| stream.rested();
        let long = |&since: &u64| self.now.saturating_sub(since) >= REST_TICKS;
        let idle = self.resting.iter();
        let idle = idle.filter_map(|stream| Some((since(stream).filter(long)?, stream)));
        let mut idle: Vec<_> = idle.collect();
        idle.sort_by_key(|&(since, _)| since);
        for (_, stream) in idle.into_iter().take(self.rests) {
            stream.give_back();
        }
    }
}

fn wake(call: Option<Waker>) {
    if let Some(waker) = call {
        waker.wake();
    }
}

/// A line without a keeper: ticks come by hand.
#[cfg(all(test, feature = "tokio"))]
impl Line {
    pub(crate) fn by_hand(&self) {
        self.lock().kept = true;
    }

    pub(crate) fn ticks(&self, count: u64) {
        for _ in 0..count {
            let acts = self.tick(&mut self.lock());
            acts.run();
        }
    }
}

#[cfg(test)]
mod tests;
