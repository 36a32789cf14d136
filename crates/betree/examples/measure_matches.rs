//! Measures searches of generated workloads on every instruction set, with build times and memory.
//!
//! `cargo run --release -p betree --features workload --example measure_matches -- bool-64 ad-100000`;
//! `bool-64-unknown` is the same in three-valued mode.

#![forbid(unsafe_code)]
#![allow(clippy::print_stdout, reason = "a program whose output is its purpose")]

use std::time::Instant;

use betree::workload::{Generator, Kind};
use betree::{Batch, BeTree, Budget, Buffers, Constants, Domain, Event, Expression, Isa};
use betree::{Progress, Snapshot, SubscriptionId, Undefined};

const EVENTS: usize = 2_000;
const SLICE: u64 = 2_000;
const BATCHES: usize = 21;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut names: Vec<String> = std::env::args().skip(1).collect();
    if names.is_empty() {
        names = ["bool-64", "ad-10000"].map(str::to_owned).to_vec();
    }
    for name in names {
        let (name, undefined) = match name.strip_suffix("-unknown") {
            Some(name) => (name.to_owned(), Undefined::Unknown),
            None => (name, Undefined::False),
        };
        let (word, number) = name
            .split_once('-')
            .ok_or("expected a workload such as bool-64 or ad-10000")?;
        let number: usize = number.parse()?;
        match word {
            "bool" => measure(&name, Kind::Bool(u16::try_from(number)?), 5_000, undefined)?,
            _ => measure(&name, Kind::Ad, number, undefined)?,
        }
    }
    Ok(())
}

fn measure(
    name: &str,
    kind: Kind,
    count: usize,
    undefined: Undefined,
) -> Result<(), Box<dyn std::error::Error>> {
    let mut generator = Generator::new(kind, 1);
    let domain = Domain::parse(&generator.domains())?;
    let texts: Vec<String> = (0..count)
        .map(|_| generator.expression().to_owned())
        .collect();
    let bytes: usize = texts.iter().map(String::len).sum();
    let rss = rss_kib();
    let start = Instant::now();
    let mut tree = BeTree::new(domain, undefined);
    let mut leaves = 0;
    for (index, text) in texts.iter().enumerate() {
        let expression = Expression::parse(text)?;
        leaves += expression.leaves();
        let id = SubscriptionId(index as u64 + 1);
        tree.insert(id, &expression, &Constants::default())?;
    }
    let inserted = start.elapsed();
    let snapshot = tree.snapshot();
    println!(
        "{name}: {count} expressions, {} leaves and {} bytes each, {} in lockstep; build {:.3} s (insert {:.3}), {} bytes of RSS each",
        leaves / count,
        bytes / count,
        snapshot.lockstep_len(),
        start.elapsed().as_secs_f64(),
        inserted.as_secs_f64(),
        (rss_kib() - rss) * 1024 / count as i64,
    );
    let mut events = Vec::new();
    let read = Instant::now();
    for _ in 0..EVENTS {
        events.push(snapshot.event(generator.event())?);
    }
    println!(
        "  read an event {} ns",
        read.elapsed().as_nanos() / EVENTS as u128
    );
    for isa in Isa::ALL.into_iter().filter(|isa| isa.is_available()) {
        searches(&snapshot, &events, isa)?;
        batches(&snapshot, &events, isa)?;
    }
    saved(&snapshot)
}

/// Whole batches, per event.
fn batches(snapshot: &Snapshot, events: &[Event], isa: Isa) -> Result<(), betree::Error> {
    let start = Instant::now();
    let mut batch = snapshot.batch_with(isa);
    let ready = start.elapsed();
    let events: Vec<Event> = events
        .iter()
        .cycle()
        .take(Batch::EVENTS_MAX)
        .cloned()
        .collect();
    let (mut bitmaps, mut lists) = (Vec::new(), Vec::new());
    let (mut ids, mut matched) = (Vec::new(), 0);
    for _ in 0..BATCHES {
        let start = Instant::now();
        batch.search(&events)?.step(Budget::UNLIMITED);
        bitmaps.push(start.elapsed().as_nanos() / Batch::EVENTS_MAX as u128);
        for at in 0..Batch::EVENTS_MAX {
            ids.clear();
            batch.ids(at, &mut ids);
            matched += ids.len();
        }
        lists.push(start.elapsed().as_nanos() / Batch::EVENTS_MAX as u128);
    }
    bitmaps.sort_unstable();
    lists.sort_unstable();
    println!(
        "    a batch    bitmaps min {} p50 {}, ids min {} p50 {} ns an event; {} found, ready in {:.1} ms",
        bitmaps[0],
        bitmaps[BATCHES / 2],
        lists[0],
        lists[BATCHES / 2],
        matched / BATCHES / Batch::EVENTS_MAX,
        ready.as_secs_f64() * 1e3
    );
    Ok(())
}

/// A snapshot as a file: its size, and how long saving and loading take.
fn saved(snapshot: &Snapshot) -> Result<(), Box<dyn std::error::Error>> {
    let mut bytes = Vec::new();
    let start = Instant::now();
    snapshot.save(|piece| {
        bytes.extend_from_slice(piece);
        Ok::<(), betree::Error>(())
    })?;
    let saved = start.elapsed();
    let start = Instant::now();
    let read = Snapshot::load(&bytes)?;
    println!(
        "  saved {} bytes each in {:.3} s, loaded in {:.3} s",
        bytes.len() / read.len().max(1),
        saved.as_secs_f64(),
        start.elapsed().as_secs_f64()
    );
    Ok(())
}

fn searches(snapshot: &Snapshot, events: &[Event], isa: Isa) -> Result<(), betree::Error> {
    let mut buffers = Buffers::with_isa(isa);
    let (mut whole, mut sliced, mut slices) = (Vec::new(), Vec::new(), Vec::new());
    let (mut matched, mut evaluated, mut reductions) = (0, 0, 0);
    for event in events {
        let start = Instant::now();
        let mut search = snapshot.search_iterator(event, &mut buffers)?;
        search.step(Budget::UNLIMITED);
        whole.push(start.elapsed().as_nanos() as u64);
        matched += search.matched();
        evaluated += search.evaluated();
        reductions += search.reductions();
        let start = Instant::now();
        let mut search = snapshot.search_iterator(event, &mut buffers)?;
        while search.step(Budget::reductions(SLICE)) == Progress::Yielded {}
        sliced.push(start.elapsed().as_nanos() as u64);
        let mut search = snapshot.search_iterator(event, &mut buffers)?;
        loop {
            let start = Instant::now();
            let progress = search.step(Budget::reductions(SLICE));
            slices.push(start.elapsed().as_nanos() as u64);
            if progress == Progress::Done {
                break;
            }
        }
    }
    let n = events.len() as u64;
    println!(
        "  {}: matched {}, evaluated {}, reductions {} an event",
        isa.name(),
        matched / n,
        evaluated / n,
        reductions / n
    );
    for (name, times) in [
        ("search", &mut whole),
        ("in slices", &mut sliced),
        ("a slice", &mut slices),
    ] {
        times.sort_unstable();
        let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize];
        println!(
            "    {name:<10} min {:>8} p50 {:>8} p99 {:>8} p99.9 {:>8} ns",
            times[0],
            at(0.5),
            at(0.99),
            at(0.999)
        );
    }
    Ok(())
}

/// Resident memory of this process.
fn rss_kib() -> i64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmRSS:"));
    let number = line.and_then(|line| line.split_whitespace().nth(1));
    number.and_then(|number| number.parse().ok()).unwrap_or(0)
}
