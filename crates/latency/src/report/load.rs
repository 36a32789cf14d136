//! The load model of a run: closed or open, and whether the loop kept its rate.

use serde::{Deserialize, Serialize};

/// Whether operations waited for each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum LoadModel {
    /// The next operation starts when the last has ended: no queue, no response time.
    Closed,
    /// Operations are due at times of their own; response time counts from the due time.
    Open,
    /// Several runs of different models in one report, or a report that does not state it.
    Unknown,
}

/// When the operations of an open loop are due.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Arrivals {
    /// At equal distances.
    Uniform,
    /// At exponentially distributed distances (a Poisson process).
    Poisson,
}

/// The load model of the run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Load {
    /// Closed, open or unknown.
    pub model: LoadModel,
    /// Arrival process, in an open loop.
    pub arrivals: Option<Arrivals>,
    /// Operations a second asked for, in an open loop.
    pub rate_target_per_s: Option<f64>,
    /// Operations a second done.
    pub rate_achieved_per_s: Option<f64>,
    /// Share of operations that started late: later than the clock's resolution after they were due, or than `late_after_ns` of the workload.
    pub late_start_ratio: Option<f64>,
    /// The greatest number of operations that were due and not started.
    pub backlog_max: Option<u64>,
    /// Whether less than 99 % of the target rate was achieved.
    pub saturated: bool,
    /// How late the generator was by itself; `null` in a closed loop, and where it never waited.
    #[serde(default)]
    pub generator_late: Option<GeneratorLate>,
}

/// How late operations started that nothing but the generator kept from their due time: it had nothing else to do and
/// waited for them. Lateness of other operations is the system's, which still had earlier ones to do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct GeneratorLate {
    /// How many operations were waited for.
    pub n: u64,
    /// Median.
    pub p50_ns: Option<u64>,
    /// 99th percentile, `null` when there are too few to know it.
    pub p99_ns: Option<u64>,
    /// The latest start.
    pub max_ns: u64,
}

impl Load {
    /// A closed loop.
    #[must_use]
    pub fn closed() -> Self {
        Self {
            model: LoadModel::Closed,
            arrivals: None,
            rate_target_per_s: None,
            rate_achieved_per_s: None,
            late_start_ratio: None,
            backlog_max: None,
            saturated: false,
            generator_late: None,
        }
    }
}
