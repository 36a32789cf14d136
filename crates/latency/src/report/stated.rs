//! What another tool stated of samples that its file does not have.

use serde::{Deserialize, Serialize};

/// Times and rates that another tool stated: points without samples behind them, and so without an interval.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Stated {
    /// Statistics of times.
    #[serde(default)]
    pub times: Vec<StatedTimes>,
    /// Counts, rates and shares.
    #[serde(default)]
    pub rates: Vec<StatedRate>,
}

impl Stated {
    /// Whether nothing was stated.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.times.is_empty() && self.rates.is_empty()
    }
}

/// Statistics of times.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct StatedTimes {
    /// The tool that stated them.
    pub source: String,
    /// What was timed, as the file calls it.
    pub name: String,
    /// How many samples there were.
    pub n: Option<u64>,
    /// Their mean.
    pub mean_ns: Option<f64>,
    /// Their standard deviation.
    pub stdev_ns: Option<f64>,
    /// The least.
    pub min_ns: Option<f64>,
    /// The greatest.
    pub max_ns: Option<f64>,
    /// Percentiles, in rising order.
    pub percentiles: Vec<StatedPercentile>,
}

/// A percentile that was stated.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct StatedPercentile {
    /// Which one, 0 to 100.
    pub p: f64,
    /// Its value.
    pub value_ns: f64,
}

/// What a rate is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum RateKind {
    /// Operations: their rate is the throughput.
    Operations,
    /// Operations that failed: their share is the error rate.
    Failures,
    /// Anything else.
    Other,
}

/// A count, a rate or a share.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct StatedRate {
    /// The tool that stated it.
    pub source: String,
    /// What was counted, as the file calls it.
    pub name: String,
    /// What it is of.
    pub kind: RateKind,
    /// How many there were.
    pub count: Option<u64>,
    /// Of how many, where it is a share.
    pub of: Option<u64>,
    /// How many there were a second.
    pub per_s: Option<f64>,
    /// Which share of `of` they were, 0 to 1.
    pub share: Option<f64>,
}

impl StatedRate {
    /// A count that is not known yet.
    pub(crate) fn new(source: &str, name: impl Into<String>, kind: RateKind) -> Self {
        Self {
            source: source.to_owned(),
            name: name.into(),
            kind,
            count: None,
            of: None,
            per_s: None,
            share: None,
        }
    }

    /// `count` of `of`, and their share.
    pub(crate) fn share_of(self, count: u64, of: u64) -> Self {
        Self {
            count: Some(count),
            of: Some(of),
            share: (of > 0).then(|| count.min(of) as f64 / of as f64),
            ..self
        }
    }
}
