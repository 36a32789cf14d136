//! What is put under load, and how.

use latency::IntervalLog;
use stress::{Pace, PoolKind};

/// A rate of an open loop.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Rate {
    /// Blocks per second.
    PerSecond(f64),
    /// A share of what a closed loop does, 1 for all of it.
    Share(f64),
}

/// What is put under load, and how.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Plan {
    /// Codecs by name and their pools, each pair once. Several take turns in rounds and are ranked.
    pub pairs: Vec<(String, PoolKind)>,
    /// Everything else about a run.
    pub run: stress::Plan,
    /// Smallest accepted ratio.
    pub min_ratio: Option<f64>,
    /// Rates of open loops that the first pair runs at, one after another; if empty, there is one run.
    pub rates: Vec<Rate>,
    /// Where the intervals of the turns of several pairs go, for those who look on: they say little of a pair, so they
    /// are in no report.
    pub turn_intervals: Option<IntervalLog>,
    /// Whether their blocks are due at equal intervals.
    pub uniform: bool,
}

impl Plan {
    /// Pairs of a codec and a pool, each with the settings of `run`.
    #[must_use]
    pub fn new(pairs: Vec<(String, PoolKind)>, run: stress::Plan) -> Self {
        Self {
            pairs,
            run,
            min_ratio: None,
            rates: Vec::new(),
            turn_intervals: None,
            uniform: false,
        }
    }

    /// The pace of `per_s` blocks per second.
    #[must_use]
    pub fn paced(&self, per_s: f64) -> Pace {
        match self.uniform {
            true => Pace::Uniform(per_s),
            false => Pace::Poisson(per_s),
        }
    }
}

/// What a pair is called.
#[must_use]
pub fn pair_name((codec, pool): &(String, PoolKind)) -> String {
    format!("{codec} {}", pool.name())
}
