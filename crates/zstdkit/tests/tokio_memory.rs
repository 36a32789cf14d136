//! A budget that waits: streams and calls of a runtime that need more memory together than the pool may hold.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use crate::common::{ends, prose};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::runtime::{Builder, Runtime};
use zstdkit::schedule::{CostModel, Offload};
use zstdkit::tokio::{AsyncEncoder, Scheduler};
use zstdkit::{DecoderOptions, EncoderOptions, ErrorKind, Pool, PoolOptions};

/// More than a stream of unknown size gathers before it takes a context.
const CONTENT_BYTES: usize = 200_000;

fn runtime(workers: usize) -> Runtime {
    match workers {
        0 => Builder::new_current_thread().build().unwrap(),
        _ => Builder::new_multi_thread()
            .worker_threads(workers)
            .build()
            .unwrap(),
    }
}

/// A scheduler whose pool has memory for so many streams of unknown size.
fn scheduler(options: &EncoderOptions, streams: u64, threshold_ns: u64) -> Scheduler {
    let budget = options.memory_estimate_bytes(None) * streams;
    let pool = Pool::new(PoolOptions::default().with_memory_budget_bytes(budget));
    let offload = Offload::new(2).unwrap();
    Scheduler::new(CostModel::new(threshold_ns), pool, offload)
}

fn decoded(frames: &[u8]) -> Vec<u8> {
    zstdkit::decompress(frames, &DecoderOptions::default()).unwrap()
}

fn sink(scheduler: &Scheduler, options: &EncoderOptions) -> AsyncEncoder<Vec<u8>> {
    scheduler.encoder(Vec::new(), options, None).unwrap()
}

/// Threads may still hold a context for a moment.
fn settle(scheduler: &Scheduler) {
    let stats = || scheduler.pool().stats();
    let end = Instant::now() + Duration::from_secs(120);
    while stats().in_use > 0 || stats().waiting > 0 {
        assert!(Instant::now() < end, "{:?}", stats());
        std::thread::sleep(Duration::from_millis(1));
    }
    assert_eq!((stats().refused, stats().discarded), (0, 0));
}

#[test]
fn more_streams_than_the_budget_has_room_for_all_complete() {
    let options = EncoderOptions::default().with_level(2);
    for workers in [0, 2] {
        for threshold_ns in [0, 100_000, u64::MAX] {
            let scheduler = scheduler(&options, 2, threshold_ns);
            let runtime = runtime(workers);
            let tasks: Vec<_> = (0..60)
                .map(|seed| {
                    let (scheduler, options) = (scheduler.clone(), options.clone());
                    runtime.spawn(async move {
                        let content = prose(seed, CONTENT_BYTES);
                        let mut encoder = sink(&scheduler, &options);
                        for piece in content.chunks(20_000) {
                            encoder.write_all(piece).await.unwrap();
                            if seed % 3 == 0 {
                                encoder.flush().await.unwrap();
                            }
                        }
                        encoder.shutdown().await.unwrap();
                        assert!(decoded(&encoder.into_inner()) == content);
                    })
                })
                .collect();
            runtime.block_on(async {
                for task in tasks {
                    task.await.unwrap();
                }
            });
            settle(&scheduler);
        }
    }
}

#[test]
fn one_task_may_write_to_more_streams_than_the_budget_has_room_for() {
    let options = EncoderOptions::default().with_level(2);
    for threshold_ns in [0, u64::MAX] {
        let scheduler = scheduler(&options, 2, threshold_ns);
        let contents: Vec<_> = (0..8).map(|seed| prose(seed, CONTENT_BYTES)).collect();
        let frames = runtime(0).block_on(async {
            let mut encoders: Vec<_> = contents
                .iter()
                .map(|_| sink(&scheduler, &options))
                .collect();
            for half in 0..2 {
                for (encoder, content) in encoders.iter_mut().zip(&contents) {
                    let part = &content[half * CONTENT_BYTES / 2..][..CONTENT_BYTES / 2];
                    encoder.write_all(part).await.unwrap();
                    encoder.flush().await.unwrap();
                }
            }
            let mut frames = Vec::new();
            for mut encoder in encoders {
                encoder.shutdown().await.unwrap();
                encoder.shutdown().await.unwrap();
                frames.push(encoder.into_inner());
            }
            frames
        });
        for (frames, content) in frames.iter().zip(&contents) {
            assert!(decoded(frames) == *content);
        }
        // A decoder of streams reads all frames, too.
        runtime(0).block_on(async {
            let options = DecoderOptions::default();
            let mut content = Vec::new();
            let mut decoder = scheduler.decoder(&frames[0][..], &options).unwrap();
            decoder.read_to_end(&mut content).await.unwrap();
            assert!(content == contents[0]);
        });
        assert!(scheduler.pool().stats().waited > 0);
        settle(&scheduler);
    }
}

/// Connections that stay open, and write and flush now and then: both ends of each have contexts of one scheduler, whose
/// budget has room for a few.
#[test]
fn both_ends_of_more_connections_than_the_budget_has_room_for_go_on() {
    const CONNECTIONS: u64 = 24;
    const MESSAGES: usize = 40;
    let options = EncoderOptions::default().with_level(3);
    let scheduler = scheduler(&options, 4, 100_000);
    for workers in 0..=2 {
        // Without workers, the thread that waits runs all tasks.
        let mut builder = match workers {
            0 => Builder::new_current_thread(),
            _ => Builder::new_multi_thread(),
        };
        let runtime = builder
            .worker_threads(workers.max(1))
            .enable_time()
            .build()
            .unwrap();
        let tasks: Vec<_> = (0..CONNECTIONS)
            .flat_map(|seed| {
                let content = prose(seed, MESSAGES * 2_000);
                let (to, from) = tokio::io::duplex(64 << 10);
                let mut encoder = scheduler.encoder(to, &options, None).unwrap();
                let mut decoder = scheduler.decoder(from, &DecoderOptions::default()).unwrap();
                let sent = content.clone();
                let sends = runtime.spawn(async move {
                    for (nth, message) in sent.chunks(2_000).enumerate() {
                        let pause = 2 + (seed + nth as u64) % 5;
                        tokio::time::sleep(Duration::from_millis(pause)).await;
                        encoder.write_all(message).await.unwrap();
                        encoder.flush().await.unwrap();
                    }
                    encoder.shutdown().await.unwrap();
                });
                let receives = runtime.spawn(async move {
                    let mut received = Vec::new();
                    decoder.read_to_end(&mut received).await.unwrap();
                    assert!(received == content);
                });
                [sends, receives]
            })
            .collect();
        runtime.block_on(async {
            for task in tasks {
                task.await.unwrap();
            }
        });
        settle(&scheduler);
    }
    let stats = scheduler.pool().stats();
    assert!(stats.waited > 0, "{stats:?}");
    // Each message takes a few contexts. Who waits does not take and give back one again and again.
    let messages = 3 * CONNECTIONS * MESSAGES as u64;
    assert!(
        stats.hits_thread + stats.hits_spill < 100 * messages,
        "{stats:?}"
    );
}

#[test]
fn calls_that_wait_for_their_turn_have_no_context() {
    const CALLS: u64 = 200;
    let scheduler = Scheduler::with_defaults().unwrap();
    let runtime = Builder::new_current_thread().build().unwrap();
    // Too long for one call, and short enough for slices.
    let options = EncoderOptions::default().with_level(3);
    let calls: Vec<_> = (0..CALLS)
        .map(|seed| {
            let (scheduler, options) = (scheduler.clone(), options.clone());
            let content = prose(seed, 100_000);
            runtime.spawn(async move {
                let frame = scheduler.compress(content.clone(), &options).await;
                assert!(decoded(&frame.unwrap()) == content);
            })
        })
        .collect();
    runtime.block_on(async {
        for call in calls {
            call.await.unwrap();
        }
    });
    let stats = scheduler.pool().stats();
    assert!(stats.misses < CALLS / 4, "{stats:?}");
}

#[test]
#[ignore = "long: cargo xtask ci runs it"]
fn sixty_four_streams_at_level_9_need_no_more_than_the_default_budget() {
    let scheduler = Scheduler::with_defaults().unwrap();
    let options = EncoderOptions::default().with_level(9);
    let content = prose(9, CONTENT_BYTES);
    runtime(0).block_on(async {
        let mut encoders: Vec<_> = (0..64).map(|_| sink(&scheduler, &options)).collect();
        for encoder in &mut encoders {
            encoder.write_all(&content).await.unwrap();
        }
        for mut encoder in encoders {
            encoder.shutdown().await.unwrap();
            assert!(decoded(&encoder.into_inner()) == content);
        }
    });
    settle(&scheduler);
}

#[test]
fn a_stream_of_stated_size_keeps_its_frame_and_others_go_beyond_the_budget() {
    let options = EncoderOptions::default().with_level(1);
    let scheduler = scheduler(&options, 1, u64::MAX);
    let content = prose(1, 4 << 20);
    runtime(0).block_on(async {
        let size = Some(content.len() as u64);
        let mut encoders = [0, 1].map(|_| scheduler.encoder(Vec::new(), &options, size).unwrap());
        for part in content.chunks(2 << 20) {
            for encoder in &mut encoders {
                encoder.write_all(part).await.unwrap();
            }
        }
        for mut encoder in encoders {
            encoder.shutdown().await.unwrap();
            let frame = encoder.into_inner();
            assert!(decoded(&frame) == content);
            assert_eq!(zstdkit::frame::list(&frame).unwrap().len(), 1);
        }
    });
    let stats = scheduler.pool().stats();
    assert!(
        stats.beyond_budget >= 1 && stats.longest_wait_ns > 1_000_000_000,
        "{stats:?}"
    );
    settle(&scheduler);
}

#[test]
fn calls_wait_for_what_streams_hold_and_for_each_other() {
    let options = EncoderOptions::default().with_level(2);
    for (workers, threshold_ns) in [(0, 0), (0, 100_000), (0, u64::MAX), (2, 0), (2, 100_000)] {
        let scheduler = scheduler(&options, 1, threshold_ns);
        let runtime = runtime(workers);
        let calls: Vec<_> = (0..40_u64)
            .map(|seed| {
                let (scheduler, options) = (scheduler.clone(), options.clone());
                runtime.spawn(async move {
                    let content = prose(seed, 5_000 << (seed % 8));
                    let frame = scheduler.compress(content.clone(), &options).await.unwrap();
                    let decoder = DecoderOptions::default();
                    assert!(scheduler.decompress(frame, &decoder).await.unwrap() == content);
                })
            })
            .collect();
        runtime.block_on(async {
            for call in calls {
                call.await.unwrap();
            }
        });
        settle(&scheduler);
    }
}

#[test]
fn what_exceeds_the_whole_budget_is_an_error_at_once() {
    let options = EncoderOptions::default().with_level(9);
    let pool = Pool::new(PoolOptions::default().with_memory_budget_bytes(1 << 20));
    let scheduler = Scheduler::new(CostModel::new(0), pool, Offload::new(1).unwrap());
    runtime(0).block_on(async {
        let mut encoder = sink(&scheduler, &options);
        let error = encoder.write_all(&prose(1, 300_000)).await.unwrap_err();
        let error = error.downcast::<zstdkit::Error>().unwrap();
        assert_eq!(error.kind(), ErrorKind::MemoryLimit);
        let error = scheduler.compress(prose(1, 8 << 20), &options).await;
        assert_eq!(error.unwrap_err().kind(), ErrorKind::MemoryLimit);
    });
    assert_eq!(scheduler.pool().stats().waited, 0);
}

#[test]
fn who_waits_may_be_dropped_or_left_alone() {
    let options = EncoderOptions::default().with_level(2);
    let scheduler = scheduler(&options, 1, u64::MAX);
    let held = scheduler.pool().encoder(&options, None).unwrap();
    let content = prose(3, CONTENT_BYTES);
    let mut encoders: Vec<_> = (0..6).map(|_| sink(&scheduler, &options)).collect();
    let mut last = encoders.pop().unwrap();
    let runtime = runtime(0);
    runtime.block_on(async {
        // All wait; one write is dropped with its future, one encoder altogether, and the others are never polled
        // again.
        let mut kept = Vec::new();
        for mut encoder in encoders.drain(..) {
            let content = content.clone();
            let mut writing = Box::pin(async move {
                encoder.write_all(&content).await.unwrap();
            });
            let first = poll_fn(|context| Poll::Ready(writing.as_mut().poll(context).is_ready()));
            assert!(!first.await);
            kept.push(writing);
        }
        assert_eq!(scheduler.pool().stats().waiting, 5);
        drop(kept.remove(0));
        assert_eq!(scheduler.pool().stats().waiting, 4);
        {
            let mut writing = pin!(last.write_all(&content));
            let mut context = Context::from_waker(Waker::noop());
            assert!(writing.as_mut().poll(&mut context).is_pending());
        }
        assert_eq!(scheduler.pool().stats().waiting, 5);
        drop(held);
        // Those before it are passed over. What was written of it is still there.
        last.shutdown().await.unwrap();
        let written = decoded(last.get_ref());
        assert!(!written.is_empty() && content.starts_with(&written));
        drop(kept);
    });
    drop(last);
    settle(&scheduler);
}

#[test]
fn a_runtime_may_end_while_streams_wait_for_memory() {
    let options = EncoderOptions::default().with_level(2);
    for workers in 0..3 {
        let scheduler = scheduler(&options, 1, 100_000);
        let held = scheduler.pool().encoder(&options, None).unwrap();
        let runtime = runtime(workers);
        for seed in 0..20 {
            let (scheduler, options) = (scheduler.clone(), options.clone());
            runtime.spawn(async move {
                let content = prose(seed, CONTENT_BYTES);
                let mut encoder = sink(&scheduler, &options);
                encoder.write_all(&content).await.unwrap();
                encoder.shutdown().await.unwrap();
            });
        }
        runtime.block_on(async {
            while scheduler.pool().stats().waiting == 0 {
                tokio::task::yield_now().await;
            }
        });
        drop(runtime);
        assert_eq!(scheduler.pool().stats().waiting, 0);
        drop(held);
        settle(&scheduler);
        // Others are served as before.
        let frame = self::runtime(0).block_on(scheduler.compress(prose(1, 50_000), &options));
        assert!(decoded(&frame.unwrap()) == prose(1, 50_000));
    }
}

/// `cargo test --release -p zstdkit --features tokio --test main thousand -- --ignored` takes about half a minute.
#[test]
#[ignore = "takes minutes without optimisation"]
fn a_thousand_streams_at_level_9_complete_in_256_mib() {
    let start = Instant::now();
    let longest_ms = Arc::<AtomicU64>::default();
    let scheduler = Scheduler::with_defaults().unwrap();
    let options = EncoderOptions::default().with_level(9);
    let runtime = runtime(0);
    let tasks: Vec<_> = (0..1000)
        .map(|seed| {
            let (scheduler, options) = (scheduler.clone(), options.clone());
            let longest_ms = longest_ms.clone();
            runtime.spawn(async move {
                let content = prose(seed, CONTENT_BYTES);
                let mut encoder = sink(&scheduler, &options);
                for piece in content.chunks(50_000) {
                    let begun = Instant::now();
                    encoder.write_all(piece).await.unwrap();
                    longest_ms.fetch_max(begun.elapsed().as_millis() as u64, Relaxed);
                    tokio::task::yield_now().await;
                }
                let begun = Instant::now();
                encoder.shutdown().await.unwrap();
                longest_ms.fetch_max(begun.elapsed().as_millis() as u64, Relaxed);
                assert!(decoded(&encoder.into_inner()) == content);
            })
        })
        .collect();
    runtime.block_on(async {
        for task in tasks {
            task.await.unwrap();
        }
    });
    settle(&scheduler);
    let stats = scheduler.pool().stats();
    println!(
        "waited for memory {}, longest {:?}, beyond the budget {}; longest call {} ms of {:?} in all, misses {}",
        stats.waited,
        Duration::from_nanos(stats.longest_wait_ns),
        stats.beyond_budget,
        longest_ms.load(Relaxed),
        start.elapsed(),
        stats.misses
    );
    assert!(
        stats.held_bytes <= stats.budget_bytes || stats.beyond_budget > 0,
        "{stats:?}"
    );
}

/// A frame that states a window of a megabyte and a wrong checksum, so that a call needs memory for all of the window;
/// and how much it then needs.
fn frame_with_a_window() -> (Vec<u8>, u64) {
    let content = [7; 100];
    // A checksum and no size; the window; the header of the last block, which is stored.
    let mut frame = vec![0x28, 0xb5, 0x2f, 0xfd, 0x04, (20 - 10) << 3];
    frame.extend(&(content.len() as u32 * 8 + 1).to_le_bytes()[..3]);
    frame.extend(content);
    frame.extend([0; 4]);
    let pool = Pool::default();
    let mut decompressor = pool.decompressor(&DecoderOptions::default()).unwrap();
    let error = decompressor.decompress(&frame).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Checksum);
    let need = pool.stats().held_bytes;
    assert!(need > 1 << 20, "{need}");
    (frame, need)
}

#[test]
fn a_call_whose_frame_needs_more_than_the_budget_is_an_error_and_holds_up_no_other() {
    ends(|| {
        let (frame, need) = frame_with_a_window();
        // Each part of it is less than the budget.
        let pool = Pool::new(PoolOptions::default().with_memory_budget_bytes(need - 1));
        let scheduler = Scheduler::new(CostModel::new(u64::MAX), pool, Offload::new(1).unwrap());
        runtime(0).block_on(async {
            let options = DecoderOptions::default();
            let error = scheduler.decompress(frame, &options).await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::MemoryLimit);
            let frame = zstdkit::compress(&prose(1, 100), &EncoderOptions::default()).unwrap();
            let content = scheduler.decompress(frame, &options).await.unwrap();
            assert!(content == prose(1, 100));
        });
        assert_eq!(scheduler.pool().stats().waiting, 0);
    });
}

#[test]
fn a_call_whose_frame_needs_much_is_served_although_others_keep_their_memory() {
    ends(|| {
        let (frame, need) = frame_with_a_window();
        let options = DecoderOptions::default();
        let pool = Pool::new(PoolOptions::default().with_memory_budget_bytes(need));
        // It is not given back.
        let _kept = pool.decoder(&options).unwrap();
        let offload = Offload::new(1).unwrap();
        let scheduler = Scheduler::new(CostModel::new(u64::MAX), pool.clone(), offload);
        let error = runtime(0).block_on(scheduler.decompress(frame, &options));
        assert_eq!(error.unwrap_err().kind(), ErrorKind::Checksum);
        assert_eq!(pool.stats().waiting, 0);
    });
}
