//! The results of comparisons and gates.

use serde::{Deserialize, Serialize};

/// The result of comparing a target with a baseline. See [`crate::compare`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Comparison {
    /// What was compared (series and time).
    pub row: String,
    /// Name of the baseline.
    pub baseline: String,
    /// Name of the target.
    pub target: String,
    /// How the pairs were made.
    pub design: Design,
    /// Pairs of buckets compared.
    pub pairs: u64,
    /// Operations in a bucket.
    pub bucket_ops: u64,
    /// Median of the baseline's buckets, per operation. `null` for plain numbers.
    pub baseline_median_ns: Option<f64>,
    /// Median of the target's buckets, per operation. `null` for plain numbers.
    pub target_median_ns: Option<f64>,
    /// Median of a baseline of plain numbers, whose unit is unknown. `null` for times.
    pub baseline_median: Option<f64>,
    /// Median of a target of plain numbers, whose unit is unknown. `null` for times.
    pub target_median: Option<f64>,
    /// Relative differences (target − baseline) / baseline, over the pairs; `null` without pairs.
    pub difference: Option<Differences>,
    /// Percentiles above the median, of single operations, where both sides have enough of them; else none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tails: Vec<TailDifference>,
    /// Such percentiles that were not compared, each with the reason. None are named where single operations are not
    /// known of both sides.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tails_left_out: Vec<TailLeftOut>,
    /// The same as `difference` for two halves of the baseline, or for an A/A control: what this run shows when nothing
    /// differs.
    pub control: Option<Differences>,
    /// The least difference that a comparison of this kind finds with 80 % power.
    pub resolution: Option<f64>,
    /// The share up to which a difference counts as none: as asked, or what the control shows if that is wider.
    #[serde(default)]
    pub margin: Option<f64>,
    /// Of two separate runs: how much further than its interval the difference may lie on either side, for what they
    /// drifted within themselves. Not there where pairing has cancelled it, or where nothing shows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drift: Option<f64>,
    /// The verdict on the median.
    pub verdict: Verdict,
    /// One line that explains the verdict.
    pub reason: String,
}

impl Comparison {
    /// Takes back what was found, for a reason: the times are not those of what was to be compared.
    pub fn leave_out(&mut self, why: &str) {
        self.difference = None;
        self.control = None;
        self.tails.clear();
        self.tails_left_out.clear();
        self.pairs = 0;
        (self.resolution, self.margin, self.drift) = (None, None, None);
        self.verdict = Verdict::Inconclusive;
        why.clone_into(&mut self.reason);
    }
}

/// How a percentile of the target differs from that of the baseline.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct TailDifference {
    /// The percentile, 50 < p < 100.
    pub p: f64,
    /// Its value on the baseline's side. `null` for plain numbers, and for times that are known exactly.
    pub baseline_ns: Option<f64>,
    /// Its value on the target's side.
    pub target_ns: Option<f64>,
    /// The relative difference (target − baseline) / baseline, as a fraction.
    pub difference: f64,
    /// The interval of the difference. Those of all percentiles of a comparison hold together with 95 % confidence.
    pub interval: [f64; 2],
    /// The verdict on this percentile.
    pub verdict: Verdict,
}

/// A percentile that was not compared.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct TailLeftOut {
    /// The percentile, 50 < p < 100.
    pub p: f64,
    /// Why: how many values there are, and how many it needs.
    pub reason: String,
}

/// How baseline and target were run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Design {
    /// Alternating in random order in one run.
    Interleaved,
    /// One after the other: unpaired, drift is not controlled.
    Sequential,
}

/// Relative differences over the pairs, as fractions (0.4 is 40 %).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Differences {
    /// Least and greatest.
    pub range: [f64; 2],
    /// Median.
    pub median: f64,
    /// Exact order-statistic interval of the median, at least 95 %; `null` below 6 pairs.
    pub median_ci95: Option<[f64; 2]>,
    /// 99th percentile.
    pub p99: f64,
    /// Share of pairs below 0.
    pub better: f64,
}

/// The verdict of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The target is faster.
    Better,
    /// The target is slower.
    Worse,
    /// The whole interval lies within the margin.
    NoDifference,
    /// The interval excludes 0 and does not clear the control: not distinguishable from drift.
    Small,
    /// The run cannot decide.
    Inconclusive,
}

/// The verdict of a gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum GateVerdict {
    /// The whole interval is within the limit.
    Pass,
    /// The whole interval is above the limit.
    Fail,
    /// The limit lies inside the interval, or there are too few samples.
    Inconclusive,
}

/// A limit on a regression, and what it came to for one comparison.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct LimitResult {
    /// The limit as written (`5%`, `cpu.p99:5%`); `worse` where every regression that is proven is beyond it.
    pub limit: String,
    /// The row of the comparison.
    pub row: String,
    /// The verdict.
    pub verdict: GateVerdict,
    /// Whether it decides how the process ends. Two separate runs only suggest a regression, and rows that no limit
    /// names need not be decided.
    pub counts: bool,
    /// One line that explains the verdict.
    pub reason: String,
}

/// One gate and its verdict.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct GateResult {
    /// The gate as written (`p99.9<=2ms`).
    pub gate: String,
    /// The row that decided it.
    pub row: Option<String>,
    /// The value found.
    pub value_ns: Option<u64>,
    /// Its interval.
    pub ci95_ns: Option<[u64; 2]>,
    /// The limit on a latency; `null` for another number.
    #[serde(default)]
    pub limit_ns: Option<u64>,
    /// The value found of a number that is no latency, in the unit of its field.
    #[serde(default)]
    pub value: Option<f64>,
    /// The limit on such a number.
    #[serde(default)]
    pub limit: Option<f64>,
    /// The verdict.
    pub verdict: GateVerdict,
    /// One line that explains the verdict.
    pub reason: String,
}
