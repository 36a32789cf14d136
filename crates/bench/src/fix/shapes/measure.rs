//! One case by one instruction set: messages drawn, answers compared, turns taken.

use fixcore::Isa;
use latency::compare;

use super::ours::Ours;
use super::{Case, Operation, Plan, Rival, Row, Side, Workload};
use crate::{Error, Paired, Watch, paired};

/// How long a turn of the first rival takes, about.
const TURN_NS: f64 = 60_000.0;
/// Passes of a turn.
const PASSES_MAX: u32 = 4_096;

/// A side, if it takes part.
type Taking<'w> = Option<Box<dyn Side + 'w>>;

/// What was found of a case.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Found {
    /// One row per operation.
    pub rows: Vec<Row>,
    /// Answers that were compared, and how many of them differed.
    pub answers: (u64, u64),
    /// By rival, in their order: answers of its own that differed. It has no times then.
    pub wrong: Vec<u64>,
}

/// Measures a case next to rivals, of which the first has every operation.
///
/// A rival whose answers differ is counted in `Found::wrong` and takes no turns. Wrong answers of the first one
/// count in `Found::answers`.
///
/// # Errors
/// [`Error::Stopped`], and what a side reports.
pub fn measure(
    case: &Case,
    isa: Isa,
    plan: &Plan,
    rivals: &[&dyn Rival],
    watch: &dyn Watch,
) -> Result<Found, Error> {
    let workload = Workload::new(&case.shape, plan.seed);
    let mut own = Ours.build(&workload, isa)?;
    let mut others = Vec::new();
    let mut found = Found::default();
    for (at, rival) in rivals.iter().enumerate() {
        watch.check()?;
        let mut side = rival.build(&workload, isa)?;
        let (done, wrong) = compare_answers(&workload, &mut own, &mut side, at == 0)?;
        if at == 0 {
            found.answers = (done, wrong);
        } else if wrong > 0 {
            side = None;
        }
        found.wrong.push(wrong);
        others.push(side);
    }
    for operation in &plan.operations {
        if workload.allows(*operation) {
            watch.check()?;
            let times = turns(*operation, plan, (&mut own, &mut others), watch)?;
            found
                .rows
                .push(row(case, isa, *operation, &workload, &times));
        }
    }
    Ok(found)
}

/// Compares what two sides make of all messages. Returns how many answers were compared and how many differed.
fn compare_answers(
    workload: &Workload,
    own: &mut Taking<'_>,
    other: &mut Taking<'_>,
    exactly: bool,
) -> Result<(u64, u64), Error> {
    let (mut done, mut wrong) = (0, 0);
    let (Some(own), Some(other)) = (own, other) else {
        return Ok((0, 0));
    };
    for (at, drawn) in workload.messages.iter().enumerate() {
        let answer = own.parsed(at)?;
        done += 1;
        wrong += u64::from(!answer.agrees(&other.parsed(at)?));
        if drawn.fault.is_some() {
            continue;
        }
        let (ours, theirs) = (own.written(at)?, other.written(at)?);
        let is_right = match (ours, theirs) {
            (Some(ours), Some(theirs)) if exactly => ours == drawn.bytes && theirs == drawn.bytes,
            (Some(_), Some(theirs)) => same_fields(&theirs, &drawn.bytes),
            _ => true,
        };
        done += 1;
        wrong += u64::from(!is_right);
    }
    Ok((done, wrong))
}

/// Whether two messages have the same fields but for the frame, in any order.
fn same_fields(a: &[u8], b: &[u8]) -> bool {
    let fields = |bytes: &[u8]| {
        let fields = bytes.split(|byte| *byte == fixcore::SOH);
        let is_framed = |field: &[u8]| {
            [&b"8="[..], b"9=", b"10="]
                .iter()
                .any(|tag| field.starts_with(tag))
        };
        let mut fields: Vec<Vec<u8>> = fields
            .filter(|field| !is_framed(field))
            .map(<[u8]>::to_vec)
            .collect();
        fields.sort_unstable();
        fields
    };
    fields(a) == fields(b)
}

/// What the sides of an operation take, one number a round and message.
struct Times {
    paired: Paired,
    /// By rival, the number of its side.
    sides: Vec<Option<usize>>,
    /// Messages of a turn.
    messages: f64,
}

/// Lets all sides take turns: the first rival, fixcore, the other rivals, the first rival again.
fn turns<'w>(
    operation: Operation,
    plan: &Plan,
    (own, others): (&mut Taking<'w>, &mut [Taking<'w>]),
    watch: &dyn Watch,
) -> Result<Times, Error> {
    let Some((first, others)) = others.split_first_mut() else {
        return Err(Error::settings("there is no rival"));
    };
    let ns = |side: &mut Taking<'w>, passes| match side {
        Some(side) => side.turn(operation, passes),
        None => Ok(None),
    };
    // How many passes take long enough; this also warms up.
    let mut passes = 1;
    while passes < PASSES_MAX && ns(first, passes)?.is_some_and(|ns| ns < TURN_NS) {
        passes *= 2;
    }
    let mut sides = vec![Some(0)];
    let mut taking = vec![own];
    for other in others {
        let takes_part = ns(other, 1)?.is_some();
        sides.push(takes_part.then_some(taking.len() + 1));
        if takes_part {
            taking.push(other);
        }
    }
    let count = taking.len() + 2;
    let paired = paired(count, plan.rounds, plan.seed, |turn| {
        watch.check()?;
        let is_first = turn.side == 0 || turn.side == count - 1;
        let side = match turn.side.checked_sub(1).and_then(|at| taking.get_mut(at)) {
            Some(side) if !is_first => &mut **side,
            _ => &mut *first,
        };
        // What the side before left in the caches is no part of the times.
        ns(side, 1)?;
        ns(side, passes)
    })?;
    Ok(Times {
        paired,
        sides,
        messages: f64::from(passes),
    })
}

fn row(case: &Case, isa: Isa, operation: Operation, workload: &Workload, times: &Times) -> Row {
    let messages = times.messages * workload.messages.len() as f64;
    let median = |side: usize| times.paired.median(side).map(|ns| ns / messages);
    let over = |side: usize| {
        let pairs = times.paired.side(side).iter().zip(times.paired.side(0));
        let ratios: Vec<f64> = pairs.map(|(side, first)| side / first.max(1.0)).collect();
        compare::median(&ratios)
    };
    let control = times.sides.iter().flatten().count() + 1;
    Row {
        shape: case.shape.name.clone(),
        operation,
        isa,
        place: case.place,
        fields: workload.fields(),
        bytes: workload.bytes(),
        fixcore_ns: median(1).unwrap_or(f64::NAN),
        rivals_ns: times
            .sides
            .iter()
            .map(|side| side.and_then(median))
            .collect(),
        ratio: over(1),
        control: over(control),
    }
}

#[cfg(test)]
mod tests {
    use super::super::Naive;
    use super::*;

    #[test]
    fn shapes_get_the_same_answers_from_both_sides() {
        let plan = Plan {
            draws: 20,
            operations: Vec::new(),
            ..Plan::default()
        };
        let isas: Vec<Isa> = Isa::ALL
            .into_iter()
            .filter(|isa| isa.is_available())
            .collect();
        // A third of the shapes, each by one instruction set: fixcore's own tests take all of both.
        let cases = plan.cases().into_iter().step_by(3);
        for (case, isa) in cases.zip(isas.into_iter().cycle()) {
            let found = measure(&case, isa, &plan, &[&Naive], &()).unwrap();
            let (done, wrong) = found.answers;
            assert!(
                done > 0 && wrong == 0,
                "{}, {}",
                case.shape.name,
                isa.name()
            );
        }
    }

    #[test]
    fn every_operation_has_times_and_a_control() {
        let plan = Plan {
            only: vec!["order with 20 bytes".into(), "wrong CheckSum".into()],
            draws: 0,
            rounds: 3,
            ..Plan::default()
        };
        let mut rows = Vec::new();
        for case in plan.cases() {
            rows.extend(
                measure(&case, Isa::Scalar, &plan, &[&Naive], &())
                    .unwrap()
                    .rows,
            );
        }
        // Only a parse makes sense of messages with faults.
        assert_eq!(rows.len(), 6 + 3);
        for row in rows {
            assert!(row.fixcore_ns > 0.0 && row.rivals_ns[0].is_some_and(|ns| ns > 0.0));
            assert!(row.ratio.is_some() && row.control.is_some());
        }
    }
}
