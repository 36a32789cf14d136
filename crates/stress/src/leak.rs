//! Leak detection: what grew during the run, and what was not released at its end.
//!
//! A quantity grows when the whole interval of its slope over the settled part of the run is above zero
//! *and* it grew by more than allocators and queues may take. What is left after the pools are dropped needs
//! no statistics: it is counted and must be 0.

use std::fmt;
use std::time::Duration;

use crate::samples::Sample;
use crate::slope::{Slope, theil_sen};

/// The share of a run that is ignored at its start, while pools and allocators settle.
const WARM_UP_SHARE: f64 = 0.25;
/// With fewer settled samples, or a shorter time, there is no verdict.
const SAMPLES_MIN: usize = 12;
const SETTLED_MIN: Duration = Duration::from_millis(500);

/// A quantity that a leak makes grow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Quantity {
    /// Bytes held by contexts.
    CodecBytes,
    /// Contexts alive.
    Contexts,
    /// Threads of the process.
    Threads,
    /// Resident memory of the process, without what reporting on the run takes.
    Rss,
}

impl Quantity {
    const ALL: [Self; 4] = [Self::CodecBytes, Self::Contexts, Self::Threads, Self::Rss];

    /// The name in reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::CodecBytes => "codec bytes",
            Self::Contexts => "contexts",
            Self::Threads => "threads",
            Self::Rss => "resident memory",
        }
    }

    /// Whether it is counted in bytes.
    #[must_use]
    pub fn is_bytes(self) -> bool {
        matches!(self, Self::CodecBytes | Self::Rss)
    }

    fn of(self, sample: &Sample) -> Option<u64> {
        match self {
            Self::CodecBytes => Some(sample.codec_bytes),
            Self::Contexts => Some(sample.contexts),
            Self::Threads => sample.threads,
            // Memory for reporting on a run is not a leak of the pool.
            Self::Rss => Some(sample.rss_bytes?.saturating_sub(sample.own_bytes)),
        }
    }

    /// Growth that a run without a leak may show: a tenth, and at least a fixed amount.
    fn tolerance(self, start: u64) -> f64 {
        let least = match self {
            Self::CodecBytes => 1_000_000.0,
            Self::Contexts => 8.0,
            Self::Threads => 2.0,
            Self::Rss => 2_000_000.0,
        };
        (start as f64 / 10.0).max(least)
    }
}

impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Whether something grew.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Growth {
    /// It did not, beyond the tolerance.
    Steady,
    /// It did.
    Growing,
    /// The run was too short for a verdict, or the system does not report the quantity.
    Unknown,
}

/// One quantity over the settled part of a run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Trend {
    /// The quantity.
    pub quantity: Quantity,
    /// At the start of the settled part.
    pub start: Option<u64>,
    /// At its end.
    pub end: Option<u64>,
    /// The greatest of the whole run.
    pub max: Option<u64>,
    /// Growth per second, where it is known.
    pub slope: Option<Slope>,
    /// The verdict.
    pub growth: Growth,
}

/// The verdict on a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Leak {
    /// What each quantity did.
    pub trends: Vec<Trend>,
    /// Compressing contexts still alive after the pools were dropped.
    pub compressors_left: u64,
    /// Decompressing contexts still alive.
    pub decompressors_left: u64,
    /// Bytes held by these.
    pub bytes_left: u64,
}

impl Leak {
    /// Whether there is a leak.
    #[must_use]
    pub fn found(&self) -> bool {
        self.left() || self.growing().next().is_some()
    }

    /// Whether contexts were not released.
    #[must_use]
    pub fn left(&self) -> bool {
        self.compressors_left + self.decompressors_left + self.bytes_left > 0
    }

    /// What grew.
    pub fn growing(&self) -> impl Iterator<Item = Quantity> {
        let growing = self.trends.iter();
        growing
            .filter(|trend| trend.growth == Growth::Growing)
            .map(|trend| trend.quantity)
    }
}

/// The trends in the samples of a run.
#[must_use]
pub fn judge(samples: &[Sample]) -> Vec<Trend> {
    let end = samples.last().map_or(Duration::ZERO, |sample| sample.at);
    let settled_from = end.mul_f64(WARM_UP_SHARE);
    let from = samples.partition_point(|sample| sample.at < settled_from);
    let settled = &samples[from..];
    Quantity::ALL
        .into_iter()
        .map(|quantity| trend(quantity, samples, settled))
        .collect()
}

fn trend(quantity: Quantity, samples: &[Sample], settled: &[Sample]) -> Trend {
    let of = |sample: Option<&Sample>| sample.and_then(|sample| quantity.of(sample));
    let (start, end) = (of(settled.first()), of(settled.last()));
    let max = samples
        .iter()
        .filter_map(|sample| quantity.of(sample))
        .max();
    let points: Vec<(f64, f64)> = settled
        .iter()
        .filter_map(|sample| Some((sample.at.as_secs_f64(), quantity.of(sample)? as f64)))
        .collect();
    let seconds = match (points.first(), points.last()) {
        (Some(first), Some(last)) => last.0 - first.0,
        _ => 0.0,
    };
    let enough = points.len() >= SAMPLES_MIN && seconds >= SETTLED_MIN.as_secs_f64();
    let slope = enough.then(|| theil_sen(&points)).flatten();
    let growth = match (slope, start) {
        (Some(slope), Some(start)) => {
            let grown = slope.per_unit * seconds;
            match slope.ci95[0] > 0.0 && grown > quantity.tolerance(start) {
                true => Growth::Growing,
                false => Growth::Steady,
            }
        }
        _ => Growth::Unknown,
    };
    Trend {
        quantity,
        start,
        end,
        max,
        slope,
        growth,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ten seconds of samples, by these functions of the time in milliseconds.
    fn samples(bytes: impl Fn(u64) -> u64, rss: impl Fn(u64) -> u64) -> Vec<Sample> {
        (0..200)
            .map(|nth| nth * 50)
            .map(|ms| Sample {
                at: Duration::from_millis(ms),
                codec_bytes: bytes(ms),
                contexts: bytes(ms) / 100_000,
                threads: Some(3),
                rss_bytes: Some(rss(ms)),
                own_bytes: 0,
            })
            .collect()
    }

    fn growing(samples: &[Sample]) -> Vec<Quantity> {
        let trends = judge(samples);
        let growing = trends
            .iter()
            .filter(|trend| trend.growth == Growth::Growing);
        growing.map(|trend| trend.quantity).collect()
    }

    /// Something that goes up and down by up to `by`.
    fn noise(ms: u64, by: u64) -> u64 {
        ms.wrapping_mul(2_654_435_761) % by.max(1)
    }

    #[test]
    fn a_leak_is_named_by_what_grew() {
        let steady = |ms| 10_000_000 + noise(ms, 900_000);
        let leaks = |ms| 1_000_000 + ms * 1_000;
        assert_eq!(
            growing(&samples(leaks, steady)),
            [Quantity::CodecBytes, Quantity::Contexts]
        );
        assert_eq!(growing(&samples(|_| 1, leaks)), [Quantity::Rss]);
    }

    #[test]
    fn warming_up_noise_and_a_late_step_are_no_leak() {
        let warming = |ms: u64| 20_000_000 * ms.min(2_000) / 2_000 + noise(ms, 300_000);
        let step = |ms: u64| if ms > 9_000 { 90_000_000 } else { 8_000_000 };
        let creeping = |ms| 50_000_000 + ms / 10;
        for rss in [&warming as &dyn Fn(u64) -> u64, &step, &creeping] {
            assert_eq!(growing(&samples(|ms| noise(ms, 800_000), rss)), []);
        }
    }

    #[test]
    fn what_the_report_takes_is_no_leak_and_hides_none() {
        let own = |growth: u64, held: u64| {
            let mut samples = samples(|_| 1, |ms| 10_000_000 + ms * (growth + held));
            for sample in &mut samples {
                sample.own_bytes = sample.at.as_millis() as u64 * held;
            }
            growing(&samples)
        };
        assert_eq!(own(0, 3_000), []);
        assert_eq!(own(3_000, 3_000), [Quantity::Rss]);
    }

    #[test]
    fn a_short_run_is_not_judged_by_its_slope() {
        let all = samples(|ms| ms * 1_000_000, |ms| ms * 1_000_000);
        for trend in judge(&all[..10]) {
            assert_eq!((trend.growth, trend.slope), (Growth::Unknown, None));
        }
        assert!(
            judge(&[])
                .iter()
                .all(|trend| trend.growth == Growth::Unknown)
        );
    }

    #[test]
    fn what_is_left_is_a_leak_by_itself() {
        let mut leak = Leak {
            trends: Vec::new(),
            compressors_left: 0,
            decompressors_left: 0,
            bytes_left: 0,
        };
        assert!(!leak.found());
        leak.decompressors_left = 1;
        assert!(leak.found() && leak.left());
    }
}
