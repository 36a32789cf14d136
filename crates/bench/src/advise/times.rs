//! Times of like calls, and how long calls are timed.

use std::time::{Duration, Instant};

use latency::CpuClock;
use latency::percentile::{earned_n, order_statistic_ranks, rank};

use crate::{Error, Watch};

/// Operations to time per cell, if there is enough time.
const OPERATIONS: std::ops::RangeInclusive<usize> = 3..=5_000;
/// Confidence of intervals.
const CONFIDENCE: f64 = 0.95;
/// The 99th percentile is taken to be less than this many times the longest of a few times.
const FEW: u64 = 2;

/// A call that is timed.
///
/// What its thread waited for a processor is no cost of the call: on a busy machine that would be most of the tail. So
/// the processor time of the thread counts where it is less than what passed.
#[derive(Debug)]
pub(crate) struct Call {
    cpu: Option<Duration>,
    start: Instant,
}

impl Call {
    pub(crate) fn start() -> Self {
        // The clock that is dear to read is outside, so that a short call is timed by the other one.
        Self {
            cpu: CpuClock::Thread.now(),
            start: Instant::now(),
        }
    }

    /// What it took.
    pub(crate) fn took(self) -> Duration {
        let passed = self.start.elapsed();
        let cpu = self.cpu.zip(CpuClock::Thread.now());
        let worked = cpu.map(|(before, after)| after.saturating_sub(before));
        worked.map_or(passed, |worked| worked.min(passed))
    }
}

/// Times of like calls.
#[derive(Debug)]
pub(crate) struct Times {
    ns: Vec<u64>,
    end: Instant,
}

impl Times {
    pub(crate) fn add(&mut self, time: Duration) {
        self.ns
            .push(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX));
    }

    pub(crate) fn n(&self) -> u64 {
        self.ns.len() as u64
    }

    pub(crate) fn is_over(&self) -> bool {
        let n = self.ns.len();
        n >= *OPERATIONS.end() || (n >= *OPERATIONS.start() && Instant::now() >= self.end)
    }

    /// The value of a percentile, if there are enough values for it.
    pub(crate) fn percentile(&self, p: f64) -> Option<u64> {
        let place = rank(self.n(), p).saturating_sub(1) as usize;
        self.ns.get(place).copied()
    }

    pub(crate) fn p50_ns(&self) -> Option<u64> {
        self.percentile(50.0)
    }

    pub(crate) fn p99_ns(&self) -> Option<u64> {
        self.percentile(99.0).filter(|_| self.n() >= earned_n(99.0))
    }

    /// The interval that holds the true 99th percentile with 95 % confidence; of too few values, from the
    /// least to what is above anything they show.
    pub(crate) fn p99_interval(&self) -> [u64; 2] {
        let (least, most) = match (self.ns.first(), self.ns.last()) {
            (Some(least), Some(most)) => (*least, *most),
            _ => return [0, u64::MAX],
        };
        let at = |rank: u64| {
            let place = usize::try_from(rank.saturating_sub(1)).unwrap_or(usize::MAX);
            self.ns.get(place).copied().unwrap_or(most)
        };
        match order_statistic_ranks(self.n(), 99.0, CONFIDENCE) {
            Some((low, high)) => [at(low), at(high)],
            None => [least, most.saturating_mul(FEW)],
        }
    }

    /// The longest.
    pub(crate) fn longest_ns(&self) -> u64 {
        self.ns.last().copied().unwrap_or(0)
    }
}

/// Repeats `work`, which adds its times, until the time or the number of operations is reached.
pub(crate) fn measure(
    time: Duration,
    watch: &dyn Watch,
    mut work: impl FnMut(usize, &mut Times) -> Result<(), Error>,
) -> Result<Times, Error> {
    let mut times = Times {
        ns: Vec::new(),
        end: Instant::now() + time,
    };
    let mut nth = 0;
    while !times.is_over() && !watch.is_stopped() {
        work(nth, &mut times)?;
        nth += 1;
    }
    times.ns.sort_unstable();
    Ok(times)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// These times.
    pub(crate) fn times(ns: impl IntoIterator<Item = u64>) -> Times {
        let mut ns: Vec<u64> = ns.into_iter().collect();
        ns.sort_unstable();
        Times {
            ns,
            end: Instant::now(),
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_call_does_not_cost_what_its_thread_waits() {
        let call = Call::start();
        std::thread::sleep(Duration::from_millis(200));
        assert!(call.took() < Duration::from_millis(100));
        let (call, start) = (Call::start(), Instant::now());
        let began = CpuClock::Thread.now().unwrap();
        while CpuClock::Thread.now().unwrap() - began < Duration::from_millis(5) {}
        let passed = start.elapsed();
        let took = call.took();
        assert!(took >= Duration::from_millis(5), "{took:?} of {passed:?}");
    }

    #[test]
    fn a_percentile_that_is_not_earned_is_absent() {
        let few = times(1..=100);
        assert_eq!((few.p50_ns(), few.p99_ns()), (Some(50), None));
        assert_eq!(times(1..=1000).p99_ns(), Some(990));
    }

    #[test]
    fn the_interval_holds_the_percentile_and_is_wide_where_little_is_known() {
        let [low, high] = times(1..=5000).p99_interval();
        assert!(low < 4950 && 4950 < high && high - low < 60, "{low} {high}");
        assert_eq!(times([5, 7]).p99_interval(), [5, 14]);
        assert_eq!(times([]).p99_interval(), [0, u64::MAX]);
        assert_eq!(times([u64::MAX]).p99_interval(), [u64::MAX; 2]);
    }
}
