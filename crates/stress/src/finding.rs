//! What a run came to, and what it looks like while it goes on.

use std::time::Duration;

use latency::Recording;
use latency::report::Load;

use crate::counts::Counts;
use crate::leak::Leak;
use crate::live::Live;
use crate::samples::Sample;

/// A run as it is now.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Progress {
    /// Since its start.
    pub elapsed: Duration,
    /// What became of the blocks so far.
    pub counts: Counts,
    /// What the process holds.
    pub held: Sample,
    /// Batches that wait.
    pub queued_batches: usize,
    /// The distributions so far, where the plan asks for them.
    pub live: Option<Live>,
}

/// What contexts of one direction came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Contexts {
    /// Made in all.
    pub made: u64,
    /// Thrown away after an error or a panic.
    pub discarded: u64,
    /// Most alive at once.
    pub alive_max: u64,
    /// Most bytes held at once.
    pub bytes_max: u64,
}

/// The distributions of a run.
#[derive(Debug)]
#[non_exhaustive]
pub struct Latencies {
    /// Getting a context, compressing a block, giving it back.
    pub compress: Recording,
    /// A batch in the queue.
    pub queue: Recording,
    /// Getting a context, decompressing a block, giving it back.
    pub decompress: Recording,
    /// A block from its begin, in an open loop from when it was due, until it is decompressed.
    pub end_to_end: Recording,
}

/// How much went through.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Volume {
    /// From the start to the end of the last block.
    pub elapsed: Duration,
    /// Processor time of the process in that time, where the system says.
    pub cpu: Option<Duration>,
    /// Bytes of content that came out at the consumers.
    pub content_bytes: u64,
}

impl Volume {
    /// Content a second of wall time.
    #[must_use]
    pub fn bytes_per_s(&self) -> f64 {
        self.content_bytes as f64 / self.elapsed.as_secs_f64()
    }

    /// Content a second of processor time.
    #[must_use]
    pub fn bytes_per_cpu_s(&self) -> Option<f64> {
        let cpu = self.cpu.filter(|cpu| !cpu.is_zero())?;
        Some(self.content_bytes as f64 / cpu.as_secs_f64())
    }
}

/// What a run came to.
#[derive(Debug)]
#[non_exhaustive]
pub struct Finding {
    /// The name of the codec.
    pub codec: String,
    /// What became of the blocks.
    pub counts: Counts,
    /// How much went through.
    pub volume: Volume,
    /// How long it took.
    pub latencies: Latencies,
    /// Closed or open, and whether the rate was held.
    pub load: Load,
    /// Contexts that compressed.
    pub compressors: Contexts,
    /// Contexts that decompressed.
    pub decompressors: Contexts,
    /// Threads that workers took turns on.
    pub threads: usize,
    /// What the process held over time.
    pub samples: Vec<Sample>,
    /// The verdict on leaks.
    pub leak: Leak,
    /// Whether it was ended before its time by whoever watched.
    pub stopped: bool,
}
