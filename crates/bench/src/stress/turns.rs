//! Several codecs and pools: turns in rounds, in a new random order each round, with an A/A control.
//!
//! Drift of the machine then affects all of them equally. The control is a second turn of the first pair in
//! each round; its numbers only serve the ranking.

use std::time::Duration;

use stress::{Plan as Load, PoolKind};

use super::plan::Plan;
use super::plan::pair_name;
use super::rank::{Control, control_table, ranking};
use super::row::{Row, cost};
use super::runner::{Runner, add_load, add_volume};
use crate::{Error, Order};
use report::Outcome;

/// Turns of each pair. With fewer, no difference could be distinguished from chance.
const ROUNDS: u32 = 6;

/// The pairs, and their results so far.
struct Turns<'p> {
    plan: &'p Plan,
    rows: Vec<Option<Row>>,
    control: Control,
}

/// Runs all pairs, or as many turns as possible until an interrupt.
pub(crate) fn measure(
    plan: &Plan,
    runner: &mut Runner<'_>,
    outcome: &mut Outcome,
) -> Result<Vec<Row>, Error> {
    let mut turns = Turns {
        plan,
        rows: plan.pairs.iter().map(|_| None).collect(),
        control: Control::default(),
    };
    // One more than the number of pairs: the control.
    let mut order = Order::new(plan.pairs.len() + 1, plan.run.seed);
    'rounds: for round in 0..ROUNDS {
        runner.follow.round(round + 1, ROUNDS, plan.pairs.len());
        for at in order.draw() {
            if runner.watch.is_stopped() {
                break 'rounds;
            }
            turns.turn(*at, round, runner, outcome)?;
        }
    }
    let rows: Vec<Row> = turns.rows.into_iter().flatten().collect();
    for row in &rows {
        outcome.latencies.push(row.end_to_end.clone());
    }
    // In an interrupted round, the control has no counterpart.
    let control = &mut turns.control;
    let pairs = control.first.len().min(control.again.len());
    control.first.truncate(pairs);
    control.again.truncate(pairs);
    outcome.tables.push(ranking(&rows, control, plan.min_ratio));
    outcome.tables.extend(control_table(control));
    Ok(rows)
}

impl Turns<'_> {
    /// The turn of a pair in a round, or of the control, which has the index after the pairs.
    fn turn(
        &mut self,
        at: usize,
        round: u32,
        runner: &mut Runner<'_>,
        outcome: &mut Outcome,
    ) -> Result<(), Error> {
        let again = at == self.plan.pairs.len();
        let pair = &self.plan.pairs[if again { 0 } else { at }];
        let Some(run) = self.part(pair, round) else {
            return Ok(());
        };
        let (found, _) = runner.run(&run, &pair.0, Some(pair_name(pair)))?;
        if again {
            self.control.again.extend(cost(&found));
            return Ok(());
        }
        if at == 0 {
            self.control.name = pair_name(pair);
            self.control.first.extend(cost(&found));
        }
        add_volume(&found, &run, outcome);
        add_load(&found.load, outcome);
        outcome.slowest.extend(found.latencies.end_to_end.slowest());
        match &mut self.rows[at] {
            Some(row) => row.add(&found)?,
            none => *none = Some(Row::new(&found, pair.1)),
        }
        Ok(())
    }

    /// A round's part of the time, and of the blocks if their number is limited; none if that is zero.
    fn part(&self, pair: &(String, PoolKind), round: u32) -> Option<Load> {
        let run = &self.plan.run;
        let blocks = |all: u64| part(all, round + 1) - part(all, round);
        let blocks_max = run.blocks_max.map(blocks);
        (blocks_max != Some(0)).then(|| {
            run.clone()
                .pool(pair.1)
                .label(Some(pair_name(pair)))
                .duration(run.duration / ROUNDS)
                .blocks_max(blocks_max)
                // Those of a report would only describe single turns.
                .intervals(self.plan.turn_intervals.clone())
        })
    }
}

/// How long all turns take.
pub(crate) fn duration(plan: &Plan) -> Duration {
    let turns = plan.pairs.len() + 1;
    (plan.run.duration / ROUNDS * ROUNDS).saturating_mul(u32::try_from(turns).unwrap_or(u32::MAX))
}

/// The part of `all` that the first `rounds` rounds do.
fn part(all: u64, rounds: u32) -> u64 {
    (u128::from(all) * u128::from(rounds) / u128::from(ROUNDS)) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rounds_have_all_blocks_between_them() {
        for all in [0, 1, 5, 6, 500, u64::MAX] {
            let each = (0..ROUNDS).map(|round| part(all, round + 1) - part(all, round));
            assert_eq!(each.sum::<u64>(), all);
        }
    }
}
