//! The open loop: operations are due at times of their own, whether or not the last one has ended.
//!
//! A closed loop that meets a stall stops asking and records one slow operation; the others that would
//! have come are omitted. Here they stay due, wait, and their response time counts from when they
//! were due. One [`OpenLoop`] drives one thread; several threads share a rate by each taking a
//! part of it.

use std::time::{Duration, Instant};

use crate::recorder::{Recorder, nanoseconds};
use crate::recording::Recording;
use crate::report::{LatencyName, Load, LoadModel, Timing, finite};
use crate::schedule::Schedule;
use crate::spec::Spec;

/// A start later than this after its due time is late, unless the caller knows better: well above
/// what a spin on any clock shows.
const LATE_ABOVE_NS: u64 = 1_000;

/// Achieved below this share of what was due is called saturated.
const ACHIEVED_MIN: f64 = 0.99;

/// How to wait until the next operation is due.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Wait {
    /// Sleep until this long before it, then spin. A sleep ends late by tens of microseconds, more on
    /// a virtual machine.
    SleepThenSpin(Duration),
    /// Spin all the time: the thread takes its processor whole.
    Spin,
}

impl Default for Wait {
    fn default() -> Self {
        Self::SleepThenSpin(Duration::from_millis(1))
    }
}

/// One operation that was started, to be ended once.
#[derive(Debug)]
#[must_use = "an operation that is never ended is in no histogram"]
pub struct Turn {
    due: Instant,
    start: Instant,
}

impl Turn {
    /// When it was due.
    #[must_use]
    pub fn due(&self) -> Instant {
        self.due
    }

    /// When it started.
    #[must_use]
    pub fn start(&self) -> Instant {
        self.start
    }
}

/// Drives and records an open loop on one thread.
///
/// ```
/// use std::time::{Duration, Instant};
/// use perfkit_latency::{LatencyName, OpenLoop, Schedule, Spec};
///
/// let start = Instant::now();
/// let schedule = Schedule::uniform(10_000.0)?;
/// let mut open = OpenLoop::new(schedule, Spec::new(LatencyName::Service, "call"), start);
/// while open.next_due() < start + Duration::from_millis(20) {
///     let turn = open.begin();
///     std::hint::black_box(2 + 2);
///     open.end(turn, Instant::now());
/// }
/// let (response, service, load) = open.finish();
/// assert_eq!(response.latency().n, 200);
/// assert_eq!(service.latency().n, 200);
/// assert_eq!(load.rate_target_per_s, Some(10_000.0));
/// # Ok::<(), perfkit_latency::RateError>(())
/// ```
#[derive(Debug)]
pub struct OpenLoop {
    schedule: Schedule,
    /// A second reading of the schedule, which counts what is due by now.
    ahead: Schedule,
    wait: Wait,
    run_start: Instant,
    response: Recorder,
    service: Recorder,
    /// A start later than this after its due time is late.
    late_above_ns: u64,
    late: u64,
    started: u64,
    backlog_max: u64,
    last_due_ns: u64,
    last_end: Instant,
}

impl OpenLoop {
    /// A loop of a run that starts at `run_start`. The name and timing of `spec` are set for the two
    /// distributions, response and service, that come of it.
    #[must_use]
    pub fn new(schedule: Schedule, spec: Spec, run_start: Instant) -> Self {
        let spec = spec.batch(1);
        let of = |name, timing| Spec {
            name,
            timing,
            batch: 1,
            ..spec.clone()
        };
        Self {
            ahead: schedule.clone(),
            schedule,
            wait: Wait::default(),
            run_start,
            response: Recorder::new(of(LatencyName::Response, Timing::Intended), run_start),
            service: Recorder::new(of(LatencyName::Service, Timing::Actual), run_start),
            late_above_ns: LATE_ABOVE_NS,
            late: 0,
            started: 0,
            backlog_max: 0,
            last_due_ns: 0,
            last_end: run_start,
        }
    }

    /// How to wait.
    #[must_use]
    pub fn wait_policy(mut self, wait: Wait) -> Self {
        self.wait = wait;
        self
    }

    /// How long after its due time a start is late: the clock floor, say [`crate::Floor::p99_ns`]; by
    /// default a microsecond.
    #[must_use]
    pub fn late_above(mut self, late: Duration) -> Self {
        self.late_above_ns = u64::try_from(late.as_nanos()).unwrap_or(u64::MAX);
        self
    }

    /// When the next operation is due.
    #[must_use]
    pub fn next_due(&self) -> Instant {
        self.due_at(self.schedule.peek())
    }

    fn due_at(&self, offset_ns: u64) -> Instant {
        // An instant that cannot be told is beyond any run; a century is as good.
        const CENTURY: Duration = Duration::from_secs(100 * 365 * 86_400);
        self.run_start
            .checked_add(Duration::from_nanos(offset_ns))
            .unwrap_or_else(|| self.run_start + CENTURY)
    }

    /// Wait until the next operation is due, if it is not overdue, and start it.
    pub fn begin(&mut self) -> Turn {
        let due = self.next_due();
        let start = wait_until(due, self.wait);
        self.begin_at(start)
    }

    /// Start the next operation at `start`, for callers that wait in their own way.
    pub fn begin_at(&mut self, start: Instant) -> Turn {
        self.last_due_ns = self.schedule.advance();
        let due = self.due_at(self.last_due_ns);
        self.started += 1;
        if nanoseconds(due, start) > self.late_above_ns {
            self.late += 1;
        }
        let due_by_now = self.ahead.due_until(nanoseconds(self.run_start, start));
        self.backlog_max = self
            .backlog_max
            .max(due_by_now.saturating_sub(self.started));
        Turn { due, start }
    }

    /// Record an operation that has ended. Gives its response and its service time.
    pub fn end(&mut self, turn: Turn, end: Instant) -> (u64, u64) {
        self.last_end = end;
        (
            self.response.record_span(turn.due, end),
            self.service.record_span(turn.start, end),
        )
    }

    /// The same; `what` says what it was, and is called only when it is among the slowest.
    pub fn end_what(&mut self, turn: Turn, end: Instant, what: impl Fn() -> String) -> (u64, u64) {
        self.last_end = end;
        (
            self.response.record_span_what(turn.due, end, &what),
            self.service.record_span_what(turn.start, end, &what),
        )
    }

    /// End the loop: response, service, and whether the rate was held.
    #[must_use]
    pub fn finish(self) -> (Recording, Recording, Load) {
        let elapsed_ns = nanoseconds(self.run_start, self.last_end);
        let ended = self.service.n() as f64;
        let achieved = (elapsed_ns > 0 && ended > 0.0).then(|| ended * 1e9 / elapsed_ns as f64);
        // What was due took until one period after the last due time. Measured against that and not
        // against the target, for a short Poisson run is rarely of its rate.
        let due_ns = self.last_due_ns as f64 + self.schedule.period_ns();
        let load = Load {
            model: LoadModel::Open,
            arrivals: Some(self.schedule.arrivals()),
            rate_target_per_s: finite(self.schedule.rate_per_s()),
            rate_achieved_per_s: achieved.and_then(finite),
            late_start_ratio: finite(self.late as f64 / self.started.max(1) as f64),
            backlog_max: Some(self.backlog_max),
            saturated: self.started > 0 && due_ns < ACHIEVED_MIN * elapsed_ns as f64,
        };
        (self.response.finish(), self.service.finish(), load)
    }
}

/// Wait, and give the time at which the waiting ended.
fn wait_until(due: Instant, wait: Wait) -> Instant {
    loop {
        let now = Instant::now();
        let left = due.saturating_duration_since(now);
        if left.is_zero() {
            return now;
        }
        match wait {
            Wait::SleepThenSpin(margin) if left > margin => {
                std::thread::sleep(left.saturating_sub(margin));
            }
            _ => std::hint::spin_loop(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec() -> Spec {
        Spec::new(LatencyName::Service, "call")
    }

    /// A loop on a clock of its own: each operation takes `service_us`.
    fn simulate(schedule: Schedule, operations: u64, service_us: impl Fn(u64) -> u64) -> OpenLoop {
        let start = Instant::now();
        let mut open = OpenLoop::new(schedule, spec(), start).late_above(Duration::ZERO);
        let mut now = start;
        for nth in 0..operations {
            now = now.max(open.next_due());
            let turn = open.begin_at(now);
            now += Duration::from_micros(service_us(nth));
            open.end(turn, now);
        }
        open
    }

    #[test]
    fn a_stall_is_in_every_response_that_it_delays() {
        // 1,000 a second, each taking 0.1 ms, but one stall of 100 ms.
        let stalled = |nth| if nth == 100 { 100_000 } else { 100 };
        let open = simulate(Schedule::uniform(1_000.0).unwrap(), 1_000, stalled);
        let (response, service, load) = open.finish();
        let (response, service) = (response.latency(), service.latency());
        assert_eq!(
            (response.timing, service.timing),
            (Timing::Intended, Timing::Actual)
        );
        let p99 = |row: &crate::report::Latency| row.percentiles[2].value_ns.unwrap();
        assert!(p99(&service) < 200_000, "the closed view hides the stall");
        assert!(
            p99(&response) > 80_000_000,
            "the open view shows it: {}",
            p99(&response)
        );
        assert!((90..=100).contains(&load.backlog_max.unwrap()), "{load:?}");
        assert!(load.late_start_ratio.unwrap() > 0.1 && !load.saturated);
    }

    #[test]
    fn a_rate_that_is_not_held_is_saturated() {
        for schedule in [Schedule::uniform(1_000.0), Schedule::poisson(1_000.0, 3)] {
            let (_, _, load) = simulate(schedule.unwrap(), 1_000, |_| 2_000).finish();
            assert!(load.saturated);
            assert!((load.rate_achieved_per_s.unwrap() - 500.0).abs() < 5.0);
            assert!(
                (900..1_100).contains(&load.backlog_max.unwrap()),
                "{load:?}"
            );
        }
        for schedule in [Schedule::uniform(1_000.0), Schedule::poisson(1_000.0, 3)] {
            let (_, _, load) = simulate(schedule.unwrap(), 1_000, |_| 100).finish();
            assert!(!load.saturated, "{load:?}");
        }
    }

    #[test]
    fn nothing_started_is_no_rate() {
        let open = OpenLoop::new(Schedule::uniform(1.0).unwrap(), spec(), Instant::now());
        let (response, _, load) = open.finish();
        assert_eq!(
            (response.n(), load.rate_achieved_per_s, load.saturated),
            (0, None, false)
        );
        assert_eq!(load.late_start_ratio, Some(0.0));
    }

    #[test]
    fn waiting_ends_at_the_due_time_or_later() {
        for wait in [Wait::Spin, Wait::default()] {
            let due = Instant::now() + Duration::from_millis(3);
            assert!(wait_until(due, wait) >= due);
        }
    }
}
