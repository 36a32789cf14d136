//! What a request costs a ring with and without its flags: one that does nothing, one at a time and
//! in batches, and a word through an eventfd.

use fixcore::io::{Setup, measure::Requests};
use latency::Recorder;
use latency::report::{Table, Unit};

use crate::fix::batches::failed;
use crate::fix::plan::Plan;
use crate::fix::sides::{self, Called, Pair};
use crate::{Checks, Context, Error};
use report::Outcome;

/// Requests that are handed over together.
const BATCHES: [usize; 3] = [1, 8, 32];

/// Measures both.
pub(crate) fn run(
    plan: &Plan,
    context: Context<'_>,
    outcome: &mut Outcome,
    checks: &mut Checks,
) -> Result<(), Error> {
    let columns = [
        ("request", Unit::Text),
        ("batch", Unit::Count),
        ("plain_ns", Unit::Nanoseconds),
        ("flags_ns", Unit::Nanoseconds),
        ("change", Unit::Share),
        ("plain_p99_ns", Unit::Nanoseconds),
        ("flags_p99_ns", Unit::Nanoseconds),
    ];
    let mut table = Table::new("requests of a ring, without flags and with three", &columns);
    let mut row = |request: &str, batch: usize, pair: &Pair| {
        table.rows.push(vec![
            request.into(),
            (batch as u64).into(),
            pair.base_ns.into(),
            pair.target_ns.into(),
            (pair.target_ns / pair.base_ns - 1.0).into(),
            sides::percentile(&pair.base, 99.0),
            sides::percentile(&pair.target, 99.0),
        ]);
    };
    let ops = plan.batch_size as usize;
    for batch in BATCHES {
        let [mut plain, mut flags] = rings()?;
        let mut wrong = [0; 2];
        let [base, target] = &mut wrong;
        let operation = format!("nothing, {batch} at a time");
        let called = named(&operation);
        let turns: (sides::Turn<'_>, sides::Turn<'_>) = (
            &mut |recorder| nothing(&mut plain, batch, ops, recorder, base),
            &mut |recorder| nothing(&mut flags, batch, ops, recorder, target),
        );
        let pair = sides::measure(context, plan.batches, called, turns, outcome)?;
        checks.add(pair.base.n + pair.target.n, wrong.iter().sum());
        row("nothing", batch, &pair);
    }
    let words = || plan.batch_size as usize;
    let pair = flags(&words, plan.batches, context, outcome, checks)?;
    row("a word through an eventfd", 1, &pair);
    outcome.tables.push(table);
    Ok(())
}

/// A word written to an eventfd and read back, each waited for, as the seed measured it.
pub(crate) fn flags(
    ops: &dyn Fn() -> usize,
    rounds: u32,
    context: Context<'_>,
    outcome: &mut Outcome,
    checks: &mut Checks,
) -> Result<Pair, Error> {
    let [mut plain, mut flags] = rings()?;
    let mut wrong = [0; 2];
    let [base, target] = &mut wrong;
    let turns: (sides::Turn<'_>, sides::Turn<'_>) = (
        &mut |recorder| Ok(words(&mut plain, ops(), recorder, base)),
        &mut |recorder| Ok(words(&mut flags, ops(), recorder, target)),
    );
    let called = named("a word through an eventfd");
    let pair = sides::measure(context, rounds, called, turns, outcome)?;
    checks.add(pair.base.n + pair.target.n, wrong.iter().sum());
    Ok(pair)
}

fn named(operation: &str) -> Called<'_> {
    Called {
        operation,
        base: Setup::Plain.name(),
        target: Setup::Deferred.name(),
    }
}

fn rings() -> Result<[Requests; 2], Error> {
    let open = |setup| Requests::open(setup).map_err(failed);
    Ok([open(Setup::Plain)?, open(Setup::Deferred)?])
}

fn words(ring: &mut Requests, ops: usize, recorder: &mut Recorder, wrong: &mut u64) -> f64 {
    sides::spans(recorder, ops, |at| {
        // An eventfd of zero would not be read.
        let word = at as u64 + 1;
        let back = ring.word(word);
        *wrong += u64::from(!matches!(back, Ok(Some(read)) if read == word));
    })
}

fn nothing(
    ring: &mut Requests,
    batch: usize,
    ops: usize,
    recorder: &mut Recorder,
    wrong: &mut u64,
) -> Result<f64, Error> {
    let mut done = Ok(0);
    let calls = ops.div_ceil(batch);
    let start = std::time::Instant::now();
    for _ in 0..calls {
        done = ring.nothing(batch);
        if done.is_err() {
            break;
        }
    }
    let end = std::time::Instant::now();
    let done = done.map_err(failed)?;
    *wrong += u64::from(done != batch);
    let ops = (calls * batch) as u64;
    recorder.record_batch(start, end, ops);
    Ok((end - start).as_nanos() as f64 / ops as f64)
}
