//! How many rounds there are: until the verdict stands, or the time is over.

use std::time::{Duration, Instant};

use bench::Paired;
use latency::compare::{self, Looks, Names, Options, Regression, Sides};
use latency::report::Verdict;

use crate::commands::compare::flags::CompareArgs;

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
    pub(super) fn stands(&mut self, wall: &Paired, args: &CompareArgs, batch: u64) -> bool {
        let [base, target, control] = [0, 1, 2].map(|side| wall.side(side));
        if base.len() < self.rounds_min as usize {
            return false;
        }
        let share = self.started.elapsed().as_secs_f64() / self.most.as_secs_f64();
        let Some(confidence) = self.looks.due(share) else {
            return share >= 1.0;
        };
        self.options = args.options().confidence(confidence);
        // Sums of several runs have no tails: limits on these are decided when the time is over.
        let options = self.options.singles(batch == 1);
        let names = Names {
            row: "wall",
            baseline: "",
            target: "",
        };
        let sides = Sides {
            base,
            target,
            control: Some(control),
            bucket_ops: batch,
        };
        let found = compare::interleaved_with(names, sides, options);
        let mut limits = args.fail_on_regression.iter();
        let limit_open = limits.any(|limit| limit.judge(&found) == Regression::Undecided);
        let verdict_open = matches!(found.verdict, Verdict::Inconclusive | Verdict::Small);
        share >= 1.0 || !(verdict_open || limit_open)
    }
}
