//! A whole run: the program, the call, the work, the rates and the results.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{
    Comparison, Environment, GateResult, Latency, LimitResult, Load, SlowSample, Stated, Table,
};

/// A whole run: what was done, on what, how long it took, and whether the answer was right.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Report {
    /// Always `perfkit.report/1`.
    pub schema: String,
    /// False when the run was interrupted or failed: the numbers cover what was done until then.
    pub complete: bool,
    /// The program that made the report.
    pub tool: Tool,
    /// How the program was called.
    pub command: Command,
    /// When the run started, RFC 3339. `null`: the files that the report was read from do not say.
    pub started_at: Option<String>,
    /// Wall time of the measured part of the run. `null`: as above, or they are of several runs.
    pub duration_ns: Option<u64>,
    /// The machine and its state before and during the run.
    pub environment: Environment,
    /// What was worked on.
    pub workload: Workload,
    /// What was found, in sentences, the most important first; empty in reports of versions that said nothing.
    #[serde(default)]
    pub findings: Vec<String>,
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
    /// What another tool stated without the samples behind it.
    #[serde(default, skip_serializing_if = "Stated::is_empty")]
    pub stated: Stated,
    /// The slowest samples of the run with what they were, slowest first.
    pub slowest: Vec<SlowSample>,
    /// Further results of the command (ratio and speed by level, frames of a file, …).
    pub tables: Vec<Table>,
    /// Results of paired comparisons.
    pub comparisons: Vec<Comparison>,
    /// Gates asked for and their verdicts.
    pub gates: Vec<GateResult>,
    /// Limits on regressions, with a verdict for each comparison that they are about. Absent where none were given.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub limits: Vec<LimitResult>,
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
    /// The programs that were run, as they were found: the first word of each command line, and further words that are
    /// paths of programs. Absent where none were.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub programs: Vec<Input>,
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
