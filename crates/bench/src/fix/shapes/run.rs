//! All cases of a plan, and their report.

use std::time::Instant;

use report::{ExitStatus, Outcome};

use super::{Cliff, FACTOR_MAX, Naive, Plan, Rival, Row, cliffs, measure, tables};
use crate::{Checks, Context, Error};

/// Measures all cases of a plan by every instruction set next to the naive parser and encoder, and adds their tables
/// to the outcome.
///
/// Neighbours of a sweep over [`FACTOR_MAX`] apart end the run with [`ExitStatus::Gate`], a wrong answer with
/// [`ExitStatus::Failure`]. A run whose time is up reports what it measured and ends with [`ExitStatus::Partial`].
///
/// # Errors
/// What a side reports, other than a wrong answer. A run that the watcher stops has what was measured until then.
pub fn run(plan: &Plan, context: Context<'_>, outcome: &mut Outcome) -> Result<(), Error> {
    let cases = plan.cases();
    let all = cases
        .iter()
        .flat_map(|case| plan.isas.iter().map(move |isa| (case, *isa)));
    let count = cases.len() * plan.isas.len();
    let rivals: [&dyn Rival; 1] = [&Naive];
    let (mut rows, mut done): (Vec<Row>, usize) = (Vec::new(), 0);
    let mut checks = Checks::default();
    let start = Instant::now();
    context.watch.expect(count as u64);
    for (case, isa) in all {
        if context.watch.is_stopped() || start.elapsed() > plan.max_time {
            break;
        }
        let found = match measure(case, isa, plan, &rivals, context.watch) {
            Ok(found) => found,
            Err(Error::Stopped) => break,
            Err(error) => return Err(error),
        };
        let (answers, wrong) = found.answers;
        checks.add(answers, wrong);
        if wrong > 0 {
            let (shape, isa) = (&case.shape.name, isa.name());
            let message = format!("{shape}, {isa}: {wrong} of {answers} answers differ");
            context.watch.warn(&Error::broken(message));
        }
        rows.extend(found.rows);
        done += 1;
        context.watch.advance(1);
    }
    context.watch.finish();
    let neighbours = cliffs(&rows);
    let names = rivals.map(Rival::name);
    outcome.tables.push(tables::sets(&rows));
    outcome.tables.push(tables::shapes(&rows, &names));
    outcome.tables.push(tables::neighbours(&neighbours));
    let params = &mut outcome.workload.params;
    params.insert("cases".into(), count.into());
    params.insert("cases_measured".into(), done.into());
    if done < count {
        outcome.complete = false;
        outcome.status = ExitStatus::Partial;
        if !context.watch.is_stopped() {
            let message = format!(
                "the time is up: {} of {count} cases were not measured",
                count - done
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
    checks.conclude(
        "naive parser and encoder",
        outcome,
        context.watch.is_stopped(),
    );
    Ok(())
}

fn failure(cliff: &Cliff) -> Error {
    let ([first, second], [a, b]) = (&cliff.shapes, cliff.byte_ns);
    Error::new(format!(
        "a cliff of {} with {}: '{first}' costs {a:.2} ns per byte, '{second}' {b:.2} ns, {:.1} times apart; at most {FACTOR_MAX} are allowed",
        cliff.operation.name(),
        cliff.isa.name(),
        cliff.factor
    ))
}
