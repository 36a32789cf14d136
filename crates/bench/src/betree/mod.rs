//! Searches in one call against the same searches in slices.
//!
//! Three ways of searching (in one call, in slices to the end, slice by slice) take turns bucket by
//! bucket in random order; the first runs once more as a control. Then a ticker of an async runtime is
//! measured next to searches. Every way and every instruction set has to find the same ids before
//! anything is timed.

pub mod serve;
pub mod shapes;
#[cfg(feature = "async")]
mod ticker;
mod words;

use std::time::{Duration, Instant};

use betree::workload::{Generator, Kind};
use betree::{BeTree, Budget, Buffers, Constants, Domain, Event, Expression};
use betree::{Isa, Progress, Snapshot, SubscriptionId, Undefined};
use latency::report::{Cell, LatencyName, Table, Unit};
use latency::{Recorder, Spec};
use report::Outcome;

use crate::{Checks, Context, Error, Names, Watch, paired};

/// Events that are generated, and that a workload should have at most: buckets go round them.
pub const EVENTS: usize = 1000;
/// Events whose answers are compared over every instruction set.
const CHECKED: usize = 100;

/// How much is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Plan {
    /// Buckets of searches for each side.
    pub buckets: u32,
    /// Searches of a bucket.
    pub bucket_size: u32,
    /// Reductions of one slice.
    pub budget: u64,
    /// What orders of turns are drawn from.
    pub seed: u64,
}

impl Default for Plan {
    /// What `perfkit betree-bench` does without flags.
    fn default() -> Self {
        Self {
            buckets: 30,
            bucket_size: 1000,
            budget: 2000,
            seed: 1,
        }
    }
}

/// What is searched: a tree, its events, and what building it took.
#[derive(Debug)]
pub struct Workload {
    snapshot: Snapshot,
    events: Vec<Event>,
    built: Table,
}

impl Workload {
    /// A tree made from expressions of `text_bytes` in `build` time, and events for it.
    #[must_use]
    pub fn new(snapshot: Snapshot, events: Vec<Event>, text_bytes: usize, build: Duration) -> Self {
        Self {
            built: built(&snapshot, text_bytes, build),
            snapshot,
            events,
        }
    }

    /// This number of expressions of a kind, generated from a seed.
    ///
    /// # Errors
    ///
    /// [`Error::Stopped`].
    pub fn generated(
        kind: Kind,
        expressions: u32,
        seed: u64,
        watch: &dyn Watch,
    ) -> Result<Self, Error> {
        let mut generator = Generator::new(kind, seed);
        let domain = Domain::parse(&generator.domains()).map_err(Error::broken)?;
        let mut tree = BeTree::new(domain, Undefined::False);
        let count = u64::from(expressions);
        watch.doing("building the tree");
        watch.expect(count);
        let texts: Vec<String> = (0..count)
            .map(|_| generator.expression().to_owned())
            .collect();
        let start = Instant::now();
        for (id, text) in (1..).zip(&texts) {
            watch.check()?;
            let expression = Expression::parse(text).map_err(Error::broken)?;
            tree.insert(SubscriptionId(id), &expression, &Constants::default())
                .map_err(Error::broken)?;
            watch.advance(1);
        }
        let snapshot = tree.snapshot();
        let (text_bytes, build) = (texts.iter().map(String::len).sum(), start.elapsed());
        watch.finish();
        let events = (0..EVENTS)
            .map(|_| snapshot.event(generator.event()))
            .collect::<betree::Result<_>>()
            .map_err(Error::broken)?;
        Ok(Self::new(snapshot, events, text_bytes, build))
    }
}

/// Measures searches of a workload, and adds their distributions, tables and comparisons to the outcome.
///
/// # Errors
///
/// [`Error::Failed`] where a search fails. A run that the watcher stops has what was measured until then.
pub fn run(
    plan: &Plan,
    workload: Workload,
    context: Context<'_>,
    outcome: &mut Outcome,
) -> Result<(), Error> {
    let Workload {
        snapshot,
        events,
        built,
    } = workload;
    let mut checks = Checks::default();
    check(&snapshot, &events, plan.budget, &mut checks)?;
    let mut bench = Bench {
        snapshot: &snapshot,
        events: &events,
        budget: Budget::reductions(plan.budget),
        buffers: Buffers::new(),
    };
    let recorder = |name, operation: &str, series: &str| {
        let spec = Spec::new(name, operation).series(series);
        Recorder::new(context.run.spec(spec), context.run.started())
    };
    let mut recorders = Recorders {
        plain: recorder(LatencyName::Service, "event", "search"),
        slices: recorder(LatencyName::Hold, "slice", "search_next"),
    };
    context.watch.doing("ways to search, in turns");
    compare(plan, &mut bench, context.watch, outcome)?;
    context.watch.doing("single searches and slices");
    bench.times(&mut recorders)?;
    outcome.add(&recorders.plain.finish());
    outcome.add(&recorders.slices.finish());
    #[cfg(feature = "async")]
    for task in ticker::Task::ALL {
        let recorder = ticker::measure(context, &snapshot, &events, bench.budget, task)?;
        outcome.add(&recorder.finish());
    }
    outcome.tables.push(built);
    outcome.tables.push(bench.isas()?);
    checks.conclude(
        "every way and every instruction set",
        outcome,
        context.watch.is_stopped(),
    );
    outcome.findings = words::findings(outcome, context.run);
    Ok(())
}

struct Recorders {
    plain: Recorder,
    slices: Recorder,
}

/// What a tree is, and how long it took to build.
fn built(snapshot: &Snapshot, text_bytes: usize, build: Duration) -> Table {
    let build_ns = u64::try_from(build.as_nanos()).unwrap_or(u64::MAX);
    let columns = [
        ("expressions", Unit::Count),
        ("in_lockstep", Unit::Count),
        ("text_bytes", Unit::Bytes),
        ("build_ns", Unit::Nanoseconds),
    ];
    let mut table = Table::new("tree", &columns);
    table.rows.push(vec![
        (snapshot.len() as u64).into(),
        (snapshot.lockstep_len() as u64).into(),
        (text_bytes as u64).into(),
        build_ns.into(),
    ]);
    table
}

/// Compares the answers of all ways and instruction sets.
fn check(
    snapshot: &Snapshot,
    events: &[Event],
    budget: u64,
    checks: &mut Checks,
) -> Result<(), Error> {
    for event in events.iter().take(CHECKED) {
        let right = snapshot.search(event).map_err(Error::broken)?;
        for isa in Isa::ALL.into_iter().filter(|isa| isa.is_available()) {
            let mut buffers = Buffers::with_isa(isa);
            let mut search = snapshot
                .search_iterator(event, &mut buffers)
                .map_err(Error::broken)?;
            checks.that(search.search_all(Budget::reductions(budget), || {}) == right);
        }
        let all: Vec<SubscriptionId> = right.iter().copied().rev().collect();
        let mut buffers = Buffers::new();
        let mut search = snapshot
            .search_ids(event, &all, &mut buffers)
            .map_err(Error::broken)?;
        checks.that(search.search_all(Budget::UNLIMITED, || {}) == right);
    }
    Ok(())
}

struct Bench<'a> {
    snapshot: &'a Snapshot,
    events: &'a [Event],
    budget: Budget,
    buffers: Buffers,
}

/// A way to search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    Plain,
    All,
    Next,
}

impl Bench<'_> {
    /// One bucket of searches; how long it took in nanoseconds.
    fn bucket(&mut self, way: Way, from: usize, count: u32) -> Result<f64, Error> {
        let start = Instant::now();
        for at in 0..count as usize {
            let event = &self.events[(from + at) % self.events.len()];
            let mut search = self
                .snapshot
                .search_iterator(event, &mut self.buffers)
                .map_err(Error::broken)?;
            match way {
                Way::Plain => drop(search.step(Budget::UNLIMITED)),
                Way::All => drop(search.search_all(self.budget, || {
                    std::hint::black_box(());
                })),
                Way::Next => {
                    while search.search_next(std::hint::black_box(self.budget)) == Progress::Yielded
                    {
                    }
                }
            }
            std::hint::black_box(search.ids());
        }
        Ok(start.elapsed().as_nanos() as f64)
    }

    /// Single searches and single slices.
    fn times(&mut self, recorders: &mut Recorders) -> Result<(), Error> {
        for (number, event) in self.events.iter().enumerate() {
            let what = || format!("event {number}");
            let start = Instant::now();
            let mut search = self
                .snapshot
                .search_iterator(event, &mut self.buffers)
                .map_err(Error::broken)?;
            search.step(Budget::UNLIMITED);
            recorders
                .plain
                .record_span_what(start, Instant::now(), what);
        }
        for (number, event) in self.events.iter().enumerate() {
            let mut search = self
                .snapshot
                .search_iterator(event, &mut self.buffers)
                .map_err(Error::broken)?;
            loop {
                let start = Instant::now();
                let progress = search.step(self.budget);
                let what = || format!("event {number}");
                recorders
                    .slices
                    .record_span_what(start, Instant::now(), what);
                if progress == Progress::Done {
                    break;
                }
            }
        }
        Ok(())
    }

    /// The median of a search on each instruction set.
    fn isas(&self) -> Result<Table, Error> {
        let columns = [("isa", Unit::Text), ("p50_ns", Unit::Nanoseconds)];
        let mut table = Table::new("instruction sets", &columns);
        for isa in Isa::ALL.into_iter().filter(|isa| isa.is_available()) {
            let mut buffers = Buffers::with_isa(isa);
            let mut times = Vec::with_capacity(self.events.len());
            for event in self.events {
                let start = Instant::now();
                let mut search = self
                    .snapshot
                    .search_iterator(event, &mut buffers)
                    .map_err(Error::broken)?;
                search.step(Budget::UNLIMITED);
                times.push(u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX));
            }
            times.sort_unstable();
            let row: Vec<Cell> = vec![isa.name().into(), times[times.len() / 2].into()];
            table.rows.push(row);
        }
        Ok(table)
    }
}

/// Runs the buckets in turns, and adds what comes of them.
fn compare(
    plan: &Plan,
    bench: &mut Bench<'_>,
    watch: &dyn Watch,
    outcome: &mut Outcome,
) -> Result<(), Error> {
    let ways = [Way::Plain, Way::All, Way::Next, Way::Plain];
    let count = plan.bucket_size;
    for way in ways {
        bench.bucket(way, 0, count.min(100))?;
    }
    watch.expect(u64::from(plan.buckets));
    let mut turns = 0;
    let measured = paired(ways.len(), plan.buckets, plan.seed, |turn| {
        if watch.is_stopped() {
            return Ok(None);
        }
        let from = turn.round as usize * count as usize;
        let ns = bench.bucket(ways[turn.side], from, count)?;
        turns += 1;
        if turns % ways.len() == 0 {
            watch.advance(1);
        }
        Ok::<_, Error>(Some(ns))
    })?;
    watch.finish();
    outcome.ops = Some(measured.turns() as u64 * u64::from(count));
    for (target, name) in [(1, "search_all"), (2, "search_next")] {
        let names = Names {
            row: "search",
            baseline: "one call",
            target: name,
        };
        let comparison = measured.compare(names, target, u64::from(count));
        outcome.comparisons.push(comparison);
    }
    Ok(())
}
