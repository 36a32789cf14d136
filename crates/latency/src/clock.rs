//! The clock, its resolution, and what reading it costs.
//!
//! Recorders take [`Instant`]s, so the caller decides when to read the clock. A report states what an
//! empty timed span shows ([`floor`]): a time near that value is the clock, not the work.

use std::hint::black_box;
use std::time::{Duration, Instant};

use crate::interval_log::IntervalLog;
use crate::recorder::Recorder;
use crate::report::LatencyName;
use crate::span::nanoseconds;
use crate::spec::Spec;

/// A span shorter than this many [floors](floor) is mostly the clock: time such operations in batches.
pub const FLOORS_MIN: u64 = 20;
/// Enough for a median that repeats to the clock's own step; takes a tenth of a millisecond.
const FLOOR_SPANS: usize = 2_000;
/// Spans before those, which bring the clock's code and data into the caches.
const FLOOR_WARM_UP: usize = 100;
const COST_BATCH: u64 = 1_000;
const COST_BATCHES: usize = 50;

/// The monotonic clock of the system.
#[derive(Debug, Clone, Copy, Default)]
pub struct Clock;

impl Clock {
    /// Now.
    #[inline]
    #[must_use]
    pub fn now(self) -> Instant {
        Instant::now()
    }
}

/// What empty timed spans show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Floor {
    /// The least.
    pub min_ns: u64,
    /// Their median.
    pub p50_ns: u64,
    /// Their 99th percentile.
    pub p99_ns: u64,
    /// How many spans were timed.
    pub n: u64,
}

/// Times empty spans; takes a fraction of a millisecond.
#[must_use]
pub fn floor() -> Floor {
    let mut spans = vec![0; FLOOR_SPANS];
    for nth in 0..FLOOR_WARM_UP + FLOOR_SPANS {
        let start = Instant::now();
        let end = Instant::now();
        spans[nth % FLOOR_SPANS] = nanoseconds(start, end);
    }
    spans.sort_unstable();
    let at = |rank: usize| spans.get(rank).copied().unwrap_or(0);
    Floor {
        min_ns: at(0),
        p50_ns: at(FLOOR_SPANS / 2 - 1),
        p99_ns: at(FLOOR_SPANS * 99 / 100 - 1),
        n: FLOOR_SPANS as u64,
    }
}

/// The cost of recording one sample.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RecordingCost {
    /// [`Recorder::record_span`] alone, per call: median over the batches.
    pub record_ns: f64,
    /// The least of the batches.
    pub record_min_ns: f64,
    /// The same with the two clock reads: median over the batches.
    pub span_ns: f64,
    /// The least of the batches.
    pub span_min_ns: f64,
    /// Calls in a batch.
    pub batch: u64,
    /// Batches of either kind; they alternate.
    pub batches: u64,
}

/// Measures the cost of recording on this machine; takes a few milliseconds.
#[must_use]
pub fn recording_cost() -> RecordingCost {
    let run_start = Instant::now();
    let log = IntervalLog::nowhere(Duration::from_secs(3600));
    let spec = Spec::new(LatencyName::Service, "empty span").intervals(Some(log));
    let mut recorder = Recorder::new(spec, run_start);
    // Spans of many lengths, so that neither the cache nor the branches are always the same.
    let ends: Vec<Instant> = (0..256u64)
        .map(|i| run_start + Duration::from_nanos(100 + i * i * 7919 % 100_000))
        .collect();
    let mut record = Vec::with_capacity(COST_BATCHES);
    let mut span = Vec::with_capacity(COST_BATCHES);
    for _ in 0..COST_BATCHES {
        let started = Instant::now();
        for i in 0..COST_BATCH {
            let end = ends[(i % 256) as usize];
            black_box(recorder.record_span(black_box(run_start), black_box(end)));
        }
        record.push(per_call(started));
        let started = Instant::now();
        for _ in 0..COST_BATCH {
            let start = Instant::now();
            black_box(recorder.record_span(start, Instant::now()));
        }
        span.push(per_call(started));
    }
    record.sort_by(f64::total_cmp);
    span.sort_by(f64::total_cmp);
    RecordingCost {
        record_ns: record[COST_BATCHES / 2],
        record_min_ns: record[0],
        span_ns: span[COST_BATCHES / 2],
        span_min_ns: span[0],
        batch: COST_BATCH,
        batches: COST_BATCHES as u64,
    }
}

fn per_call(started: Instant) -> f64 {
    nanoseconds(started, Instant::now()) as f64 / COST_BATCH as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floor_is_in_order() {
        let floor = floor();
        assert!(floor.min_ns <= floor.p50_ns && floor.p50_ns <= floor.p99_ns);
        assert_eq!(floor.n, FLOOR_SPANS as u64);
    }

    #[test]
    fn recording_cost_is_finite_and_in_order() {
        let cost = recording_cost();
        assert!(cost.record_min_ns <= cost.record_ns && cost.span_min_ns <= cost.span_ns);
        assert!(cost.record_ns.is_finite() && cost.batch >= 1_000);
    }
}
