//! Entries by number: chains of nodes, a Swiss table, and the array of a store.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::hint::black_box;

use fixcore::store::{Options, Store};
use fixcore::workload::Sample;
use latency::SplitMix64;

use crate::Error;
use crate::fix::sides;
use crate::fix::sides::{Called, Turn};
use crate::fix::techniques::bench::{ARRAY, Bench, SWISS, Samples};

/// Entries of each table.
const ENTRIES: u32 = 10_000;

/// The hash of both tables: a product, folded.
#[derive(Default)]
struct Fold(u64);

impl Hasher for Fold {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u32(u32::from(*byte));
        }
    }

    fn write_u32(&mut self, key: u32) {
        let product = (self.0 ^ u64::from(key)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = product ^ (product >> 32);
    }
}

struct Node {
    key: u32,
    value: u64,
    next: Option<Box<Node>>,
}

/// A table of chains, as many as there are entries, each node by itself in memory.
struct Chains(Vec<Option<Box<Node>>>);

impl Chains {
    fn new(keys: &[u32]) -> Self {
        let mut chains = Self((0..keys.len()).map(|_| None).collect());
        for key in keys {
            let at = chains.place(*key);
            let next = chains.0[at].take();
            chains.0[at] = Some(Box::new(Node {
                key: *key,
                value: value(*key),
                next,
            }));
        }
        chains
    }

    fn place(&self, key: u32) -> usize {
        let mut hash = Fold::default();
        hash.write_u32(key);
        (hash.finish() % self.0.len() as u64) as usize
    }

    fn get(&self, key: u32) -> Option<u64> {
        let mut node = self.0[self.place(key)].as_deref();
        while let Some(at) = node {
            if at.key == key {
                return Some(at.value);
            }
            node = at.next.as_deref();
        }
        None
    }
}

fn value(key: u32) -> u64 {
    u64::from(key) * 3
}

/// The keys from 1 in random order.
fn shuffled(seed: u64) -> Vec<u32> {
    let mut keys: Vec<u32> = (1..=ENTRIES).collect();
    let mut random = SplitMix64::new(seed);
    for at in (1..keys.len()).rev() {
        keys.swap(at, (random.next() % (at as u64 + 1)) as usize);
    }
    keys
}

/// The rows of both.
pub(crate) fn rows(bench: &mut Bench<'_>) -> Result<(), Error> {
    let keys = shuffled(1);
    let chains = Chains::new(&keys);
    let swiss: HashMap<u32, u64, BuildHasherDefault<Fold>> =
        keys.iter().map(|key| (*key, value(*key))).collect();
    let folder = tempfile::tempdir();
    let folder = folder.map_err(|error| Error::io("write", &std::env::temp_dir(), error))?;
    let failed = |error| Error::new(format!("cannot keep messages: {error}"));
    let mut store = Store::open(folder.path(), Options::default()).map_err(failed)?;
    let order = Sample::NewOrder.bytes();
    for number in 1..=u64::from(ENTRIES) {
        store.append(number, &order).map_err(failed)?;
    }
    let asked = shuffled(2);
    for key in &asked {
        let wanted = Some(value(*key));
        let stored = store.get(u64::from(*key));
        let is_stored = stored.is_ok_and(|found| found == Some(&order[..]));
        let found = chains.get(*key) == wanted && swiss.get(key).copied() == wanted;
        bench.checks.that(found && is_stored);
    }
    let (first, second) = (bench.ops(), bench.ops());
    let key = |at: usize| black_box(asked[at % asked.len()]);
    let called = |target| Called {
        operation: "look-up",
        base: "chains of nodes",
        target,
    };
    let turns: (Turn<'_>, Turn<'_>) = (
        &mut |recorder| {
            Ok(sides::spans(recorder, first.next(), |at| {
                black_box(chains.get(key(at)));
            }))
        },
        &mut |recorder| {
            Ok(sides::spans(recorder, first.next(), |at| {
                black_box(swiss.get(&key(at)));
            }))
        },
    );
    let pair = bench.technique(SWISS, Samples::Means, called("std's HashMap"), turns)?;
    bench.component("look-up in a Swiss table", &pair.target);
    let turns: (Turn<'_>, Turn<'_>) = (
        &mut |recorder| {
            Ok(sides::spans(recorder, second.next(), |at| {
                black_box(chains.get(key(at)));
            }))
        },
        &mut |recorder| {
            Ok(sides::spans(recorder, second.next(), |at| {
                let _ = black_box(store.get(u64::from(key(at))));
            }))
        },
    );
    let pair = bench.technique(ARRAY, Samples::Means, called("store of fixcore"), turns)?;
    bench.component("look-up in the store", &pair.target);
    Ok(())
}
