//! What a run found, before it is a report.

use std::time::Instant;

use latency::Recording;
use latency::report::{
    Comparison, Done, Environment, Input, Latency, LimitResult, Load, Resources, SlowSample,
    Stated, Table, Validation, Workload,
};

use twox_hash::XxHash64;

use crate::ExitStatus;

/// What a run found: [`crate::Run::finish`] makes the report of it.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// How the work alone would end the process.
    pub status: ExitStatus,
    /// Whether all of it was done.
    pub complete: bool,
    /// What was worked on.
    pub workload: Workload,
    /// What was found, in sentences, the most important first.
    pub findings: Vec<String>,
    /// How the answer was checked.
    pub validation: Option<Validation>,
    /// The load model.
    pub load: Load,
    /// Bytes read.
    pub bytes_in: u64,
    /// Bytes written.
    pub bytes_out: u64,
    /// Uncompressed bytes, the measure of work per processor time; 0 leaves that rate out.
    pub bytes_content: u64,
    /// Operations done, for the rate.
    pub ops: Option<u64>,
    /// The distributions, the most important first.
    pub latencies: Vec<Latency>,
    /// Candidates for the slowest samples of the run, in any order.
    pub slowest: Vec<SlowSample>,
    /// What starting a process takes that does nothing, where operations are runs of processes.
    pub start_floor_ns: Option<u64>,
    /// Further results.
    pub tables: Vec<Table>,
    /// Comparisons.
    pub comparisons: Vec<Comparison>,
    /// What limits on regressions came to.
    pub limits: Vec<LimitResult>,
    /// What another tool stated without samples.
    pub stated: Stated,
    /// When the measured part began, where that was later than the run was prepared for it.
    pub began: Option<Instant>,
    /// Where and when the work was done, if that was before this run, or by other processes, perhaps elsewhere: what this
    /// run takes, and the machine that it is on, say nothing about it.
    pub done_before: Option<Before>,
}

/// What is known of work that this run did not do itself.
#[derive(Debug, Clone)]
pub struct Before {
    /// When it started, RFC 3339.
    pub started_at: Option<String>,
    /// How long it took.
    pub duration_ns: Option<u64>,
    /// The machine.
    pub environment: Environment,
    /// What the processes took that did the work, where that is known: then there are rates over that time.
    pub resources: Option<Resources>,
}

impl Default for Before {
    /// Nothing is known.
    fn default() -> Self {
        Self {
            started_at: None,
            duration_ns: None,
            environment: Environment::unknown(),
            resources: None,
        }
    }
}

impl Outcome {
    /// An outcome of `kind` without numbers.
    #[must_use]
    pub fn new(kind: &str) -> Self {
        Self {
            status: ExitStatus::Ok,
            complete: true,
            workload: Workload {
                kind: kind.to_owned(),
                ..Workload::default()
            },
            findings: Vec::new(),
            validation: None,
            load: Load::closed(),
            bytes_in: 0,
            bytes_out: 0,
            bytes_content: 0,
            ops: None,
            latencies: Vec::new(),
            slowest: Vec::new(),
            start_floor_ns: None,
            tables: Vec::new(),
            comparisons: Vec::new(),
            limits: Vec::new(),
            stated: Stated::default(),
            began: None,
            done_before: None,
        }
    }

    /// Adds a count of something that was done to the summary, by its singular and its plural.
    pub fn did(&mut self, count: u64, [one, several]: [&str; 2]) {
        self.workload.done.push(Done {
            count,
            what: if count == 1 { one } else { several }.to_owned(),
        });
    }

    /// Lists a content among the inputs, with its hash, and counts its bytes as read.
    pub fn add_input(&mut self, path: String, content: &[u8]) {
        self.bytes_in += content.len() as u64;
        self.workload.inputs.push(Input {
            path,
            bytes: content.len() as u64,
            xxh64: Some(format!("{:016x}", XxHash64::oneshot(0, content))),
        });
        self.workload.inputs_total += 1;
    }

    /// Adds a distribution with its slowest samples.
    pub fn add(&mut self, recording: &Recording) {
        self.latencies.push(recording.latency());
        self.slowest.extend(recording.slowest());
    }
}
