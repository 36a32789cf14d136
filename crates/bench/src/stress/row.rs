//! What is kept of a codec with a pool over its turns: sums, worst cases, merged distributions, and the
//! speed of each turn.

use std::time::Duration;

use latency::report::Latency;
use stress::{Contexts, Counts, Finding, Leak, PoolKind};

use crate::Error;

/// A codec with a pool: one run, or several turns in rounds.
#[derive(Debug, Clone)]
pub struct Row {
    pub(crate) codec: String,
    pub(crate) pool: PoolKind,
    pub(crate) counts: Counts,
    elapsed: Duration,
    cpu: Option<Duration>,
    /// Nanoseconds per byte of content, for each complete turn: CPU time if the system reports it, else
    /// wall time.
    pub(crate) costs: Vec<f64>,
    pub(crate) compress: Latency,
    pub(crate) decompress: Latency,
    pub(crate) end_to_end: Latency,
    pub(crate) contexts_max: u64,
    pub(crate) codec_bytes_max: u64,
    pub(crate) rss_bytes_max: Option<u64>,
    pub(crate) threads: u64,
    pub(crate) leak: Leak,
}

/// The least ratio of a codec that is ranked, unless another one is asked for.
pub(crate) const RANKED_RATIO_MIN: f64 = 1.1;

impl Row {
    /// The first turn, or the only run.
    #[must_use]
    pub fn new(found: &Finding, pool: PoolKind) -> Self {
        let contexts = [&found.compressors, &found.decompressors];
        let sum = |of: fn(&Contexts) -> u64| contexts.into_iter().map(of).sum();
        let rss = found.samples.iter().filter_map(|sample| sample.rss_bytes);
        Self {
            codec: found.codec.clone(),
            pool,
            counts: found.counts,
            elapsed: found.volume.elapsed,
            cpu: found.volume.cpu,
            costs: cost(found).into_iter().collect(),
            compress: found.latencies.compress.latency(),
            decompress: found.latencies.decompress.latency(),
            end_to_end: found.latencies.end_to_end.latency(),
            contexts_max: sum(|contexts| contexts.alive_max),
            codec_bytes_max: sum(|contexts| contexts.bytes_max),
            rss_bytes_max: rss.max(),
            threads: found.threads as u64,
            leak: found.leak.clone(),
        }
    }

    /// Adds another turn of the same codec and pool.
    pub(crate) fn add(&mut self, found: &Finding) -> Result<(), Error> {
        let other = Self::new(found, self.pool);
        self.counts += other.counts;
        self.elapsed += other.elapsed;
        self.cpu = self.cpu.zip(other.cpu).map(|(a, b)| a + b);
        self.costs.extend(other.costs);
        let pairs = [
            (&mut self.compress, &other.compress),
            (&mut self.decompress, &other.decompress),
            (&mut self.end_to_end, &other.end_to_end),
        ];
        for (own, more) in pairs {
            own.merge(more)
                .map_err(|error| Error::new(format!("turns do not add up: {error}")))?;
        }
        self.contexts_max = self.contexts_max.max(other.contexts_max);
        self.codec_bytes_max = self.codec_bytes_max.max(other.codec_bytes_max);
        self.rss_bytes_max = self.rss_bytes_max.max(other.rss_bytes_max);
        self.threads = self.threads.max(other.threads);
        self.leak.compressors_left += other.leak.compressors_left;
        self.leak.decompressors_left += other.leak.decompressors_left;
        self.leak.bytes_left += other.leak.bytes_left;
        if self.leak.growing().next().is_none() {
            // Growth in any turn is reported.
            self.leak.trends = other.leak.trends;
        }
        Ok(())
    }

    /// Its name in messages.
    pub(crate) fn name(&self) -> String {
        format!("{} in the {} pool", self.codec, self.pool.name())
    }

    /// Content divided by its compressed size.
    pub(crate) fn ratio(&self) -> Option<f64> {
        self.counts.ratio()
    }

    pub(crate) fn blocks_per_s(&self) -> f64 {
        self.counts.received as f64 / self.elapsed.as_secs_f64()
    }

    pub(crate) fn bytes_per_s(&self) -> f64 {
        self.counts.decompressed_bytes as f64 / self.elapsed.as_secs_f64()
    }

    /// Content per second of CPU time: the median over the turns.
    pub(crate) fn cpu_bytes_per_s(&self) -> Option<f64> {
        self.cpu?;
        latency::compare::median(&self.costs).map(|ns| 1e9 / ns)
    }

    /// Whether it is ranked: a codec that leaks, or that hardly compresses, is fast at something else.
    pub(crate) fn ranks(&self, ratio_min: Option<f64>) -> bool {
        !self.leak.found() && !self.misses(Some(ratio_min.unwrap_or(RANKED_RATIO_MIN)))
    }

    /// Whether its ratio is below the required one.
    pub(crate) fn misses(&self, ratio_min: Option<f64>) -> bool {
        ratio_min.is_some_and(|least| self.ratio().is_none_or(|ratio| ratio < least))
    }
}

/// The cost of a byte of content in a turn; none for an interrupted turn.
pub(crate) fn cost(found: &Finding) -> Option<f64> {
    let time = found.volume.cpu.unwrap_or(found.volume.elapsed);
    let ns = time.as_nanos() as f64 / found.volume.content_bytes as f64;
    (!found.stopped && ns > 0.0 && ns.is_finite()).then_some(ns)
}
