//! Systems without `/proc` and `/sys`: the report leaves out what these would provide.

pub(super) fn processors() -> String {
    String::new()
}

pub(super) fn cpu_model(_: &str) -> Option<String> {
    None
}

pub(super) fn hypervisor(_: &str) -> Option<String> {
    None
}

pub(super) fn governor() -> Option<String> {
    None
}

pub(super) fn online_cpus() -> Option<usize> {
    None
}

pub(super) fn memory_bytes() -> Option<u64> {
    None
}

pub(super) fn load() -> Option<f64> {
    None
}

pub(super) fn process(_: &str) -> Option<super::Process> {
    None
}

/// Never made.
#[derive(Debug, Clone, Copy)]
pub(super) struct ProcessorTime;

impl ProcessorTime {
    pub(super) fn steal_ratio_since(self, _from: Self) -> Option<f64> {
        None
    }
}

pub(super) fn processor_time() -> Option<ProcessorTime> {
    None
}
