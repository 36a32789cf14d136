//! Waiting for a due time: sleeping first, then spinning.

use std::time::{Duration, Instant};

/// Longest single sleep of a wait that can be interrupted: an interrupt is seen within this time.
const SLEEP_MAX: Duration = Duration::from_millis(50);

/// How to wait until the next operation is due.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Wait {
    /// Sleep until this long before the due time, then spin. A sleep overshoots by tens of microseconds,
    /// and by more on a virtual machine.
    SleepThenSpin(Duration),
    /// Spin all the time: the thread occupies one processor.
    Spin,
}

impl Default for Wait {
    fn default() -> Self {
        Self::SleepThenSpin(Duration::from_millis(1))
    }
}

impl Wait {
    /// Waits until `due`. Returns the time at which the wait ended, which is `due` or later.
    pub fn until(self, due: Instant) -> Instant {
        loop {
            let now = Instant::now();
            let left = due.saturating_duration_since(now);
            if left.is_zero() {
                return now;
            }
            self.pause(left, Duration::MAX);
        }
    }

    /// As [`Wait::until`], but returns `None` within 50 ms after `interrupted` returns true. An operation
    /// that is due already is never given up.
    pub fn until_or(self, due: Instant, interrupted: impl Fn() -> bool) -> Option<Instant> {
        loop {
            let now = Instant::now();
            let left = due.saturating_duration_since(now);
            if left.is_zero() {
                return Some(now);
            }
            if interrupted() {
                return None;
            }
            self.pause(left, SLEEP_MAX);
        }
    }

    /// One sleep or one spin while there is time `left`.
    fn pause(self, left: Duration, sleep_max: Duration) {
        match self {
            Self::SleepThenSpin(margin) if left > margin => {
                std::thread::sleep(left.saturating_sub(margin).min(sleep_max));
            }
            _ => std::hint::spin_loop(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiting_ends_at_the_due_time_or_later() {
        for wait in [Wait::Spin, Wait::default()] {
            let due = Instant::now() + Duration::from_millis(3);
            assert!(wait.until(due) >= due);
            let due = Instant::now() + Duration::from_millis(3);
            assert!(wait.until_or(due, || false).is_some_and(|end| end >= due));
        }
    }

    #[test]
    fn an_interrupt_ends_a_wait_and_not_what_is_due() {
        let start = Instant::now();
        let due = start + Duration::from_secs(3_600);
        assert_eq!(Wait::default().until_or(due, || true), None);
        assert!(start.elapsed() < Duration::from_secs(60));
        assert!(Wait::default().until_or(start, || true).is_some());
    }
}
