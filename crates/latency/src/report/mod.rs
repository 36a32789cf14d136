//! The report: what every perfkit command reports about a run, as plain data.
//!
//! A command builds one [`Report`] and hands it to any number of exporters. Nothing here knows terminals
//! or files. Each key ends in its unit (`_ns`, `_bytes`, `_per_s`). Integers are nanoseconds or bytes. An
//! absent value is `null`, which is not zero. No value is NaN or infinite (see [`finite`]). [`SCHEMA`] names
//! the JSON form; reading refuses unknown fields.

mod distribution;
mod table;
mod verdict;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub use self::distribution::{
    Buckets, Interval, Latency, LatencyName, ParseLatencyNameError, Percentile, SlowSample, Timing,
};
pub use self::table::{Cell, Column, Table, Unit};
pub use self::verdict::{Comparison, Design, Differences, GateResult, GateVerdict, Verdict};
pub use crate::read::read_json;

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
    /// One row per distribution.
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
    /// The compiler, as reported by `rustc --version`.
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
    /// Every word of the command line, the program first, escaped like `path` of an input.
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
    /// Processors that this process was limited to, by itself or by its parent process.
    pub pinned_cpus: Vec<u32>,
    /// Frequency governor of the first processor.
    pub governor: Option<String>,
    /// Instruction set that hot loops use (`avx512`, `avx2`, …), as detected.
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
    /// What about this machine makes the numbers less reliable, and what to do about it.
    pub warnings: Vec<Warning>,
}

/// One thing to know before trusting a number.
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
    /// What was done, in the command's own nouns, the most important first.
    #[serde(default)]
    pub done: Vec<Done>,
}

/// A count of what was done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Done {
    /// How many.
    pub count: u64,
    /// What was counted (`events`, `matches`, `blocks`).
    pub what: String,
}

/// One input.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// Path as given, `-` for standard input, or the name of generated data. A byte that is not UTF-8 is `\xNN` with NN from 80 up, and a backslash in text with such an escape is `\\`.
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
    /// The method (`round trip`, `frame checksum`, `oracle`).
    pub method: String,
    /// Whether everything that was checked was right. A block that was corrupted on request and came back
    /// different counts as wrong. `exit_code` states whether the run failed.
    pub ok: bool,
    /// How many were wrong; 0 in reports of versions that did not count.
    #[serde(default)]
    pub wrong: u64,
    /// How many of the wrong ones were caused by requested faults.
    #[serde(default)]
    pub wrong_by_faults: u64,
}

impl Validation {
    /// `checked` results were checked by `method` and `wrong` of them were wrong, without requested faults.
    #[must_use]
    pub fn new(method: impl Into<String>, checked: u64, wrong: u64) -> Self {
        Self {
            checked,
            method: method.into(),
            ok: wrong == 0,
            wrong,
            wrong_by_faults: 0,
        }
    }
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
    /// Share of operations that started later than the clock's resolution after they were due.
    pub late_start_ratio: Option<f64>,
    /// The greatest number of operations that were due and not started.
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

/// `Some` for a finite number; `None` for NaN and the infinities, which no report may contain.
#[must_use]
pub fn finite(value: f64) -> Option<f64> {
    value.is_finite().then_some(value)
}

/// The JSON Schema of [`Report`].
#[cfg(feature = "schema")]
#[must_use]
pub fn schema() -> serde_json::Value {
    schemars::schema_for!(Report).to_value()
}
