//! `perfkit betree-bench`: searches in one call against the same searches in slices.
//!
//! Three ways of searching (in one call, in slices to the end, slice by slice) take turns bucket by
//! bucket in random order; the first runs once more as a control. Then a ticker of an async runtime is
//! measured next to searches. Every way and every instruction set has to find the same ids before
//! anything is timed.

use std::ffi::OsString;
use std::path::Path;
use std::time::Instant;

use bench::paired;
use betree::workload::Generator;
use betree::{BeTree, Budget, Buffers, Constants, Domain, Event, Expression};
use betree::{Isa, Progress, Snapshot, SubscriptionId, Undefined};
use latency::compare::Names;
use latency::report::{Cell, LatencyName, Table, Unit};
use latency::{Recorder, Spec};

use crate::args::expressions::kind;
use crate::commands::betree_bench::flags::BetreeBenchArgs;
use crate::commands::betree_bench::ticker;
use crate::commands::expressions::{self, Files};
use crate::exit::ExitStatus;
use crate::failure::{Failure, Result};
use crate::io::target::display;
use crate::session::{Outcome, Session, Setup};
use crate::term::progress::Progress as Bar;
use crate::term::signal;
use bench::Checks;

/// Events that are generated: buckets go round them.
const EVENTS: usize = 1000;
/// Events whose answers are compared over every instruction set.
const CHECKED: usize = 100;

/// Runs the command.
pub(crate) fn run(
    args: &BetreeBenchArgs,
    name: &'static str,
    argv: &[OsString],
) -> Result<ExitStatus> {
    let session = Session::start(&Setup {
        seed: Some(args.size.seed),
        rows: &[
            LatencyName::Service,
            LatencyName::Hold,
            LatencyName::Response,
        ],
        ..Setup::analysis(name, argv, &args.output)
    })?;
    let mut outcome = Outcome::new("betree-bench");
    let mut checks = Checks::default();
    let (snapshot, events, build) = match (&args.expression_file, &args.event_file) {
        (Some(expressions), Some(events)) => read(args, expressions, events)?,
        _ => generate(args)?,
    };
    check(&snapshot, &events, args.budget, &mut checks)?;
    let mut bench = Bench {
        snapshot: &snapshot,
        events: &events,
        budget: Budget::reductions(args.budget),
        buffers: Buffers::new(),
    };
    let recorder = |name, operation: &str, series: &str| {
        let spec = Spec::new(name, operation).series(series);
        Recorder::new(session.spec(spec), session.run_start())
    };
    let mut recorders = Recorders {
        plain: recorder(LatencyName::Service, "event", "search"),
        slices: recorder(LatencyName::Hold, "slice", "search_next"),
    };
    compare(args, &mut bench, &mut outcome)?;
    bench.times(&mut recorders)?;
    outcome.add(&recorders.plain.finish());
    outcome.add(&recorders.slices.finish());
    #[cfg(feature = "async")]
    for beside in ticker::Beside::ALL {
        let recorder = ticker::measure(&session, &snapshot, &events, bench.budget, beside)?;
        outcome.add(&recorder.finish());
    }
    outcome.tables.push(build);
    outcome.tables.push(bench.isas()?);
    checks.conclude(
        "every way and every instruction set",
        &mut outcome,
        signal::interrupted(),
    );
    session.finish(outcome)
}

struct Recorders {
    plain: Recorder,
    slices: Recorder,
}

/// What is measured: a tree, its events, and what building it took.
type Workload = (Snapshot, Vec<Event>, Table);

/// A generated workload.
fn generate(args: &BetreeBenchArgs) -> Result<Workload> {
    let mut generator = Generator::new(kind(args.kind, &args.size), args.size.seed);
    let domain = Domain::parse(&generator.domains()).map_err(failed)?;
    let mut tree = BeTree::new(domain, Undefined::False);
    let count = u64::from(args.size.expressions);
    let bar = Bar::steps(args.output.terminal.wants_progress(), count);
    let texts: Vec<String> = (0..count)
        .map(|_| generator.expression().to_owned())
        .collect();
    let start = Instant::now();
    for (id, text) in (1..).zip(&texts) {
        if signal::interrupted() {
            return Err(Failure::new("interrupted").status(ExitStatus::Interrupted));
        }
        let expression = Expression::parse(text).map_err(failed)?;
        tree.insert(SubscriptionId(id), &expression, &Constants::default())
            .map_err(failed)?;
        bar.add(1);
    }
    let snapshot = tree.snapshot();
    let table = built(&snapshot, texts.iter().map(String::len).sum(), start);
    bar.finish();
    let events = (0..EVENTS)
        .map(|_| snapshot.event(generator.event()))
        .collect::<betree::Result<_>>()
        .map_err(failed)?;
    Ok((snapshot, events, table))
}

/// The workload of files. Of the events as many are taken as would be generated.
fn read(args: &BetreeBenchArgs, expressions: &Path, events: &Path) -> Result<Workload> {
    let start = Instant::now();
    let files_of = Files {
        domains: args.domain_file.as_deref(),
        expressions,
        constants: None,
        undefined: Undefined::False,
    };
    let (mut tree, _) = expressions::tree(&files_of, args.output.terminal.wants_progress())?;
    let snapshot = tree.snapshot();
    let bytes = std::fs::metadata(expressions).map_or(0, |found| found.len() as usize);
    let table = built(&snapshot, bytes, start);
    let text = expressions::text(events)?;
    let mut found = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        if found.len() == EVENTS || line.trim().is_empty() {
            continue;
        }
        let event = expressions::event_json(snapshot.domain(), line.as_bytes()).and_then(|json| {
            let mut reader = snapshot.event_reader(&json, false);
            reader.step(Budget::UNLIMITED)?;
            reader.finish()
        });
        found.push(event.map_err(|error| {
            let name = display(events);
            Failure::new(format!("cannot read {name}: line {number}: {error}"))
        })?);
    }
    match found.is_empty() {
        true => Err(Failure::new(format!("{} has no events", display(events)))),
        false => Ok((snapshot, found, table)),
    }
}

/// What a tree is, and how long it took since `start`.
fn built(snapshot: &Snapshot, text_bytes: usize, start: Instant) -> Table {
    let build_ns = u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX);
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
fn check(snapshot: &Snapshot, events: &[Event], budget: u64, checks: &mut Checks) -> Result<()> {
    for event in events.iter().take(CHECKED) {
        let right = snapshot.search(event).map_err(failed)?;
        for isa in Isa::ALL.into_iter().filter(|isa| isa.is_available()) {
            let mut buffers = Buffers::with_isa(isa);
            let mut search = snapshot
                .search_iterator(event, &mut buffers)
                .map_err(failed)?;
            checks.that(search.search_all(Budget::reductions(budget), || {}) == right);
        }
        let all: Vec<SubscriptionId> = right.iter().copied().rev().collect();
        let mut buffers = Buffers::new();
        let mut search = snapshot
            .search_ids(event, &all, &mut buffers)
            .map_err(failed)?;
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
    fn bucket(&mut self, way: Way, from: usize, count: u32) -> Result<f64> {
        let start = Instant::now();
        for at in 0..count as usize {
            let event = &self.events[(from + at) % self.events.len()];
            let mut search = self
                .snapshot
                .search_iterator(event, &mut self.buffers)
                .map_err(failed)?;
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
    fn times(&mut self, recorders: &mut Recorders) -> Result<()> {
        for (number, event) in self.events.iter().enumerate() {
            let what = || format!("event {number}");
            let start = Instant::now();
            let mut search = self
                .snapshot
                .search_iterator(event, &mut self.buffers)
                .map_err(failed)?;
            search.step(Budget::UNLIMITED);
            recorders
                .plain
                .record_span_what(start, Instant::now(), what);
        }
        for (number, event) in self.events.iter().enumerate() {
            let mut search = self
                .snapshot
                .search_iterator(event, &mut self.buffers)
                .map_err(failed)?;
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
    fn isas(&self) -> Result<Table> {
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
                    .map_err(failed)?;
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
fn compare(args: &BetreeBenchArgs, bench: &mut Bench<'_>, outcome: &mut Outcome) -> Result<()> {
    let ways = [Way::Plain, Way::All, Way::Next, Way::Plain];
    let count = args.bucket_size;
    for way in ways {
        bench.bucket(way, 0, count.min(100))?;
    }
    let bar = Bar::steps(
        args.output.terminal.wants_progress(),
        u64::from(args.buckets),
    );
    let mut turns = 0;
    let measured = paired(ways.len(), args.buckets, args.size.seed, |turn| {
        if signal::interrupted() {
            return Ok(None);
        }
        let from = turn.round as usize * count as usize;
        let ns = bench.bucket(ways[turn.side], from, count)?;
        turns += 1;
        if turns % ways.len() == 0 {
            bar.add(1);
        }
        Ok::<_, Failure>(Some(ns))
    })?;
    bar.finish();
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

pub(crate) fn failed(error: betree::Error) -> Failure {
    Failure::new(format!("the benchmark failed: {error}"))
        .help("please report this as a bug, with the output of `perfkit env`")
}
