//! `--export-html`: what the commands came to as a page, with their runs over each other.

use bench::programs::{self, Floors, Interleaved, Plan, Sample};
use report::formats::html;
use report::saved::Stated;
use report::{Before, Run, RunOptions};

use crate::commands::memory_floor::Floor;
use crate::failure::{Failure, Result};

/// When the run began, and how long it took.
#[derive(Debug, Clone, Copy)]
pub(super) struct When {
    pub(super) began: jiff::Timestamp,
    pub(super) took_ns: u64,
}

/// The page of what was measured so far.
pub(super) fn page(
    plan: &Plan,
    samples: &[Sample],
    interleaved: Option<&Interleaved>,
    stated: &Stated,
    when: When,
) -> Result<Vec<u8>> {
    let environment = &stated.environment;
    let floor_ns = environment.start_floor_ns.map(|ns| ns as f64);
    let mut memory = Floor::default();
    memory.look();
    let floors = Floors {
        start_ns: floor_ns,
        rss_bytes: memory.bytes(),
    };
    let mut outcome = programs::outcome(samples, plan.reference, interleaved, floors);
    outcome.workload.programs.clone_from(&stated.programs);
    outcome.done_before = Some(Before {
        started_at: Some(when.began.to_string()),
        duration_ns: Some(when.took_ns),
        environment: environment.clone(),
        resources: None,
    });
    let mut options = RunOptions::new("", "", super::NAME);
    options.tool = stated.tool.clone();
    options.argv.clone_from(&stated.argv);
    options.seed = interleaved.is_some().then_some(plan.seed);
    options.floors = false;
    let finished = Run::start(options)?.finish(outcome);
    let mut bytes = Vec::new();
    html::write(&finished.report, &mut bytes)
        .map_err(|error| Failure::new(format!("cannot make the page: {error}")))?;
    Ok(bytes)
}
