//! Shared by the tests of several modules.

use crate::report::{
    Command, Environment, Latency, Load, Report, Resources, SCHEMA, Stated, Throughput, Tool,
    Workload,
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
        started_at: Some("2026-01-01T00:00:00Z".to_owned()),
        duration_ns: Some(0),
        environment: Environment {
            stated: false,
            logical_cpus: Some(1),
            allocator: Some("system".to_owned()),
            ..Environment::unknown()
        },
        workload: Workload::default(),
        findings: Vec::new(),
        validation: None,
        load: Load::closed(),
        throughput: Throughput::default(),
        resources: Resources::default(),
        latencies,
        stated: Stated::default(),
        slowest: Vec::new(),
        tables: Vec::new(),
        comparisons: Vec::new(),
        gates: Vec::new(),
        limits: Vec::new(),
        exit_code: 0,
    }
}
