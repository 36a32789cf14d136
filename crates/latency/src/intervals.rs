//! The intervals of one recorder, for `.hlog`.
//!
//! The recorder records into the current interval's histogram and checks at every span whether the interval
//! is over; everything else happens once per interval. A complete interval goes to the [`IntervalLog`].

use std::time::{Duration, Instant};

use hdrhistogram::Histogram;

use crate::histogram::add_histogram;
use crate::interval_log::{IntervalLog, Place};
use crate::live_rows::Seat;
use crate::span::nanoseconds;
use crate::spec::Spec;

/// Most intervals: a day of seconds. The last one grows.
const INTERVALS_MAX: u64 = 86_400;

/// Cuts a recording into intervals; the recorder's own histogram is the current one's.
#[derive(Debug)]
pub(crate) struct Intervals {
    /// The sum of the complete intervals.
    pub(crate) total: Histogram<u64>,
    log: IntervalLog,
    /// The numbers in the log of this recorder and of those merged into it.
    parts: Vec<u32>,
    /// Its place among the rows of those who look on.
    seat: Option<Seat>,
    length_ns: u64,
    run_start: Instant,
    /// Number of the current interval.
    index: u64,
    /// Number of the interval that starts at the boundary.
    until: u64,
    /// End of the current interval; `None` when it is the last one, which grows.
    boundary: Option<Instant>,
    /// End of the last span.
    last_end: Instant,
}

impl Intervals {
    pub(crate) fn new(spec: &Spec, log: IntervalLog, run_start: Instant) -> Self {
        let length_ns = u64::try_from(log.length().as_nanos()).unwrap_or(u64::MAX);
        Self {
            total: spec.histogram(),
            parts: vec![log.part()],
            seat: log.seat(&spec.label(), run_start),
            log,
            length_ns,
            run_start,
            index: 0,
            until: 1,
            boundary: run_start.checked_add(Duration::from_nanos(length_ns)),
            last_end: run_start,
        }
    }

    /// What is recorded are means of batches from now on.
    pub(crate) fn of_batches(&mut self) {
        if let Some(seat) = &mut self.seat {
            seat.of_batches();
        }
    }

    #[inline]
    pub(crate) fn is_over(&mut self, end: Instant) -> bool {
        self.last_end = end;
        self.boundary.is_some_and(|boundary| end >= boundary)
    }

    /// Hands the current interval over and starts the one that holds `end`. Empty intervals are skipped. An
    /// interval that the log cannot take now continues to the next boundary.
    #[cold]
    #[inline(never)]
    pub(crate) fn rotate(&mut self, current: &mut Histogram<u64>, end: Instant) {
        let length_ns = self.length_ns.saturating_mul(self.until - self.index);
        let next = (nanoseconds(self.run_start, end) / self.length_ns).min(INTERVALS_MAX - 1);
        if self.put(current, length_ns, false) {
            self.index = next;
        }
        self.until = next + 1;
        let is_last = next == INTERVALS_MAX - 1;
        let until_ns = if is_last {
            None
        } else {
            self.length_ns.checked_mul(self.until)
        };
        self.boundary =
            until_ns.and_then(|ns| self.run_start.checked_add(Duration::from_nanos(ns)));
    }

    /// Hands the last interval over with its actual length.
    pub(crate) fn close(&mut self, current: &mut Histogram<u64>) {
        let since_start = nanoseconds(self.run_start, self.last_end);
        let start = self.length_ns.saturating_mul(self.index);
        self.put(current, since_start.saturating_sub(start).max(1), true);
    }

    fn put(&mut self, current: &mut Histogram<u64>, length_ns: u64, wait: bool) -> bool {
        if current.is_empty() {
            return true;
        }
        let start_ns = self.length_ns.saturating_mul(self.index);
        let part = self.parts[0];
        let place = Place {
            part,
            seat: self.seat,
            start_ns,
            length_ns,
        };
        if !self.log.put(place, current, wait) {
            return false;
        }
        add_histogram(&mut self.total, current);
        current.reset();
        true
    }

    /// Adds the intervals of another recorder, which are all handed over already.
    pub(crate) fn merge(&mut self, other: &mut Self) {
        add_histogram(&mut self.total, &other.total);
        self.parts.append(&mut other.parts);
        if nanoseconds(self.last_end, other.last_end) > 0 {
            self.last_end = other.last_end;
        }
    }

    /// The recorder's histogram and its numbers in the log.
    pub(crate) fn finish(self) -> (Histogram<u64>, Vec<u32>) {
        (self.total, self.parts)
    }
}
