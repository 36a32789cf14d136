//! One workload: built, compared and timed.

use std::hint::black_box;
use std::time::Instant;

use betree::workload::{Generator, Kind};
use betree::{Batch, BeTree, Budget, Buffers, Constants, Domain, Event, Expression};
use betree::{Isa, Progress, Snapshot, SubscriptionId, Undefined};
use serde_json::{Value, json};

use crate::{Result, atree};

/// Events of a bucket of betree, and of one of a-tree, which is slower.
const EVENTS: usize = 1_000;
const PEER_EVENTS: usize = 10;
/// Buckets of each.
const ROUNDS: usize = 5;
/// Events whose answers are compared.
const COMPARED: usize = 50;
/// Expressions of the boolean workloads.
const BOOL_EXPRESSIONS: usize = 5_000;
/// Reductions of a slice.
const SLICE: u64 = 2_000;
/// Most expressions that batches are measured with.
const BATCH_EXPRESSIONS_MAX: usize = 10_000;

/// Measures a workload by its name.
pub(crate) fn workload(name: &str, with_peer: bool) -> Result<Value> {
    let (word, number) = name.split_once('-').ok_or("as bool-64 or ad-10000")?;
    let number: usize = number.parse()?;
    let (kind, count) = match word {
        "bool" => (Kind::Bool(u16::try_from(number)?), BOOL_EXPRESSIONS),
        _ => (Kind::Ad, number),
    };
    let mut generator = Generator::new(kind, 1);
    let domain = Domain::parse(&generator.domains())?;
    let texts: Vec<String> = (0..count)
        .map(|_| generator.expression().to_owned())
        .collect();
    let jsons: Vec<String> = (0..EVENTS).map(|_| generator.event().to_owned()).collect();
    let (snapshot, build_s, bytes) = measured(count, || built(name, domain.clone(), &texts))?;
    let events: Vec<Event> = jsons
        .iter()
        .map(|json| snapshot.event(json))
        .collect::<betree::Result<_>>()?;
    let mut row = json!({
        "workload": name,
        "expressions": count,
        "text_bytes": texts.iter().map(String::len).sum::<usize>() / count,
        "betree": { "build_s": build_s, "rss_bytes_an_expression": bytes },
    });
    let mut ours = Vec::new();
    let mut peers = Vec::new();
    if with_peer {
        let (tree, build_s, bytes) = measured(count, || atree::build(&domain, &texts))?;
        let peer_events = jsons
            .iter()
            .take(COMPARED)
            .map(|json| atree::event(&tree, &domain, json))
            .collect::<Result<Vec<_>>>()?;
        let mut differing = 0;
        for (event, peer_event) in events.iter().zip(&peer_events) {
            let found: Vec<u64> = snapshot.search(event)?.iter().map(|id| id.0).collect();
            differing += usize::from(found != atree::search(&tree, peer_event)?);
        }
        if differing > 0 {
            return Err(format!("{differing} of {COMPARED} answers differ").into());
        }
        for round in 0..ROUNDS {
            searches(&snapshot, &events, Isa::detect(), &mut ours)?;
            for at in 0..PEER_EVENTS {
                let event = &peer_events[(round * PEER_EVENTS + at) % COMPARED];
                let start = Instant::now();
                let report = tree.search(event).map_err(|error| format!("{error:?}"))?;
                black_box(report.matches());
                peers.push(start.elapsed().as_nanos() as u64);
            }
        }
        row["a_tree"] = statistics(&mut peers);
        row["a_tree"]["build_s"] = json!(build_s);
        row["a_tree"]["rss_bytes_an_expression"] = json!(bytes);
        row["compared"] = json!(COMPARED);
    } else {
        for _ in 0..ROUNDS {
            searches(&snapshot, &events, Isa::detect(), &mut ours)?;
        }
    }
    row["betree"]["search"] = statistics(&mut ours);
    for isa in Isa::ALL.into_iter().filter(|isa| isa.is_available()) {
        let mut times = Vec::new();
        searches(&snapshot, &events, isa, &mut times)?;
        row["betree"][isa.name()] = statistics(&mut times);
    }
    row["betree"]["slice"] = slices(&snapshot, &events)?;
    row["betree"]["penalty"] = penalty(&snapshot, &events)?;
    if count <= BATCH_EXPRESSIONS_MAX {
        row["betree"]["batch"] = batches(&snapshot, &events)?;
    }
    row["betree"]["snapshot"] = loading(&snapshot)?;
    Ok(row)
}

fn built(workload: &str, domain: Domain, texts: &[String]) -> Result<Snapshot> {
    // What is unknown stays unknown, as in a-tree. Events of bool leave nothing out: both modes find
    // the same there, and the default needs half as large a table of truth.
    let undefined = match workload.starts_with("bool") {
        true => Undefined::False,
        false => Undefined::Unknown,
    };
    let mut tree = BeTree::new(domain, undefined);
    for (id, text) in (1..).zip(texts) {
        let expression = Expression::parse(text)?;
        tree.insert(SubscriptionId(id), &expression, &Constants::default())?;
    }
    Ok(tree.snapshot())
}

/// What `make` made, how long that took and what memory it left taken by the expression.
fn measured<T>(count: usize, make: impl FnOnce() -> Result<T>) -> Result<(T, f64, i64)> {
    let before = rss_bytes();
    let start = Instant::now();
    let made = make()?;
    let seconds = start.elapsed().as_secs_f64();
    Ok((made, seconds, (rss_bytes() - before) / count as i64))
}

fn rss_bytes() -> i64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmRSS:"));
    let number = line.and_then(|line| line.split_whitespace().nth(1));
    number
        .and_then(|number| number.parse::<i64>().ok())
        .unwrap_or(0)
        * 1024
}

fn searches(snapshot: &Snapshot, events: &[Event], isa: Isa, times: &mut Vec<u64>) -> Result<()> {
    let mut buffers = Buffers::with_isa(isa);
    for event in events {
        let start = Instant::now();
        let mut search = snapshot.search_iterator(event, &mut buffers)?;
        search.step(Budget::UNLIMITED);
        black_box(search.ids());
        times.push(start.elapsed().as_nanos() as u64);
    }
    Ok(())
}

fn slices(snapshot: &Snapshot, events: &[Event]) -> Result<Value> {
    let mut buffers = Buffers::new();
    let mut times = Vec::new();
    for event in events {
        let mut search = snapshot.search_iterator(event, &mut buffers)?;
        loop {
            let start = Instant::now();
            let progress = search.step(Budget::reductions(SLICE));
            times.push(start.elapsed().as_nanos() as u64);
            if progress == Progress::Done {
                break;
            }
        }
    }
    Ok(statistics(&mut times))
}

/// How much longer buckets take in slices than in one call, in per cent: the median over pairs, and
/// that of one call against itself.
fn penalty(snapshot: &Snapshot, events: &[Event]) -> Result<Value> {
    const PAIRS: usize = 15;
    let events = &events[..events.len().min(250)];
    let mut buffers = Buffers::new();
    let mut bucket = |budget: Budget| -> Result<f64> {
        let start = Instant::now();
        for event in events {
            let mut search = snapshot.search_iterator(event, &mut buffers)?;
            while search.step(black_box(budget)) == Progress::Yielded {}
            black_box(search.ids());
        }
        Ok(start.elapsed().as_nanos() as f64)
    };
    let (mut sliced, mut control) = (Vec::new(), Vec::new());
    for _ in 0..PAIRS {
        let plain = bucket(Budget::UNLIMITED)?;
        sliced.push((bucket(Budget::reductions(SLICE))? / plain - 1.0) * 100.0);
        let plain = bucket(Budget::UNLIMITED)?;
        control.push((bucket(Budget::UNLIMITED)? / plain - 1.0) * 100.0);
    }
    sliced.sort_by(f64::total_cmp);
    control.sort_by(f64::total_cmp);
    Ok(json!({ "sliced_percent": sliced[PAIRS / 2], "control_percent": control[PAIRS / 2] }))
}

fn batches(snapshot: &Snapshot, events: &[Event]) -> Result<Value> {
    let events: Vec<Event> = events
        .iter()
        .cycle()
        .take(Batch::EVENTS_MAX)
        .cloned()
        .collect();
    let mut batch = snapshot.batch();
    let mut times = Vec::new();
    for _ in 0..31 {
        let start = Instant::now();
        batch.search(&events)?.step(Budget::UNLIMITED);
        black_box(batch.count(7));
        times.push(start.elapsed().as_nanos() as u64 / Batch::EVENTS_MAX as u64);
    }
    Ok(statistics(&mut times))
}

/// A snapshot as a file in memory, and how long it takes to make a state of it.
fn loading(snapshot: &Snapshot) -> Result<Value> {
    let mut bytes = Vec::new();
    snapshot.save(|piece| {
        bytes.extend_from_slice(piece);
        betree::Result::Ok(())
    })?;
    let start = Instant::now();
    let read = Snapshot::load(&bytes)?;
    let load_s = start.elapsed().as_secs_f64();
    Ok(json!({ "bytes_an_expression": bytes.len() / read.len().max(1), "load_s": load_s }))
}

fn statistics(times: &mut [u64]) -> Value {
    times.sort_unstable();
    let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize];
    json!({
        "n": times.len(),
        "min_ns": times[0],
        "p50_ns": at(0.5),
        "p99_ns": at(0.99),
        "p999_ns": if times.len() >= 2_995 { json!(at(0.999)) } else { Value::Null },
    })
}
