//! The machine of a run, and what makes its numbers less reliable.

use serde::{Deserialize, Serialize};

/// The machine. Filled by [`crate::environment::capture`], or from what a file states of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Environment {
    /// Whether the run was over before this report was made: this is what the files state that it was read from, and
    /// what they do not state is not known.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub stated: bool,
    /// Operating system and kernel release.
    pub kernel: Option<String>,
    /// Processor model.
    pub cpu_model: Option<String>,
    /// Hypervisor, `none` when the processor reports none, `null` when unknown.
    pub hypervisor: Option<String>,
    /// Processors that the process may run on.
    pub logical_cpus: Option<u32>,
    /// Processors that the process was limited to, by itself or by its parent process.
    pub pinned_cpus: Vec<u32>,
    /// Frequency governor of the first processor.
    pub governor: Option<String>,
    /// Instruction set that hot loops use (`avx512`, `avx2`, …), as detected.
    pub isa: Option<String>,
    /// Memory allocator of the process.
    pub allocator: Option<String>,
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

impl Environment {
    /// That of a run whose file says nothing of it.
    #[must_use]
    pub fn unknown() -> Self {
        Self {
            stated: true,
            kernel: None,
            cpu_model: None,
            hypervisor: None,
            logical_cpus: None,
            pinned_cpus: Vec::new(),
            governor: None,
            isa: None,
            allocator: None,
            clock_floor_ns: None,
            wake_floor_ns: None,
            start_floor_ns: None,
            memory_bytes: None,
            load_before: None,
            steal_ratio: None,
            ctx_switches_involuntary: None,
            warnings: Vec::new(),
        }
    }

    /// Whether nothing is known of it.
    #[must_use]
    pub fn is_unknown(&self) -> bool {
        *self == Self::unknown()
    }

    /// What of it holds for a run in `other` as well.
    #[must_use]
    pub fn common(self, other: &Self) -> Self {
        fn both<T: PartialEq>(own: Option<T>, other: &Option<T>) -> Option<T> {
            own.filter(|own| other.as_ref() == Some(own))
        }
        let alike = self.pinned_cpus == other.pinned_cpus;
        let in_other = |warning: &Warning| other.warnings.contains(warning);
        Self {
            stated: true,
            kernel: both(self.kernel, &other.kernel),
            cpu_model: both(self.cpu_model, &other.cpu_model),
            hypervisor: both(self.hypervisor, &other.hypervisor),
            logical_cpus: both(self.logical_cpus, &other.logical_cpus),
            pinned_cpus: match alike {
                true => self.pinned_cpus,
                false => Vec::new(),
            },
            governor: both(self.governor, &other.governor),
            isa: both(self.isa, &other.isa),
            allocator: both(self.allocator, &other.allocator),
            clock_floor_ns: both(self.clock_floor_ns, &other.clock_floor_ns),
            wake_floor_ns: both(self.wake_floor_ns, &other.wake_floor_ns),
            start_floor_ns: both(self.start_floor_ns, &other.start_floor_ns),
            memory_bytes: both(self.memory_bytes, &other.memory_bytes),
            load_before: both(self.load_before, &other.load_before),
            steal_ratio: both(self.steal_ratio, &other.steal_ratio),
            ctx_switches_involuntary: both(
                self.ctx_switches_involuntary,
                &other.ctx_switches_involuntary,
            ),
            warnings: self.warnings.into_iter().filter(in_other).collect(),
        }
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn machines_have_in_common_what_both_state() {
        let known = |cpus: u32, kernel: Option<&str>| Environment {
            logical_cpus: Some(cpus),
            kernel: kernel.map(str::to_owned),
            pinned_cpus: vec![1],
            ..Environment::unknown()
        };
        let one = known(2, Some("Linux 6"));
        assert_eq!(one.clone().common(&one), one);
        let less = one.clone().common(&known(4, Some("Linux 6")));
        assert_eq!(less.logical_cpus, None);
        assert_eq!(less.kernel.as_deref(), Some("Linux 6"));
        assert!(one.common(&Environment::unknown()).is_unknown());
        assert!(!known(2, None).is_unknown());
        // What this process captured is nobody's statement.
        let captured = Environment {
            stated: false,
            ..known(2, None)
        };
        assert!(captured.clone().common(&captured).stated);
        let json = serde_json::to_value(&captured).expect("JSON");
        assert!(json.get("stated").is_none());
        let read: Environment = serde_json::from_value(json).expect("read");
        assert_eq!(read, captured);
    }
}
