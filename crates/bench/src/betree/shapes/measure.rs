//! One case: built, answers compared, searched in turns, changed.

use std::time::{Duration, Instant};

use betree::workload::shapes;
use betree::{BeTree, Budget, Buffers, Domain, Event, Expression};
use betree::{Progress, Snapshot, SubscriptionId, Undefined};
use latency::percentile::earned_n;

use super::row::{Changes, Row, Times};
use super::sides::{Rival, Side, Workload};
use super::{Case, Plan};
use crate::{Error, Watch, paired};

/// Texts that exist at once while a tree is built.
const TEXTS: usize = 1_000;
/// The longest time of the rounds of a case, of its steps, and of its changes: what is done after the first round.
const TIME_MAX: Duration = Duration::from_secs(2);
/// The longest time that a side searches untimed at the beginning of its turn.
const WARM_MAX: Duration = Duration::from_millis(5);
/// Expressions that are deleted and inserted again.
const CHANGES: usize = 200;

/// Measures a case next to rivals. `took` receives the time of each search of betree and of each step, in
/// nanoseconds.
///
/// # Errors
/// [`Error::Stopped`], and what a side reports. Wrong answers are counted.
pub fn measure(
    case: &Case,
    plan: &Plan,
    rivals: &[&dyn Rival],
    watch: &dyn Watch,
    mut took: impl FnMut(Took, u64),
) -> Result<Row, Error> {
    let workload = Workload::new(case, plan);
    let (mut tree, build) = build(&workload, watch)?;
    let snapshot = tree.snapshot();
    let events = workload.jsons().map(|json| snapshot.event(&json));
    let events: Vec<Event> = events
        .collect::<betree::Result<_>>()
        .map_err(Error::broken)?;
    let mut own = Own {
        snapshot: &snapshot,
        events: &events,
        buffers: Buffers::new(),
    };
    let mut others: Vec<(usize, Box<dyn Side + '_>)> = Vec::new();
    for (at, rival) in rivals.iter().enumerate() {
        watch.check()?;
        if let Some(side) = rival.build(&workload)? {
            others.push((at, side));
        }
    }
    let (answers, matches) = compare(&mut own, &mut others, watch)?;
    let mut samples = vec![Vec::new(); 1 + others.len()];
    let start = Instant::now();
    paired(samples.len(), plan.rounds, plan.seed, |turn| {
        watch.check()?;
        if turn.round > 0 && start.elapsed() > TIME_MAX {
            return Ok(None);
        }
        let count = match turn.side.checked_sub(1) {
            None => usize::MAX,
            Some(at) => others[at].1.events_max(),
        };
        let count = events.len().min(count);
        let mut search = |event| match turn.side.checked_sub(1) {
            None => own.search(event),
            Some(at) => others[at].1.search(event),
        };
        // What the side before left in the caches is no part of the times.
        let warm = Instant::now();
        for event in 0..count {
            if warm.elapsed() > WARM_MAX {
                break;
            }
            search(event)?;
        }
        let begin = Instant::now();
        for event in 0..count {
            let from = Instant::now();
            search(event)?;
            samples[turn.side].push(nanoseconds(from.elapsed()));
        }
        Ok::<_, Error>(Some(begin.elapsed().as_nanos() as f64))
    })?;
    samples[0].iter().for_each(|ns| took(Took::Search, *ns));
    let hold = own.steps(plan.budget, watch)?;
    hold.iter().for_each(|ns| took(Took::Step, *ns));
    let places: Vec<usize> = others.iter().map(|(at, _)| *at).collect();
    drop(others);
    let bytes = snapshot.memory_bytes();
    let changes = changes(&workload, &mut tree, snapshot.clone(), watch)?;
    let mut times = samples.into_iter().map(Times::of);
    let betree = times.next().unwrap_or_default();
    let mut found = vec![None; rivals.len()];
    for (at, times) in places.into_iter().zip(times) {
        found[at] = Some(times);
    }
    Ok(Row {
        shape: case.shape.name.clone(),
        expressions: case.expressions,
        place: case.place,
        matched: matches as f64 / events.len().max(1) as f64,
        betree,
        rivals: found,
        build_ns: nanoseconds(build),
        bytes,
        changes,
        hold: Times::of(hold),
        answers,
    })
}

/// What a time is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Took {
    /// A search in one call.
    Search,
    /// A step of a search.
    Step,
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

/// Inserts an expression of a workload.
fn insert(tree: &mut BeTree, workload: &Workload, at: usize, text: &str) -> betree::Result<()> {
    let constants = workload.expressions.get(at).map(shapes::constants);
    let expression = Expression::parse(text)?;
    tree.insert(
        SubscriptionId(at as u64),
        &expression,
        &constants.unwrap_or_default(),
    )
}

/// The tree of a workload, and how long reading and inserting all texts and the first snapshot took.
fn build(workload: &Workload, watch: &dyn Watch) -> Result<(BeTree, Duration), Error> {
    let domain = Domain::parse(&workload.shape.domains()).map_err(Error::broken)?;
    let mut tree = BeTree::new(domain, Undefined::False);
    let mut took = Duration::ZERO;
    let count = workload.expressions.len();
    for first in (0..count).step_by(TEXTS) {
        watch.check()?;
        let end = count.min(first + TEXTS);
        let texts: Vec<String> = (first..end).map(|at| workload.text(at)).collect();
        let start = Instant::now();
        for (at, text) in (first..).zip(&texts) {
            insert(&mut tree, workload, at, text).map_err(Error::broken)?;
        }
        took += start.elapsed();
    }
    let start = Instant::now();
    drop(tree.snapshot());
    Ok((tree, took + start.elapsed()))
}

/// Compares the answers to all events. Returns how many were compared and how many differed, and the matches of all
/// events.
fn compare(
    own: &mut Own<'_>,
    others: &mut [(usize, Box<dyn Side + '_>)],
    watch: &dyn Watch,
) -> Result<((u64, u64), u64), Error> {
    let (mut done, mut wrong, mut matches) = (0, 0, 0);
    for event in 0..own.events.len() {
        watch.check()?;
        let found = own.matches(event)?;
        matches += found.len() as u64;
        for (_, other) in others
            .iter_mut()
            .filter(|(_, other)| event < other.events_max())
        {
            let mut right = other.matches(event)?;
            right.sort_unstable();
            done += 1;
            wrong += u64::from(found != right);
        }
    }
    Ok(((done, wrong), matches))
}

/// betree as a side.
struct Own<'a> {
    snapshot: &'a Snapshot,
    events: &'a [Event],
    buffers: Buffers,
}

impl Own<'_> {
    /// How long steps of searches take, one time per step.
    fn steps(&mut self, budget: u64, watch: &dyn Watch) -> Result<Vec<u64>, Error> {
        let enough = earned_n(99.9) as usize;
        let (mut out, start) = (Vec::new(), Instant::now());
        for (number, event) in self.events.iter().cycle().enumerate() {
            let is_first = number < self.events.len();
            if !is_first && (out.len() >= enough || start.elapsed() > TIME_MAX) {
                break;
            }
            watch.check()?;
            let mut search = self
                .snapshot
                .search_iterator(event, &mut self.buffers)
                .map_err(Error::broken)?;
            loop {
                let from = Instant::now();
                let progress = search.step(Budget::reductions(budget));
                out.push(nanoseconds(from.elapsed()));
                if progress == Progress::Done {
                    break;
                }
            }
        }
        Ok(out)
    }
}

impl Side for Own<'_> {
    fn search(&mut self, event: usize) -> Result<(), Error> {
        let mut search = self
            .snapshot
            .search_iterator(&self.events[event], &mut self.buffers)
            .map_err(Error::broken)?;
        search.step(Budget::UNLIMITED);
        std::hint::black_box(search.ids());
        Ok(())
    }

    fn matches(&mut self, event: usize) -> Result<Vec<u32>, Error> {
        self.search(event)?;
        let ids = self.buffers.ids().iter();
        Ok(ids.map(|id| id.0 as u32).collect())
    }
}

/// Deletes expressions and inserts them again, with a snapshot after each insert while the one before it lives.
fn changes(
    workload: &Workload,
    tree: &mut BeTree,
    mut last: Snapshot,
    watch: &dyn Watch,
) -> Result<Changes, Error> {
    let (mut inserts, mut deletes) = (Vec::new(), Vec::new());
    let begin = Instant::now();
    for at in 0..workload.expressions.len().min(CHANGES) {
        watch.check()?;
        if begin.elapsed() > TIME_MAX {
            break;
        }
        let text = workload.text(at);
        let start = Instant::now();
        tree.delete(SubscriptionId(at as u64))
            .map_err(Error::broken)?;
        deletes.push(nanoseconds(start.elapsed()));
        let start = Instant::now();
        insert(tree, workload, at, &text).map_err(Error::broken)?;
        let next = tree.snapshot();
        inserts.push(nanoseconds(start.elapsed()));
        last = next;
    }
    drop(last);
    Ok(Changes {
        insert: Times::of(inserts),
        delete: Times::of(deletes),
    })
}

#[cfg(test)]
mod tests {
    use super::super::Simple;
    use super::*;

    #[test]
    fn every_kind_of_shape_gets_the_same_answers_from_both_sides() {
        let plan = Plan {
            sizes: vec![40],
            draws: 4,
            events: 5,
            rounds: 2,
            ..Plan::default()
        };
        let mut samples = 0;
        for mut case in plan.cases() {
            // Of long expressions a few say as much.
            let few = 50_000 / case.shape.values();
            case.expressions = case.expressions.min(few.max(10) as u32);
            let row = measure(&case, &plan, &[&Simple], &(), |_, _| samples += 1).unwrap();
            assert_eq!(row.answers, (5, 0), "{}", row.shape);
            assert!(row.ratio(0).is_some() && row.bytes > 0);
            assert!(row.changes.insert.p50_ns.is_some());
        }
        assert!(samples > 1_000);
    }
}
