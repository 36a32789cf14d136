//! The machine of a run, and what makes its numbers less reliable.

use serde::{Deserialize, Serialize};

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
    /// Median of the time from waking a thread until it runs, in a run whose operations are due at times of their
    /// own.
    #[serde(default)]
    pub wake_floor_ns: Option<u64>,
    /// Median of the time from starting a process that does nothing until it has ended, in a run of processes.
    #[serde(default)]
    pub start_floor_ns: Option<u64>,
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
