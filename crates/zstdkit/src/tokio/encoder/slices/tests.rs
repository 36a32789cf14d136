//! How long slices are, by what is known of their time and what the other threads do.

use std::sync::mpsc;
use std::time::{Duration, Instant};

use ::tokio::runtime::{Builder, Runtime};

use super::*;
use crate::options::EncoderOptions;
use crate::schedule::CostKey;
use crate::tokio::Scheduler;

const BLOCK_BYTES: usize = 128 << 10;

fn runtime(workers: usize) -> Runtime {
    match workers {
        0 => Builder::new_current_thread().build().unwrap(),
        _ => Builder::new_multi_thread()
            .worker_threads(workers)
            .build()
            .unwrap(),
    }
}

/// An encoder whose slices of 16 KiB take this long.
fn encoder(slice_ns: u64) -> AsyncEncoder<Vec<u8>> {
    let scheduler = Scheduler::with_defaults().unwrap();
    let options = EncoderOptions::default().with_level(9);
    let key = CostKey::compress_slice(&options, None);
    for _ in 0..100 {
        scheduler.model().observe(key, SLICE_BYTES, slice_ns);
    }
    let mut encoder = scheduler.encoder(Vec::new(), &options, None).unwrap();
    encoder.decide();
    encoder
}

/// The longest slice on a runtime of this many workers, after what a task on each worker but one does.
fn longest(workers: usize, busy: bool, slice_ns: u64, cold: bool) -> usize {
    let runtime = runtime(workers);
    let (end, ends) = mpsc::channel::<()>();
    let (begun, begins) = mpsc::channel();
    if busy {
        runtime.spawn(async move {
            begun.send(()).unwrap();
            let _ = ends.recv();
        });
        begins.recv().unwrap();
    }
    let measured = runtime.spawn(async move {
        let mut encoder = encoder(slice_ns);
        encoder.cold_bytes = usize::from(cold);
        let start = Instant::now();
        loop {
            let bytes = encoder.slice_bytes(usize::MAX);
            // The other one parks, sooner or later.
            let waits = workers > 1 && !busy && bytes == SLICE_BYTES && !cold;
            if !waits || start.elapsed() > Duration::from_secs(300) {
                return bytes;
            }
        }
    });
    let bytes = runtime.block_on(measured).unwrap();
    drop(end);
    bytes
}

#[test]
fn slices_are_longer_while_another_thread_has_nothing_to_do() {
    // 150 µs each: one fits into 300 µs with its margin, four into 800 µs.
    assert_eq!(longest(0, false, 150_000, false), SLICE_BYTES);
    assert_eq!(longest(1, false, 150_000, false), SLICE_BYTES);
    assert_eq!(longest(2, true, 150_000, false), SLICE_BYTES);
    assert_eq!(longest(2, false, 150_000, false), 4 * SLICE_BYTES);
    // No block is longer, and what takes too long even so is as short as may be.
    assert_eq!(longest(2, false, 15_000, false), BLOCK_BYTES);
    assert_eq!(longest(2, true, 240_000, false), SLICE_BYTES);
}

#[test]
fn a_slice_that_fetches_its_context_to_the_cache_is_half_as_long() {
    assert_eq!(longest(2, true, 15_000, true), SLICE_BYTES);
    let start = Instant::now();
    while longest(2, false, 15_000, true) != BLOCK_BYTES / 2 {
        assert!(start.elapsed() < Duration::from_secs(300));
    }
}

#[test]
fn what_is_left_is_no_longer_than_a_slice() {
    let encoder = encoder(150_000);
    for rest in [0, 1, SLICE_BYTES] {
        assert_eq!(encoder.slice_bytes(rest), rest);
    }
}
