//! The report: what every perfkit command says about a run, as plain data.
//!
//! One [`Report`] is built by a command and handed to any number of exporters. Nothing here
//! knows a terminal or a file. Units stand at the end of each key (`_ns`, `_bytes`, `_per_s`);
//! integers are nanoseconds or bytes; an absent value is `null`, which is not zero; no value is
//! ever NaN or infinite (see [`finite`]). The JSON form is named by [`SCHEMA`]; unknown fields are
//! refused when a report is read back.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The name and version of the JSON form, the value of every report's `schema` key.
pub const SCHEMA: &str = "perfkit.report/1";

/// A whole run: what was done, on what, how long it took, and whether the answer was right.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Report {
    /// Always [`SCHEMA`].
    pub schema: String,
    /// False when the run was interrupted or failed: the numbers cover what was done until then.
    pub complete: bool,
    /// The program that made the report.
    pub tool: Tool,
    /// How the program was called.
    pub command: Command,
    /// When the run started, RFC 3339.
    pub started_at: String,
    /// Wall time of the measured part of the run.
    pub duration_ns: u64,
    /// The machine and its state before and during the run.
    pub environment: Environment,
    /// What was worked on.
    pub workload: Workload,
    /// How the answer was checked, outside the timed spans. `null`: it was not checked.
    pub validation: Option<Validation>,
    /// Closed or open loop, and in an open loop whether the rate was held.
    pub load: Load,
    /// Rates over the whole run.
    pub throughput: Throughput,
    /// What the process used.
    pub resources: Resources,
    /// One row a distribution.
    pub latencies: Vec<Latency>,
    /// The slowest samples of the run with what they were, slowest first.
    pub slowest: Vec<SlowSample>,
    /// Further results of the command (ratio and speed by level, frames of a file, …).
    pub tables: Vec<Table>,
    /// Results of paired comparisons.
    pub comparisons: Vec<Comparison>,
    /// Gates asked for and their verdicts.
    pub gates: Vec<GateResult>,
    /// The exit code of the process that made the report.
    pub exit_code: u8,
}

/// Which build of which program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Tool {
    /// Name of the program.
    pub name: String,
    /// Version of the program.
    pub version: String,
    /// Commit it was built from, if known.
    pub commit: Option<String>,
    /// Whether the tree had uncommitted changes, if known.
    pub dirty: Option<bool>,
    /// The compiler, as `rustc --version` says it.
    pub rustc: Option<String>,
    /// Target triple.
    pub target: String,
    /// Build profile (`release`, `dev`).
    pub profile: String,
    /// Features built in.
    pub features: Vec<String>,
}

/// The call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Command {
    /// Every word of the command line, the program first.
    pub argv: Vec<String>,
    /// The subcommand that ran.
    pub subcommand: String,
    /// Seed of generated data or random order, if there was any.
    pub seed: Option<u64>,
}

/// The machine. Filled by [`crate::environment::capture`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Environment {
    /// Operating system and kernel release.
    pub kernel: Option<String>,
    /// Processor model.
    pub cpu_model: Option<String>,
    /// Hypervisor, `none` when the processor reports none, `null` when unknown.
    pub hypervisor: Option<String>,
    /// Processors that this process may run on.
    pub logical_cpus: u32,
    /// Processors that this process pinned itself to.
    pub pinned_cpus: Vec<u32>,
    /// Frequency governor of the first processor.
    pub governor: Option<String>,
    /// Instruction set that hot loops chose (`avx512`, `avx2`, …), by what was detected.
    pub isa: Option<String>,
    /// Memory allocator of the process.
    pub allocator: String,
    /// Median of an empty timed span at the settings of this run.
    pub clock_floor_ns: Option<u64>,
    /// Memory of the machine.
    pub memory_bytes: Option<u64>,
    /// One-minute load average before the run.
    pub load_before: Option<f64>,
    /// Share of processor time stolen by the hypervisor during the run, 0 to 1.
    pub steal_ratio: Option<f64>,
    /// Involuntary context switches of the process during the run.
    pub ctx_switches_involuntary: Option<u64>,
    /// What about this machine makes the numbers worth less, and what to do about it.
    pub warnings: Vec<Warning>,
}

/// One thing to know before believing a number.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Warning {
    /// Stable name (`governor`, `load`, `steal`, `virtual`, …).
    pub code: String,
    /// What was seen.
    pub message: String,
    /// What to do.
    pub help: String,
}

/// What was worked on.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Workload {
    /// Kind of work (`compress`, `decompress`, `tour`, …).
    pub kind: String,
    /// The inputs in the order in which they were read.
    pub inputs: Vec<Input>,
    /// How many inputs there were in all; `inputs` lists at most the first thousand.
    pub inputs_total: u64,
    /// Settings that shape the work (level, threads, block size, …).
    pub params: BTreeMap<String, serde_json::Value>,
}

/// One input.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// Path as given, `-` for standard input, or the name of generated data.
    pub path: String,
    /// Bytes read.
    pub bytes: u64,
    /// XXH64 (seed 0) of those bytes, 16 hexadecimal digits, when it was computed.
    pub xxh64: Option<String>,
}

/// How the answer was checked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Validation {
    /// How many operations, files or frames were checked.
    pub checked: u64,
    /// By what (`round trip`, `frame checksum`, `oracle`).
    pub method: String,
    /// Whether every one was right.
    pub ok: bool,
}

/// Whether operations waited for each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum LoadModel {
    /// The next operation starts when the last has ended: no queue, no response time.
    Closed,
    /// Operations are due at times of their own; response time counts from the due time.
    Open,
    /// Several runs of unlike models in one report, or one that does not say.
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
    /// Closed, open, or not known.
    pub model: LoadModel,
    /// Arrival process, in an open loop.
    pub arrivals: Option<Arrivals>,
    /// Operations a second asked for, in an open loop.
    pub rate_target_per_s: Option<f64>,
    /// Operations a second done.
    pub rate_achieved_per_s: Option<f64>,
    /// Share of operations that started after they were due by more than the clock floor.
    pub late_start_ratio: Option<f64>,
    /// Most operations that were due and not started.
    pub backlog_max: Option<u64>,
    /// Whether less than 99 % of the target rate was achieved.
    pub saturated: bool,
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
        }
    }
}

/// Rates over the whole run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Throughput {
    /// Operations a second.
    pub ops_per_s: Option<f64>,
    /// Bytes read.
    pub bytes_in: u64,
    /// Bytes written.
    pub bytes_out: u64,
    /// Bytes read a second of wall time.
    pub bytes_in_per_s: Option<f64>,
    /// Bytes written a second of wall time.
    pub bytes_out_per_s: Option<f64>,
    /// Uncompressed bytes a second of processor time, over all threads.
    pub bytes_per_cpu_s: Option<f64>,
}

/// What the process used during the run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Resources {
    /// Processor time in user mode, all threads.
    pub cpu_user_ns: Option<u64>,
    /// Processor time in the kernel, all threads.
    pub cpu_system_ns: Option<u64>,
    /// Peak resident memory of the process since it started.
    pub rss_max_bytes: Option<u64>,
    /// Page faults that needed input or output.
    pub page_faults_major: Option<u64>,
}

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
    /// The name as it stands in reports and gates.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Response => "response",
            Self::Service => "service",
            Self::Hold => "hold",
        }
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
    /// Operations a recorded value stands for: 1, or the size of a timed batch.
    pub batch: u64,
    /// Recorded values, the saturated ones included.
    pub n: u64,
    /// Least value, `null` when n is 0.
    pub min_ns: Option<u64>,
    /// Mean.
    pub mean_ns: Option<f64>,
    /// Standard deviation.
    pub stdev_ns: Option<f64>,
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
    /// The histogram by seconds, for `.hlog`; not part of the JSON form.
    #[serde(skip)]
    pub intervals: Vec<Interval>,
}

/// The histogram of one interval of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Interval {
    /// Start, from the start of the run.
    pub start_ns: u64,
    /// Length.
    pub length_ns: u64,
    /// The histogram, HDR V2 deflate (not base64).
    pub histogram_v2_deflate: Vec<u8>,
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

/// A table of further results.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Table {
    /// Stable name of the table.
    pub name: String,
    /// The columns.
    pub columns: Vec<Column>,
    /// The rows, each as long as `columns`.
    pub rows: Vec<Vec<Cell>>,
}

/// One column.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Column {
    /// Stable key, unit last (`wall_ns`, `size_bytes`, `ratio`).
    pub key: String,
    /// Unit by which text output scales the number.
    pub unit: Unit,
}

/// Unit of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// Text.
    Text,
    /// A count.
    Count,
    /// Bytes.
    Bytes,
    /// Nanoseconds.
    Nanoseconds,
    /// Bytes a second.
    BytesPerSecond,
    /// Operations a second.
    PerSecond,
    /// A plain quotient, 1 is equal.
    Ratio,
    /// A share, 0 to 1, shown as a percentage.
    Share,
}

/// One cell.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum Cell {
    /// No value.
    Null,
    /// A whole number.
    Integer(i64),
    /// A fraction, finite.
    Number(f64),
    /// Text.
    Text(String),
}

impl Table {
    /// A table without rows.
    #[must_use]
    pub fn new(name: &str, columns: &[(&str, Unit)]) -> Self {
        let column = |(key, unit): &(&str, Unit)| Column {
            key: (*key).to_owned(),
            unit: *unit,
        };
        Self {
            name: name.to_owned(),
            columns: columns.iter().map(column).collect(),
            rows: Vec::new(),
        }
    }
}

impl From<u64> for Cell {
    /// A count; beyond what JSON readers hold exactly it is the greatest they do.
    fn from(value: u64) -> Self {
        Self::Integer(i64::try_from(value).unwrap_or(i64::MAX))
    }
}

impl From<f64> for Cell {
    /// A number, or no value when it is not finite.
    fn from(value: f64) -> Self {
        finite(value).map_or(Self::Null, Self::Number)
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl<T: Into<Self>> From<Option<T>> for Cell {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

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
    /// Median of the baseline's buckets, a single operation's share. `null` of plain numbers.
    pub baseline_median_ns: Option<f64>,
    /// Median of the target's buckets, a single operation's share. `null` of plain numbers.
    pub target_median_ns: Option<f64>,
    /// Median of a baseline of plain numbers, whose unit nobody knows. `null` of times.
    pub baseline_median: Option<f64>,
    /// Median of a target of plain numbers, whose unit nobody knows. `null` of times.
    pub target_median: Option<f64>,
    /// Relative differences (target − baseline) / baseline, over the pairs; `null` without pairs.
    pub difference: Option<Differences>,
    /// The same of two halves of the baseline: what this run shows when nothing differs.
    pub control: Option<Differences>,
    /// The least difference that this comparison could have told from none.
    pub resolution: Option<f64>,
    /// The verdict.
    pub verdict: Verdict,
    /// Why the verdict is what it is, one line.
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
    /// None above the resolution.
    NoDifference,
    /// The run cannot tell.
    Inconclusive,
}

/// What became of a gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum GateVerdict {
    /// The whole interval is within the limit.
    Pass,
    /// The whole interval is beyond the limit.
    Fail,
    /// The limit lies inside the interval, or the percentile is not earned.
    Inconclusive,
}

/// One gate and its verdict.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct GateResult {
    /// The gate as written (`p99.9<=2ms`).
    pub gate: String,
    /// The row that it was decided on.
    pub row: Option<String>,
    /// The value found.
    pub value_ns: Option<u64>,
    /// Its interval.
    pub ci95_ns: Option<[u64; 2]>,
    /// The limit.
    pub limit_ns: u64,
    /// The verdict.
    pub verdict: GateVerdict,
    /// One line that says why.
    pub reason: String,
}

/// `Some` of a finite number, `None` of NaN and the infinities, which no report may hold.
#[must_use]
pub fn finite(value: f64) -> Option<f64> {
    value.is_finite().then_some(value)
}

pub use crate::read::read_json;

/// The JSON Schema of [`Report`].
#[cfg(feature = "schema")]
#[must_use]
pub fn schema() -> serde_json::Value {
    schemars::schema_for!(Report).to_value()
}
