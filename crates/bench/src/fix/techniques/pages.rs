//! Huge pages, and pages that are locked in memory: of a pool, and of a store.

use std::hint::black_box;
use std::time::Instant;

use fixcore::store::{Options, Store};
use fixcore::workload::Sample;
use latency::{Recorder, SplitMix64};
use memmap2::MmapMut;

use crate::Error;
use crate::fix::sides::{self, Called, Turn};
use crate::fix::techniques::bench::{Bench, HUGE, LOCKED_POOL, LOCKED_STORE, Samples};

/// A pool that does not fit the processor's table of pages.
const POOL_BYTES: usize = 64 << 20;
const BUFFER_BYTES: usize = 256;
/// A pool that most processes may lock.
const LOCKED_BYTES: usize = 4 << 20;
const PAGE_BYTES: usize = 4 << 10;
const SEGMENT_BYTES: usize = 1 << 20;
/// Messages of a turn of the store at most: a few segments.
const MESSAGES_MAX: usize = 20_000;

/// All of them.
pub(super) fn rows(bench: &mut Bench<'_>) -> Result<(), Error> {
    huge(bench)?;
    locked_pool(bench)?;
    locked_store(bench)
}

fn failed(error: impl std::fmt::Display) -> Error {
    Error::new(format!("cannot make memory for a benchmark: {error}"))
}

/// A pool of which every page was written, in pages of one size.
fn pool(is_huge: bool) -> std::io::Result<MmapMut> {
    let mut pool = MmapMut::map_anon(POOL_BYTES)?;
    advise(&pool, is_huge)?;
    for byte in pool.iter_mut().step_by(PAGE_BYTES) {
        *byte = 1;
    }
    Ok(pool)
}

#[cfg(target_os = "linux")]
fn advise(pool: &MmapMut, is_huge: bool) -> std::io::Result<()> {
    pool.advise(match is_huge {
        true => memmap2::Advice::HugePage,
        false => memmap2::Advice::NoHugePage,
    })
}

#[cfg(not(target_os = "linux"))]
fn advise(_: &MmapMut, _: bool) -> std::io::Result<()> {
    Err(std::io::ErrorKind::Unsupported.into())
}

/// Bytes of huge pages of this process; `None` where the system does not say.
fn huge_bytes() -> Option<u64> {
    latency::environment::proc_bytes("/proc/self/smaps_rollup", "AnonHugePages:")
}

fn huge(bench: &mut Bench<'_>) -> Result<(), Error> {
    let small = pool(false);
    let before = huge_bytes();
    let large = pool(true);
    let grown = before
        .zip(huge_bytes())
        .map(|(old, new)| new.saturating_sub(old));
    let (mut small, mut large) = match (small, large) {
        (Ok(small), Ok(large)) => (small, large),
        (Err(error), _) | (_, Err(error)) => {
            bench.refused(HUGE, &error.to_string());
            return Ok(());
        }
    };
    if grown.is_none_or(|grown| grown < POOL_BYTES as u64 / 2) {
        let mode = std::fs::read_to_string("/sys/kernel/mm/transparent_hugepage/enabled");
        let mode = mode.unwrap_or_else(|_| "no transparent huge pages".to_owned());
        bench.refused(HUGE, &format!("the system gives none ({})", mode.trim()));
        return Ok(());
    }
    let order = Sample::NewOrder.bytes();
    let called = Called {
        operation: HUGE.0,
        base: "4 KiB",
        target: "2 MiB",
    };
    let ops = bench.ops();
    let turns: (Turn<'_>, Turn<'_>) = (
        &mut |recorder| Ok(copies(&mut small, &order, ops.next(), recorder)),
        &mut |recorder| Ok(copies(&mut large, &order, ops.next(), recorder)),
    );
    bench.technique(HUGE, Samples::Means, called, turns)?;
    let is_copied = |pool: &[u8]| pool.chunks(BUFFER_BYTES).any(|it| it.starts_with(&order));
    bench.checks.that(is_copied(&small) && is_copied(&large));
    Ok(())
}

/// Copies to random buffers of a pool.
fn copies(pool: &mut [u8], order: &[u8], ops: usize, recorder: &mut Recorder) -> f64 {
    let mut random = SplitMix64::new(1);
    let buffers = (pool.len() / BUFFER_BYTES) as u64;
    sides::spans(recorder, ops, |_| {
        let at = (random.next() % buffers) as usize * BUFFER_BYTES;
        if let Some(buffer) = pool.get_mut(at..at + order.len()) {
            buffer.copy_from_slice(black_box(order));
        }
    })
}

fn locked_pool(bench: &mut Bench<'_>) -> Result<(), Error> {
    let trial = MmapMut::map_anon(LOCKED_BYTES).map_err(failed)?;
    if let Err(error) = lock(&trial) {
        bench.refused(LOCKED_POOL, &format!("{error} (see `ulimit -l`)"));
        return Ok(());
    }
    drop(trial);
    let order = Sample::NewOrder.bytes();
    let called = Called {
        operation: LOCKED_POOL.0,
        base: "new",
        target: "locked",
    };
    let ops = bench.ops();
    let turns: (Turn<'_>, Turn<'_>) = (
        &mut |recorder| first_copies(false, &order, ops.next(), recorder),
        &mut |recorder| first_copies(true, &order, ops.next(), recorder),
    );
    bench
        .technique(LOCKED_POOL, Samples::Single, called, turns)
        .map(drop)
}

#[cfg(unix)]
fn lock(pool: &MmapMut) -> std::io::Result<()> {
    pool.lock()
}

#[cfg(not(unix))]
fn lock(_: &MmapMut) -> std::io::Result<()> {
    Err(std::io::ErrorKind::Unsupported.into())
}

/// Copies to each page of new pools; each copy is timed.
fn first_copies(
    is_locked: bool,
    order: &[u8],
    ops: usize,
    recorder: &mut Recorder,
) -> Result<f64, Error> {
    let (mut done, mut ns) = (0, 0);
    while done < ops {
        let mut pool = MmapMut::map_anon(LOCKED_BYTES).map_err(failed)?;
        if is_locked {
            lock(&pool).map_err(failed)?;
        }
        for page in pool.chunks_mut(PAGE_BYTES).take(ops - done) {
            let start = Instant::now();
            if let Some(buffer) = page.get_mut(..order.len()) {
                buffer.copy_from_slice(black_box(order));
            }
            ns += recorder.record_span(start, Instant::now());
            done += 1;
        }
        black_box(&pool);
    }
    Ok(ns as f64 / ops.max(1) as f64)
}

fn locked_store(bench: &mut Bench<'_>) -> Result<(), Error> {
    let order = Sample::NewOrder.bytes();
    let parent = bench
        .plan
        .store_dir
        .clone()
        .unwrap_or_else(std::env::temp_dir);
    let make = |is_locked: bool| {
        let made = tempfile::Builder::new()
            .prefix("perfkit-techniques-")
            .tempdir_in(&parent);
        let folder = made.map_err(|error| Error::io("create a store in", &parent, error))?;
        let options = Options::default()
            .segment_bytes(SEGMENT_BYTES)
            .locked(is_locked);
        Ok::<_, Error>((Store::open(folder.path(), options), folder))
    };
    if let (Err(error), _) = make(true)? {
        let cause = std::error::Error::source(&error).map(ToString::to_string);
        let why = cause.unwrap_or_else(|| error.to_string());
        bench.refused(LOCKED_STORE, &format!("{why} (see `ulimit -l`)"));
        return Ok(());
    }
    let called = Called {
        operation: LOCKED_STORE.0,
        base: "new",
        target: "locked",
    };
    let ops = bench.ops();
    let append = |is_locked, recorder: &mut Recorder, wrong: &mut u64| {
        let (store, _folder) = make(is_locked)?;
        let mut store = store.map_err(failed)?;
        let ops = ops.next().min(MESSAGES_MAX);
        let ns = sides::spans(recorder, ops, |at| {
            let appended = store.append(at as u64 + 1, black_box(&order));
            *wrong += u64::from(appended.is_err());
        });
        let last = store.get(ops as u64).ok().flatten();
        *wrong += u64::from(last != Some(order.as_slice()));
        Ok(ns)
    };
    let mut wrong = [0; 2];
    let [off, on] = &mut wrong;
    let turns: (Turn<'_>, Turn<'_>) = (
        &mut |recorder| append(false, recorder, off),
        &mut |recorder| append(true, recorder, on),
    );
    let pair = bench.technique(LOCKED_STORE, Samples::Means, called, turns)?;
    bench
        .checks
        .add(pair.base.n + pair.target.n, wrong.iter().sum());
    Ok(())
}
