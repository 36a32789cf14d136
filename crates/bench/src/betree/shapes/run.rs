//! All cases of a plan, and their report.

use std::time::Instant;

use latency::report::LatencyName;
use latency::{Recorder, Spec};
use report::{ExitStatus, Outcome};

use super::measure::{Took, measure};
use super::{Cliff, Counting, FACTOR_MAX, Plan, Rival, Row, Simple, cliffs, tables};
use crate::{Checks, Context, Error};

/// Measures all cases of a plan next to two simple indexes, and adds their tables and the distribution of all searches
/// and steps to the outcome.
///
/// Neighbours of a sweep over [`FACTOR_MAX`] apart end the run with [`ExitStatus::Gate`], a wrong answer with
/// [`ExitStatus::Failure`]. A run whose time is up reports what it measured and ends with [`ExitStatus::Partial`].
///
/// # Errors
/// What a side reports, other than a wrong answer. A run that the watcher stops has what was measured until then.
pub fn run(plan: &Plan, context: Context<'_>, outcome: &mut Outcome) -> Result<(), Error> {
    let cases = plan.cases();
    let recorder = |name, operation: &str| {
        let spec = Spec::new(name, operation).series("betree");
        Recorder::new(context.run.spec(spec), context.run.started())
    };
    let mut searches = recorder(LatencyName::Service, "event");
    let mut steps = recorder(LatencyName::Hold, "step");
    let rivals: [&dyn Rival; 2] = [&Simple, &Counting];
    let mut rows: Vec<Row> = Vec::new();
    let start = Instant::now();
    context.watch.expect(cases.len() as u64);
    for case in &cases {
        if context.watch.is_stopped() || start.elapsed() > plan.max_time {
            break;
        }
        let took = |what, ns| match what {
            Took::Search => searches.record_ns(ns),
            Took::Step => steps.record_ns(ns),
        };
        match measure(case, plan, &rivals, context.watch, took) {
            Ok(row) => rows.push(row),
            Err(Error::Stopped) => break,
            Err(error) => return Err(error),
        }
        context.watch.advance(1);
    }
    context.watch.finish();
    outcome.ops = Some(searches.n());
    outcome.add(&searches.finish());
    outcome.add(&steps.finish());
    let neighbours = cliffs(&rows);
    let names = rivals.map(Rival::name);
    outcome.tables.push(tables::sizes(&rows));
    outcome.tables.push(tables::shapes(&rows, &names));
    outcome.tables.push(tables::neighbours(&neighbours));
    let left = cases.len() - rows.len();
    let params = &mut outcome.workload.params;
    params.insert("cases".into(), cases.len().into());
    params.insert("cases_measured".into(), rows.len().into());
    if left > 0 {
        outcome.complete = false;
        outcome.status = ExitStatus::Partial;
        if !context.watch.is_stopped() {
            let message = format!(
                "the time is up: {left} of {} cases were not measured",
                cases.len()
            );
            context.watch.warn(
                &Error::new(message).help("allow more with --max-time, or ask for fewer cases"),
            );
        }
    }
    for cliff in neighbours.iter().filter(|cliff| cliff.is_cliff()) {
        outcome.status = ExitStatus::Gate;
        context.watch.warn(&failure(cliff));
    }
    let mut checks = Checks::default();
    for row in &rows {
        let (done, wrong) = row.answers;
        checks.add(done, wrong);
        if wrong > 0 {
            let (shape, count) = (&row.shape, row.expressions);
            let message = format!("{shape}, {count} expressions: {wrong} of {done} answers differ");
            context.watch.warn(&Error::broken(message));
        }
    }
    checks.conclude(
        "simple inverted indexes",
        outcome,
        context.watch.is_stopped(),
    );
    Ok(())
}

fn failure(cliff: &Cliff) -> Error {
    let ([first, second], [a, b]) = (&cliff.shapes, cliff.cost_ns);
    Error::new(format!(
        "a cliff at {} expressions: '{first}' costs {a:.0} ns per match, '{second}' {b:.0} ns, {:.1} times apart; at most {FACTOR_MAX} are allowed",
        cliff.expressions, cliff.factor
    ))
}
