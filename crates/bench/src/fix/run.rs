//! The parts of a plan, one after the other.

use fixcore::dict::Version;
use fixcore::workload::{Sample, shuffled};
use report::Outcome;

use crate::fix::batches::{Bench, Cost, Set};
use crate::fix::plan::{Part, Plan};
use crate::fix::{deferred, encode, parse, scan, spsc, store, techniques, words};
use crate::{Checks, Context, Error};

/// Messages of types in no order, and the seed that they are made by.
const SHUFFLED: usize = 256;
const SHUFFLED_SEED: u64 = 1;

/// Measures the parts of a plan, and adds their tables, distributions and comparisons to the outcome.
/// Every answer is compared with that of plain code, outside the timed spans.
///
/// # Errors
///
/// [`Error::Stopped`] where the watcher stops it, [`Error::Settings`] for transports on a system that
/// has none, [`Error::Io`] where a store cannot be made, and [`Error::Failed`].
pub fn run(plan: &Plan, context: Context<'_>, outcome: &mut Outcome) -> Result<(), Error> {
    let mut checks = Checks::default();
    let mut costs = Vec::new();
    if plan.parts.iter().any(|part| part.is_codec()) {
        context.watch.doing("scan, parse and encode");
        costs = codec(plan, context, outcome, &mut checks)?;
    }
    if plan.has(Part::Store) {
        context.watch.doing("store");
        store::part(plan, context, outcome, &mut checks)?;
    }
    if plan.has(Part::Spsc) {
        context.watch.doing("queue");
        spsc::part(plan, context, outcome, &mut checks)?;
    }
    if plan.has(Part::Deferred) {
        context.watch.doing("deferred work");
        deferred::part(plan, context, outcome, &mut checks)?;
    }
    if plan.has(Part::Transport) {
        context.watch.doing("transport");
        transport(plan, context, outcome, &mut checks)?;
    }
    if plan.has(Part::Techniques) {
        context.watch.doing("techniques");
        techniques::run(plan, context, outcome, &mut checks)?;
    }
    let method = "every instruction set against plain code, and every answer with what was asked";
    checks.conclude(method, outcome, context.watch.is_stopped());
    outcome.findings = words::findings(&costs, outcome);
    Ok(())
}

#[cfg(target_os = "linux")]
use crate::fix::transport::run as transport;

/// Where there are neither `io_uring` nor `epoll`, there is nothing to carry by.
#[cfg(not(target_os = "linux"))]
fn transport(plan: &Plan, _: Context<'_>, _: &mut Outcome, _: &mut Checks) -> Result<(), Error> {
    match plan.parts.len() {
        1 => Err(Error::settings("transports can only be measured on Linux")),
        _ => Ok(()),
    }
}

/// The parts that go through messages, by every instruction set.
fn codec(
    plan: &Plan,
    context: Context<'_>,
    outcome: &mut Outcome,
    checks: &mut Checks,
) -> Result<Vec<Cost>, Error> {
    let sets = sets(plan);
    for set in &sets {
        scan::check(set, checks)?;
    }
    let mut bench = Bench::new(plan, context);
    for set in &sets {
        for isa in &plan.isas {
            if plan.has(Part::Scan) {
                scan::rows(&mut bench, set, *isa)?;
            }
            if plan.has(Part::Parse) {
                parse::rows(&mut bench, set, *isa)?;
            }
        }
    }
    if plan.has(Part::Encode) {
        let built_in: &[Set] = if plan.messages.is_empty() { &sets } else { &[] };
        encode::rows(&mut bench, built_in, checks)?;
    }
    outcome.ops = Some(outcome.ops.unwrap_or(0) + bench.messages);
    outcome.tables.push(bench.table);
    Ok(bench.costs)
}

fn sets(plan: &Plan) -> Vec<Set> {
    if !plan.messages.is_empty() {
        return vec![Set::of("messages", plan.messages.clone())];
    }
    let mut sets: Vec<Set> = Sample::ALL
        .into_iter()
        .map(|sample| Set {
            name: format!("{} {} B", sample.name(), sample.bytes().len()),
            messages: vec![sample.bytes()],
        })
        .collect();
    // One message over and over is what a predictor of branches knows by heart.
    let mixed = shuffled(Version::Fix44, SHUFFLED, SHUFFLED_SEED);
    sets.extend(mixed.map(|messages| Set::of("shuffled", messages)));
    sets
}
