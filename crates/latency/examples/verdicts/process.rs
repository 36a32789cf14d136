//! Times as machines make them: independent, autocorrelated, with heavy tails. Their true percentiles and means are
//! known.

use perfkit_latency::SplitMix64;

/// A process that makes times.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Process {
    /// Logarithms are normal, and each depends on the one before it by this much.
    Normal { rho: f64 },
    /// A Pareto tail of this index, independent.
    Pareto { index: f64 },
}

/// Spread of the logarithms.
const SIGMA: f64 = 0.3;
/// The middle, or the least of a Pareto process, in nanoseconds.
const SCALE_NS: f64 = 1e6;

impl Process {
    pub(crate) const ALL: [(&'static str, Self); 5] = [
        ("independent", Self::Normal { rho: 0.0 }),
        ("autocorrelation 0.5", Self::Normal { rho: 0.5 }),
        ("autocorrelation 0.9", Self::Normal { rho: 0.9 }),
        ("Pareto 2.5", Self::Pareto { index: 2.5 }),
        ("Pareto 1.1", Self::Pareto { index: 1.1 }),
    ];

    /// `n` times of one run.
    pub(crate) fn times(self, seed: u64, n: usize) -> Vec<u64> {
        let mut rng = SplitMix64::new(seed);
        match self {
            Self::Normal { rho } => {
                let mut at = normal(&mut rng);
                let noise = (1.0 - rho * rho).sqrt();
                let mut next = || {
                    at = rho * at + noise * normal(&mut rng);
                    (SCALE_NS * (SIGMA * at).exp()) as u64
                };
                (0..n).map(|_| next()).collect()
            }
            Self::Pareto { index } => {
                let mut next = || (SCALE_NS * unit(&mut rng).powf(-1.0 / index)) as u64;
                (0..n).map(|_| next()).collect()
            }
        }
    }

    /// The true percentile, or the true mean for `None`.
    pub(crate) fn truth(self, p: Option<f64>) -> f64 {
        match (self, p) {
            (Self::Normal { .. }, Some(p)) => SCALE_NS * (SIGMA * quantile(p)).exp(),
            (Self::Normal { .. }, None) => SCALE_NS * (SIGMA * SIGMA / 2.0).exp(),
            (Self::Pareto { index }, Some(p)) => SCALE_NS * (1.0 - p / 100.0).powf(-1.0 / index),
            (Self::Pareto { index }, None) => SCALE_NS * index / (index - 1.0),
        }
    }
}

/// The standard normal quantiles that are asked for.
fn quantile(p: f64) -> f64 {
    match p as u64 {
        50 => 0.0,
        90 => 1.281_551_565_544_6,
        _ => 2.326_347_874_040_841,
    }
}

/// Uniform in (0, 1].
pub(crate) fn unit(rng: &mut SplitMix64) -> f64 {
    ((rng.next() >> 11) + 1) as f64 / (1_u64 << 53) as f64
}

/// Standard normal, by Box and Muller.
pub(crate) fn normal(rng: &mut SplitMix64) -> f64 {
    let radius = (-2.0 * unit(rng).ln()).sqrt();
    radius * (std::f64::consts::TAU * unit(rng)).cos()
}
