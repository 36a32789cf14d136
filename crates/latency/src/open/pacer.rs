//! The due times of one thread of an open loop, and how far behind them it is.
//!
//! What is due and not started is a number here, not a list: a loop that cannot keep up needs no memory
//! for its backlog. Nothing waits and nothing is recorded here; [`crate::OpenLoop`] adds both.

use std::time::{Duration, Instant};

use super::lateness::Lateness;
use crate::report::{Load, finite};
use crate::schedule::Schedule;
use crate::span::nanoseconds;

/// Gives the due times of a [`Schedule`] as points in time, and counts what is due.
///
/// ```
/// use std::time::{Duration, Instant};
/// use perfkit_latency::{Pacer, Schedule};
///
/// let start = Instant::now();
/// let mut pacer = Pacer::new(Schedule::uniform(1_000.0)?, start);
/// let now = start + Duration::from_micros(1_500);
/// pacer.observe(now);
/// assert_eq!(pacer.start_if_due(now), Some(start));
/// assert_eq!(pacer.start_if_due(now), Some(start + Duration::from_millis(1)));
/// assert_eq!(pacer.start_if_due(now), None);
/// # Ok::<(), perfkit_latency::RateError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Pacer {
    schedule: Schedule,
    /// A second reading of the schedule, which counts what is due by now.
    ahead: Schedule,
    run_start: Instant,
    lateness: Lateness,
}

impl Pacer {
    /// A loop of a run that starts at `run_start`.
    #[must_use]
    pub fn new(schedule: Schedule, run_start: Instant) -> Self {
        Self {
            ahead: schedule.clone(),
            schedule,
            run_start,
            lateness: Lateness::new(run_start),
        }
    }

    /// How long after its due time a start counts as late; a microsecond by default.
    #[must_use]
    pub fn late_above(mut self, late: Duration) -> Self {
        self.lateness = self.lateness.late_above(late);
        self
    }

    /// When the next operation is due.
    #[must_use]
    pub fn next_due(&self) -> Instant {
        self.due_at(self.schedule.peek())
    }

    fn due_at(&self, offset_ns: u64) -> Instant {
        // A due time that `Instant` cannot hold is beyond any run; a century is as good.
        const CENTURY: Duration = Duration::from_secs(100 * 365 * 86_400);
        self.run_start
            .checked_add(Duration::from_nanos(offset_ns))
            .unwrap_or_else(|| self.run_start + CENTURY)
    }

    /// Counts what is due at `now`, for the backlog. After a pause of minutes a Poisson process catches up
    /// over several calls.
    pub fn observe(&mut self, now: Instant) {
        let due = self.ahead.due_until(nanoseconds(self.run_start, now));
        self.lateness.due_by_now(due);
    }

    /// Notes that there is nothing to do at `now` but to wait for the next operation. If that one is not due yet, how
    /// late it starts is the lateness of the loop itself.
    pub fn awaited(&mut self, now: Instant) {
        if self.next_due() > now {
            self.lateness.awaited();
        }
    }

    /// Starts the next operation at `start`, whether or not it is due. Returns its due time.
    pub fn start(&mut self, start: Instant) -> Instant {
        let offset_ns = self.schedule.advance();
        let due = self.due_at(offset_ns);
        self.lateness.started(due, start);
        due
    }

    /// Starts the next operation if it is due at `now`. Returns its due time.
    pub fn start_if_due(&mut self, now: Instant) -> Option<Instant> {
        (self.next_due() <= now).then(|| self.start(now))
    }

    /// What was started, how late, and how much was due.
    #[must_use]
    pub fn lateness(&self) -> &Lateness {
        &self.lateness
    }

    /// The load of the report: `done` operations ended within `elapsed` of the start of the run.
    #[must_use]
    pub fn load(&self, done: u64, elapsed: Duration) -> Load {
        Self::load_of([self], done, elapsed).unwrap_or_else(Load::closed)
    }

    /// The load of loops that ran at the same time and together did `done` operations. `None` without
    /// loops.
    pub fn load_of<'a>(
        loops: impl IntoIterator<Item = &'a Self>,
        done: u64,
        elapsed: Duration,
    ) -> Option<Load> {
        let mut loops = loops.into_iter();
        let first = loops.next()?;
        let mut sum = first.lateness.clone();
        let mut rate_per_s = first.schedule.rate_per_s();
        for one in loops {
            sum.merge(&one.lateness);
            rate_per_s += one.schedule.rate_per_s();
        }
        Some(Load {
            arrivals: Some(first.schedule.arrivals()),
            rate_target_per_s: finite(rate_per_s),
            backlog_max: Some(sum.backlog_max()),
            ..sum.load_with_period(done, elapsed, first.schedule.period_ns())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_due_is_given_with_its_own_time() {
        let start = Instant::now();
        let mut pacer = Pacer::new(Schedule::uniform(1_000.0).unwrap(), start);
        let now = start + Duration::from_micros(2_500);
        pacer.observe(now);
        assert_eq!(pacer.lateness().backlog_max(), 3);
        for millis in 0..3 {
            let due = start + Duration::from_millis(millis);
            assert_eq!(pacer.start_if_due(now), Some(due));
        }
        assert_eq!(pacer.start_if_due(now), None);
        assert_eq!((pacer.lateness().count(), pacer.lateness().late()), (3, 3));
        assert_eq!(pacer.next_due(), start + Duration::from_millis(3));
    }
}
