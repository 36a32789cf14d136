//! The pool: which contexts it hands out, which it discards, and that its budget holds.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, mpsc};
use std::thread;

use crate::common::{self, noise, prose};
use zstdkit::{
    DecoderOptions, Dictionary, EncoderOptions, ErrorKind, Operation, Pool, PoolOptions, State,
};

fn pool(memory_budget_bytes: u64) -> Pool {
    Pool::new(PoolOptions::default().with_memory_budget_bytes(memory_budget_bytes))
}

fn at(level: i32) -> EncoderOptions {
    EncoderOptions::default().with_level(level)
}

fn round_trip(pool: &Pool, options: &EncoderOptions, content: &[u8]) {
    let size = Some(content.len() as u64);
    let frame = pool
        .compressor(options, size)
        .unwrap()
        .compress(content)
        .unwrap();
    let mut decompressor = pool.decompressor(&DecoderOptions::default()).unwrap();
    assert!(decompressor.decompress(&frame).unwrap() == content);
}

#[test]
fn a_context_comes_back_to_its_thread() {
    let pool = Pool::default();
    let content = prose(1, 2000);
    for _ in 0..10 {
        round_trip(&pool, &at(3), &content);
    }
    let stats = pool.stats();
    assert_eq!(
        (stats.misses, stats.hits_thread, stats.hits_spill),
        (2, 18, 0)
    );
    assert_eq!((stats.in_use, stats.idle), (0, 2));
    assert_eq!(stats.held_bytes, stats.idle_bytes);
    let guard = pool.compressor(&at(3), Some(2000)).unwrap();
    assert_eq!(pool.stats().in_use, 1);
    drop(guard);
    assert_eq!(pool.stats().in_use, 0);
}

#[test]
fn contexts_of_other_options_and_sizes_are_kept_apart() {
    let pool = Pool::default();
    for (level, bytes) in [(3, 2000), (3, 1 << 20), (5, 2000), (3, 2000), (3, 1 << 20)] {
        round_trip(&pool, &at(level), &prose(2, bytes));
    }
    // Three compressors and a decompressor.
    assert_eq!(pool.stats().misses, 4);
    let no_checksum = at(3).with_checksum(false);
    round_trip(&pool, &no_checksum, &prose(2, 2000));
    assert_eq!(pool.stats().misses, 5);
    let small = pool.compressor(&at(3), Some(2000)).unwrap();
    let large = pool.compressor(&at(3), Some(1 << 20)).unwrap();
    assert!(small.memory_bytes() * 4 < large.memory_bytes());
}

#[test]
fn small_calls_never_shrink_a_large_context() {
    let pool = Pool::default();
    let large = prose(3, 1 << 20);
    round_trip(&pool, &at(9), &large);
    let before = pool
        .compressor(&at(9), Some(1 << 20))
        .unwrap()
        .memory_bytes();
    let small = prose(4, 2000);
    for _ in 0..300 {
        round_trip(&pool, &at(9), &small);
    }
    let after = pool
        .compressor(&at(9), Some(1 << 20))
        .unwrap()
        .memory_bytes();
    assert_eq!(before, after);
    assert_eq!(pool.stats().misses, 3);
}

#[test]
fn a_compressor_of_any_size_asks_for_what_each_call_needs() {
    let pool = pool(1 << 20);
    let mut compressor = pool.compressor(&at(19), None).unwrap();
    assert!(pool.stats().held_bytes < 600 << 10);
    let small = prose(5, 2000);
    let frame = compressor.compress(&small).unwrap();
    let error = compressor.compress(&prose(5, 8 << 20)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::MemoryLimit);
    assert!(error.help().is_some());
    // The context still works.
    assert_eq!(compressor.compress(&small).unwrap(), frame);
    drop(compressor);
    assert_eq!((pool.stats().idle, pool.stats().refused), (1, 1));
}

#[test]
fn the_budget_is_kept_by_dropping_the_longest_unused() {
    let content = prose(6, 2000);
    let one = at(1).one_shot_estimate_bytes(Some(2000));
    let pool = Pool::new(
        PoolOptions::default()
            .with_memory_budget_bytes(one * 3)
            .with_per_thread_cached(100)
            .with_spill_max(100),
    );
    let compress = |checksum, level| {
        let options = at(level).with_checksum(checksum);
        let mut compressor = pool.compressor(&options, Some(2000)).unwrap();
        compressor.compress(&content).unwrap();
        assert!(pool.stats().held_bytes <= one * 3);
    };
    for level in [-1, -2, -3] {
        compress(true, level);
    }
    let before = pool.stats();
    // -1 is used again, so -2 is the longest unused when room is needed.
    compress(true, -1);
    compress(false, 1);
    compress(true, -1);
    let after = pool.stats();
    assert!(after.evictions > before.evictions);
    assert_eq!(after.misses, before.misses + 1);
    compress(true, -2);
    assert_eq!(pool.stats().misses, after.misses + 1);
}

#[test]
fn what_cannot_fit_is_refused_before_it_is_made() {
    let pool = pool(64 << 20);
    let error = pool.encoder(&at(22), None).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::MemoryLimit);
    assert_eq!(pool.stats().held_bytes, 0);
    assert_eq!(pool.stats().refused, 1);
    // With a known size it fits.
    let mut encoder = pool.encoder(&at(22), Some(2000)).unwrap();
    let error = encoder.begin(None).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::MemoryLimit);
    assert!(encoder.begin(Some(3000)).is_ok());
}

#[test]
fn contexts_in_use_are_not_taken_for_room() {
    let one = at(3).one_shot_estimate_bytes(Some(2000));
    let pool = pool(one * 2 + one / 2);
    let first = pool.compressor(&at(3), Some(2000)).unwrap();
    let second = pool.compressor(&at(3), Some(2000)).unwrap();
    let error = pool.compressor(&at(3), Some(2000)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::MemoryLimit);
    drop(first);
    assert!(pool.compressor(&at(3), Some(2000)).is_ok());
    drop(second);
}

#[test]
fn a_window_is_set_aside_before_it_is_allocated() {
    let wide = EncoderOptions::default()
        .with_window_log(23)
        .with_content_size(false);
    let mut encoder = zstdkit::Encoder::new(&wide).unwrap();
    let content = prose(7, 100_000);
    let frame = common::encode(&mut encoder, &content, &[9999], 50_000, &[]).unwrap();

    let small = pool(4 << 20);
    for _ in 0..3 {
        let mut decoder = small.decoder(&DecoderOptions::default()).unwrap();
        let found = common::decode_with(&mut decoder, &frame, &[5000], &[5000]);
        assert_eq!(found.result.unwrap_err().kind(), ErrorKind::MemoryLimit);
        assert!(small.stats().held_bytes <= 4 << 20);
    }
    // The input or the budget caused the error, so the context still works.
    let stats = small.stats();
    assert_eq!((stats.discarded, stats.misses, stats.idle), (0, 1, 1));

    let enough = pool(10 << 20);
    let mut decoder = enough.decoder(&DecoderOptions::default()).unwrap();
    let found = common::decode_with(&mut decoder, &frame, &[5000], &[5000]);
    assert!(found.content == content);
    assert!(enough.stats().held_bytes >= 8 << 20);
    drop(decoder);
    assert_eq!(enough.stats().held_bytes, enough.stats().idle_bytes);
    enough.clear();
    assert_eq!(enough.stats().held_bytes, 0);
}

#[test]
fn a_decompressor_counts_both_of_its_paths() {
    let unsized_frame = EncoderOptions::default().with_content_size(false);
    let content = vec![7; 20 << 20];
    let mut frame = zstdkit::compress(&content, &unsized_frame).unwrap();
    let pool = pool(1 << 20);
    // The ratio is too high to decode in one call, and then the window exceeds the budget.
    let mut decompressor = pool.decompressor(&DecoderOptions::default()).unwrap();
    let error = decompressor.decompress(&frame).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::MemoryLimit, "{error}");
    frame.truncate(frame.len() - 1);
    drop(decompressor);
    let stats = pool.stats();
    assert!(stats.held_bytes <= 1 << 20 && stats.held_bytes == stats.idle_bytes);
}

#[test]
fn an_error_of_the_input_leaves_the_context_as_new() {
    let pool = Pool::default();
    let content = prose(8, 50_000);
    let good = zstdkit::compress(&content, &at(3)).unwrap();
    let mut bad = good.clone();
    bad[9000] ^= 0x55;
    for _ in 0..3 {
        let mut decompressor = pool.decompressor(&DecoderOptions::default()).unwrap();
        decompressor.decompress(&bad).unwrap_err();
        drop(decompressor);
        let mut decompressor = pool.decompressor(&DecoderOptions::default()).unwrap();
        assert!(decompressor.decompress(&good).unwrap() == content);
        let mut decoder = pool.decoder(&DecoderOptions::default()).unwrap();
        let mut buffer = vec![0; 1 << 20];
        let step = decoder.push(&good[..1000], &mut buffer).unwrap();
        assert_eq!(step.state, State::NeedInput);
        drop(decoder);
        // The unfinished frame is forgotten.
        let mut decoder = pool.decoder(&DecoderOptions::default()).unwrap();
        assert!(common::decode_with(&mut decoder, &good, &[777], &[999]).content == content);
    }
    assert_eq!((pool.stats().discarded, pool.stats().misses), (0, 2));
}

#[test]
fn a_half_encoded_frame_is_forgotten() {
    let pool = Pool::default();
    let content = prose(9, 300_000);
    let mut expected = None;
    for _ in 0..3 {
        let mut encoder = pool.encoder(&at(3), None).unwrap();
        let mut buffer = vec![0; 1 << 20];
        let step = encoder
            .push(&content, &mut buffer, Operation::Flush)
            .unwrap();
        assert!(step.consumed > 0);
        drop(encoder);
        let mut encoder = pool.encoder(&at(3), None).unwrap();
        let frame = common::encode(&mut encoder, &content, &[7000], 9000, &[]).unwrap();
        assert!(*expected.get_or_insert_with(|| frame.clone()) == frame);
        encoder.begin(Some(3)).unwrap();
        encoder
            .push(b"four", &mut buffer, Operation::End)
            .unwrap_err();
    }
    assert_eq!((pool.stats().discarded, pool.stats().misses), (0, 1));
}

#[test]
fn a_panic_in_flight_discards_the_context() {
    let pool = Pool::default();
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        let _guard = pool.compressor(&at(3), Some(100)).unwrap();
        std::panic::resume_unwind(Box::new("a caller's bug"));
    }));
    assert!(panicked.is_err());
    let stats = pool.stats();
    assert_eq!((stats.discarded, stats.idle, stats.held_bytes), (1, 0, 0));
    pool.compressor(&at(3), Some(100)).unwrap().discard();
    assert_eq!((pool.stats().discarded, pool.stats().held_bytes), (2, 0));
}

#[test]
fn contexts_with_a_prefix_are_counted_but_not_kept() {
    let pool = Pool::default();
    let reference = prose(10, 5000);
    let options = EncoderOptions::default().with_prefix(Arc::<[u8]>::from(reference.clone()));
    let frame = pool
        .compressor(&options, Some(5000))
        .unwrap()
        .compress(&reference)
        .unwrap();
    assert!(frame.len() < 100);
    assert_eq!((pool.stats().idle, pool.stats().held_bytes), (0, 0));
}

#[test]
fn contexts_keep_their_dictionary() {
    let pool = Pool::default();
    let contents: Vec<_> = (0..4).map(|seed| prose(seed, 3000)).collect();
    let options: Vec<_> = contents
        .iter()
        .map(|content| {
            EncoderOptions::default().with_dictionary(Dictionary::new(content.clone()).unwrap())
        })
        .collect();
    for _ in 0..3 {
        for (content, options) in contents.iter().zip(&options) {
            let mut compressor = pool.compressor(options, Some(3000)).unwrap();
            let frame = compressor.compress(content).unwrap();
            assert!(frame.len() < 100, "{}", frame.len());
        }
    }
    assert_eq!((pool.stats().misses, pool.stats().hits_thread), (4, 8));
}

#[test]
fn what_a_thread_kept_is_there_for_others_when_it_ends() {
    let pool = Pool::default();
    let content = prose(11, 2000);
    for _ in 0..5 {
        thread::scope(|scope| {
            // Only a join waits for the last thing that a thread does.
            let thread = scope.spawn(|| round_trip(&pool, &at(3), &content));
            thread.join().unwrap();
        });
    }
    let stats = pool.stats();
    assert_eq!((stats.misses, stats.hits_spill), (2, 8));
    assert_eq!((stats.idle, stats.in_use), (2, 0));
}

#[test]
fn a_large_context_is_taken_from_another_thread_before_one_is_made() {
    let pool = Pool::default();
    let large = || drop(pool.encoder(&at(9), None).unwrap());
    let small = || drop(pool.encoder(&at(9), Some(2000)).unwrap());
    large();
    small();
    let held_bytes = pool.stats().held_bytes;
    thread::scope(|scope| scope.spawn(large).join().unwrap());
    let stats = pool.stats();
    assert_eq!((stats.misses, stats.hits_spill), (2, 1));
    assert_eq!((stats.held_bytes, stats.idle), (held_bytes, 2));
    // A small one is made, so that each thread has its own.
    thread::scope(|scope| scope.spawn(small).join().unwrap());
    assert_eq!(pool.stats().misses, 3);
    // One in use is nobody else's.
    let guard = pool.encoder(&at(9), None).unwrap();
    thread::scope(|scope| scope.spawn(large).join().unwrap());
    drop(guard);
    let stats = pool.stats();
    assert_eq!((stats.misses, stats.in_use), (4, 0));
}

#[test]
fn a_guard_goes_home_from_any_thread() {
    let pool = Pool::default();
    let (send, receive) = mpsc::channel();
    thread::scope(|scope| {
        scope.spawn(move || {
            for guard in receive {
                drop(guard);
            }
        });
        for _ in 0..100 {
            send.send(pool.compressor(&at(1), Some(2000)).unwrap())
                .unwrap();
        }
        drop(send);
    });
    let stats = pool.stats();
    assert_eq!(stats.in_use, 0);
    assert_eq!(stats.misses + stats.hits_thread + stats.hits_spill, 100);
    assert!(pool.stats().idle <= 8 + 32);
}

#[test]
fn a_guard_may_outlive_its_pool() {
    let pool = Pool::default();
    let mut guard = pool.compressor(&at(3), Some(2000)).unwrap();
    drop(pool);
    let frame = guard.compress(b"content").unwrap();
    drop(guard);
    assert_eq!(
        zstdkit::decompress(&frame, &DecoderOptions::default()).unwrap(),
        b"content"
    );
    // A later pool on the same thread knows nothing of the earlier one.
    let pool = Pool::default();
    assert!(pool.compressor(&at(3), Some(2000)).is_ok());
    assert_eq!(pool.stats().misses, 1);
}

#[test]
fn trimming_drops_what_was_not_used_since_the_last_time() {
    let pool = Pool::default();
    round_trip(&pool, &at(3), &prose(12, 2000));
    round_trip(&pool, &at(4), &prose(12, 2000));
    pool.trim();
    assert_eq!(pool.stats().idle, 3);
    round_trip(&pool, &at(3), &prose(12, 2000));
    pool.trim();
    assert_eq!((pool.stats().idle, pool.stats().evictions), (2, 1));
    pool.trim();
    pool.trim();
    assert_eq!((pool.stats().idle, pool.stats().held_bytes), (0, 0));
}

#[test]
fn caches_and_spill_are_bounded() {
    let pool = Pool::new(
        PoolOptions::default()
            .with_per_thread_cached(2)
            .with_spill_max(3),
    );
    let guards: Vec<_> = (0..10)
        .map(|_| pool.decompressor(&DecoderOptions::default()).unwrap())
        .collect();
    assert_eq!(pool.stats().in_use, 10);
    drop(guards);
    assert_eq!((pool.stats().idle, pool.stats().evictions), (5, 5));
    let none = Pool::new(
        PoolOptions::default()
            .with_per_thread_cached(0)
            .with_spill_max(0),
    );
    round_trip(&none, &at(3), b"content");
    assert_eq!((none.stats().idle, none.stats().held_bytes), (0, 0));
}

/// Two threads with a tight budget, errors and panics, and a third thread that trims and reads statistics.
#[test]
fn under_stress_the_budget_holds_and_nothing_is_lost() {
    const CALLS: u64 = 10_000;
    const BUDGET: u64 = 1_200_000;
    let pool = Pool::new(
        PoolOptions::default()
            .with_memory_budget_bytes(BUDGET)
            .with_per_thread_cached(3)
            .with_spill_max(3),
    );
    let refused = thread::scope(|scope| {
        let workers: Vec<_> = (0..2)
            .map(|seed| {
                let pool = &pool;
                scope.spawn(move || (0..CALLS).filter(|&call| !stress(pool, seed, call)).count())
            })
            .collect();
        while workers.iter().any(|worker| !worker.is_finished()) {
            let stats = pool.stats();
            assert!(stats.held_bytes <= BUDGET, "{stats:?}");
            pool.trim();
            thread::yield_now();
        }
        let counts = workers.into_iter().map(|worker| worker.join().unwrap());
        counts.sum::<usize>()
    });
    let stats = pool.stats();
    assert_eq!(stats.in_use, 0, "{stats:?}");
    assert_eq!(stats.held_bytes, stats.idle_bytes, "{stats:?}");
    assert!(
        stats.discarded > 100 && stats.hits_thread > 1000,
        "{stats:?}"
    );
    assert!((refused as u64) < CALLS, "{refused} refused: {stats:?}");
    assert_eq!(
        stats.misses,
        stats.idle + stats.evictions + stats.discarded,
        "{stats:?}"
    );
    pool.clear();
    assert_eq!((pool.stats().held_bytes, pool.stats().idle), (0, 0));
}

/// One call; `false` if the budget refused it.
fn stress(pool: &Pool, seed: u64, call: u64) -> bool {
    let choice = (call * 2 + seed).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
    let options = at([1, 3, -5][choice as usize % 3]);
    let content = noise(choice, [10, 300, 5000][(choice / 3) as usize % 3]);
    let size = Some(content.len() as u64);
    let compressor = pool.compressor(&options, size);
    let decompressor = pool.decompressor(&DecoderOptions::default());
    let (Ok(mut compressor), Ok(mut decompressor)) = (compressor, decompressor) else {
        return false;
    };
    match choice / 9 % 50 {
        0 => {
            let panicked = catch_unwind(AssertUnwindSafe(move || {
                let _both = (compressor, decompressor);
                std::panic::resume_unwind(Box::new("injected"));
            }));
            assert!(panicked.is_err());
        }
        1 => {
            assert!(compressor.compress_to_slice(&content, &mut [0; 2]).is_err());
            assert!(decompressor.decompress(&content).is_err());
        }
        2 => compressor.discard(),
        _ => {
            let frame = compressor.compress(&content).unwrap();
            assert!(decompressor.decompress(&frame).unwrap() == content);
        }
    }
    true
}
