//! Two ways of doing the same, in turns in one run, with the first once more as a control.

use std::time::Instant;

use latency::compare::Names;
use latency::report::{Cell, Latency, LatencyName};
use latency::{Recorder, Spec};

use crate::{Context, Error, paired};
use report::Outcome;

/// What the orders of the turns are drawn from.
const ORDER_SEED: u64 = 1;

/// Operations of a span that is timed, where one is too short for the clock.
const SPAN_OPS: usize = 100;

/// What a turn does: it records, and gives nanoseconds an operation.
pub(crate) type Turn<'a> = &'a mut dyn FnMut(&mut Recorder) -> Result<f64, Error>;

/// What two ways took.
pub(crate) struct Pair {
    pub(crate) base: Latency,
    pub(crate) target: Latency,
    /// Medians of turns, in nanoseconds an operation.
    pub(crate) base_ns: f64,
    pub(crate) target_ns: f64,
}

impl Pair {
    /// The median operation of the target by that of the baseline: of the two medians that
    /// [`percentile`] shows, which say nothing of how long a few others took.
    pub(crate) fn by_base(&self) -> Cell {
        by(
            &percentile(&self.target, 50.0),
            &percentile(&self.base, 50.0),
        )
    }
}

/// One number by another; null where either is missing.
fn by(target: &Cell, base: &Cell) -> Cell {
    let number = |cell: &Cell| match cell {
        Cell::Integer(number) => Some(*number as f64),
        Cell::Number(number) => Some(*number),
        Cell::Null | Cell::Text(_) => None,
    };
    match (number(target), number(base)) {
        (Some(target), Some(base)) if base > 0.0 => (target / base).into(),
        _ => Cell::Null,
    }
}

/// Names of a pair: what an operation is, and of both ways.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Called<'a> {
    pub(crate) operation: &'a str,
    pub(crate) base: &'a str,
    pub(crate) target: &'a str,
}

/// Runs turns of the baseline, the target and the baseline again, in a random order each round, and adds
/// what comes of them to the outcome.
pub(crate) fn measure(
    context: Context<'_>,
    rounds: u32,
    called: Called<'_>,
    (base, target): (Turn<'_>, Turn<'_>),
    outcome: &mut Outcome,
) -> Result<Pair, Error> {
    let recorder = |series: &str| {
        let spec = Spec::new(LatencyName::Service, called.operation).series(series);
        Recorder::new(context.run.spec(spec), context.run.started())
    };
    let new = || [called.base, called.target, "control"].map(recorder);
    // The first turns warm up.
    let mut warm = new();
    base(&mut warm[0])?;
    target(&mut warm[1])?;
    let mut recorders = new();
    let measured = paired(3, rounds, ORDER_SEED, |turn| {
        context.watch.check()?;
        let recorder = &mut recorders[turn.side];
        match turn.side {
            1 => target(recorder),
            _ => base(recorder),
        }
        .map(Some)
    })?;
    let names = Names {
        row: called.operation,
        baseline: called.base,
        target: called.target,
    };
    outcome.comparisons.push(measured.compare(names, 1, 1));
    let median = |side| measured.median(side).unwrap_or(f64::NAN);
    let (base_ns, target_ns) = (median(0), median(1));
    let [base, target, _] = recorders.map(Recorder::finish);
    outcome.ops = Some(outcome.ops.unwrap_or(0) + base.latency().n + target.latency().n);
    outcome.add(&base);
    outcome.add(&target);
    Ok(Pair {
        base: base.latency(),
        target: target.latency(),
        base_ns,
        target_ns,
    })
}

/// Runs `ops` operations and records spans of [`SPAN_OPS`]; returns nanoseconds per operation.
pub(crate) fn spans(recorder: &mut Recorder, ops: usize, mut run: impl FnMut(usize)) -> f64 {
    let begin = Instant::now();
    let mut start = begin;
    let mut done = 0;
    while done < ops {
        let span = SPAN_OPS.min(ops - done);
        for at in done..done + span {
            run(at);
        }
        done += span;
        let end = Instant::now();
        recorder.record_batch(start, end, span as u64);
        start = Instant::now();
    }
    begin.elapsed().as_nanos() as f64 / ops as f64
}

/// A percentile that the sample has earned.
pub(crate) fn percentile(row: &Latency, p: f64) -> Cell {
    row.percentile(p).into()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    /// Operations of which most take as long as said, and a few as long as all others together.
    fn row(most_ns: u64, few_ns: u64) -> Latency {
        let start = Instant::now();
        let mut recorder = Recorder::new(Spec::new(LatencyName::Service, "operation"), start);
        for at in 0..1_000 {
            let ns = if at % 100 == 0 { few_ns } else { most_ns };
            recorder.record_span(start, start + Duration::from_nanos(ns));
        }
        recorder.finish().latency()
    }

    #[test]
    fn a_ratio_is_of_the_medians_that_are_shown() {
        // The means are as 1 to 20: 10,900 and 211,880 nanoseconds.
        let pair = Pair {
            base: row(10_000, 100_000),
            target: row(12_000, 20_000_000),
            base_ns: 10_900.0,
            target_ns: 211_880.0,
        };
        let Cell::Number(ratio) = pair.by_base() else {
            panic!("a ratio");
        };
        assert!((ratio - 1.2).abs() < 0.01, "{ratio}");
        let shown = [&pair.target, &pair.base].map(|row| percentile(row, 50.0));
        assert_eq!(pair.by_base(), by(&shown[0], &shown[1]));
        assert_eq!(by(&Cell::Null, &shown[1]), Cell::Null);
        assert_eq!(by(&shown[0], &Cell::Integer(0)), Cell::Null);
    }
}
