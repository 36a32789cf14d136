//! One distribution of a report: its percentiles, buckets, intervals and slowest samples.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::{FloorKind, RowFloor};

/// Which of the three times a distribution holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum LatencyName {
    /// From the intended start to the end (open loop only).
    Response,
    /// From the actual start to the end.
    Service,
    /// How long one call kept its thread.
    Hold,
}

impl LatencyName {
    /// All names; a gate without a name takes the first that a report has.
    pub const ALL: [Self; 3] = [Self::Response, Self::Service, Self::Hold];

    /// The name in reports and gates.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Response => "response",
            Self::Service => "service",
            Self::Hold => "hold",
        }
    }
}

impl fmt::Display for LatencyName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// The text is not the name of a latency.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("unknown latency name: expected response, service or hold")]
pub struct ParseLatencyNameError;

impl FromStr for LatencyName {
    type Err = ParseLatencyNameError;

    fn from_str(text: &str) -> Result<Self, ParseLatencyNameError> {
        let found = Self::ALL.into_iter().find(|name| name.as_str() == text);
        found.ok_or(ParseLatencyNameError)
    }
}

/// What a recorded value is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Timing {
    /// Measured from the intended start.
    Intended,
    /// Measured from the actual start.
    Actual,
    /// The mean over a batch of operations: there is no per-operation tail.
    BatchMean,
    /// Corrected by a model after the fact, on request.
    Modelled,
}

impl Timing {
    /// The batch of a value of which nothing but the timing is known: a mean is of more than one operation.
    pub(crate) fn batch_of_one(self) -> Option<u64> {
        (self != Self::BatchMean).then_some(1)
    }
}

/// One distribution.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Latency {
    /// Which of several like distributions of one run (`level 3`, `json`); `null` when there is one.
    pub series: Option<String>,
    /// Which time.
    pub name: LatencyName,
    /// What one operation is (`128 KiB chunk`, `file`, `call`).
    pub operation: String,
    /// What a recorded value is.
    pub timing: Timing,
    /// Operations a recorded value stands for: 1, or the size of a timed batch. `null` for means of a number of
    /// operations that is not known, or differs from value to value.
    pub batch: Option<u64>,
    /// What each time of the row holds beside the work, as the run that recorded it measured it. Absent for rows
    /// that another tool measured: its method is its own, and the floors of this machine say nothing of it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub floors: Vec<RowFloor>,
    /// Recorded values, the saturated ones included.
    pub n: u64,
    /// Least value, `null` when n is 0.
    pub min_ns: Option<u64>,
    /// Mean.
    pub mean_ns: Option<f64>,
    /// Standard deviation of the sample (by n − 1), `null` of a single value.
    pub stdev_ns: Option<f64>,
    /// How many independent values the recorded ones count as, for the mean, by batch means: intervals are wider
    /// where that is less than n. `null` where there were too few buckets or intervals to know; then they count as independent.
    #[serde(default)]
    pub effective_n: Option<u64>,
    /// Greatest value, exact, even when it was saturated.
    pub max_ns: Option<u64>,
    /// Values above the histogram's range: counted, kept in n and max, in no percentile.
    pub saturated: u64,
    /// The ladder 50, 90, 99, 99.9, 99.99.
    pub percentiles: Vec<Percentile>,
    /// Sums over runs of consecutive operations, in order, for paired comparison.
    pub buckets: Option<Buckets>,
    /// The histogram, HDR V2 deflate, base64.
    pub histogram_v2_deflate_b64: String,
    /// The time line: the histogram by intervals, whose counts add up to it. Absent where there is none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub intervals: Vec<Interval>,
    /// The numbers of the row's recorders in the [`IntervalLog`](crate::IntervalLog) of the run; not part of
    /// the JSON form.
    #[serde(skip)]
    pub log_parts: Vec<u32>,
}

impl Latency {
    /// The floor of this kind, where the row has it.
    #[must_use]
    pub fn floor(&self, kind: FloorKind) -> Option<RowFloor> {
        self.floors.iter().copied().find(|floor| floor.kind == kind)
    }

    /// The value of percentile `p` of the [ladder](crate::percentile::LADDER); `None` when the row has no
    /// such percentile, or has too few samples to know its value.
    ///
    /// ```
    /// use perfkit_latency::{Latency, LatencyName, Recorder, Spec};
    ///
    /// let spec = Spec::new(LatencyName::Service, "call");
    /// let mut recorder = Recorder::new(spec, std::time::Instant::now());
    /// (1..=500).for_each(|ns| recorder.record_ns(ns));
    /// let row = recorder.finish().latency();
    /// assert_eq!(row.percentile(50.0), Some(250));
    /// // 500 samples are enough for the 99th percentile, not for the 99.9th.
    /// assert_eq!((row.percentile(99.0), row.percentile(99.9)), (Some(495), None));
    /// ```
    #[must_use]
    pub fn percentile(&self, p: f64) -> Option<u64> {
        self.find_percentile(p)?.value_ns
    }

    /// Percentile `p` of the row with its interval, or with the reason why it has no value. `None` when the
    /// row has no such percentile; [`crate::Gate`] computes others from the histogram.
    #[must_use]
    pub fn find_percentile(&self, p: f64) -> Option<&Percentile> {
        let same = |found: &&Percentile| (found.p - p).abs() < PERCENTILE_STEP;
        self.percentiles.iter().find(same)
    }
}

/// Percentiles closer together than this are the same.
const PERCENTILE_STEP: f64 = 1e-9;

/// The histogram of one interval of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Interval {
    /// Start, from the start of the run.
    pub start_ns: u64,
    /// Length.
    pub length_ns: u64,
    /// The histogram, HDR V2 deflate, base64.
    #[serde(rename = "histogram_v2_deflate_b64", with = "base64_text")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub histogram_v2_deflate: Vec<u8>,
}

/// Bytes that are base64 in JSON.
mod base64_text {
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;
    use serde::de::Error as _;
    use serde::{Deserialize as _, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(bytes: &[u8], to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&STANDARD.encode(bytes))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<u8>, D::Error> {
        let text = String::deserialize(from)?;
        STANDARD.decode(text).map_err(D::Error::custom)
    }
}

/// One percentile, or why there is none.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Percentile {
    /// The percentile, 0 < p < 100.
    pub p: f64,
    /// The value, `null` when the sample is too small to know it.
    pub value_ns: Option<u64>,
    /// Interval that holds the true percentile with at least 95 % confidence, by order statistics.
    pub ci95_ns: Option<[u64; 2]>,
    /// Why there is no value.
    pub reason: Option<String>,
    /// Why a value has no interval; absent where it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ci95_reason: Option<String>,
}

/// Sums of consecutive operations.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Buckets {
    /// Operations in a bucket.
    pub size_ops: u64,
    /// Sum of each full bucket, in the order of the run.
    pub sum_ns: Vec<u64>,
}

/// One of the slowest samples.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SlowSample {
    /// Series of the distribution that it is of.
    pub series: Option<String>,
    /// Time of the distribution that it is of.
    pub name: LatencyName,
    /// The value.
    pub value_ns: u64,
    /// What it was (`big.json, chunk at byte 1048576`).
    pub what: String,
}
