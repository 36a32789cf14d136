//! The entries of a directory in the order of the archive, found in steps.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

use super::directory::Directory;
use super::entry::{Entry, RECORD_COST};
use crate::error::Error;
use crate::write::Budget;

/// The entries that are sorted in one step of several. Sorted ones are merged one by one.
const RUN_ENTRIES: usize = 1024;
/// What sorting one of them costs, and merging one.
const SORT_COST: u64 = 32;
const MERGE_COST: u64 = 128;

/// Entries by their offsets.
#[derive(Debug)]
pub(super) struct Order {
    stage: Stage,
    /// The most entries of a run.
    run_entries: usize,
}

#[derive(Debug)]
enum Stage {
    /// The directory is in this order: its records from this position on are left.
    Directory(u64),
    /// Records from this position on are not in a run yet.
    Collect(u64, Vec<Run>),
    Merge(BinaryHeap<Head>),
}

/// Offsets and positions, the last ones first.
type Run = Vec<(u64, u64)>;

/// The next entry of a run, and the rest of that.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Head {
    next: Reverse<(u64, u64)>,
    rest: Run,
}

impl Head {
    fn of(mut run: Run) -> Option<Self> {
        let next = Reverse(run.pop()?);
        Some(Self { next, rest: run })
    }
}

/// What a step found.
pub(super) enum Next<'a> {
    Entry(Entry<'a>),
    End,
    /// The budget is spent.
    Spent,
}

impl Order {
    /// All entries of a directory that was counted. Without steps they are sorted at once, which takes less time.
    pub(super) fn of(directory: &Directory, steps: bool) -> Self {
        Self {
            stage: match directory.is_in_order() {
                true => Stage::Directory(0),
                false => Stage::Collect(0, Vec::new()),
            },
            run_entries: if steps { RUN_ENTRIES } else { usize::MAX },
        }
    }

    /// About the memory that it holds.
    #[cfg(feature = "tokio")]
    pub(super) fn bytes(&self) -> usize {
        let runs = match &self.stage {
            Stage::Directory(_) => 0,
            Stage::Collect(_, runs) => runs.iter().map(Vec::len).sum(),
            Stage::Merge(heads) => heads.iter().map(|head| head.rest.capacity()).sum(),
        };
        runs * size_of::<(u64, u64)>()
    }

    /// Takes what is in memory: no entries are left.
    #[cfg(feature = "tokio")]
    pub(super) fn take(&mut self) -> impl Send + 'static {
        std::mem::replace(&mut self.stage, Stage::Merge(BinaryHeap::new()))
    }

    /// The next entry.
    pub(super) fn next<'d>(
        &mut self,
        directory: &'d Directory,
        budget: &mut Budget,
    ) -> Result<Next<'d>, Error> {
        loop {
            if budget.is_spent() {
                return Ok(Next::Spent);
            }
            match &mut self.stage {
                Stage::Directory(position) => {
                    let mut entries = directory.iter_at(*position);
                    let Some(entry) = entries.next() else {
                        return Ok(Next::End);
                    };
                    budget.charge(entries.next_position() - *position + RECORD_COST);
                    *position = entries.next_position();
                    return Ok(Next::Entry(entry?));
                }
                Stage::Collect(position, runs) => {
                    if !collect(directory, position, runs, self.run_entries, budget)? {
                        return Ok(Next::Spent);
                    }
                    let heads = std::mem::take(runs).into_iter().filter_map(Head::of);
                    self.stage = Stage::Merge(heads.collect());
                }
                Stage::Merge(heads) => {
                    let Some(mut head) = heads.peek_mut() else {
                        return Ok(Next::End);
                    };
                    let Reverse((_, position)) = head.next;
                    match head.rest.pop() {
                        Some(next) => head.next = Reverse(next),
                        None => drop(PeekMut::pop(head)),
                    }
                    let entry = directory.at(position)?;
                    budget.charge(entry.central().total_bytes() as u64 + MERGE_COST);
                    return Ok(Next::Entry(entry));
                }
            }
        }
    }
}

/// Makes sorted runs of the records from a position on. `false`: the budget is spent.
fn collect(
    directory: &Directory,
    position: &mut u64,
    runs: &mut Vec<Run>,
    run_entries: usize,
    budget: &mut Budget,
) -> Result<bool, Error> {
    let mut entries = directory.iter_at(*position);
    while !budget.is_spent() {
        let Some(entry) = entries.next() else {
            if let Some(last) = runs.last_mut() {
                sort(last);
            }
            return Ok(true);
        };
        let entry = entry?;
        let place = (entry.offset(), entry.position());
        match runs.last_mut().filter(|run| run.len() < run_entries) {
            Some(run) => run.push(place),
            None => {
                if let Some(full) = runs.last_mut() {
                    sort(full);
                }
                runs.push(vec![place]);
            }
        }
        budget.charge(entries.next_position() - *position + RECORD_COST + SORT_COST);
        *position = entries.next_position();
    }
    Ok(false)
}

fn sort(run: &mut Run) {
    run.sort_unstable_by_key(|place| Reverse(*place));
}

#[cfg(test)]
mod tests;
