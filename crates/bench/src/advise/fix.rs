//! Validation of FIX messages: so short that messages are timed in batches, and the advice is of means.

use fixcore::Decoder;
use fixcore::dict::{Rules, Validator};
use fixcore::workload::Sample;
use latency::report::{Table, Unit};
use report::Outcome;

use super::answer::{Cell, answer};
use super::plan::Plan;
use super::times::{Call, measure};
use crate::{Checks, Context, Error};

/// Messages that are timed together.
const BATCH: u32 = 100;

const COLUMNS: [(&str, Unit); 6] = [
    ("message", Unit::Text),
    ("size_bytes", Unit::Bytes),
    ("batches", Unit::Count),
    ("mean_p50_ns", Unit::Nanoseconds),
    ("mean_p99_ns", Unit::Nanoseconds),
    ("verdict", Unit::Text),
];

/// Adds the table and the sentences to the outcome.
pub(crate) fn part(
    plan: &Plan,
    context: Context<'_>,
    outcome: &mut Outcome,
    checks: &mut Checks,
) -> Result<(), Error> {
    if !plan.fix {
        return Ok(());
    }
    let failed = |error: fixcore::Error| Error::new(format!("cannot read a message: {error}"));
    let mut table = Table::new("fix validation", &COLUMNS);
    for sample in Sample::ALL {
        if context.watch.is_stopped() {
            break;
        }
        let bytes = sample.bytes();
        let mut decoder = Decoder::new();
        let message = decoder.parse(&bytes).map_err(failed)?;
        let validator = Validator::for_message(&message, Rules::default());
        let Some(mut validator) = validator else {
            continue;
        };
        checks.that(validator.validate(&message).is_ok());
        let times = measure(plan.cell, context.watch, |_, times| {
            let call = Call::start();
            for _ in 0..BATCH {
                let found = validator.validate(std::hint::black_box(&message));
                std::hint::black_box(found.is_ok());
            }
            times.add(call.took() / BATCH);
            Ok(())
        })?;
        let cell = Cell {
            what: &format!("of FIX, validated (`{}`, means of {BATCH})", sample.name()),
            bytes: bytes.len() as u64,
            whole: &times,
            slices: None,
        };
        outcome.findings.push(cell.sentence(plan.threshold));
        table.rows.push(vec![
            sample.name().into(),
            (bytes.len() as u64).into(),
            times.n().into(),
            times.p50_ns().into(),
            times.p99_ns().into(),
            answer(plan.threshold, &times, None).name().into(),
        ]);
    }
    outcome.tables.push(table);
    Ok(())
}
