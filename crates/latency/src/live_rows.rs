//! The distributions of a run so far, in windows of time, for those who look on while it runs.
//!
//! Recorders know nothing of them: the thread of the [`crate::IntervalLog`] adds each interval that a recorder
//! handed over, and whoever draws reads. What they show is what was handed over: up to an interval behind the run.

use std::cmp::Reverse;
use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use hdrhistogram::Histogram;

use crate::percentile::earned_n;
use crate::span::nanoseconds;

/// Windows of the latest time that are kept of a row.
const WINDOWS: usize = 120;
/// Windows that late intervals may still belong to; earlier ones keep their percentiles only.
const OPEN: usize = 3;
/// A row without an interval for this many windows has ended.
const ENDED_WINDOWS: u64 = 3;
/// Rows at most: what comes later is not shown.
const ROWS: usize = 128;
/// Digits of their percentiles: for a look at them, and small enough for many windows.
const DIGITS: u8 = 2;

/// The rows of a run as they are now. Clones are the same rows.
///
/// ```
/// use std::time::{Duration, Instant};
/// use perfkit_latency::{IntervalLog, LatencyName, LiveRows, Recorder, Spec};
///
/// let start = Instant::now();
/// let rows = LiveRows::new(start, Duration::from_secs(1));
/// let log = IntervalLog::watched(Duration::from_secs(1), std::io::empty(), rows.clone())?;
/// let spec = Spec::new(LatencyName::Service, "call").intervals(Some(log.clone()));
/// let mut recorder = Recorder::new(spec, start);
/// for nth in 0..3_000 {
///     let begin = start + Duration::from_millis(nth);
///     recorder.record_span(begin, begin + Duration::from_micros(5));
/// }
/// drop(recorder.finish());
/// log.finish()?;
/// let row = &rows.read()[0];
/// // The last value ended before the third second was over.
/// assert_eq!((row.all.n, row.windows.len()), (3_000, 2));
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone)]
pub struct LiveRows(Arc<Shared>);

struct Shared {
    start: Instant,
    window_ns: u64,
    rows: Mutex<Rows>,
}

#[derive(Default)]
struct Rows {
    rows: Vec<Row>,
    /// The end of the latest interval of any row.
    until_ns: u64,
    /// What single values have to be to be told.
    told_from_ns: u64,
}

/// One row so far.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct LiveRow {
    /// Its series and its time.
    pub label: String,
    /// All of it.
    pub all: Window,
    /// The latest windows without gaps, oldest first; those without a value have none.
    pub windows: Vec<Window>,
    /// Windows before those.
    pub earlier: u64,
    /// How long each of `windows` is.
    pub window_ns: u64,
    /// Values below this are too short to time one by one; 0 where they are means of batches.
    pub told_from_ns: u64,
}

/// The values of a part of a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Window {
    /// How many.
    pub n: u64,
    /// The time in it that intervals cover.
    pub covered_ns: u64,
    /// The median, where there are enough values.
    pub p50_ns: Option<u64>,
    /// The 99th percentile, where there are enough values.
    pub p99_ns: Option<u64>,
    /// The greatest value.
    pub max_ns: u64,
}

impl Window {
    /// Values a second, of the time that is covered.
    #[must_use]
    pub fn per_s(&self) -> f64 {
        match self.covered_ns {
            0 => 0.0,
            ns => self.n as f64 * 1e9 / ns as f64,
        }
    }
}

/// Where the intervals of a recorder go.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Seat {
    row: usize,
    /// From the start of the rows to that of the recorder.
    offset_ns: u64,
    /// Whether its values are means of batches.
    is_of_batches: bool,
}

impl Seat {
    /// Values of the recorder are means from now on.
    pub(crate) fn of_batches(&mut self) {
        self.is_of_batches = true;
    }
}

struct Row {
    label: String,
    /// When the latest of its recorders began.
    begun_ns: u64,
    is_of_batches: bool,
    all: Part,
    /// By the number of the window, with its histogram.
    open: VecDeque<(u64, Part)>,
    closed: VecDeque<(u64, Window)>,
}

/// Values with the time that they cover.
struct Part {
    histogram: Histogram<u64>,
    max_ns: u64,
    covered_ns: u64,
    /// The end of what is covered.
    until_ns: u64,
}

impl Part {
    fn new() -> Self {
        let histogram = Histogram::new(DIGITS);
        Self {
            histogram: histogram.expect("`DIGITS` is within what a histogram takes"),
            max_ns: 0,
            covered_ns: 0,
            until_ns: 0,
        }
    }

    fn add(&mut self, histogram: &Histogram<u64>, from_ns: u64, to_ns: u64) {
        let added = self.histogram.add(histogram);
        debug_assert!(added.is_ok(), "a histogram that resizes takes any other");
        self.max_ns = self.max_ns.max(histogram.max());
        self.covered_ns += to_ns.saturating_sub(from_ns.max(self.until_ns));
        self.until_ns = self.until_ns.max(to_ns);
    }

    fn window(&self) -> Window {
        let n = self.histogram.len();
        let known = |p: f64| {
            let is_known = earned_n(p) <= n;
            is_known.then(|| self.histogram.value_at_quantile(p / 100.0))
        };
        Window {
            n,
            covered_ns: self.covered_ns,
            p50_ns: known(50.0),
            p99_ns: known(99.0),
            max_ns: self.max_ns,
        }
    }

    fn bytes(&self) -> u64 {
        (self.histogram.distinct_values() * size_of::<u64>()) as u64
    }
}

impl fmt::Debug for LiveRows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LiveRows").finish_non_exhaustive()
    }
}

impl LiveRows {
    /// Rows of a run that starts at `start`, in windows of this length, at least a millisecond.
    #[must_use]
    pub fn new(start: Instant, window: Duration) -> Self {
        let window = window.max(Duration::from_millis(1));
        Self(Arc::new(Shared {
            start,
            window_ns: u64::try_from(window.as_nanos()).unwrap_or(u64::MAX),
            rows: Mutex::default(),
        }))
    }

    /// The rows with values as they are now: those of the latest run first, those that ended last.
    #[must_use]
    pub fn read(&self) -> Vec<LiveRow> {
        let (window_ns, rows) = (self.0.window_ns, self.rows());
        // A window counts when its time is over, so that the last one is as long as the others.
        let over = rows.until_ns / window_ns;
        let with_values = rows.rows.iter().filter(|row| !row.all.histogram.is_empty());
        let mut with_values: Vec<&Row> = with_values.collect();
        let is_over =
            |row: &Row| rows.until_ns.saturating_sub(row.all.until_ns) / window_ns > ENDED_WINDOWS;
        with_values.sort_by_key(|row| (is_over(row), Reverse(row.begun_ns)));
        let read = with_values.iter().map(|row| LiveRow {
            told_from_ns: if row.is_of_batches {
                0
            } else {
                rows.told_from_ns
            },
            ..row.read(over, window_ns)
        });
        read.collect()
    }

    /// States which single values are long enough for the clock to be told: [`crate::clock::FLOORS_MIN`] times what
    /// an empty timed span takes.
    pub fn tell_from(&self, ns: u64) {
        self.rows().told_from_ns = ns;
    }

    /// Bytes that the rows take now.
    #[must_use]
    pub fn held_bytes(&self) -> u64 {
        let rows = self.rows();
        let of = |row: &Row| {
            let open = row.open.iter().map(|(_, part)| part.bytes());
            let closed = (row.closed.capacity() * size_of::<(u64, Window)>()) as u64;
            row.all.bytes() + open.sum::<u64>() + closed
        };
        rows.rows.iter().map(of).sum()
    }

    /// A recorder begins: which row its intervals belong to. `None` if there are too many rows.
    pub(crate) fn seat(&self, label: &str, run_start: Instant) -> Option<Seat> {
        let mut rows = self.rows();
        let known = rows.rows.iter().position(|row| row.label == label);
        let row = match known {
            Some(row) => row,
            None if rows.rows.len() == ROWS => return None,
            None => {
                rows.rows.push(Row {
                    label: label.to_owned(),
                    begun_ns: 0,
                    is_of_batches: false,
                    all: Part::new(),
                    open: VecDeque::new(),
                    closed: VecDeque::new(),
                });
                rows.rows.len() - 1
            }
        };
        let offset_ns = nanoseconds(self.0.start, run_start);
        let begun_ns = &mut rows.rows[row].begun_ns;
        *begun_ns = offset_ns.max(*begun_ns);
        Some(Seat {
            row,
            offset_ns,
            is_of_batches: false,
        })
    }

    /// An interval of a recorder is complete.
    pub(crate) fn add(
        &self,
        seat: Seat,
        start_ns: u64,
        length_ns: u64,
        histogram: &Histogram<u64>,
    ) {
        let from_ns = start_ns.saturating_add(seat.offset_ns);
        let to_ns = from_ns.saturating_add(length_ns);
        let number = from_ns / self.0.window_ns;
        let mut rows = self.rows();
        rows.until_ns = rows.until_ns.max(to_ns);
        if let Some(row) = rows.rows.get_mut(seat.row) {
            row.is_of_batches |= seat.is_of_batches;
            row.all.add(histogram, from_ns, to_ns);
            row.part(number).add(histogram, from_ns, to_ns);
        }
    }

    fn rows(&self) -> MutexGuard<'_, Rows> {
        self.0.rows.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Row {
    /// The window of this number, or the oldest one that is still open.
    fn part(&mut self, number: u64) -> &mut Part {
        let last = self.open.back().map_or(0, |(last, _)| *last);
        if self.open.is_empty() || number > last {
            self.open.push_back((number, Part::new()));
            if self.open.len() > OPEN
                && let Some((oldest, part)) = self.open.pop_front()
            {
                if self.closed.len() == WINDOWS {
                    self.closed.pop_front();
                }
                self.closed.push_back((oldest, part.window()));
            }
            let newest = self.open.len() - 1;
            return &mut self.open[newest].1;
        }
        let at = self.open.partition_point(|(open, _)| *open < number);
        // A window between two others that no recorder had a value in until now.
        &mut self.open[at].1
    }

    fn read(&self, over: u64, window_ns: u64) -> LiveRow {
        let open = self
            .open
            .iter()
            .map(|(number, part)| (*number, part.window()));
        let known = self.closed.iter().copied().chain(open);
        let mut known: Vec<(u64, Window)> = known.collect();
        // Without a complete window, the one that has begun is better than none.
        if known.iter().any(|(number, _)| *number < over) {
            known.retain(|(number, _)| *number < over);
        }
        let last = known.last().map_or(0, |(number, _)| *number);
        let oldest = last.saturating_sub(WINDOWS as u64 - 1);
        known.retain(|(number, _)| *number >= oldest);
        let first = known.first().map_or(0, |(number, _)| *number);
        let mut windows = vec![Window::default(); (last - first + 1) as usize];
        for (number, window) in known {
            windows[(number - first) as usize] = window;
        }
        LiveRow {
            label: self.label.clone(),
            all: self.all.window(),
            windows,
            earlier: first,
            window_ns,
            told_from_ns: 0,
        }
    }
}

#[cfg(test)]
mod tests;
