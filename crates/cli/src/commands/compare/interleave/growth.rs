//! How many rounds there are: until the verdict stands, or the time is over.

use std::time::{Duration, Instant};

use latency::compare::{self, Looks, Names, Options, Regression, Sides};
use latency::report::Verdict;

use super::measured::Measured;
use crate::args::limit::{Limit, WALL};
use crate::commands::compare::flags::CompareArgs;
use crate::commands::compare::judge::must_decide;

/// Rounds that are added until the verdict stands.
pub(super) struct Growth {
    started: Instant,
    most: Duration,
    rounds_min: u32,
    pub(super) looks: Looks,
    /// The options of the last look.
    pub(super) options: Options,
}

impl Growth {
    pub(super) fn new(most: Duration, rounds_min: u32) -> Self {
        Self {
            started: Instant::now(),
            most,
            rounds_min,
            looks: Looks::default(),
            options: Options::default(),
        }
    }

    /// Whether no further round is needed, or allowed.
    pub(super) fn stands(&mut self, found: &Measured<'_>, args: &CompareArgs, batch: u64) -> bool {
        if found.rounds() < self.rounds_min as usize {
            return false;
        }
        let share = self.started.elapsed().as_secs_f64() / self.most.as_secs_f64();
        let Some(confidence) = self.looks.due(share) else {
            return share >= 1.0;
        };
        self.options = args.options().confidence(confidence);
        // Sums of several runs have no tails: limits on these are decided when the time is over.
        let options = self.options.singles(batch == 1);
        let is_open = |(row, sides): (&'static str, Sides<'_>)| {
            let names = Names {
                row,
                baseline: "",
                target: "",
            };
            let found = compare::interleaved_with(names, sides, options);
            let limit_open = |limit: &Limit| {
                limit.covers(row)
                    && must_decide(limit, &found)
                    && limit.judge(&found) == Regression::Undecided
            };
            let verdict_open = matches!(found.verdict, Verdict::Inconclusive | Verdict::Small);
            row == WALL && verdict_open || args.fail_on_regression.iter().any(limit_open)
        };
        share >= 1.0 || !found.rows(batch).into_iter().any(is_open)
    }
}
