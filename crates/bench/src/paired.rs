//! The paired runner: rounds in which each side has one turn, and what they come to.
//!
//! It measures nothing itself. A turn says what it took, so that a caller can time a call, a batch of
//! calls or a process.

use latency::compare::{self, Names, Sides};
use latency::report::Comparison;

use crate::Order;

/// One turn of one side.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Turn {
    /// The number of the round, from 0.
    pub round: u32,
    /// Which side: 0 is the baseline, the last one is the control.
    pub side: usize,
}

/// What the turns of a run took: one number per side and round.
#[derive(Debug, Clone, PartialEq)]
pub struct Paired {
    sides: Vec<Vec<f64>>,
    complete: bool,
}

/// Runs `rounds` rounds of `sides` sides, each round in an order drawn from `seed`.
///
/// `turn` runs one turn and returns what it took, in nanoseconds, or `None` to end the run. A round that
/// is not finished does not count, so that the numbers of a round stay pairs. Warm up before.
///
/// # Errors
///
/// The first error of a turn.
pub fn paired<E>(
    sides: usize,
    rounds: u32,
    seed: u64,
    turn: impl FnMut(Turn) -> Result<Option<f64>, E>,
) -> Result<Paired, E> {
    paired_until(sides, seed, turn, |measured| {
        measured.rounds() >= rounds as usize
    })
}

/// [`paired`], of as many rounds as it takes: `ends` is asked before each round.
///
/// # Errors
///
/// The first error of a turn.
pub fn paired_until<E>(
    sides: usize,
    seed: u64,
    mut turn: impl FnMut(Turn) -> Result<Option<f64>, E>,
    mut ends: impl FnMut(&Paired) -> bool,
) -> Result<Paired, E> {
    let mut order = Order::new(sides, seed);
    let mut measured = Paired {
        sides: vec![Vec::new(); sides],
        complete: true,
    };
    let mut took = vec![0.0; sides];
    let mut round = 0;
    // Rounds without a side would never end.
    while sides > 0 && round < u32::MAX && !ends(&measured) {
        for &side in order.draw() {
            match turn(Turn { round, side })? {
                Some(ns) => took[side] = ns,
                None => {
                    measured.complete = false;
                    return Ok(measured);
                }
            }
        }
        for (side, ns) in measured.sides.iter_mut().zip(&took) {
            side.push(*ns);
        }
        round += 1;
    }
    Ok(measured)
}

impl Paired {
    /// What a side took in each finished round; empty for a side that there is not.
    #[must_use]
    pub fn side(&self, side: usize) -> &[f64] {
        self.sides.get(side).map_or(&[], Vec::as_slice)
    }

    /// The median turn of a side; `None` before the first finished round.
    #[must_use]
    pub fn median(&self, side: usize) -> Option<f64> {
        compare::median(self.side(side))
    }

    /// Finished rounds.
    #[must_use]
    pub fn rounds(&self) -> usize {
        self.side(0).len()
    }

    /// Turns in finished rounds, over all sides.
    #[must_use]
    pub fn turns(&self) -> usize {
        self.rounds() * self.sides.len()
    }

    /// Whether no turn ended the run early.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.complete
    }

    /// Compares side `target` with side 0, with the last side as the control. `bucket_ops` is how many
    /// operations one turn did.
    #[must_use]
    pub fn compare(&self, names: Names<'_>, target: usize, bucket_ops: u64) -> Comparison {
        let control = self
            .sides
            .len()
            .checked_sub(1)
            .filter(|last| *last > target);
        let sides = Sides {
            base: self.side(0),
            target: self.side(target),
            control: control.map(|control| self.side(control)),
            bucket_ops,
        };
        compare::interleaved(names, sides)
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use proptest::prelude::*;

    use super::*;

    const NAMES: Names<'static> = Names {
        row: "row",
        baseline: "base",
        target: "target",
    };

    proptest! {
        #[test]
        fn every_finished_round_has_each_side_once(
            sides in 0_usize..6,
            rounds in 0_u32..20,
            seed in any::<u64>(),
            stop in 0_usize..100,
        ) {
            let mut seen = Vec::new();
            let measured = paired(sides, rounds, seed, |turn| {
                if seen.len() == stop {
                    return Ok::<_, Infallible>(None);
                }
                seen.push(turn);
                Ok(Some(f64::from(turn.round) * 10.0 + turn.side as f64))
            });
            let Ok(measured) = measured;
            let all = sides * rounds as usize;
            prop_assert_eq!(measured.is_complete(), all <= stop);
            let finished = match sides {
                0 => 0,
                _ => all.min(stop) / sides,
            };
            prop_assert_eq!(measured.rounds(), finished);
            prop_assert_eq!(measured.turns(), finished * sides);
            for side in 0..sides {
                let expected: Vec<f64> =
                    (0..finished).map(|round| round as f64 * 10.0 + side as f64).collect();
                prop_assert_eq!(measured.side(side), &expected[..]);
            }
            prop_assert!(measured.side(sides).is_empty());
        }
    }

    #[test]
    fn the_last_side_is_the_control_and_an_error_ends_the_run() {
        let Ok(measured) = paired(3, 20, 1, |turn| {
            let noise = f64::from(turn.round % 3);
            Ok::<_, Infallible>(Some(if turn.side == 1 { 200.0 } else { 100.0 } + noise))
        });
        let comparison = measured.compare(NAMES, 1, 10);
        assert_eq!(comparison.pairs, 20);
        assert!(comparison.control.is_some());
        assert_eq!(measured.median(1), Some(201.0));
        // Two sides have no control.
        let Ok(two) = paired(2, 6, 1, |_| Ok::<_, Infallible>(Some(1.0)));
        assert!(two.compare(NAMES, 1, 1).control.is_none());
        assert_eq!(paired(2, 1, 1, |_| Err::<Option<f64>, _>("no")), Err("no"));
    }
}
