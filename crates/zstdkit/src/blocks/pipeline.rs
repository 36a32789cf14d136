//! The blocks in flight: threads undo the entropy coding of blocks ahead, in any order; the caller takes blocks
//! in order. A caller that would have to wait decodes a block itself.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::Reason;
use super::block::{Sources, Stored};
use super::entropy::Decoded;

/// Why a block has no content.
#[derive(Debug, Clone, Copy)]
pub(super) enum Fault {
    Corrupt(Reason),
    /// The thread that decoded it panicked.
    Panicked,
}

/// A block, as far as it is decoded.
pub(super) enum Slot {
    /// Stored as it is, or a part of such a block, behind the padding of its buffer.
    Raw(Vec<u8>),
    Repeated(u8, usize),
    Waiting(Task),
    /// A thread is at work on it.
    Busy,
    Decoded(Arc<Stored>, Decoded),
    Faulty(Fault),
}

/// A block whose entropy coding is to be undone.
pub(super) struct Task {
    pub(super) block: Arc<Stored>,
    pub(super) sources: Sources,
    /// The most content that it may have.
    pub(super) max: usize,
}

/// A block at a byte of the stream.
pub(super) struct Entry {
    pub(super) offset: u64,
    pub(super) slot: Slot,
}

/// What a call has brought.
pub(super) enum Next {
    /// The first block in order.
    Ready(Entry),
    /// A later block was decoded.
    Helped,
    /// Nothing, after waiting.
    Waited,
    /// No block is in flight.
    Idle,
}

/// Blocks in flight for each thread.
const DEPTH: usize = 4;

pub(super) struct Pipeline {
    shared: Arc<Shared>,
    threads_max: usize,
    threads: usize,
    in_flight: usize,
}

struct Shared {
    state: Mutex<State>,
    /// There is work, or the end has come.
    work: Condvar,
    /// The block that the caller waits for is decoded.
    ready: Condvar,
}

#[derive(Default)]
struct State {
    entries: VecDeque<Entry>,
    /// The number of the first entry.
    first: u64,
    /// The first block that no thread has begun, or an earlier number.
    next: u64,
    /// Threads that wait for work.
    sleeping: usize,
    /// The block that the caller waits for.
    awaited: Option<u64>,
    spare: Vec<Decoded>,
    closed: bool,
}

impl State {
    /// The next block that nobody has begun.
    fn begin(&mut self) -> Option<(u64, Task, Decoded)> {
        self.next = self.next.max(self.first);
        while let Some(entry) = self.entries.get_mut((self.next - self.first) as usize) {
            let number = self.next;
            self.next += 1;
            if let Slot::Waiting(_) = entry.slot
                && let Slot::Waiting(task) = std::mem::replace(&mut entry.slot, Slot::Busy)
            {
                return Some((number, task, self.spare.pop().unwrap_or_default()));
            }
        }
        None
    }

    fn finish(&mut self, number: u64, slot: Slot) {
        // The frame may have been abandoned.
        if let Some(at) = number.checked_sub(self.first)
            && let Some(entry) = self.entries.get_mut(at as usize)
        {
            entry.slot = slot;
        }
    }
}

fn decode(task: Task, mut decoded: Decoded) -> Slot {
    let Task {
        block,
        sources,
        max,
    } = task;
    match catch_unwind(AssertUnwindSafe(|| decoded.fill(&block, &sources, max))) {
        Ok(Ok(())) => Slot::Decoded(block, decoded),
        Ok(Err(reason)) => Slot::Faulty(Fault::Corrupt(reason)),
        Err(_) => Slot::Faulty(Fault::Panicked),
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn work(&self) {
        let mut state = self.lock();
        while !state.closed {
            let Some((number, task, spare)) = state.begin() else {
                state.sleeping += 1;
                state = self
                    .work
                    .wait(state)
                    .unwrap_or_else(PoisonError::into_inner);
                state.sleeping -= 1;
                continue;
            };
            drop(state);
            let slot = decode(task, spare);
            state = self.lock();
            state.finish(number, slot);
            if state.awaited == Some(number) {
                self.ready.notify_one();
            }
        }
    }
}

impl Pipeline {
    /// A pipeline for this many threads, the calling one included. Threads are started when there is work.
    pub(super) fn new(threads: usize) -> Self {
        Self {
            shared: Arc::new(Shared {
                state: Mutex::default(),
                work: Condvar::new(),
                ready: Condvar::new(),
            }),
            threads_max: threads.saturating_sub(1),
            threads: 0,
            in_flight: 0,
        }
    }

    /// The most blocks in flight for this many threads.
    pub(super) fn depth(threads: usize) -> usize {
        threads.max(1) * DEPTH
    }

    pub(super) fn threads(&self) -> usize {
        self.threads
    }

    pub(super) fn is_idle(&self) -> bool {
        self.in_flight == 0
    }

    /// Whether a block should be taken before another is added.
    pub(super) fn is_full(&self) -> bool {
        self.in_flight >= Self::depth(self.threads_max + 1)
    }

    /// Adds a block.
    pub(super) fn push(&mut self, entry: Entry) {
        let waiting = matches!(entry.slot, Slot::Waiting(_));
        let mut state = self.shared.lock();
        state.entries.push_back(entry);
        let wakes = waiting && state.sleeping > 0;
        drop(state);
        self.in_flight += 1;
        if wakes {
            self.shared.work.notify_one();
        }
        // A frame of one block is not worth a thread.
        if self.in_flight > 1 && self.threads < self.threads_max {
            self.start();
        }
    }

    fn start(&mut self) {
        let shared = self.shared.clone();
        let started = std::thread::Builder::new()
            .name("zstd-blocks".to_owned())
            .spawn(move || shared.work());
        match started {
            Ok(_) => self.threads += 1,
            // The caller does all the work then.
            Err(_) => self.threads_max = self.threads,
        }
    }

    /// Takes the first block in order. If it is not decoded, this decodes it or another one, or waits for it if a
    /// thread is at work on each, up to `wait`.
    pub(super) fn next(&mut self, wait: Duration) -> Next {
        let mut state = self.shared.lock();
        match state.entries.front() {
            None => return Next::Idle,
            Some(entry) if !matches!(entry.slot, Slot::Waiting(_) | Slot::Busy) => {}
            Some(_) => {
                if let Some((number, task, spare)) = state.begin() {
                    drop(state);
                    let slot = decode(task, spare);
                    state = self.shared.lock();
                    state.finish(number, slot);
                    if number != state.first {
                        return Next::Helped;
                    }
                } else {
                    state.awaited = Some(state.first);
                    if !wait.is_zero() {
                        let waited = self.shared.ready.wait_timeout_while(state, wait, |state| {
                            matches!(
                                state.entries.front(),
                                Some(Entry {
                                    slot: Slot::Busy,
                                    ..
                                })
                            )
                        });
                        state = waited.unwrap_or_else(PoisonError::into_inner).0;
                    }
                    state.awaited = None;
                    if matches!(
                        state.entries.front(),
                        Some(Entry {
                            slot: Slot::Busy,
                            ..
                        })
                    ) {
                        return Next::Waited;
                    }
                }
            }
        }
        let entry = state.entries.pop_front();
        state.first += 1;
        self.in_flight -= 1;
        entry.map_or(Next::Idle, Next::Ready)
    }

    /// Returns the memory of a block.
    pub(super) fn recycle(&mut self, decoded: Decoded) {
        self.shared.lock().spare.push(decoded);
    }

    /// Abandons all blocks.
    pub(super) fn forget(&mut self) {
        let mut state = self.shared.lock();
        state.first += state.entries.len() as u64;
        state.entries.clear();
        self.in_flight = 0;
    }
}

impl Drop for Pipeline {
    /// Each thread ends after its current block.
    fn drop(&mut self) {
        self.shared.lock().closed = true;
        self.shared.work.notify_all();
    }
}
