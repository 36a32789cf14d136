//! One run at a time: who follows it meanwhile, what is checked after it, and what it adds to the
//! outcome.

use latency::report::{Load, LoadModel, Table};
use report::Outcome;
use stress::{Finding, Loop, Plan, PoolKind, Progress, codec};

use super::verdict::{unexpected, wrong};
use crate::{Checks, Error, Watch};

/// Who follows the runs of [`super::run`]. `()` does not.
pub trait Follow {
    /// A round of several codecs and pools begins.
    fn round(&mut self, _number: u32, _of: u32, _pairs: usize) {}

    /// What a closed loop showed that the machine can do, before the open loops.
    fn capacity(&mut self, _blocks_per_s: f64) {}

    /// A run begins. It has a label when there are several.
    fn begin(&mut self, _codec: &str, _pool: PoolKind, _label: Option<String>) {}

    /// The run as it is now; returns the bytes that the follower holds, which are no leak.
    fn see(&mut self, _progress: &Progress) -> u64 {
        0
    }

    /// The run ended; what was seen of it, as a table.
    fn end(&mut self) -> Option<Table> {
        None
    }
}

impl Follow for () {}

/// Runs plans.
pub(crate) struct Runner<'a> {
    pub(crate) watch: &'a dyn Watch,
    pub(crate) follow: &'a mut dyn Follow,
    pub(crate) checks: Checks,
}

impl Runner<'_> {
    /// One run, and what its follower saw. `label`: what it is called when there are several runs.
    pub(crate) fn run(
        &mut self,
        run: &Plan,
        codec: &str,
        label: Option<String>,
    ) -> Result<(Finding, Option<Table>), Error> {
        let codec = codec::by_name(codec).map_err(|error| Error::settings(error.to_string()))?;
        let (watch, follow) = (self.watch, &mut *self.follow);
        follow.begin(codec.name(), run.pool, label);
        let found = stress::run(run, codec, &mut |progress| {
            run.held_outside.set(follow.see(progress));
            !watch.is_stopped()
        })
        .map_err(failed)?;
        let unexpected = unexpected(&found, &run.faults);
        let wrong = wrong(&found).max(unexpected);
        self.checks
            .add_faulty(found.counts.begun, wrong, wrong - unexpected);
        Ok((found, follow.end()))
    }
}

/// A plan that cannot be is a mistake of whoever made it.
fn failed(error: stress::Error) -> Error {
    let message = error.to_string();
    match error {
        stress::Error::Plan { .. } | stress::Error::Rate(_) => Error::settings(message),
        _ => Error::new(message),
    }
}

/// Adds the volume of a run to the outcome.
pub(crate) fn add_volume(found: &Finding, run: &Plan, outcome: &mut Outcome) {
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

/// Adds the load of one of several runs: together they only say whether any was saturated.
pub(crate) fn add_load(load: &Load, outcome: &mut Outcome) {
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
            generator_late: None,
            saturated,
            ..load.clone()
        };
    }
}
