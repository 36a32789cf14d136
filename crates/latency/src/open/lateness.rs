//! How well an open loop kept its due times: late starts, backlog, saturation.
//!
//! The one place with these rules, for loops that follow a [`crate::Schedule`] and for loops whose due
//! times come from elsewhere, such as the log of an earlier run.

use std::time::{Duration, Instant};

use hdrhistogram::Histogram;

use crate::percentile::earned_n;
use crate::report::{GeneratorLate, Load, LoadModel, finite};
use crate::span::nanoseconds;

/// By default a start is late more than this after its due time: well above what spinning on any clock
/// shows.
pub(super) const LATE_ABOVE: Duration = Duration::from_micros(1);

/// A loop that did less than this share of what was due is saturated.
const ACHIEVED_MIN: f64 = 0.99;

/// Operations that may be due and not started at the end of a run that is not saturated: short runs have
/// few operations in all.
const OWED_MAX: u64 = 32;

/// The latest start that is told apart from later ones.
const OWN_MAX_NS: u64 = 3_600_000_000_000;

/// Counts late starts and the backlog of an open loop, and says whether the loop was saturated.
///
/// ```
/// use std::time::{Duration, Instant};
/// use perfkit_latency::Lateness;
///
/// let run_start = Instant::now();
/// let mut lateness = Lateness::new(run_start);
/// for nth in 0..10u64 {
///     let due = run_start + Duration::from_millis(nth);
///     lateness.started(due, due + Duration::from_micros(5 * (nth % 2)));
/// }
/// assert_eq!(lateness.late(), 5);
/// assert!(!lateness.load(10, Duration::from_millis(9)).saturated);
/// ```
#[derive(Debug, Clone)]
pub struct Lateness {
    run_start: Instant,
    late_above_ns: u64,
    started: u64,
    late: u64,
    due: u64,
    backlog_max: u64,
    last_due_ns: u64,
    /// Whether the loop has nothing to do but to wait for the next operation.
    waiting: bool,
    /// How late those started that were waited for.
    own: Option<Histogram<u64>>,
}

impl Lateness {
    /// Of a run that starts at `run_start`. A start counts as late from a microsecond after its due time.
    #[must_use]
    pub fn new(run_start: Instant) -> Self {
        Self {
            run_start,
            late_above_ns: 0,
            started: 0,
            late: 0,
            due: 0,
            backlog_max: 0,
            last_due_ns: 0,
            waiting: false,
            // Two digits, up to an hour: 40 KiB.
            own: Histogram::new_with_bounds(1, OWN_MAX_NS, 2).ok(),
        }
        .late_above(LATE_ABOVE)
    }

    /// How long after its due time a start counts as late.
    #[must_use]
    pub fn late_above(mut self, late: Duration) -> Self {
        self.late_above_ns = u64::try_from(late.as_nanos()).unwrap_or(u64::MAX);
        self
    }

    /// Notes that the loop waits for the next operation, which is not due yet: how late that one starts is the
    /// lateness of the loop itself, and not of what it measures.
    pub fn awaited(&mut self) {
        self.waiting = true;
    }

    /// Counts an operation that was due at `due` and started at `start`.
    pub fn started(&mut self, due: Instant, start: Instant) {
        self.started += 1;
        if std::mem::take(&mut self.waiting)
            && let Some(own) = &mut self.own
        {
            own.saturating_record(nanoseconds(due, start));
        }
        self.late += u64::from(nanoseconds(due, start) > self.late_above_ns);
        self.last_due_ns = self.last_due_ns.max(nanoseconds(self.run_start, due));
    }

    /// Notes that `due` operations in all are due by now; those of them not yet started are the backlog.
    pub(super) fn due_by_now(&mut self, due: u64) {
        self.due = self.due.max(due);
        let backlog = self.due.saturating_sub(self.started);
        self.backlog_max = self.backlog_max.max(backlog);
    }

    /// Adds the counts of a loop that ran on another thread.
    pub fn merge(&mut self, other: &Self) {
        self.started += other.started;
        self.late += other.late;
        self.due += other.due;
        self.backlog_max += other.backlog_max;
        self.last_due_ns = self.last_due_ns.max(other.last_due_ns);
        if let (Some(own), Some(others)) = (&mut self.own, &other.own) {
            // Both have the same bounds.
            let _ = own.add(others);
        }
    }

    /// How late the loop itself was, with operations that it waited for.
    #[must_use]
    pub fn generator_late(&self) -> Option<GeneratorLate> {
        let own = self.own.as_ref().filter(|own| !own.is_empty())?;
        let n = own.len();
        let known = |p: f64| (n >= earned_n(p)).then(|| own.value_at_percentile(p));
        Some(GeneratorLate {
            n,
            p50_ns: known(50.0),
            p99_ns: known(99.0),
            max_ns: own.max(),
        })
    }

    /// How many operations were started late.
    #[must_use]
    pub fn late(&self) -> u64 {
        self.late
    }

    /// How many operations were started.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.started
    }

    /// When the last operation that was started was due, from the start of the run.
    #[must_use]
    pub fn last_due(&self) -> Duration {
        Duration::from_nanos(self.last_due_ns)
    }

    /// The load of the report: `done` operations ended within `elapsed` of the start of the run. The
    /// arrival process, the target rate and the backlog are `null`; a caller with a schedule adds them.
    #[must_use]
    pub fn load(&self, done: u64, elapsed: Duration) -> Load {
        self.load_with_period(done, elapsed, 0.0)
    }

    /// The same for loops whose operations are due every `period_ns` on average.
    pub(super) fn load_with_period(&self, done: u64, elapsed: Duration, period_ns: f64) -> Load {
        let elapsed_ns = elapsed.as_nanos() as f64;
        let achieved = (elapsed_ns > 0.0).then(|| done as f64 * 1e9 / elapsed_ns);
        // What was due took until one period after the last due time. Measured against that and not
        // against the target, because a short Poisson run rarely has exactly its rate.
        let due_ns = self.last_due_ns as f64 + period_ns;
        let dragging = due_ns < ACHIEVED_MIN * elapsed_ns;
        let owed = self.due.saturating_sub(self.started);
        let behind = (self.started as f64) < ACHIEVED_MIN * self.due as f64 && owed > OWED_MAX;
        Load {
            model: LoadModel::Open,
            arrivals: None,
            rate_target_per_s: None,
            rate_achieved_per_s: achieved.and_then(finite),
            late_start_ratio: finite(self.late as f64 / self.started.max(1) as f64),
            backlog_max: None,
            saturated: self.started > 0 && (dragging || behind),
            generator_late: self.generator_late(),
        }
    }

    /// The greatest backlog; of several loops the sum of theirs.
    #[must_use]
    pub fn backlog_max(&self) -> u64 {
        self.backlog_max
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(start: Instant, ms: u64) -> Instant {
        start + Duration::from_millis(ms)
    }

    #[test]
    fn a_loop_that_drags_or_owes_is_saturated() {
        let start = Instant::now();
        let mut lateness = Lateness::new(start);
        (0..100).for_each(|ms| lateness.started(at(start, ms), at(start, ms)));
        let elapsed = |ms| lateness.load(100, Duration::from_millis(ms)).saturated;
        assert!(!elapsed(99) && elapsed(200));
        let mut owing = lateness.clone();
        owing.due_by_now(100 + OWED_MAX);
        assert!(!owing.load(100, Duration::from_millis(99)).saturated);
        owing.due_by_now(101 + OWED_MAX);
        assert!(owing.load(100, Duration::from_millis(99)).saturated);
        assert_eq!(owing.backlog_max(), OWED_MAX + 1);
    }

    #[test]
    fn only_what_was_waited_for_is_late_by_the_loop_itself() {
        let start = Instant::now();
        let mut lateness = Lateness::new(start);
        assert_eq!(lateness.generator_late(), None);
        // The system was busy until long after the due time.
        lateness.started(at(start, 1), at(start, 500));
        assert_eq!(lateness.generator_late(), None);
        let mut other = Lateness::new(start);
        for (loops, late_us) in [(&mut lateness, 50), (&mut other, 2_000)] {
            for ms in 600..900 {
                loops.awaited();
                let due = at(start, ms);
                loops.started(due, due + Duration::from_micros(late_us));
                // Not waited for.
                loops.started(due, due + Duration::from_millis(30));
            }
        }
        lateness.merge(&other);
        let own = lateness.generator_late().expect("it waited");
        assert_eq!(own.n, 600);
        let near = |ns: Option<u64>, us: u64| ns.is_some_and(|ns| ns.abs_diff(us * 1000) < us * 20);
        assert!(near(own.p50_ns, 50) && near(own.p99_ns, 2_000), "{own:?}");
        assert!(near(Some(own.max_ns), 2_000), "{own:?}");
    }

    #[test]
    fn loops_of_several_threads_add_up() {
        let start = Instant::now();
        let mut sum = Lateness::new(start);
        let mut other = Lateness::new(start).late_above(Duration::ZERO);
        sum.started(at(start, 1), at(start, 1));
        other.started(at(start, 7), at(start, 8));
        other.due_by_now(4);
        sum.merge(&other);
        assert_eq!((sum.count(), sum.late(), sum.backlog_max()), (2, 1, 3));
        assert_eq!(sum.last_due(), Duration::from_millis(7));
    }
}
