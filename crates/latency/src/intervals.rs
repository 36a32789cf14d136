//! Histograms of consecutive intervals, for `.hlog`.
//!
//! The recorder records into the current interval's histogram and asks at every span whether the interval
//! is over; the rest happens once an interval.

use std::time::{Duration, Instant};

use hdrhistogram::Histogram;

use crate::coding;
use crate::recorder::{add_histogram, nanoseconds};
use crate::report::Interval;

/// Most intervals: a day of seconds. The last one grows.
const INTERVALS_MAX: u64 = 86_400;

/// One finished interval: its number, its length and its histogram in plain V2, which is quick to
/// write while the run goes on. It is packed when the run is over.
#[derive(Debug)]
struct Stored {
    index: u64,
    length_ns: u64,
    plain: Vec<u8>,
}

/// Histograms of consecutive intervals; the recorder's own one is the current interval's.
#[derive(Debug)]
pub(crate) struct Intervals {
    /// Everything of the intervals that are over.
    pub(crate) total: Histogram<u64>,
    length_ns: u64,
    run_start: Instant,
    /// Number of the current interval.
    index: u64,
    /// End of the current interval; `None` when it is the last one, which grows.
    boundary: Option<Instant>,
    /// End of the last span.
    last_end: Instant,
    stored: Vec<Stored>,
}

impl Intervals {
    pub(crate) fn new(total: Histogram<u64>, length: Duration, run_start: Instant) -> Self {
        let length_ns = u64::try_from(length.as_nanos()).unwrap_or(u64::MAX).max(1);
        Self {
            total,
            length_ns,
            run_start,
            index: 0,
            boundary: run_start.checked_add(Duration::from_nanos(length_ns)),
            last_end: run_start,
            stored: Vec::with_capacity(64),
        }
    }

    #[inline]
    pub(crate) fn is_over(&mut self, end: Instant) -> bool {
        self.last_end = end;
        self.boundary.is_some_and(|boundary| end >= boundary)
    }

    /// Put the current interval away and start the one that holds `end`. Intervals in which nothing
    /// happened are not stored.
    #[cold]
    #[inline(never)]
    pub(crate) fn rotate(&mut self, current: &mut Histogram<u64>, end: Instant) {
        self.store(current, self.length_ns);
        self.index = (nanoseconds(self.run_start, end) / self.length_ns).min(INTERVALS_MAX - 1);
        let is_last = self.index == INTERVALS_MAX - 1;
        let until_ns = if is_last {
            None
        } else {
            self.length_ns.checked_mul(self.index + 1)
        };
        self.boundary =
            until_ns.and_then(|ns| self.run_start.checked_add(Duration::from_nanos(ns)));
    }

    /// Put the last interval away, only as long as it was.
    pub(crate) fn close(&mut self, current: &mut Histogram<u64>) {
        let since_start = nanoseconds(self.run_start, self.last_end);
        let start = self.length_ns.saturating_mul(self.index);
        self.store(current, since_start.saturating_sub(start).max(1));
    }

    fn store(&mut self, current: &mut Histogram<u64>, length_ns: u64) {
        if current.is_empty() {
            return;
        }
        let mut plain = Vec::new();
        if coding::encode_plain(current, &mut plain) {
            plain.shrink_to_fit();
            self.stored.push(Stored {
                index: self.index,
                length_ns,
                plain,
            });
        }
        add_histogram(&mut self.total, current);
        current.reset();
    }

    /// Add the stored intervals of another, by number.
    pub(crate) fn merge(&mut self, other: &mut Self) {
        add_histogram(&mut self.total, &other.total);
        self.stored.append(&mut other.stored);
        self.put_in_order();
        if nanoseconds(self.last_end, other.last_end) > 0 {
            self.last_end = other.last_end;
        }
    }

    /// Put an interval after the others, or into the last one if that has its number.
    fn push(&mut self, next: Stored) {
        match self.stored.last_mut() {
            Some(last) if last.index == next.index => last.add(&next),
            _ => self.stored.push(next),
        }
    }

    fn put_in_order(&mut self) {
        let mut all = std::mem::take(&mut self.stored);
        all.sort_by_key(|stored| stored.index);
        all.into_iter().for_each(|stored| self.push(stored));
    }

    /// As the report has them. What was recorded after a merge may stand out of order.
    pub(crate) fn into_stored(mut self) -> Vec<Interval> {
        self.put_in_order();
        let length_ns = self.length_ns;
        let interval = |stored: Stored| {
            let histogram = coding::decode(&stored.plain).ok()?;
            Some(Interval {
                start_ns: length_ns.saturating_mul(stored.index),
                length_ns: stored.length_ns,
                histogram_v2_deflate: coding::encode_deflate(&histogram)?,
            })
        };
        self.stored.into_iter().filter_map(interval).collect()
    }
}

impl Stored {
    fn add(&mut self, other: &Self) {
        self.length_ns = self.length_ns.max(other.length_ns);
        // Both were written by this process; were one unreadable, the other would stand.
        let both = (coding::decode(&self.plain), coding::decode(&other.plain));
        if let (Ok(mut sum), Ok(addend)) = both {
            add_histogram(&mut sum, &addend);
            let mut plain = Vec::new();
            if coding::encode_plain(&sum, &mut plain) {
                self.plain = plain;
            }
        }
    }
}
