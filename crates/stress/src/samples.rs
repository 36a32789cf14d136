//! Samples of memory, contexts and threads over a run: a bounded number, however long the run is.

use std::time::{Duration, Instant};

/// Most samples kept. When these are full, every other one is dropped and the period doubles.
const SAMPLES_MAX: usize = 256;
const PERIOD_FIRST: Duration = Duration::from_millis(50);

/// Memory, contexts and threads at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sample {
    /// Time since the start of the run.
    pub at: Duration,
    /// Bytes that contexts report to hold.
    pub codec_bytes: u64,
    /// Contexts alive, of both directions.
    pub contexts: u64,
    /// Threads of the process, where the system reports them.
    pub threads: Option<u64>,
    /// Resident memory of the process, where the system reports it.
    pub rss_bytes: Option<u64>,
    /// Bytes for reporting on the run: intervals that wait to be written, and the plan's `held_outside`.
    pub own_bytes: u64,
}

/// Takes samples periodically.
#[derive(Debug)]
pub(crate) struct Samples {
    taken: Vec<Sample>,
    period: Duration,
    next: Instant,
}

impl Samples {
    pub(crate) fn new(start: Instant) -> Self {
        Self {
            taken: Vec::with_capacity(SAMPLES_MAX),
            period: PERIOD_FIRST,
            next: start,
        }
    }

    /// When the next one is due.
    pub(crate) fn next(&self) -> Instant {
        self.next
    }

    pub(crate) fn push(&mut self, sample: Sample, now: Instant) {
        if self.taken.len() == SAMPLES_MAX {
            let mut nth = 0;
            self.taken.retain(|_| {
                nth += 1;
                nth % 2 == 1
            });
            self.period *= 2;
        }
        self.taken.push(sample);
        self.next = now + self.period;
    }

    pub(crate) fn finish(self) -> Vec<Sample> {
        self.taken
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_run_keeps_samples_of_all_of_it() {
        let start = Instant::now();
        let mut samples = Samples::new(start);
        for _ in 0..5_000 {
            let now = samples.next();
            let sample = Sample {
                at: now - start,
                codec_bytes: 0,
                contexts: 0,
                threads: None,
                rss_bytes: None,
                own_bytes: 0,
            };
            samples.push(sample, now);
        }
        let last = samples.taken[samples.taken.len() - 1].at;
        let gaps: Vec<Duration> = samples
            .taken
            .windows(2)
            .map(|two| two[1].at - two[0].at)
            .collect();
        assert!(samples.taken.len() <= SAMPLES_MAX && samples.taken.len() >= SAMPLES_MAX / 2);
        assert_eq!(samples.taken[0].at, Duration::ZERO);
        assert!(last > PERIOD_FIRST * 5_000);
        assert!(gaps.iter().all(|gap| *gap <= samples.period), "{gaps:?}");
    }
}
