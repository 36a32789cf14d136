//! Measures searches over shapes of workloads, next to a simple and a counting inverted index, in turns.
//!
//! `cargo run --release -p betree --features workload --example shapes -- COUNT EVENTS [NAME…]`; a name is a part
//! of a shape's name, or `drawn:FIRST..END`. Of shapes whose expressions name many values there are fewer.

#![forbid(unsafe_code)]
#![allow(clippy::print_stdout, reason = "a program whose output is its purpose")]

use std::time::Instant;

use betree::workload::shapes::{self, CountingIndex, Drawer, Shape, SimpleIndex};
use betree::{BeTree, Budget, Buffers, Constants, Domain, Expression, SubscriptionId, Undefined};

/// The most values that all expressions of a shape name together.
const VALUES_MAX: u64 = 4_000_000;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let count: usize = args.first().map_or(Ok(100_000), |arg| arg.parse())?;
    let events: usize = args.get(1).map_or(Ok(300), |arg| arg.parse())?;
    let names = args.get(2..).unwrap_or(&[]);
    let mut all = Vec::new();
    for name in names {
        match name
            .strip_prefix("drawn:")
            .and_then(|range| range.split_once(".."))
        {
            Some((first, end)) => all.extend((first.parse()?..end.parse()?).map(shapes::drawn)),
            None => all.extend(
                shapes::named()
                    .into_iter()
                    .chain(shapes::long())
                    .filter(|s| s.name.contains(name)),
            ),
        }
    }
    if names.is_empty() {
        all = shapes::named();
    }
    println!(
        "{:36} {:>8} {:>8} {:>8} {:>9} {:>8} {:>8} {:>7} {:>7} {:>8} {:>6} {:>6} {:>9}",
        "shape",
        "p50 us",
        "p99",
        "hold p99",
        "simple us",
        "ratio",
        "matches",
        "eval",
        "reduc",
        "build ms",
        "B/expr",
        "insert",
        "counting"
    );
    for shape in all {
        let most = usize::try_from(VALUES_MAX / shape.values()).unwrap_or(usize::MAX);
        measure(shape, count.min(most), events)?;
    }
    Ok(())
}

fn measure(shape: Shape, count: usize, events: usize) -> Result<()> {
    let name = shape.name.clone();
    let mut drawer = Drawer::new(shape.clone(), 1);
    let expressions: Vec<_> = (0..count).map(|_| drawer.expression()).collect();
    let texts: Vec<_> = expressions
        .iter()
        .map(|e| shapes::text(&shape, e))
        .collect();
    let rss = rss_kib();
    let start = Instant::now();
    let mut tree = BeTree::new(Domain::parse(&shape.domains())?, Undefined::False);
    let insert = |tree: &mut BeTree, at: usize| -> Result<()> {
        let constants = Constants {
            campaign_id: shapes::campaign(&expressions[at]),
            ..Constants::default()
        };
        let expression =
            Expression::parse(&texts[at]).map_err(|e| format!("{e}: {}", texts[at]))?;
        tree.insert(SubscriptionId(at as u64), &expression, &constants)
            .map_err(|e| format!("{e}: {}", texts[at]))?;
        Ok(())
    };
    for at in 0..count {
        insert(&mut tree, at)?;
    }
    let snapshot = tree.snapshot();
    let build = start.elapsed();
    let bytes = (rss_kib() - rss) * 1024 / count as i64;
    let mut simple = SimpleIndex::new(&expressions);
    let mut counting = CountingIndex::new(&expressions);
    let plain: Vec<_> = (0..events).map(|_| drawer.event()).collect();
    let mut read = Vec::new();
    for event in &plain {
        let json = shapes::json(&shape, event);
        read.push(snapshot.event(&json).map_err(|e| format!("{e}: {json}"))?);
    }
    let mut buffers = Buffers::new();
    let (mut own, mut other, mut holds) = (Vec::new(), Vec::new(), Vec::new());
    let mut counted = Vec::new();
    let (mut matches, mut evaluated, mut reductions) = (0, 0, 0);
    let mut found = Vec::new();
    for round in 0..4 {
        for (at, event) in read.iter().enumerate() {
            let mut first = |own: &mut Vec<f64>| -> Result<Vec<SubscriptionId>> {
                let start = Instant::now();
                let mut search = snapshot.search_iterator(event, &mut buffers)?;
                search.step(Budget::UNLIMITED);
                let time = start.elapsed();
                own.push(time.as_secs_f64() * 1e6);
                matches += search.matched();
                evaluated += search.evaluated();
                reductions += search.reductions();
                Ok(if round == 0 {
                    search.ids().to_vec()
                } else {
                    Vec::new()
                })
            };
            if round == 0 {
                let ids = first(&mut own)?;
                simple.search(&plain[at], &mut found);
                found.sort_unstable();
                let both = found.clone();
                counting.search(&plain[at], &mut found);
                found.sort_unstable();
                assert_eq!(both, found, "the two rivals differ");
                let same = ids.iter().map(|id| id.0 as u32).eq(found.iter().copied());
                if !same {
                    let wrong = (0..count as u32).find(|at| {
                        found.contains(at) != ids.contains(&SubscriptionId(u64::from(*at)))
                    });
                    let wrong = wrong.unwrap_or(0) as usize;
                    println!("expression {wrong}: {}", texts[wrong]);
                    println!("{}", shapes::json(&shape, &plain[at]));
                    return Err(format!(
                        "{name}: event {at}: {} found, the simple index {}",
                        ids.len(),
                        found.len()
                    )
                    .into());
                }
                own.clear();
                continue;
            }
            if (at + round) % 2 == 0 {
                first(&mut own)?;
            }
            let start = Instant::now();
            simple.search(&plain[at], &mut found);
            other.push(start.elapsed().as_secs_f64() * 1e6);
            let start = Instant::now();
            counting.search(&plain[at], &mut found);
            counted.push(start.elapsed().as_secs_f64() * 1e6);
            if (at + round) % 2 == 1 {
                first(&mut own)?;
            }
            let mut search = snapshot.search_iterator(event, &mut buffers)?;
            loop {
                let start = Instant::now();
                let progress = search.step(Budget::reductions(2_000));
                holds.push(start.elapsed().as_secs_f64() * 1e6);
                if progress == betree::Progress::Done {
                    break;
                }
            }
        }
    }
    let p = |times: &mut Vec<f64>, share: f64| {
        times.sort_by(f64::total_cmp);
        times[((times.len() - 1) as f64 * share) as usize]
    };
    let n = (events * 4) as u64;
    let (mine, simple) = (p(&mut own, 0.5), p(&mut other, 0.5));
    let mut calls = Vec::new();
    // A snapshot lives while the next is made.
    let mut last = snapshot.clone();
    for at in 0..200.min(count) {
        let one = Instant::now();
        tree.delete(SubscriptionId(at as u64))?;
        insert(&mut tree, at)?;
        last = tree.snapshot();
        calls.push(one.elapsed().as_secs_f64() * 1e6);
    }
    drop(last);
    println!(
        "{name:36.36} {mine:8.2} {:8.2} {:8.2} {simple:9.2} {:8.2} {:8} {:7} {:7} {:8.0} {bytes:6} {:6.0} {:9.2}",
        p(&mut own, 0.99),
        p(&mut holds, 0.999),
        mine / simple,
        matches / n,
        evaluated / n,
        reductions / n,
        build.as_secs_f64() * 1e3,
        p(&mut calls, 0.5),
        p(&mut counted, 0.5)
    );
    Ok(())
}

fn rss_kib() -> i64 {
    let status = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages: i64 = status
        .split(' ')
        .nth(1)
        .and_then(|w| w.parse().ok())
        .unwrap_or(0);
    pages * 4
}
