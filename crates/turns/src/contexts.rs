//! The contexts that are at work on a runtime, and the line of tasks that wait to open one.
//!
//! The tables of a large context are only fast while they are in the cache of a processor, so there should be no more
//! contexts at work than processors, and no more of them inside of the runtime than it has workers. A task that would
//! open one more waits in a line of the runtime, in order of arrival: not in a line of its thread, as tasks wander between
//! threads. When a context is given back, the next in line is woken.
//!
//! A task may stop working without saying so: it waits for something else, or is never polled again. It must not hold up
//! the others. While tasks wait, those at work are looked at now and then, and one that shows no sign of life is no longer
//! counted. If it goes on later it comes back without waiting: a context that is open is not closed.
//!
//! Many that come back now and then, as connections do, seem to be at work all the time. So the first in line opens its
//! context, too, when a look finds a worker of the runtime with nothing to do.
//!
//! Only [`watch`] reads a clock; the rest is given the time.

mod watch;

use std::collections::VecDeque;
use std::num::NonZero;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::task::Waker;
use std::thread::available_parallelism;

use tokio::runtime::{Handle, Id, RuntimeMetrics};

pub(crate) use self::watch::now_ns;
use crate::idle::idle_workers;

/// Contexts at work on a runtime: as many as there are processors, but not fewer than this. While one is used on
/// another thread, the next one is ready.
const MOST_LEAST: usize = 2;
/// After this time without a sign of life a task is not at work.
const QUIET_NS: u64 = 2_000_000;
/// The same where another thread has ended work for it. That thread may not have come to say so.
const BACK_NS: u64 = 10_000_000;
/// After this time without progress the first in line opens its context, however many are at work.
const PATIENCE_NS: u64 = 400_000_000;
/// After this time in line a task opens its context, whatever the others do: those at work may be connections, which
/// never end. One a look: that is spread.
const WAIT_NS: u64 = 10_000_000_000;

/// The contexts of a runtime.
#[derive(Debug)]
pub(crate) struct Contexts {
    /// The most that are at work, those on other threads included.
    most: usize,
    /// The most that are at work in the runtime.
    inside_most: usize,
    /// They say which workers have nothing to do.
    metrics: Option<RuntimeMetrics>,
    line: Mutex<Line>,
}

#[derive(Debug, Default)]
struct Line {
    at_work: Vec<Member>,
    /// In order of arrival.
    waiting: VecDeque<Waiting>,
    /// Whether a thread watches those at work.
    watched: bool,
    /// When a task was last admitted, or the line began, as the first look after that saw it.
    moved_ns: Option<u64>,
}

/// A task in line.
#[derive(Debug)]
struct Waiting {
    seat: Arc<Seat>,
    waker: Waker,
    since_ns: u64,
}

/// A task at work, and what was last seen of it.
#[derive(Debug)]
struct Member {
    seat: Arc<Seat>,
    signs: u64,
    /// When it was first seen without a new sign.
    quiet_ns: Option<u64>,
}

/// The place of a task among those with a context.
#[derive(Debug, Default)]
pub(crate) struct Seat {
    state: AtomicU8,
    /// Grows with each sign of life.
    signs: AtomicU64,
    /// Waits for its turn: it goes on by itself.
    in_line: AtomicBool,
    /// Works on other threads: it goes on by itself.
    away: AtomicUsize,
    /// Another thread has ended its work, and the task has not looked since.
    back: AtomicUsize,
}

/// Neither waits nor works.
const OUT: u8 = 0;
const WAITS: u8 = 1;
/// Has a context, or may open one.
const AT_WORK: u8 = 2;

impl Contexts {
    /// Those of a runtime.
    pub(crate) fn of(runtime: &Handle) -> Arc<Self> {
        static KNOWN: Mutex<Vec<(Id, Weak<Contexts>)>> = Mutex::new(Vec::new());
        let id = runtime.id();
        let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        let found = known.iter().find(|(known, _)| *known == id);
        if let Some(contexts) = found.and_then(|(_, contexts)| contexts.upgrade()) {
            return contexts;
        }
        let metrics = runtime.metrics();
        let contexts = Arc::new(Self {
            metrics: Some(metrics.clone()),
            ..Self::new(processors(), metrics.num_workers())
        });
        known.retain(|(_, contexts)| contexts.strong_count() > 0);
        known.push((id, Arc::downgrade(&contexts)));
        contexts
    }

    fn new(processors: usize, workers: usize) -> Self {
        Self {
            most: processors.max(MOST_LEAST),
            inside_most: workers.max(1),
            metrics: None,
            line: Mutex::default(),
        }
    }

    /// Whether this task may open its context now. Otherwise it waits in line, and is woken.
    pub(crate) fn enter(self: &Arc<Self>, seat: &Arc<Seat>, waker: &Waker, now_ns: u64) -> bool {
        let mut line = self.line();
        if seat.state() == AT_WORK {
            return true;
        }
        line.forget_quiet(now_ns);
        if line.waiting.is_empty() && !self.is_full(&line) {
            line.admit(seat.clone());
            return true;
        }
        line.waiting.push_back(Waiting {
            seat: seat.clone(),
            waker: waker.clone(),
            since_ns: now_ns,
        });
        seat.set(WAITS);
        // Others may have stopped to work.
        self.call(line);
        seat.state() == AT_WORK
    }

    /// Whether this seat still waits. It then wakes this waker.
    pub(crate) fn waits(&self, seat: &Arc<Seat>, waker: &Waker) -> bool {
        // Dropped without the lock: it is not known what that does.
        let mut _before = None;
        let mut line = self.line();
        if seat.state() != WAITS {
            return false;
        }
        let mut waiting = line.waiting.iter_mut();
        let place = waiting.find(|one| Arc::ptr_eq(&one.seat, seat));
        if let Some(one) = place.filter(|one| !one.waker.will_wake(waker)) {
            _before = Some(std::mem::replace(&mut one.waker, waker.clone()));
        }
        true
    }

    /// This task works with a context, whether there is room for it or not.
    pub(crate) fn come_back(&self, seat: &Arc<Seat>) {
        let mut line = self.line();
        let left = line.take(seat);
        line.admit(seat.clone());
        drop(line);
        drop(left);
    }

    /// This task has given its context back, or waits no more.
    pub(crate) fn leave(self: &Arc<Self>, seat: &Arc<Seat>) {
        let mut line = self.line();
        let left = line.take(seat);
        line.at_work
            .retain(|member| !Arc::ptr_eq(&member.seat, seat));
        seat.set(OUT);
        self.call(line);
        drop(left);
    }

    /// This task waits for something else than its turn: others need not wait for it.
    pub(crate) fn pause(self: &Arc<Self>, seat: &Arc<Seat>) {
        let mut line = self.line();
        if !line.waiting.is_empty() && seat.state() == AT_WORK {
            line.at_work
                .retain(|member| !Arc::ptr_eq(&member.seat, seat));
            seat.set(OUT);
            self.call(line);
        }
    }

    /// Looks at those at work, at this time. Returns whether tasks wait for them.
    pub(crate) fn visit(&self, now_ns: u64) -> bool {
        self.look(
            now_ns,
            self.metrics
                .as_ref()
                .is_some_and(|metrics| idle_workers(metrics) > 0),
        )
    }

    /// The same where it is known whether a worker has nothing to do.
    fn look(&self, now_ns: u64, idle: bool) -> bool {
        let mut line = self.line();
        line.forget_quiet(now_ns);
        let mut wakers = Vec::new();
        if line.waiting.is_empty() {
            line.moved_ns = None;
        } else {
            let moved_ns = *line.moved_ns.get_or_insert(now_ns);
            let stands = now_ns.saturating_sub(moved_ns) > PATIENCE_NS;
            let first = line.waiting.front();
            // Work on other threads takes processors, too.
            let idle = idle && line.away() < self.most;
            if stands || idle || first.is_some_and(|first| first.has_waited(now_ns)) {
                wakers.extend(line.admit_first());
            }
        }
        self.admit(&mut line, &mut wakers);
        let waits = !line.waiting.is_empty();
        drop(line);
        wake(wakers);
        waits
    }

    /// The thread that watches ends, unless tasks wait. Returns whether it does.
    fn unwatched(&self) -> bool {
        let mut line = self.line();
        line.watched = !line.waiting.is_empty();
        !line.watched
    }

    /// Another thread begins to work for this task.
    pub(crate) fn away(self: &Arc<Self>, seat: &Seat) {
        seat.away.fetch_add(1, Relaxed);
        // Others may open one here.
        self.call(self.line());
    }

    /// Admits all: there is no thread that watches.
    pub(crate) fn open(&self) {
        let mut line = self.line();
        line.watched = false;
        let waiting = std::mem::take(&mut line.waiting);
        for one in &waiting {
            line.admit(one.seat.clone());
        }
        drop(line);
        wake(waiting.into_iter().map(|one| one.waker));
    }

    /// Wakes those in line for whom there is room.
    fn call(self: &Arc<Self>, mut line: MutexGuard<'_, Line>) {
        let mut wakers = Vec::new();
        self.admit(&mut line, &mut wakers);
        let watch = !line.waiting.is_empty() && !std::mem::replace(&mut line.watched, true);
        drop(line);
        wake(wakers);
        if watch {
            self.watch();
        }
    }

    fn admit(&self, line: &mut Line, wakers: &mut Vec<Waker>) {
        while !self.is_full(line) {
            match line.admit_first() {
                Some(waker) => wakers.push(waker),
                None => break,
            }
        }
    }

    fn is_full(&self, line: &Line) -> bool {
        line.at_work.len() >= self.most || line.inside() >= self.inside_most
    }

    fn line(&self) -> MutexGuard<'_, Line> {
        self.line.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Line {
    fn admit(&mut self, seat: Arc<Seat>) {
        if seat.state() == AT_WORK {
            return;
        }
        seat.set(AT_WORK);
        self.at_work.push(Member {
            signs: seat.signs.load(Relaxed),
            seat,
            quiet_ns: None,
        });
    }

    /// Takes a task out of the line.
    fn take(&mut self, seat: &Arc<Seat>) -> Option<Waiting> {
        if !seat.waits() {
            return None;
        }
        let waits = |one: &Waiting| Arc::ptr_eq(&one.seat, seat);
        let place = self.waiting.iter().position(waits)?;
        self.waiting.remove(place)
    }

    /// The first in line waits no more, and is to be woken.
    fn admit_first(&mut self) -> Option<Waker> {
        let first = self.waiting.pop_front()?;
        self.moved_ns = None;
        self.admit(first.seat);
        Some(first.waker)
    }

    /// How many work inside of the runtime.
    fn inside(&self) -> usize {
        let inside = |member: &&Member| !member.seat.is_away();
        self.at_work.iter().filter(inside).count()
    }

    /// How many work on other threads.
    fn away(&self) -> usize {
        self.at_work.len() - self.inside()
    }

    /// Does not count those any more that are not at work.
    fn forget_quiet(&mut self, now_ns: u64) {
        self.at_work.retain_mut(|member| {
            let quiet = member.is_quiet(now_ns);
            if quiet {
                member.seat.set(OUT);
            }
            !quiet
        });
    }
}

impl Waiting {
    /// Whether it has stood in line for so long that it waits no more.
    fn has_waited(&self, now_ns: u64) -> bool {
        now_ns.saturating_sub(self.since_ns) > WAIT_NS
    }
}

impl Member {
    /// Whether it is not at work any more.
    fn is_quiet(&mut self, now_ns: u64) -> bool {
        let seat = &self.seat;
        let signs = seat.signs.load(Relaxed);
        if signs != self.signs || seat.is_away() || seat.is_in_line() {
            (self.signs, self.quiet_ns) = (signs, None);
            return false;
        }
        let since_ns = *self.quiet_ns.get_or_insert(now_ns);
        let most_ns = match seat.back.load(Relaxed) {
            0 => QUIET_NS,
            _ => BACK_NS,
        };
        now_ns.saturating_sub(since_ns) > most_ns
    }
}

impl Seat {
    /// The task has worked.
    pub(crate) fn sign(&self) {
        // Only the task itself writes here, and who admits it to a turn: a lost sign does no harm.
        let signs = self.signs.load(Relaxed);
        self.signs.store(signs.wrapping_add(1), Relaxed);
    }

    /// Another thread has ended its work for the task.
    pub(crate) fn ended(&self) {
        self.back.fetch_add(1, Relaxed);
        self.away.fetch_sub(1, Relaxed);
    }

    /// The task has seen that another thread no longer works for it, or it was dropped.
    pub(crate) fn seen(&self, ended: bool) {
        let count = if ended { &self.back } else { &self.away };
        count.fetch_sub(1, Relaxed);
        self.sign();
    }

    /// Whether it counts among those at work.
    pub(crate) fn is_at_work(&self) -> bool {
        self.state() == AT_WORK
    }

    /// Whether it stands in line.
    pub(crate) fn waits(&self) -> bool {
        self.state() == WAITS
    }

    /// It waits for its turn, or no more.
    pub(crate) fn waits_for_turn(&self, waits: bool) {
        self.sign();
        self.in_line.store(waits, Relaxed);
    }

    /// Whether it waits for its turn.
    pub(crate) fn is_in_line(&self) -> bool {
        self.in_line.load(Relaxed)
    }

    fn is_away(&self) -> bool {
        self.away.load(Relaxed) > 0
    }

    fn state(&self) -> u8 {
        self.state.load(Relaxed)
    }

    /// Only with the lock of the line.
    fn set(&self, state: u8) {
        self.state.store(state, Relaxed);
    }
}

/// Without the lock: it is not known what wakers do.
fn wake(wakers: impl IntoIterator<Item = Waker>) {
    for waker in wakers {
        waker.wake();
    }
}

fn processors() -> usize {
    static PROCESSORS: OnceLock<usize> = OnceLock::new();
    *PROCESSORS.get_or_init(|| available_parallelism().map_or(1, NonZero::get))
}

#[cfg(test)]
mod tests;
