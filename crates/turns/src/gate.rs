//! The line of tasks that wait for their thread: who works in the next turn.
//!
//! A turn is the time between two visits of the runtime to its other tasks. All streams and calls of a
//! thread share it. Those that find it over wait in line, in order of arrival, and every new turn admits as
//! many as fit. A stream keeps its place for some turns in a row while its context is warm. Who may have a context at
//! all is decided in [`contexts`](crate::contexts).
//!
//! Nothing here knows a clock: `turn` asks for turns, and says how long calls take.

mod conduct;

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Waker;

use crate::contexts::Seat;
use crate::keeps::Keeps;

/// How long a stream is preferred while others with a context wait. Tables that left the cache
/// take up to 400 µs to come back, so a twentieth at most is lost.
const LEASE_NS: u64 = 8_000_000;
/// The same while calls without a context wait.
const LEASE_BEFORE_CALLS_NS: u64 = 1_000_000;
/// A turn admits no more than this many of those in line, however short they say that their calls are.
const ADMITTED_MAX: u64 = 32;
/// How many times as long as usual a turn may be while another thread takes what waits, and how long at most.
const STRETCH: u64 = 4;
const STRETCHED_NS_MAX: u64 = 800_000;

/// The turn of a thread, and the line of those who wait for the next one.
#[derive(Debug, Default)]
pub(crate) struct Gate {
    /// Nanoseconds of work in this turn.
    held_ns: AtomicU64,
    /// Nanoseconds that are expected of those who were admitted to it and have not come yet.
    due_ns: AtomicU64,
    /// The same, of all that were admitted to this turn.
    planned_ns: AtomicU64,
    /// The ticket of the first that was admitted to this turn, plus one. 0: none was.
    first: AtomicU64,
    /// The stream that is preferred, and how long it has worked since.
    lease: AtomicU64,
    lease_ns: AtomicU64,
    /// Nanoseconds of work before this turn was made longer.
    before_ns: AtomicU64,
    /// The context that was used last.
    last: AtomicUsize,
    line: Mutex<Line>,
}

#[derive(Debug, Default)]
struct Line {
    /// In order of arrival, and so of their tickets.
    waiting: VecDeque<Waiter>,
    next_ticket: u64,
    /// Whether a conductor will begin the next turn.
    conducted: bool,
}

/// A stream in line.
#[derive(Debug)]
struct Waiter {
    ticket: u64,
    wish: Wish,
    /// Its place among those with a context.
    seat: Option<Arc<Seat>>,
    waker: Waker,
}

/// What a stream would do with its turn.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wish {
    /// The stream.
    pub(crate) stream: u64,
    /// The expected time of its next call, in nanoseconds.
    pub(crate) next_ns: u64,
    /// The longest turn that it allows, in nanoseconds.
    pub(crate) turn_ns: u64,
    /// What it keeps between its calls.
    pub(crate) keeps: Keeps,
}

/// Who begins the next turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Conductor {
    /// A stream that waits alone, when the runtime comes back to it.
    Itself,
    /// A conductor, which the caller must start.
    Wanted,
    /// The conductor that runs already.
    Another,
}

/// How long a turn may be while another thread takes what waits.
pub(crate) fn stretched_ns(turn_ns: u64) -> u64 {
    let stretched_ns = turn_ns.saturating_mul(STRETCH);
    stretched_ns.min(turn_ns.max(STRETCHED_NS_MAX))
}

impl Gate {
    /// Counts work of a stream.
    pub(crate) fn held(&self, stream: u64, ns: u64) {
        // Only the thread that owns this gate and the one that begins a turn write here, and a lost value
        // costs a turn that is once too long.
        self.held_ns
            .store(self.held_ns.load(Relaxed).saturating_add(ns), Relaxed);
        if self.lease.load(Relaxed) == stream {
            let worked = self.lease_ns.load(Relaxed).saturating_add(ns);
            self.lease_ns.store(worked, Relaxed);
        }
    }

    /// Whether this context was the last one used here: much of it is still in the cache.
    pub(crate) fn is_warm(&self, context: usize) -> bool {
        self.last.load(Relaxed) == context
    }

    /// This context is used.
    pub(crate) fn touch(&self, context: usize) {
        self.last.store(context, Relaxed);
    }

    /// Goes on with the turn of a gate that is not used any more.
    pub(crate) fn take_over(&self, before: &Self) {
        self.held_ns.store(before.held_ns.load(Relaxed), Relaxed);
    }

    /// Whether the turn is over for a call like this: others wait for the work done and for this call. The
    /// first call of a turn is always admitted.
    pub(crate) fn is_over(&self, wish: Wish) -> bool {
        let held_ns = self.held_ns.load(Relaxed);
        let held_ns = held_ns.saturating_add(self.due_ns.load(Relaxed));
        held_ns > 0 && held_ns.saturating_add(wish.next_ns) > wish.turn_ns
    }

    /// Starts a turn without looking at the line.
    pub(crate) fn clear(&self) {
        self.held_ns.store(0, Relaxed);
        self.due_ns.store(0, Relaxed);
        self.before_ns.store(0, Relaxed);
        self.planned_ns.store(0, Relaxed);
        self.first.store(0, Relaxed);
    }

    /// Makes this turn longer for such a call, if the line is empty and the turn does not get too long.
    pub(crate) fn stretch(&self, wish: Wish) -> bool {
        let held_ns = self.held_ns.load(Relaxed);
        let before_ns = self.before_ns.load(Relaxed).saturating_add(held_ns);
        let most_ns = stretched_ns(wish.turn_ns);
        let fits = before_ns.saturating_add(wish.next_ns) <= most_ns;
        let may = fits && self.line().waiting.is_empty();
        if may {
            self.held_ns.store(0, Relaxed);
            self.before_ns.store(before_ns, Relaxed);
        }
        may
    }

    /// A stream that was admitted begins a call of this expected length.
    pub(crate) fn arrived(&self, next_ns: u64) {
        let due_ns = self.due_ns.load(Relaxed).saturating_sub(next_ns);
        self.due_ns.store(due_ns, Relaxed);
    }

    /// Whether the turn has taken all the time that it may although more were admitted to it: those before took longer
    /// than expected. The first one goes on nevertheless, so that it does not wait for ever.
    pub(crate) fn is_late(&self, ticket: Option<u64>, turn_ns: u64) -> bool {
        let most_ns = turn_ns.max(self.planned_ns.load(Relaxed)).max(1);
        let first = self.first.load(Relaxed);
        self.held_ns.load(Relaxed) >= most_ns && ticket.is_none_or(|ticket| ticket + 1 != first)
    }

    /// Joins the line, at the place of this ticket if there was one before. Returns the ticket and who begins the next
    /// turn.
    pub(crate) fn join(
        &self,
        before: Option<u64>,
        wish: Wish,
        seat: Option<Arc<Seat>>,
        waker: &Waker,
    ) -> (u64, Conductor) {
        let mut line = self.line();
        let conductor = match line.conducted {
            true => Conductor::Another,
            false if line.waiting.is_empty() => Conductor::Itself,
            false => Conductor::Wanted,
        };
        let ticket = before.unwrap_or(line.next_ticket);
        line.next_ticket += u64::from(before.is_none());
        if let Some(seat) = &seat {
            seat.waits_for_turn(true);
        }
        let waiter = Waiter {
            ticket,
            wish,
            seat,
            waker: waker.clone(),
        };
        let place = line.waiting.partition_point(|other| other.ticket < ticket);
        line.waiting.insert(place, waiter);
        line.conducted |= conductor == Conductor::Wanted;
        (ticket, conductor)
    }

    /// Whether this ticket still waits. It then wakes this waker.
    pub(crate) fn waits(&self, ticket: u64, waker: &Waker) -> bool {
        // Dropped without the lock: it is not known what that does.
        let mut _before = None;
        let mut line = self.line();
        let Some(place) = line.place(ticket) else {
            return false;
        };
        let known = &mut line.waiting[place].waker;
        if !known.will_wake(waker) {
            _before = Some(std::mem::replace(known, waker.clone()));
        }
        true
    }

    /// Leaves the line, if the ticket is still there.
    pub(crate) fn leave(&self, ticket: u64) {
        let mut line = self.line();
        let left = line.place(ticket).and_then(|place| line.take(place));
        drop(line);
        drop(left);
    }

    /// Begins a turn and admits those whose calls fit, at least one, and one more for each of these threads that have
    /// nothing to do. `false`: the line is empty, and its conductor ends.
    pub(crate) fn begin(&self, parked: usize) -> bool {
        self.clear();
        let mut admitted = Vec::new();
        let mut line = self.line();
        if line.waiting.is_empty() {
            line.conducted = false;
            return false;
        }
        let (mut expected_ns, mut due_ns) = (0_u64, 0_u64);
        let lease_ns = line.lease_ns();
        while let Some(place) = line.next(self.leased(lease_ns)) {
            let wish = line.waiting[place].wish;
            let next_ns = wish.next_ns.max(wish.turn_ns / ADMITTED_MAX);
            let mut after_ns = expected_ns.saturating_add(next_ns);
            if expected_ns > 0 && after_ns > wish.turn_ns {
                break;
            }
            if wish.keeps == Keeps::Context && self.goes_on(wish.stream, lease_ns) {
                // It goes on for all of the turn, so no other stream is woken for a single call.
                after_ns = after_ns.max(wish.turn_ns);
            }
            if expected_ns == 0 {
                self.first.store(line.waiting[place].ticket + 1, Relaxed);
                if self.lease.swap(wish.stream, Relaxed) != wish.stream {
                    self.lease_ns.store(0, Relaxed);
                }
            }
            expected_ns = after_ns.max(1);
            due_ns = due_ns.saturating_add(wish.next_ns);
            admitted.extend(line.take(place));
        }
        let for_others = line.take_for_others(parked, &mut due_ns);
        self.due_ns.store(due_ns, Relaxed);
        self.planned_ns.store(due_ns, Relaxed);
        drop(line);
        // The task that is woken last stays on this thread; those before it can be taken by others.
        for waiter in for_others.into_iter().chain(admitted) {
            waiter.waker.wake();
        }
        true
    }

    /// Admits all: there is no conductor to begin turns.
    pub(crate) fn open(&self) {
        self.clear();
        let mut line = self.line();
        line.conducted = false;
        let waiting = std::mem::take(&mut line.waiting);
        drop(line);
        for waiter in waiting {
            waiter.admitted();
            waiter.waker.wake();
        }
    }

    /// Whether this stream is leased for so long, and has worked since.
    fn goes_on(&self, stream: u64, lease_ns: u64) -> bool {
        self.leased(lease_ns) == Some(stream) && self.lease_ns.load(Relaxed) > 0
    }

    /// The stream that goes first, for so long.
    fn leased(&self, lease_ns: u64) -> Option<u64> {
        (self.lease_ns.load(Relaxed) < lease_ns).then(|| self.lease.load(Relaxed))
    }

    fn line(&self) -> MutexGuard<'_, Line> {
        self.line.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Line {
    /// How long one of those in line is preferred.
    fn lease_ns(&self) -> u64 {
        let is_call = |waiter: &Waiter| waiter.wish.keeps == Keeps::Nothing;
        match self.waiting.iter().any(is_call) {
            true => LEASE_BEFORE_CALLS_NS,
            false => LEASE_NS,
        }
    }

    /// Takes a stream out of the line.
    fn take(&mut self, place: usize) -> Option<Waiter> {
        let waiter = self.waiting.remove(place)?;
        waiter.admitted();
        Some(waiter)
    }

    /// Takes the first ones for as many other threads. If all of them stay on this one nevertheless, the turn is no longer
    /// than that of a stream that works alone.
    fn take_for_others(&mut self, threads: usize, due_ns: &mut u64) -> Vec<Waiter> {
        let mut taken = Vec::new();
        while taken.len() < threads {
            let Some(Wish {
                next_ns, turn_ns, ..
            }) = self.waiting.front().map(|first| first.wish)
            else {
                break;
            };
            let with_ns = due_ns.saturating_add(next_ns);
            if with_ns > stretched_ns(turn_ns) {
                break;
            }
            *due_ns = with_ns;
            taken.extend(self.take(0));
        }
        taken
    }

    fn place(&self, ticket: u64) -> Option<usize> {
        self.waiting
            .binary_search_by_key(&ticket, |waiter| waiter.ticket)
            .ok()
    }

    /// Who is next.
    fn next(&self, leased: Option<u64>) -> Option<usize> {
        let holds = |waiter: &Waiter| Some(waiter.wish.stream) == leased;
        let first = (!self.waiting.is_empty()).then_some(0);
        self.waiting.iter().position(holds).or(first)
    }
}

impl Waiter {
    /// It waits no more.
    fn admitted(&self) {
        if let Some(seat) = &self.seat {
            seat.waits_for_turn(false);
        }
    }
}

#[cfg(test)]
mod tests;
