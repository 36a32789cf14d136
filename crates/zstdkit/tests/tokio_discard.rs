//! What takes long to free is freed by another thread than that of a runtime, and is off the account of its pool before.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::Arc;
use std::sync::mpsc::{self, Receiver};
use std::time::{Duration, Instant};

use tokio::runtime::Builder;
use zstdkit::{DecoderOptions, EncoderOptions, Operation, Pool, PoolOptions};

/// The thread that frees waits in it.
struct Gate(Receiver<()>);

impl Drop for Gate {
    fn drop(&mut self) {
        let _ = self.0.recv();
    }
}

/// A prefix, and how many hold it while no context does.
fn prefix() -> (Arc<[u8]>, EncoderOptions, usize) {
    let prefix: Arc<[u8]> = vec![1; 100].into();
    let options = EncoderOptions::default()
        .with_level(9)
        .with_prefix(prefix.clone());
    let count = Arc::strong_count(&prefix);
    (prefix, options, count)
}

fn wait_until(done: impl Fn() -> bool) {
    let end = Instant::now() + Duration::from_secs(120);
    while !done() {
        assert!(Instant::now() < end);
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn a_large_context_is_freed_elsewhere_inside_of_a_runtime() {
    let runtime = Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        let (open, gate) = mpsc::channel();
        turns::discard(Gate(gate), usize::MAX);
        let pool = Pool::default();
        // A context with a prefix is of no use to another stream.
        let (prefix, options, count) = prefix();
        let encoder = pool.encoder(&options, None).unwrap();
        assert!(pool.stats().held_bytes > turns::DISCARD_BYTES as u64);
        drop(encoder);
        let stats = pool.stats();
        assert_eq!((stats.held_bytes, stats.in_use, stats.discarded), (0, 0, 1));
        assert!(Arc::strong_count(&prefix) > count, "it was freed here");
        drop(open);
        wait_until(|| Arc::strong_count(&prefix) == count);
    });
}

#[test]
fn a_small_context_and_one_of_a_thread_without_a_runtime_are_freed_at_once() {
    let (prefix, options, count) = prefix();
    drop(Pool::default().encoder(&options, None).unwrap());
    assert_eq!(Arc::strong_count(&prefix), count);
    let runtime = Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        drop(Pool::default().encoder(&options, Some(1_000)).unwrap());
        assert_eq!(Arc::strong_count(&prefix), count);
    });
}

#[test]
fn the_budget_holds_while_large_contexts_wait_to_be_freed() {
    let runtime = Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        let (open, gate) = mpsc::channel();
        turns::discard(Gate(gate), usize::MAX);
        let options = |level| EncoderOptions::default().with_level(level);
        let need = options(9).memory_estimate_bytes(None);
        let pool = Pool::new(PoolOptions::default().with_memory_budget_bytes(need));
        for round in 1..=3 {
            // Neither fits next to the other: each is evicted for the next one, once.
            for level in [9, 8] {
                let mut encoder = pool.encoder(&options(level), None).unwrap();
                let mut frame = vec![0; 1_000];
                let step = encoder.push(b"content", &mut frame, Operation::End);
                frame.truncate(step.unwrap().produced);
                let content = zstdkit::decompress(&frame, &DecoderOptions::default());
                assert_eq!(content.unwrap(), b"content");
            }
            let stats = pool.stats();
            assert!(stats.held_bytes <= need);
            assert_eq!((stats.evictions, stats.refused), (2 * round - 1, 0));
        }
        drop(open);
    });
}
