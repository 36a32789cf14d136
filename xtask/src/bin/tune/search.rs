//! A search for parameter sets that no native level dominates on any kind.
//!
//! Speeds between two levels are cut into slots, each of which keeps its best sets; children of
//! those, with a few parameters changed, are measured in their turn. How good a set is, is its
//! worst [margin](front::margin) over the kinds: a recipe is as good as where it is worst.

use std::collections::HashSet;
use std::time::Duration;

use anyhow::{Context, Result};
use zstdkit::{Recipe, Strategy};

use crate::args::Effort;
use crate::args::{Args, Task};
use crate::candidate::Candidate;
use crate::data::Case;
use crate::front;
use crate::measure;
use crate::set::Set;
use crate::table::{Row, Table};

const SLOTS: usize = 8;
/// Parents are taken from so many of the best of a slot.
const PARENTS: usize = 4;
/// Searching takes less care than judging.
const EFFORT: Effort = Effort {
    spend: Duration::from_millis(10),
    passes: 2,
};
const WINDOW_LOG_MAX: u32 = 23;

/// A set that was measured on every kind.
pub(crate) struct Found {
    pub(crate) set: Set,
    pub(crate) rows: Vec<Row>,
    pub(crate) margins: Vec<f64>,
    /// Where it is between the two levels in time, on average over the kinds: 0 to 1.
    pub(crate) place: f64,
}

impl Found {
    pub(crate) fn worst_margin(&self) -> f64 {
        self.margins.iter().copied().fold(f64::INFINITY, f64::min)
    }

    fn slot(&self) -> usize {
        ((self.place.clamp(0.0, 1.0) * SLOTS as f64) as usize).min(SLOTS - 1)
    }
}

/// The result of a search: the levels by kind, and the sets.
pub(crate) struct Outcome {
    levels: Vec<Vec<Row>>,
    found: Vec<Found>,
}

impl Outcome {
    /// The best sets of each slot, the quickest slot first.
    pub(crate) fn best(&self, of_each: usize) -> Vec<&Found> {
        (0..SLOTS)
            .flat_map(|slot| self.of_slot(slot).into_iter().take(of_each))
            .collect()
    }

    pub(crate) fn tables(self, cases: &[Case]) -> Vec<Table> {
        let Self { levels, found } = self;
        cases
            .iter()
            .zip(levels)
            .enumerate()
            .map(|(index, (case, mut rows))| {
                rows.extend(found.iter().map(|found| found.rows[index].clone()));
                Table::new(case, rows, front::NOISE)
            })
            .collect()
    }

    fn of_slot(&self, slot: usize) -> Vec<&Found> {
        let mut sets: Vec<&Found> = self
            .found
            .iter()
            .filter(|found| found.slot() == slot)
            .collect();
        sets.sort_by(|one, other| other.worst_margin().total_cmp(&one.worst_margin()));
        sets
    }
}

pub(crate) fn run(args: &Args, size: usize, cases: &[Case], steps: usize) -> Result<Outcome> {
    let Task::Search { between, seed, .. } = args.task else {
        anyhow::bail!("this is no search");
    };
    let levels: Vec<Candidate> = (args.levels.0..=args.levels.1)
        .filter(|&level| level != 0)
        .map(Candidate::level)
        .collect();
    let levels = cases
        .iter()
        .map(|case| measure::interleaved(case, &levels, &args.effort))
        .collect::<Result<Vec<_>>>()?;
    let bounds = [between.0, between.1].map(|level| time_of(&levels, level));
    let [Some(low), Some(high)] = bounds else {
        anyhow::bail!("--between names levels that --levels leaves out");
    };
    let mut outcome = Outcome {
        levels,
        found: Vec::new(),
    };
    let mut seen = HashSet::new();
    let mut prng = Prng(seed);
    let mut seeds = seeds(args, size);
    for _ in 0..steps + seeds.len() {
        let set = match seeds.pop() {
            Some(seed) => seed,
            None => child(&outcome, &mut prng, size).context("no set is quick enough")?,
        };
        if !seen.insert(set) {
            continue;
        }
        if let Some(found) = try_set(set, cases, &outcome.levels, (low, high))? {
            outcome.found.push(found);
        }
    }
    Ok(outcome)
}

/// The mean of the logarithms of a level's times.
fn time_of(levels: &[Vec<Row>], level: i32) -> Option<f64> {
    let name = format!("level {level}");
    let rows: Option<Vec<&Row>> = levels
        .iter()
        .map(|rows| rows.iter().find(|row| row.name == name))
        .collect();
    rows.map(|rows| mean_log(rows.into_iter()))
}

fn mean_log<'r>(rows: impl ExactSizeIterator<Item = &'r Row>) -> f64 {
    let count = rows.len().max(1) as f64;
    rows.map(|row| (row.pass_ns.max(1) as f64).ln())
        .sum::<f64>()
        / count
}

/// The sets to start from: those given, and those of the recipes.
fn seeds(args: &Args, size: usize) -> Vec<Set> {
    let recipes = Recipe::ALL.into_iter().filter_map(|recipe| {
        let options = recipe.options(Some(size as u64));
        let own = options.parameters;
        Some(Set {
            numbers: [
                options.window_log?,
                own.chain_log?,
                own.hash_log?,
                own.search_log?,
                own.min_match?,
                own.target_length?,
            ],
            strategy: own.strategy?,
        })
    });
    let sets = recipes.chain(args.sets.iter().copied());
    sets.map(|set| within_size(set, size)).collect()
}

/// Measures a set on every kind; `None` as soon as it is far slower than the slowest wanted.
fn try_set(
    set: Set,
    cases: &[Case],
    levels: &[Vec<Row>],
    (low, high): (f64, f64),
) -> Result<Option<Found>> {
    let candidate = [Candidate::set(&set)];
    let mut rows: Vec<Row> = Vec::new();
    for case in cases {
        rows.extend(measure::interleaved(case, &candidate, &EFFORT)?);
        if rows.len() == 1 && mean_log(rows.iter()) > high + 2.0 {
            return Ok(None);
        }
    }
    let place = (mean_log(rows.iter()) - low) / (high - low);
    let margins = rows
        .iter()
        .zip(levels)
        .map(|(row, levels)| front::margin(row, levels, front::NOISE))
        .collect();
    Ok((-0.05..=1.05).contains(&place).then_some(Found {
        set,
        rows,
        margins,
        place,
    }))
}

fn child(outcome: &Outcome, prng: &mut Prng, size: usize) -> Option<Set> {
    let slots: Vec<Vec<&Found>> = (0..SLOTS)
        .map(|slot| outcome.of_slot(slot))
        .filter(|slot| !slot.is_empty())
        .collect();
    let slot = slots.get(prng.below(slots.len()))?;
    let mut set = slot[prng.below(slot.len().min(PARENTS))].set;
    for _ in 0..=prng.below(3) {
        mutate(&mut set, prng);
    }
    Some(within_size(set, size))
}

fn mutate(set: &mut Set, prng: &mut Prng) {
    let [window, chain, hash, search, min_match, target] = &mut set.numbers;
    let (what, which) = (prng.below(8), prng.below(14));
    let mut step = |number: &mut u32, low: u32, high: u32| {
        *number = match prng.below(2) {
            0 => number.saturating_sub(1).max(low),
            _ => (*number + 1).min(high),
        };
    };
    match what {
        0 => step(window, 14, WINDOW_LOG_MAX),
        1 => step(chain, 10, WINDOW_LOG_MAX + 1),
        2 => step(hash, 10, WINDOW_LOG_MAX + 1),
        3 | 4 => step(search, 1, 12),
        5 => step(min_match, 3, 7),
        6 => *target = [0, 2, 4, 8, 12, 16, 24, 32, 48, 64, 96, 128, 256, 512][which],
        _ => {
            let strategies = Strategy::ALL;
            let now = strategies.iter().position(|&it| it == set.strategy);
            let next = (now.unwrap_or(0) + which % 3).saturating_sub(1);
            set.strategy = strategies[next.min(strategies.len() - 1)];
        }
    }
}

/// The set as libzstd would cut it for content of this size, so that equals are equal.
fn within_size(mut set: Set, size: usize) -> Set {
    let [window, chain, hash, ..] = &mut set.numbers;
    let size_log = usize::BITS - size.saturating_sub(1).leading_zeros();
    *window = (*window).min(size_log.max(10));
    *hash = (*hash).min(*window + 1);
    let tree = u32::from(set.strategy >= Strategy::Btlazy2);
    *chain = (*chain).min(*window + tree);
    set
}

/// Numbers that are the same in every run.
struct Prng(u64);

impl Prng {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % bound.max(1) as u64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn children_are_valid_whatever_happens_to_them() {
        let mut prng = Prng(1);
        let mut set: Set = "22,21,22,6,5,16,lazy2".parse().unwrap();
        for size in [2048, 1 << 20] {
            for _ in 0..2000 {
                mutate(&mut set, &mut prng);
                within_size(set, size).options().validate().unwrap();
            }
        }
    }
}
