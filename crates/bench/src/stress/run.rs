//! The runs of a plan, and what they mean.

use std::time::Duration;

use report::Outcome;
use stress::PoolKind;

use super::plan::Plan;
use super::rank::{Control, ranking};
use super::row::Row;
use super::runner::{Follow, Runner, add_volume};
use super::verdict::{self, Complaint};
use super::{sweep, tables, turns, words};
use crate::{Checks, Context, Error};

/// Runs the pairs of a plan under load, and adds what was found to the outcome: latencies, the ranking,
/// memory and contexts. Leaks and missed ratios make its status that of a missed gate; each is one
/// complaint.
///
/// # Errors
///
/// [`Error::Settings`] for a codec or a plan that cannot be, [`Error::Failed`] where a run fails.
pub fn run(
    plan: &Plan,
    context: Context<'_>,
    follow: &mut dyn Follow,
    outcome: &mut Outcome,
) -> Result<Vec<Complaint>, Error> {
    let mut runner = Runner {
        watch: context.watch,
        follow,
        checks: Checks::default(),
    };
    let rows = match &plan.pairs[..] {
        _ if !plan.rates.is_empty() => sweep::measure(plan, &mut runner, outcome)?,
        [pair] => vec![single(plan, pair, &mut runner, outcome)?],
        _ => turns::measure(plan, &mut runner, outcome)?,
    };
    let method = "comparing every block that came out";
    runner
        .checks
        .conclude(method, outcome, context.watch.is_stopped());
    let complaints = verdict::conclude(&rows, plan.min_ratio, outcome);
    outcome.findings = words::findings(&rows, plan.min_ratio);
    Ok(complaints)
}

/// How long [`run`] takes at most, without its checks.
#[must_use]
pub fn duration(plan: &Plan) -> Duration {
    match plan.pairs.len() {
        _ if !plan.rates.is_empty() => sweep::duration(plan),
        0 | 1 => plan.run.duration,
        _ => turns::duration(plan),
    }
}

/// The only run.
fn single(
    plan: &Plan,
    pair: &(String, PoolKind),
    runner: &mut Runner<'_>,
    outcome: &mut Outcome,
) -> Result<Row, Error> {
    let run = plan.run.clone().pool(pair.1);
    let (found, lines) = runner.run(&run, &pair.0, None)?;
    add_volume(&found, &run, outcome);
    outcome.add(&found.latencies.end_to_end);
    outcome.add(&found.latencies.compress);
    outcome.add(&found.latencies.queue);
    outcome.add(&found.latencies.decompress);
    outcome.load = found.load.clone();
    let row = Row::new(&found, pair.1);
    let rows = std::slice::from_ref(&row);
    let ranked = ranking(rows, &Control::default(), plan.min_ratio);
    outcome.tables.push(ranked);
    outcome.tables.extend(tables::single(&found));
    outcome.tables.extend(lines);
    Ok(row)
}
