//! Shared by the tests of several modules.

use crate::report::{
    Command, Environment, Latency, Load, Report, Resources, SCHEMA, Throughput, Tool, Workload,
};

/// A report of these rows and nothing else.
pub(crate) fn report(latencies: Vec<Latency>) -> Report {
    Report {
        schema: SCHEMA.to_owned(),
        complete: true,
        tool: Tool {
            name: "perfkit".to_owned(),
            version: "0.0.0".to_owned(),
            commit: None,
            dirty: None,
            rustc: None,
            target: "any".to_owned(),
            profile: "dev".to_owned(),
            features: Vec::new(),
        },
        command: Command {
            argv: Vec::new(),
            subcommand: "test".to_owned(),
            seed: None,
        },
        started_at: "2026-01-01T00:00:00Z".to_owned(),
        duration_ns: 0,
        environment: Environment {
            kernel: None,
            cpu_model: None,
            hypervisor: None,
            logical_cpus: 1,
            pinned_cpus: Vec::new(),
            governor: None,
            isa: None,
            allocator: "system".to_owned(),
            clock_floor_ns: None,
            wake_floor_ns: None,
            start_floor_ns: None,
            memory_bytes: None,
            load_before: None,
            steal_ratio: None,
            ctx_switches_involuntary: None,
            warnings: Vec::new(),
        },
        workload: Workload::default(),
        findings: Vec::new(),
        validation: None,
        load: Load::closed(),
        throughput: Throughput::default(),
        resources: Resources::default(),
        latencies,
        slowest: Vec::new(),
        tables: Vec::new(),
        comparisons: Vec::new(),
        gates: Vec::new(),
        exit_code: 0,
    }
}
