//! What the workers of a thread share: its state and its distributions.

use std::time::Instant;

use latency::{LatencyName, MergeError, Pacer, Recorder, Spec, Timing};

use super::shared::Shared;
use crate::codec::{Compress, Decompress};
use crate::counts::Tally;
use crate::live::{LiveTally, Track};
use crate::plan::Plan;
use crate::pool::Seat;

/// Longer times count as above the histogram's range.
const HIGHEST_NS: u64 = 60_000_000_000;

/// The distributions of one thread, while it records or after.
pub(super) struct Rows<R> {
    pub(super) compress: R,
    pub(super) queue: R,
    pub(super) decompress: R,
    pub(super) end_to_end: R,
}

impl Rows<Recorder> {
    pub(super) fn new(plan: &Plan, open: bool, start: Instant) -> Self {
        let recorder = |name, series: &str, operation: &str| {
            let series = match &plan.label {
                Some(label) => format!("{label} {series}"),
                None => series.to_owned(),
            };
            let timing = match name {
                LatencyName::Response => Timing::Intended,
                _ => Timing::Actual,
            };
            let spec = Spec::new(name, operation)
                .series(series)
                .timing(timing)
                .range(HIGHEST_NS, 3)
                .intervals(plan.intervals.clone());
            Recorder::new(spec, start)
        };
        let whole = match open {
            true => LatencyName::Response,
            false => LatencyName::Service,
        };
        Self {
            // First, as who looks on has to see it first.
            end_to_end: recorder(whole, "end to end", "block"),
            compress: recorder(LatencyName::Service, "compress", "block"),
            queue: recorder(LatencyName::Service, "queue", "batch"),
            decompress: recorder(LatencyName::Service, "decompress", "block"),
        }
    }

    pub(super) fn merge(&mut self, other: Self) -> Result<(), MergeError> {
        self.compress.merge(other.compress)?;
        self.queue.merge(other.queue)?;
        self.decompress.merge(other.decompress)?;
        self.end_to_end.merge(other.end_to_end)
    }

    pub(super) fn tracked(self, live: Option<&LiveTally>) -> Rows<Track<'_>> {
        let track = |exact, live| Track { exact, live };
        Rows {
            compress: track(self.compress, live.map(|live| &live.compress)),
            queue: track(self.queue, live.map(|live| &live.queue)),
            decompress: track(self.decompress, live.map(|live| &live.decompress)),
            end_to_end: track(self.end_to_end, live.map(|live| &live.end_to_end)),
        }
    }
}

impl Rows<Track<'_>> {
    pub(super) fn exact(self) -> Rows<Recorder> {
        Rows {
            compress: self.compress.exact,
            queue: self.queue.exact,
            decompress: self.decompress.exact,
            end_to_end: self.end_to_end.exact,
        }
    }
}

/// The state of one thread, lent to each worker for its turn.
pub(super) struct Desk<'s> {
    pub(super) shared: &'s Shared<'s>,
    pub(super) tally: &'s Tally,
    pub(super) compressor: Seat<Box<dyn Compress>>,
    pub(super) decompressor: Seat<Box<dyn Decompress>>,
    pub(super) recorders: Rows<Track<'s>>,
    pub(super) pacer: Option<Pacer>,
    /// The content of the current block.
    pub(super) content: Vec<u8>,
    /// The current block, compressed.
    pub(super) block: Vec<u8>,
    /// When the last block came out.
    pub(super) last_end: Instant,
}
