//! Events read from JSON: by betree into an event, by sonic-rs and serde_json into a value of any kind.

use std::hint::black_box;
use std::time::Instant;

use betree::workload::shapes::{self, Drawer};
use betree::workload::{Generator, Kind};
use betree::{BeTree, Budget, Constants, Domain, Event, Expression, Snapshot, SubscriptionId};
use serde_json::{Value, json};

use crate::Result;

const EXPRESSIONS: usize = 20_000;
const EVENTS: usize = 2_000;
const ROUNDS: usize = 15;

/// Reads the events of each workload, or of the named ones, in turns, and gives the bytes a second of each reader.
pub(crate) fn all(names: &[String]) -> Result<Value> {
    let wants = |name: &str| names.is_empty() || names.iter().any(|wanted| wanted == name);
    let mut rows = Vec::new();
    for (name, kind, count) in [
        ("bool-64", Kind::Bool(64), 2_000),
        ("ad", Kind::Ad, EXPRESSIONS),
    ] {
        if !wants(name) {
            continue;
        }
        let mut generator = Generator::new(kind, 1);
        let domains = generator.domains();
        let texts: Vec<String> = (0..count)
            .map(|_| generator.expression().to_owned())
            .collect();
        let events = (0..EVENTS).map(|_| generator.event().to_owned()).collect();
        rows.push(row(name, &domains, &texts, events)?);
    }
    for shape in shapes::named()
        .into_iter()
        .filter(|shape| wants(&shape.name))
    {
        let name = shape.name.clone();
        let mut drawer = Drawer::new(shape.clone(), 1);
        let domains = shape.domains();
        let texts: Vec<String> = (0..EXPRESSIONS)
            .map(|_| shapes::text(&shape, &drawer.expression()))
            .collect();
        let events = (0..EVENTS)
            .map(|_| shapes::json(&shape, &drawer.event()))
            .collect();
        rows.push(row(&name, &domains, &texts, events)?);
    }
    Ok(json!({ "reading": rows }))
}

fn row(name: &str, domains: &str, texts: &[String], events: Vec<String>) -> Result<Value> {
    let mut tree = BeTree::new(Domain::parse(domains)?, betree::Undefined::False);
    let constants = Constants {
        campaign_id: Some(1),
        ..Constants::default()
    };
    for (id, text) in (1..).zip(texts) {
        let expression = Expression::parse(text)?;
        tree.insert(SubscriptionId(id), &expression, &constants)?;
    }
    let snapshot = tree.snapshot();
    let bytes: usize = events.iter().map(String::len).sum();
    let mut times = [const { Vec::new() }; 4];
    let mut seed = 7u64;
    for _ in 0..ROUNDS {
        let mut order = [0, 1, 2, 3];
        for at in (1..4).rev() {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            order.swap(at, (seed >> 33) as usize % (at + 1));
        }
        for reader in order {
            let start = Instant::now();
            match reader {
                0 => reused(&snapshot, &events)?,
                1 => fresh(&snapshot, &events)?,
                2 => sonic(&events)?,
                _ => serde(&events)?,
            }
            times[reader].push(start.elapsed().as_nanos() as u64);
        }
    }
    let speed = |times: &mut Vec<u64>| {
        times.sort_unstable();
        bytes as f64 * 1_000.0 / times[times.len() / 2] as f64
    };
    let [reused, fresh, sonic, serde] = times.each_mut().map(speed);
    Ok(json!({
        "workload": name,
        "bytes_an_event": bytes / events.len(),
        "betree_mb_s": reused.round(),
        "betree_fresh_mb_s": fresh.round(),
        "sonic_rs_mb_s": sonic.round(),
        "serde_json_mb_s": serde.round(),
        "over_sonic_rs": (sonic / reused * 100.0).round() / 100.0,
    }))
}

#[inline(never)]
fn reused(snapshot: &Snapshot, events: &[String]) -> Result<()> {
    let mut old: Option<Event> = None;
    for json in events {
        let mut reader = match old.take() {
            Some(old) => snapshot.event_reader_reusing(json.as_bytes(), false, old),
            None => snapshot.event_reader(json.as_bytes(), false),
        };
        reader.step(Budget::UNLIMITED)?;
        old = Some(black_box(reader.finish()?));
    }
    Ok(())
}

#[inline(never)]
fn fresh(snapshot: &Snapshot, events: &[String]) -> Result<()> {
    for json in events {
        black_box(snapshot.event(json)?);
    }
    Ok(())
}

#[inline(never)]
fn sonic(events: &[String]) -> Result<()> {
    for json in events {
        black_box(sonic_rs::from_slice::<sonic_rs::Value>(json.as_bytes())?);
    }
    Ok(())
}

#[inline(never)]
fn serde(events: &[String]) -> Result<()> {
    for json in events {
        black_box(serde_json::from_slice::<Value>(json.as_bytes())?);
    }
    Ok(())
}
