//! The betree part of the tour: two workloads, each searched at once and in slices; every answer is
//! compared with that of plain code.

use std::time::Instant;

use betree::workload::{Generator, Kind};
use betree::{BeTree, Budget, Buffers, Constants, Domain, Expression, Isa, Progress};
use betree::{SubscriptionId, Undefined};
use latency::report::{LatencyName, Table, Unit};
use latency::{Recorder, Spec};
use report::Outcome;

use crate::commands::tour::stage::{Stage, failed};
use crate::commands::tour::words;
use crate::failure::Result;
use crate::term::signal;
use bench::Checks;

/// The name, the kind of data, and the number of expressions.
const WORKLOADS: [(&str, Kind, u64); 2] = [
    ("64 booleans", Kind::Bool(64), 5_000),
    ("advertisements", Kind::Ad, 10_000),
];
/// One event per this many bytes of the tour's size …
const BYTES_PER_EVENT: usize = 16 << 10;
/// … within these.
const EVENTS: std::ops::RangeInclusive<usize> = 64..=512;
/// Reductions per slice.
const SLICE: u64 = 2_000;

const COLUMNS: [(&str, Unit); 5] = [
    ("expressions", Unit::Text),
    ("count", Unit::Count),
    ("build_ns", Unit::Nanoseconds),
    ("search_p50_ns", Unit::Nanoseconds),
    ("matches", Unit::Count),
];

/// Adds the part to the outcome.
pub(super) fn part(stage: &Stage<'_>, outcome: &mut Outcome, checks: &mut Checks) -> Result<()> {
    let mut table = Table::new("betree", &COLUMNS);
    let events = (stage.bytes / BYTES_PER_EVENT).clamp(*EVENTS.start(), *EVENTS.end());
    for (name, kind, count) in WORKLOADS {
        if signal::interrupted() {
            return Ok(());
        }
        let spec = Spec::new(LatencyName::Hold, "slice").series(format!("match {name}"));
        let mut hold = Recorder::new(stage.session.spec(spec), stage.session.run_start());
        let mut generator = Generator::new(kind, stage.seed);
        let start = Instant::now();
        let snapshot = build(&mut generator, count).map_err(failed)?;
        let build_ns = nanoseconds(start);
        let (mut buffers, mut plain) = (Buffers::new(), Buffers::with_isa(Isa::Scalar));
        let (mut times, mut matches) = (Vec::with_capacity(events), 0);
        for number in 0..events {
            let event = snapshot.event(generator.event()).map_err(failed)?;
            let begun = Instant::now();
            let mut search = snapshot
                .search_iterator(&event, &mut buffers)
                .map_err(failed)?;
            loop {
                let start = Instant::now();
                let progress = search.step(Budget::reductions(SLICE));
                let what = || format!("{name}, event {number}");
                hold.record_span_what(start, Instant::now(), what);
                if progress == Progress::Done {
                    break;
                }
            }
            times.push(nanoseconds(begun));
            matches += search.matched();
            let mut check = snapshot
                .search_iterator(&event, &mut plain)
                .map_err(failed)?;
            check.step(Budget::UNLIMITED);
            checks.that(check.ids() == search.ids());
        }
        times.sort_unstable();
        table.rows.push(vec![
            name.into(),
            count.into(),
            build_ns.into(),
            times[events / 2].into(),
            matches.into(),
        ]);
        outcome.add(&hold.finish());
    }
    outcome.findings.extend(words::betree(&table));
    outcome.tables.push(table);
    Ok(())
}

fn build(generator: &mut Generator, count: u64) -> betree::Result<betree::Snapshot> {
    let domain = Domain::parse(&generator.domains())?;
    let mut tree = BeTree::new(domain, Undefined::False);
    for id in 1..=count {
        let expression = Expression::parse(generator.expression())?;
        tree.insert(SubscriptionId(id), &expression, &Constants::default())?;
    }
    Ok(tree.snapshot())
}

fn nanoseconds(start: Instant) -> u64 {
    u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX)
}
