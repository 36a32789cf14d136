//! The pool: workers, the source that they share, and the receiver.

use std::any::Any;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crate::Error;

/// Items beyond two per worker: some wait for one before them, one is being received.
const ITEMS_SPARE: usize = 2;
/// How often the receiver looks at the wish to cancel while no result comes.
const POLL: Duration = Duration::from_millis(50);

/// How a run is done. The default is enough for most.
#[derive(Debug, Clone)]
pub struct Pool {
    in_flight: Option<usize>,
    name: Option<&'static str>,
}

impl Default for Pool {
    fn default() -> Self {
        Self::new()
    }
}

/// The end of a run.
#[derive(Debug)]
#[non_exhaustive]
pub struct Ended<W, E> {
    /// The states of the workers, in no particular order. The state of a worker that panicked is lost.
    pub workers: Vec<W>,
    /// Whether all items were received. A cancelled run is `Ok`: the caller knows that it cancelled.
    pub result: Result<(), Error<E>>,
}

/// Whether a run is to stop, for a source that waits for its next item.
pub struct Stop<'a> {
    ended: &'a AtomicBool,
    cancelled: &'a (dyn Fn() -> bool + Sync),
}

impl std::fmt::Debug for Stop<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Stop")
            .field("is_set", &self.is_set())
            .finish()
    }
}

impl Stop<'_> {
    /// Whether the caller cancelled, or the run has failed.
    #[must_use]
    pub fn is_set(&self) -> bool {
        self.ended.load(Ordering::Relaxed) || (self.cancelled)()
    }
}

/// An item with its result, on its way round.
#[derive(Debug, Default)]
struct Slot<I, O> {
    number: u64,
    /// The worker that had it last: its memory is in the cache of that one.
    worker: usize,
    item: I,
    result: O,
}

impl Pool {
    /// A pool with two items in flight per worker and two more.
    #[must_use]
    pub fn new() -> Self {
        Self {
            in_flight: None,
            name: None,
        }
    }

    /// Sets how many items exist at a time, at least one per worker: fetched, worked on, or waiting
    /// for one before them. More of them help where some items take much longer than others.
    #[must_use]
    pub fn in_flight(mut self, items: usize) -> Self {
        self.in_flight = Some(items);
        self
    }

    /// Sets the name of the threads.
    #[must_use]
    pub fn name(mut self, name: &'static str) -> Self {
        self.name = Some(name);
        self
    }

    /// Runs until `next` has no more items. See [`run_until`](Self::run_until).
    pub fn run<I, O, W, E>(
        &self,
        workers: Vec<W>,
        next: impl FnMut(&mut I, &Stop<'_>) -> bool + Send,
        work: impl Fn(&mut W, &mut I, &mut O) + Sync,
        receive: impl FnMut(&mut I, &mut O) -> Result<(), E>,
    ) -> Ended<W, E>
    where
        I: Default + Send,
        O: Default + Send,
        W: Send,
    {
        self.run_until(&|| false, workers, next, work, receive)
    }

    /// Runs one thread per state in `workers` until `next` has no more items or `cancelled` is true.
    ///
    /// `next` fills an item and says whether there is one; one thread at a time calls it, in the order
    /// of the items, and not again after it returned `false`. While it waits for something, it has to
    /// look at [`Stop::is_set`] now and then.
    /// `work` makes a result of an item. `receive` gets both on the calling thread, in order. Items and
    /// results are used again: `next` and `work` find them as they were left.
    ///
    /// With one state no thread is started, and a panic of `work` is the caller's own.
    pub fn run_until<I, O, W, E>(
        &self,
        cancelled: &(dyn Fn() -> bool + Sync),
        mut workers: Vec<W>,
        mut next: impl FnMut(&mut I, &Stop<'_>) -> bool + Send,
        work: impl Fn(&mut W, &mut I, &mut O) + Sync,
        mut receive: impl FnMut(&mut I, &mut O) -> Result<(), E>,
    ) -> Ended<W, E>
    where
        I: Default + Send,
        O: Default + Send,
        W: Send,
    {
        let ended = AtomicBool::new(false);
        let stop = Stop {
            ended: &ended,
            cancelled,
        };
        if let [worker] = workers.as_mut_slice() {
            let result = alone(&stop, worker, &mut next, &work, &mut receive);
            return Ended { workers, result };
        }
        let threads = workers.len();
        let (give, free) = channel::<Slot<I, O>>();
        let (done, made) = channel();
        let slots = self.in_flight.unwrap_or(2 * threads + ITEMS_SPARE);
        for _ in 0..slots.max(threads) {
            let _ = give.send(Slot::default());
        }
        let source = Mutex::new(Source {
            next,
            free,
            idle: Vec::with_capacity(slots),
            number: 0,
            ended: false,
        });
        std::thread::scope(|scope| {
            // Workers end when this thread does, by a panic too.
            let _ended = OnDrop(|| ended.store(true, Ordering::Relaxed));
            let mut helpers = Vec::with_capacity(threads);
            let mut error = None;
            for (number, worker) in workers.into_iter().enumerate() {
                let (source, done, stop, work) = (&source, done.clone(), &stop, &work);
                let life = move || labour(number, worker, stop, source, work, &done);
                let mut builder = std::thread::Builder::new();
                if let Some(name) = self.name {
                    builder = builder.name(name.to_owned());
                }
                match builder.spawn_scoped(scope, life) {
                    Ok(helper) => helpers.push(helper),
                    // The threads that did start do the work.
                    Err(failed) => {
                        error = Some(failed);
                        break;
                    }
                }
            }
            drop(done);
            let mut result = match error {
                Some(error) if helpers.is_empty() => Err(Error::Thread(error)),
                _ => in_order(&stop, &made, &give, &mut receive),
            };
            ended.store(true, Ordering::Relaxed);
            // A worker that waits for a free slot ends when no more can come.
            drop((give, made));
            let mut workers = Vec::with_capacity(helpers.len());
            for helper in helpers {
                match helper.join() {
                    Ok(Some(worker)) => workers.push(worker),
                    // It has sent its panic before.
                    Ok(None) => {}
                    Err(payload) => result = Err(Error::Panicked(payload)),
                }
            }
            Ended { workers, result }
        })
    }
}

/// Does all on the calling thread.
fn alone<I: Default, O: Default, W, E>(
    stop: &Stop<'_>,
    worker: &mut W,
    next: &mut impl FnMut(&mut I, &Stop<'_>) -> bool,
    work: &impl Fn(&mut W, &mut I, &mut O),
    receive: &mut impl FnMut(&mut I, &mut O) -> Result<(), E>,
) -> Result<(), Error<E>> {
    let mut slot = Slot::<I, O>::default();
    while !stop.is_set() && next(&mut slot.item, stop) {
        work(worker, &mut slot.item, &mut slot.result);
        receive(&mut slot.item, &mut slot.result).map_err(Error::Receiver)?;
    }
    Ok(())
}

/// Where items come from, one worker at a time.
struct Source<N, I, O> {
    next: N,
    free: Receiver<Slot<I, O>>,
    /// Slots that came back, the last one last.
    idle: Vec<Slot<I, O>>,
    number: u64,
    ended: bool,
}

impl<I, O, N: FnMut(&mut I, &Stop<'_>) -> bool> Source<N, I, O> {
    fn next(&mut self, worker: usize, stop: &Stop<'_>) -> Option<Slot<I, O>> {
        if self.ended {
            return None;
        }
        let mut slot = self.idle_slot(worker)?;
        slot.worker = worker;
        slot.number = self.number;
        self.number += 1;
        self.ended = stop.is_set() || !(self.next)(&mut slot.item, stop);
        (!self.ended).then_some(slot)
    }

    /// A slot that nothing is done with: the one that this worker had last, or the one that came back
    /// last. Few slots are in use then where results are received at once, and they stay in the cache.
    fn idle_slot(&mut self, worker: usize) -> Option<Slot<I, O>> {
        self.idle.extend(self.free.try_iter());
        let own = self.idle.iter().rposition(|slot| slot.worker == worker);
        match own {
            Some(own) => Some(self.idle.remove(own)),
            None => self.idle.pop(),
        }
        // It ends when the receiver is gone: no more slots come round.
        .or_else(|| self.free.recv().ok())
    }
}

/// Calls a function when it goes out of scope, in whichever way.
struct OnDrop<F: FnMut()>(F);

impl<F: FnMut()> Drop for OnDrop<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

/// What a worker sends: an item that is done, or the payload of its panic.
type Sent<I, O> = Result<Slot<I, O>, Box<dyn Any + Send>>;

/// The life of a worker; its state, unless it panicked.
fn labour<I, O, W, N: FnMut(&mut I, &Stop<'_>) -> bool>(
    number: usize,
    mut worker: W,
    stop: &Stop<'_>,
    source: &Mutex<Source<N, I, O>>,
    work: &impl Fn(&mut W, &mut I, &mut O),
    done: &Sender<Sent<I, O>>,
) -> Option<W> {
    let toil = || {
        loop {
            let next = source
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .next(number, stop);
            let Some(mut slot) = next else {
                return;
            };
            work(&mut worker, &mut slot.item, &mut slot.result);
            if done.send(Ok(slot)).is_err() {
                return;
            }
        }
    };
    // A panic leaves only the worker's state and its item half done, and nothing reads these.
    match catch_unwind(AssertUnwindSafe(toil)) {
        Ok(()) => Some(worker),
        Err(payload) => {
            let _ = done.send(Err(payload));
            None
        }
    }
}

fn in_order<I, O, E>(
    stop: &Stop<'_>,
    made: &Receiver<Sent<I, O>>,
    give: &Sender<Slot<I, O>>,
    receive: &mut impl FnMut(&mut I, &mut O) -> Result<(), E>,
) -> Result<(), Error<E>> {
    let mut waiting = BTreeMap::new();
    let mut next = 0;
    loop {
        match made.recv_timeout(POLL) {
            Ok(Ok(slot)) => drop(waiting.insert(slot.number, slot)),
            Ok(Err(payload)) => return Err(Error::Panicked(payload)),
            Err(RecvTimeoutError::Timeout) if !stop.is_set() => continue,
            // All is done, or the caller cancelled.
            Err(_) => return Ok(()),
        }
        while let Some(mut slot) = waiting.remove(&next) {
            next += 1;
            receive(&mut slot.item, &mut slot.result).map_err(Error::Receiver)?;
            let _ = give.send(slot);
            if stop.is_set() {
                return Ok(());
            }
        }
    }
}
