//! The result of a run, and its progress while it runs.

use std::time::Duration;

use latency::Recording;
use latency::report::Load;

use crate::counts::Counts;
use crate::leak::Leak;
use crate::live::Live;
use crate::samples::Sample;

/// A running run.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Progress {
    /// Time since its start.
    pub elapsed: Duration,
    /// The fate of the blocks so far.
    pub counts: Counts,
    /// Memory, contexts and threads now.
    pub held: Sample,
    /// Batches in the queue.
    pub queued_batches: usize,
    /// The distributions so far, if the plan asks for them.
    pub live: Option<Live>,
}

/// The contexts of one direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Contexts {
    /// How many were made.
    pub made: u64,
    /// How many were dropped after an error or a panic.
    pub discarded: u64,
    /// The most alive at the same time.
    pub alive_max: u64,
    /// The most bytes held at the same time.
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
    /// A block from its begin (in an open loop from when it was due) until it is decompressed.
    pub end_to_end: Recording,
}

/// How much went through.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Volume {
    /// From the start to the end of the last block.
    pub elapsed: Duration,
    /// Processor time of the process in that time, where the system reports it.
    pub cpu: Option<Duration>,
    /// Bytes of content that came out at the consumers.
    pub content_bytes: u64,
}

impl Volume {
    /// Content bytes per second of wall time.
    #[must_use]
    pub fn bytes_per_s(&self) -> f64 {
        self.content_bytes as f64 / self.elapsed.as_secs_f64()
    }

    /// Content bytes per second of processor time.
    #[must_use]
    pub fn bytes_per_cpu_s(&self) -> Option<f64> {
        let cpu = self.cpu.filter(|cpu| !cpu.is_zero())?;
        Some(self.content_bytes as f64 / cpu.as_secs_f64())
    }
}

/// The result of a run.
#[derive(Debug)]
#[non_exhaustive]
pub struct Finding {
    /// The name of the codec.
    pub codec: String,
    /// The fate of the blocks.
    pub counts: Counts,
    /// How much went through.
    pub volume: Volume,
    /// The latency distributions.
    pub latencies: Latencies,
    /// Closed or open loop, and whether it kept its rate.
    pub load: Load,
    /// Contexts that compressed.
    pub compressors: Contexts,
    /// Contexts that decompressed.
    pub decompressors: Contexts,
    /// Threads that the workers took turns on.
    pub threads: usize,
    /// Memory, contexts and threads over time.
    pub samples: Vec<Sample>,
    /// The verdict on leaks.
    pub leak: Leak,
    /// Whether the callback ended the run before its time.
    pub stopped: bool,
}
