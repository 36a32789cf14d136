//! When the blocks of an open loop are due on one thread, and how far behind it is.
//!
//! What is due and not started is a number here, not a list: a loop that cannot keep up takes no
//! memory for what it owes.

use std::iter::Peekable;
use std::time::{Duration, Instant};

use latency::Schedule;

/// A start later than this after its due time is late.
const LATE_ABOVE: Duration = Duration::from_micros(1);
/// Most arrivals that one look counts as due; a loop that owes more counts on at the next look.
const AHEAD_MAX: u64 = 100_000;

/// The open loop of one thread.
#[derive(Debug, Clone)]
pub(crate) struct Arrivals {
    schedule: Peekable<Schedule>,
    ahead: Peekable<Schedule>,
    start: Instant,
    pub(crate) started: u64,
    pub(crate) due: u64,
    pub(crate) late: u64,
    pub(crate) backlog_max: u64,
    pub(crate) last_due_ns: u64,
}

impl Arrivals {
    pub(crate) fn new(schedule: Schedule, start: Instant) -> Self {
        Self {
            ahead: schedule.clone().peekable(),
            schedule: schedule.peekable(),
            start,
            started: 0,
            due: 0,
            late: 0,
            backlog_max: 0,
            last_due_ns: 0,
        }
    }

    fn at(&self, offset_ns: u64) -> Option<Instant> {
        self.start.checked_add(Duration::from_nanos(offset_ns))
    }

    /// When the next one is due; `None`: beyond any clock.
    pub(crate) fn next_due(&mut self) -> Option<Instant> {
        let offset = *self.schedule.peek()?;
        self.at(offset)
    }

    /// Counts what is due at `now`.
    pub(crate) fn look(&mut self, now: Instant) {
        let now_ns = now.saturating_duration_since(self.start).as_nanos();
        for _ in 0..AHEAD_MAX {
            match self.ahead.next_if(|offset| u128::from(*offset) <= now_ns) {
                Some(_) => self.due += 1,
                None => break,
            }
        }
        self.backlog_max = self.backlog_max.max(self.due.saturating_sub(self.started));
    }

    /// Takes one that is due at `now`, and gives its due time.
    pub(crate) fn take(&mut self, now: Instant) -> Option<Instant> {
        let due = self.next_due().filter(|due| *due <= now)?;
        self.last_due_ns = self.schedule.next()?;
        self.started += 1;
        if now - due > LATE_ABOVE {
            self.late += 1;
        }
        Some(due)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_due_is_given_with_its_own_time() {
        let start = Instant::now();
        let mut arrivals = Arrivals::new(Schedule::uniform(1_000.0).unwrap(), start);
        let now = start + Duration::from_micros(2_500);
        arrivals.look(now);
        assert_eq!((arrivals.due, arrivals.backlog_max), (3, 3));
        for millis in 0..3 {
            assert_eq!(
                arrivals.take(now),
                Some(start + Duration::from_millis(millis))
            );
        }
        assert_eq!(arrivals.take(now), None);
        assert_eq!((arrivals.started, arrivals.late), (3, 3));
        assert_eq!(arrivals.next_due(), Some(start + Duration::from_millis(3)));
    }
}
