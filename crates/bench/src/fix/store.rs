//! The store of sent messages at three sizes, beside maps in memory: what appending costs, and
//! getting messages back in their order and in none; what opening it again takes.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::hint::black_box;
use std::time::Instant;

use fixcore::store::{Options, Store};
use fixcore::workload::Sample;
use latency::report::{Cell, Table, Unit};

use crate::fix::batches::{Batches, failed};
use crate::fix::plan::Plan;
use crate::{Checks, Context, Error, Watch};
use report::Outcome;

/// Messages that a store has, but for the largest.
const SIZES: [u64; 2] = [1_000, 100_000];
/// Messages that are timed together.
const BATCH: u64 = 1_000;
/// Batches of messages that are got back.
const GETS: u64 = 400;
/// What is prepared between batches at once, in bytes.
const PREPARED_BYTES: usize = 1 << 20;

/// What keeps messages by number.
trait Keep {
    fn name(&self) -> &'static str;
    fn append(&mut self, number: u64, message: &[u8]) -> bool;
    /// What should be done before a batch and is not timed.
    fn prepare(&mut self) -> Result<(), Error> {
        Ok(())
    }
    /// Looks a message up; what it is worth to the caller is its length.
    fn get(&self, number: u64) -> usize;
    fn is(&self, number: u64, message: &[u8]) -> bool;
}

/// A map whose messages are copied in and out, as a store in memory does it.
struct Map<S> {
    map: HashMap<u64, Vec<u8>, S>,
    name: &'static str,
}

impl<S: BuildHasher> Keep for Map<S> {
    fn name(&self) -> &'static str {
        self.name
    }

    fn append(&mut self, number: u64, message: &[u8]) -> bool {
        self.map.insert(number, message.to_vec()).is_none()
    }

    fn get(&self, number: u64) -> usize {
        let copy = self.map.get(&number).cloned();
        black_box(copy).map_or(0, |copy| copy.len())
    }

    fn is(&self, number: u64, message: &[u8]) -> bool {
        self.map.get(&number).is_some_and(|found| found == message)
    }
}

/// The same by the map of hashbrown with its own hasher.
struct Swiss(hashbrown::HashMap<u64, Vec<u8>>);

impl Keep for Swiss {
    fn name(&self) -> &'static str {
        "hashbrown, copies"
    }

    fn append(&mut self, number: u64, message: &[u8]) -> bool {
        self.0.insert(number, message.to_vec()).is_none()
    }

    fn get(&self, number: u64) -> usize {
        let copy = self.0.get(&number).cloned();
        black_box(copy).map_or(0, |copy| copy.len())
    }

    fn is(&self, number: u64, message: &[u8]) -> bool {
        self.0.get(&number).is_some_and(|found| found == message)
    }
}

/// Ours.
struct Ours {
    store: Store,
    prepares: bool,
}

impl Keep for Ours {
    fn name(&self) -> &'static str {
        match self.prepares {
            true => "store",
            false => "store, nothing prepared",
        }
    }

    fn append(&mut self, number: u64, message: &[u8]) -> bool {
        self.store.append(number, message).is_ok()
    }

    fn prepare(&mut self) -> Result<(), Error> {
        while self.prepares && !self.store.prepare(PREPARED_BYTES).map_err(failed)? {}
        Ok(())
    }

    fn get(&self, number: u64) -> usize {
        let found = self.store.get(number).ok().flatten();
        black_box(found).map_or(0, <[u8]>::len)
    }

    fn is(&self, number: u64, message: &[u8]) -> bool {
        self.store
            .verified(number)
            .is_ok_and(|found| found == Some(message))
    }
}

/// Adds the tables of the part.
pub(crate) fn part(
    plan: &Plan,
    context: Context<'_>,
    outcome: &mut Outcome,
    checks: &mut Checks,
) -> Result<(), Error> {
    let largest = plan.store_messages;
    let sizes = SIZES.into_iter().filter(|size| *size < largest);
    let columns = [
        ("of", Unit::Text),
        ("messages", Unit::Count),
        ("append_ns", Unit::Nanoseconds),
        ("append_min_ns", Unit::Nanoseconds),
        ("get_ns", Unit::Nanoseconds),
        ("get_random_ns", Unit::Nanoseconds),
    ];
    let mut table = Table::new("store, nanoseconds a message of 197 B", &columns);
    let columns = [
        ("messages", Unit::Count),
        ("segments", Unit::Count),
        ("open_ns", Unit::Nanoseconds),
    ];
    let mut opening = Table::new("opening a store again", &columns);
    let message = Sample::NewOrder.bytes();
    for size in sizes.chain([largest]) {
        let map = Map {
            map: HashMap::<_, _, RandomState>::default(),
            name: "std map, copies",
        };
        let watch = context.watch;
        row(map, size, &message, &mut table, (checks, watch))?;
        row(
            Swiss(hashbrown::HashMap::new()),
            size,
            &message,
            &mut table,
            (checks, watch),
        )?;
        for prepares in [true, false] {
            let place = plan.store_dir.clone().unwrap_or_else(std::env::temp_dir);
            let dir = tempfile::tempdir_in(&place);
            let dir = dir.map_err(|error| Error::io("make a store in", &place, error))?;
            let open = || Store::open(dir.path(), Options::default()).map_err(failed);
            let ours = Ours {
                store: open()?,
                prepares,
            };
            drop(row(ours, size, &message, &mut table, (checks, watch))?);
            if prepares {
                let start = Instant::now();
                let store = open()?;
                let open_ns = start.elapsed().as_nanos() as u64;
                checks.that(store.next_sender() == size + 1);
                let segments = store.segments() as u64;
                opening
                    .rows
                    .push(vec![size.into(), segments.into(), open_ns.into()]);
            }
        }
        outcome.ops = Some(outcome.ops.unwrap_or(0) + size * 4);
    }
    outcome.tables.extend([table, opening]);
    Ok(())
}

/// Fills what keeps messages, gets them back, and adds a row.
fn row<K: Keep>(
    mut keep: K,
    size: u64,
    message: &[u8],
    table: &mut Table,
    (checks, watch): (&mut Checks, &dyn Watch),
) -> Result<K, Error> {
    let (mut appends, mut gets, mut randoms) = (Batches::new(), Batches::new(), Batches::new());
    let mut all = true;
    for first in (1..=size).step_by(BATCH as usize) {
        if first % (BATCH * 100) == 1 {
            watch.check()?;
        }
        keep.prepare()?;
        let last = size.min(first + BATCH - 1);
        appends.time((last - first + 1) as usize, || {
            for number in first..=last {
                all &= keep.append(number, message);
            }
        });
    }
    checks.that(all);
    // Spread over all of it, each batch in order.
    let step = (size / GETS).max(BATCH.min(size));
    let mut random = 0x9e37_79b9_7f4a_7c15_u64;
    for batch in 0..GETS {
        let first = 1 + (batch * step) % (size - BATCH.min(size) + 1);
        let mut bytes = 0;
        gets.time(BATCH as usize, || {
            for number in first..first + BATCH {
                bytes += keep.get(black_box(number));
            }
        });
        checks.that(bytes == message.len() * BATCH as usize);
        let mut bytes = 0;
        randoms.time(BATCH as usize, || {
            for _ in 0..BATCH {
                random ^= random << 13;
                random ^= random >> 7;
                random ^= random << 17;
                let number = 1 + ((u128::from(random) * u128::from(size)) >> 64) as u64;
                bytes += keep.get(number);
            }
        });
        checks.that(bytes == message.len() * BATCH as usize);
        checks.that(keep.is(first, message));
    }
    let [append, append_min] = appends.cells();
    let mut cells: Vec<Cell> = vec![keep.name().into(), size.into(), append, append_min];
    let [get, _] = gets.cells();
    let [get_random, _] = randoms.cells();
    cells.extend([get, get_random]);
    table.rows.push(cells);
    Ok(keep)
}
