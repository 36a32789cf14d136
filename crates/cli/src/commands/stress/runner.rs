//! One run at a time: who is told of it meanwhile, what is checked after it, and what it adds to the
//! outcome.

use latency::report::{Load, LoadModel};
use stress::{Finding, Loop, Plan, codec};

use crate::commands::stress::lines::Lines;
use crate::commands::stress::metrics::Metrics;
use crate::commands::stress::verdict::{unexpected, wrong};
use crate::failure::{Failure, Result};
use crate::session::Outcome;
use crate::term::signal;
use bench::Checks;

/// Runs plans.
pub(super) struct Runner<'a> {
    pub(super) said: bool,
    pub(super) metrics: Option<&'a Metrics>,
    pub(super) checks: Checks,
}

impl Runner<'_> {
    /// One run, and what was said of it on the way. `label`: what lines start with when there are
    /// several runs.
    pub(super) fn run(
        &mut self,
        run: &Plan,
        codec: &str,
        label: Option<String>,
    ) -> Result<(Finding, Lines)> {
        let codec = codec::by_name(codec).map_err(refused)?;
        let name = codec.name().to_owned();
        let mut lines = Lines::new(self.said, label);
        if let Some(metrics) = self.metrics {
            metrics.begin(&name, run.pool);
        }
        let found = stress::run(run, codec, &mut |progress| {
            lines.see(progress);
            run.held_outside.set(lines.held_bytes());
            if let Some(metrics) = self.metrics {
                metrics.see(&name, run.pool, progress);
            }
            !signal::interrupted()
        })
        .map_err(failed)?;
        let unexpected = unexpected(&found, &run.faults);
        let wrong = wrong(&found).max(unexpected);
        self.checks
            .add_faulty(found.counts.begun, wrong, wrong - unexpected);
        Ok((found, lines))
    }
}

/// A plan that cannot be is a mistake of the command line.
fn failed(error: stress::Error) -> Failure {
    let message = error.to_string();
    match error {
        stress::Error::Plan { .. } | stress::Error::Rate(_) => {
            Failure::usage(message).help("see `perfkit stress --help`")
        }
        _ => Failure::new(message),
    }
}

fn refused(error: stress::CodecError) -> Failure {
    Failure::usage(error.to_string()).help("see `perfkit stress --help`")
}

/// Adds what went through to the outcome.
pub(super) fn add_volume(found: &Finding, run: &Plan, outcome: &mut Outcome) {
    let counts = &found.counts;
    let (read, written) = match run.work {
        Loop::Honest => (counts.content_bytes, counts.block_bytes),
        Loop::Seed => (counts.sent_bytes, counts.decompressed_bytes),
    };
    outcome.bytes_in += read;
    outcome.bytes_out += written;
    outcome.bytes_content += counts.decompressed_bytes;
    outcome.ops = Some(outcome.ops.unwrap_or(0) + counts.received);
}

/// Adds the load of one run of several: only whether any was saturated can be said of them all.
pub(super) fn add_load(load: &Load, outcome: &mut Outcome) {
    if load.model == LoadModel::Open {
        let saturated = outcome.load.saturated || load.saturated;
        let first = outcome.load.model != LoadModel::Open;
        let rate = load.rate_target_per_s;
        let same = first || outcome.load.rate_target_per_s == rate;
        outcome.load = Load {
            rate_target_per_s: rate.filter(|_| same),
            rate_achieved_per_s: None,
            late_start_ratio: None,
            backlog_max: None,
            saturated,
            ..load.clone()
        };
    }
}
