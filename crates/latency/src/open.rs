//! The open loop: operations are due at times of their own, whether or not the last one has ended.
//!
//! A closed loop that meets a stall stops asking: it records one slow operation and omits the others that
//! would have come. Here they stay due and wait, and their response time counts from when they were due.
//!
//! [`OpenLoop`] drives and records one thread; threads share a rate by each taking a part of it. Below it
//! stand [`Pacer`] (due times), [`Lateness`] (late starts, backlog, saturation) and [`Wait`]: loops that
//! wait or record in their own way use these alone.

mod lateness;
mod pacer;
mod wait;

use std::time::{Duration, Instant};

pub use self::lateness::Lateness;
pub use self::pacer::Pacer;
pub use self::wait::Wait;
use crate::recorder::Recorder;
use crate::recording::Recording;
use crate::report::{LatencyName, Load, Timing};
use crate::schedule::Schedule;
use crate::span::nanoseconds;
use crate::spec::Spec;

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
    pacer: Pacer,
    wait: Wait,
    run_start: Instant,
    response: Recorder,
    service: Recorder,
    last_end: Instant,
}

impl OpenLoop {
    /// A loop of a run that starts at `run_start`. It sets the name and timing of `spec` for its two
    /// distributions, response and service.
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
            pacer: Pacer::new(schedule, run_start),
            wait: Wait::default(),
            run_start,
            response: Recorder::new(of(LatencyName::Response, Timing::Intended), run_start),
            service: Recorder::new(of(LatencyName::Service, Timing::Actual), run_start),
            last_end: run_start,
        }
    }

    /// How to wait.
    #[must_use]
    pub fn wait_policy(mut self, wait: Wait) -> Self {
        self.wait = wait;
        self
    }

    /// How long after its due time a start counts as late: the clock's resolution, say
    /// [`crate::Floor::p99_ns`]; a microsecond by default.
    #[must_use]
    pub fn late_above(mut self, late: Duration) -> Self {
        self.pacer = self.pacer.late_above(late);
        self
    }

    /// When the next operation is due.
    #[must_use]
    pub fn next_due(&self) -> Instant {
        self.pacer.next_due()
    }

    /// Waits until the next operation is due, unless it is overdue, and starts it.
    pub fn begin(&mut self) -> Turn {
        self.pacer.awaited(Instant::now());
        let start = self.wait.until(self.next_due());
        self.begin_at(start)
    }

    /// Starts the next operation at `start`, for callers that wait in their own way.
    pub fn begin_at(&mut self, start: Instant) -> Turn {
        let due = self.pacer.start(start);
        self.pacer.observe(start);
        Turn { due, start }
    }

    /// Records an operation that has ended. Returns its response and its service time in nanoseconds.
    pub fn end(&mut self, turn: Turn, end: Instant) -> (u64, u64) {
        self.last_end = end;
        (
            self.response.record_span(turn.due, end),
            self.service.record_span(turn.start, end),
        )
    }

    /// The same; `what` describes the operation, and is called only when it is among the slowest.
    pub fn end_what(&mut self, turn: Turn, end: Instant, what: impl Fn() -> String) -> (u64, u64) {
        self.last_end = end;
        (
            self.response.record_span_what(turn.due, end, &what),
            self.service.record_span_what(turn.start, end, &what),
        )
    }

    /// Ends the loop. Returns response times, service times and whether the loop kept its rate.
    #[must_use]
    pub fn finish(self) -> (Recording, Recording, Load) {
        let elapsed = Duration::from_nanos(nanoseconds(self.run_start, self.last_end));
        let load = self.pacer.load(self.service.n(), elapsed);
        (self.response.finish(), self.service.finish(), load)
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
        let p99 = |row: &crate::report::Latency| row.percentile(99.0).unwrap();
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
}
