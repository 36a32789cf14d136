//! A thread that sleeps until the other one has done something, and waking it.

use std::sync::atomic::{AtomicBool, Ordering, fence};
use std::sync::{Mutex, PoisonError};
use std::thread::{self, Thread};

/// Where one side of a queue sleeps.
#[derive(Debug, Default)]
pub(super) struct Sleeper {
    is_asleep: AtomicBool,
    thread: Mutex<Option<Thread>>,
}

impl Sleeper {
    /// Sleeps unless there is something to do; may return early.
    pub(super) fn sleep(&self, has_work: impl Fn() -> bool) {
        let mut thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner);
        *thread = Some(thread::current());
        drop(thread);
        self.is_asleep.store(true, Ordering::SeqCst);
        // Either this side sees the other's change, or the other side sees that this one sleeps.
        fence(Ordering::SeqCst);
        if !has_work() {
            thread::park();
        }
        self.is_asleep.store(false, Ordering::Relaxed);
    }

    /// Wakes the thread that sleeps here.
    #[inline]
    pub(super) fn wake(&self) {
        fence(Ordering::SeqCst);
        if self.is_asleep.load(Ordering::Relaxed) {
            self.unpark();
        }
    }

    #[cold]
    fn unpark(&self) {
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(thread) = &*thread {
            thread.unpark();
        }
    }
}
