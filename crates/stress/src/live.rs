//! The distributions that another thread can read during a run, counted per thread.

use std::ops::AddAssign;
use std::time::Instant;

use latency::{Buckets, LiveBuckets, Recorder};

/// The distributions of a run so far, as in [`Latencies`](crate::Latencies).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Live {
    /// Compressing a block.
    pub compress: Buckets,
    /// A batch in the queue.
    pub queue: Buckets,
    /// Decompressing a block.
    pub decompress: Buckets,
    /// A block from its begin or due time until it is decompressed.
    pub end_to_end: Buckets,
}

impl AddAssign for Live {
    fn add_assign(&mut self, other: Self) {
        self.compress += other.compress;
        self.queue += other.queue;
        self.decompress += other.decompress;
        self.end_to_end += other.end_to_end;
    }
}

/// The distributions of one thread, on separate cache lines.
#[derive(Debug, Default)]
#[repr(align(128))]
pub(crate) struct LiveTally {
    pub(crate) compress: LiveBuckets,
    pub(crate) queue: LiveBuckets,
    pub(crate) decompress: LiveBuckets,
    pub(crate) end_to_end: LiveBuckets,
}

impl LiveTally {
    pub(crate) fn read(&self) -> Live {
        Live {
            compress: self.compress.read(),
            queue: self.queue.read(),
            decompress: self.decompress.read(),
            end_to_end: self.end_to_end.read(),
        }
    }
}

/// Where one thread records a distribution: exactly, and live if the plan asks for it.
#[derive(Debug)]
pub(crate) struct Track<'s> {
    pub(crate) exact: Recorder,
    pub(crate) live: Option<&'s LiveBuckets>,
}

impl Track<'_> {
    pub(crate) fn span(&mut self, start: Instant, end: Instant, what: impl FnOnce() -> String) {
        let ns = self.exact.record_span_what(start, end, what);
        if let Some(live) = self.live {
            live.add(ns);
        }
    }
}
