//! Wakes threads that have nothing to do. Wake-ups may be spurious, and sleeps are short: a missed wake-up
//! costs a millisecond.

use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

/// The longest sleep.
pub(super) const SLEEP_MAX: Duration = Duration::from_millis(1);

/// Where threads sleep.
#[derive(Debug, Default)]
pub(super) struct Notifier {
    sleepers: AtomicUsize,
    lock: Mutex<()>,
    rung: Condvar,
}

impl Notifier {
    /// Wakes all sleeping threads.
    pub(super) fn notify(&self) {
        if self.sleepers.load(SeqCst) > 0 {
            let guard = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
            self.rung.notify_all();
            drop(guard);
        }
    }

    /// Sleeps for `time`, at most [`SLEEP_MAX`], unless there is already something to do.
    pub(super) fn wait(&self, time: Duration, already: impl Fn() -> bool) {
        self.sleepers.fetch_add(1, SeqCst);
        let guard = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
        if !already() {
            let woken = self.rung.wait_timeout(guard, time.min(SLEEP_MAX));
            drop(woken);
        }
        self.sleepers.fetch_sub(1, SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_sleeps_for_ever_or_without_need() {
        let notifier = Notifier::default();
        notifier.wait(Duration::from_secs(3600), || false);
        notifier.wait(Duration::from_secs(3600), || true);
        notifier.notify();
        assert_eq!(notifier.sleepers.load(SeqCst), 0);
    }
}
