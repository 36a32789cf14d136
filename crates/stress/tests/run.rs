//! Whole runs. None depends on the speed or load of the machine: they end after a number of blocks, and they
//! assert counts.

use std::time::{Duration, Instant};

use perfkit_stress::{Buckets, DataKind, Faults, Finding, Loop, Pace, Plan, PoolKind, codec, run};

/// A run of `blocks` blocks; the duration only stops a run that hangs.
fn plan(blocks: u64) -> Plan {
    Plan::default()
        .producers(20)
        .consumers(20)
        .blocks_max(Some(blocks))
        .duration(Duration::from_secs(60))
}

fn found(plan: &Plan, codec: &str) -> Finding {
    run(plan, codec::by_name(codec).expect("known"), &mut |_| true).expect("runs")
}

#[test]
fn every_codec_through_every_sound_pool_comes_back_verified_and_leaves_nothing() {
    for name in codec::NAMES.iter().copied() {
        for pool in PoolKind::ALL
            .into_iter()
            .filter(|pool| *pool != PoolKind::Leaking)
        {
            let plan = plan(320).pool(pool);
            let found = found(&plan, name);
            let counts = found.counts;
            assert_eq!(
                (counts.begun, counts.verified, counts.wrong),
                (320, 320, 0),
                "{name} {pool:?}"
            );
            assert!(counts.balanced(), "{name} {pool:?}: {counts:?}");
            assert!(!found.leak.left(), "{name} {pool:?}: {:?}", found.leak);
            assert_eq!(counts.decompressed_bytes, 320 * 2048);
            if pool != PoolKind::Fresh {
                let most = found
                    .compressors
                    .alive_max
                    .max(found.decompressors.alive_max);
                assert!(
                    most <= found.threads as u64,
                    "{name} {pool:?}: {most} contexts"
                );
            }
        }
    }
}

#[test]
fn a_leaking_pool_is_caught_by_what_it_did_not_give_back() {
    for name in ["zstd:1", "snappy", "gzip-c"] {
        let plan = plan(1024).pool(PoolKind::Leaking);
        let leak = found(&plan, name).leak;
        assert!(leak.found() && leak.left(), "{name}");
        assert_eq!(
            (leak.compressors_left, leak.decompressors_left),
            (4, 4),
            "{name}"
        );
        assert!(leak.bytes_left > 0, "{name}");
    }
}

#[test]
fn every_corrupt_block_is_found_and_counted() {
    for name in codec::NAMES
        .iter()
        .copied()
        .filter(|name| *name != "zstd-rust")
    {
        let plan = plan(900).faults(Faults::default().corrupt_every(3));
        let counts = found(&plan, name).counts;
        assert_eq!(counts.corrupted, 300, "{name}");
        let seen = counts.refused + counts.mismatched + counts.corrupted_harmless;
        assert_eq!(seen, 300, "{name}: {counts:?}");
        assert_eq!(counts.wrong, 0, "{name}: nothing else went wrong");
        assert!(counts.corrupted_harmless < 60, "{name}: {counts:?}");
        assert!(counts.balanced(), "{name}: {counts:?}");
    }
    let plan = plan(1000)
        .work(Loop::Seed)
        .faults(Faults::default().corrupt_every(10));
    let counts = found(&plan, "none").counts;
    assert_eq!((counts.mismatched, counts.verified), (100, 900));
}

#[test]
fn a_panicking_worker_loses_nothing_uncounted_and_its_context_is_not_used_again() {
    for pool in PoolKind::ALL
        .into_iter()
        .filter(|pool| *pool != PoolKind::Leaking)
    {
        let plan = plan(1000)
            .pool(pool)
            .faults(Faults::default().panic_every(50));
        let found = found(&plan, "zstd:1");
        let counts = found.counts;
        let panics = counts.panicked_compress + counts.panicked_decompress;
        // A block that was lost by its producer does not come to a consumer.
        let calls = counts.begun + counts.sent;
        assert_eq!(panics, calls / 50, "{pool:?}: {counts:?}");
        assert!(counts.balanced(), "{pool:?}: {counts:?}");
        assert_eq!(counts.verified + panics, 1000, "{pool:?}");
        let discarded = found.compressors.discarded + found.decompressors.discarded;
        assert_eq!(discarded, panics, "{pool:?}");
        assert!(!found.leak.left(), "{pool:?}: {:?}", found.leak);
    }
}

#[test]
fn a_slow_consumer_and_a_full_queue_are_bounded_and_lose_nothing() {
    let faults = [
        Faults::default().consumer_pause(Some(Duration::from_micros(300))),
        Faults::default().full_queue(true),
    ];
    for faults in faults {
        let plan = plan(2_000)
            .faults(faults)
            .queue_batches(Some(4))
            .consumers(1);
        let mut queued_max = 0;
        let mut watch = |progress: &perfkit_stress::Progress| {
            queued_max = queued_max.max(progress.queued_batches);
            true
        };
        let found = run(&plan, codec::by_name("lz4").unwrap(), &mut watch).unwrap();
        assert!(found.counts.queue_full > 0, "{plan:?}");
        assert!(queued_max <= 4);
        assert_eq!(found.counts.verified, 2_000);
        assert!(found.counts.balanced());
    }
}

#[test]
fn a_watcher_can_end_the_run_and_what_was_sent_still_comes() {
    let plan = plan(0).blocks_max(None).duration(Duration::from_secs(3600));
    let found = run(&plan, codec::by_name("lz4").unwrap(), &mut |_| false).unwrap();
    assert!(found.stopped && found.counts.verified > 0);
    assert!(found.counts.balanced() && !found.leak.left());
}

#[test]
fn the_seed_loop_compresses_once_a_producer() {
    let plan = plan(2_000).work(Loop::Seed);
    let found = found(&plan, "zstd:3");
    assert_eq!(found.counts.verified, 2_000);
    assert!(found.counts.compressions <= 20, "{:?}", found.counts);
    assert!(found.latencies.decompress.n() == 2_000);
    assert!(found.counts.ratio().is_some_and(|ratio| ratio > 1.5));
}

#[test]
fn an_open_loop_counts_from_when_blocks_were_due() {
    for pace in [Pace::Uniform(20_000.0), Pace::Poisson(20_000.0)] {
        let plan = plan(500).pace(pace);
        let found = found(&plan, "lz4");
        assert_eq!(found.counts.verified, 500);
        let row = found.latencies.end_to_end.latency();
        assert_eq!(row.name, latency::LatencyName::Response);
        assert_eq!(found.load.rate_target_per_s, Some(20_000.0));
    }
}

#[test]
fn a_rate_that_cannot_be_held_is_saturated_and_takes_no_memory_for_what_it_owes() {
    let plan = plan(0)
        .pace(Pace::Uniform(5_000_000.0))
        .blocks_max(None)
        .duration(Duration::from_millis(300));
    let found = found(&plan, "zstd:3");
    assert!(found.load.saturated, "{:?}", found.load);
    assert!(
        found
            .load
            .backlog_max
            .is_some_and(|backlog| backlog > 10_000)
    );
    assert!(found.counts.balanced());
}

#[test]
fn a_run_is_the_same_bytes_on_any_number_of_threads() {
    let volume = |threads| {
        let plan = plan(300)
            .threads(threads)
            .producers(1)
            .block_bytes(100, 3_000)
            .data("json".parse().unwrap());
        let counts = found(&plan, "zstd:3").counts;
        (counts.content_bytes, counts.block_bytes)
    };
    assert_eq!(volume(1), volume(4));
}

#[test]
fn what_cannot_be_carried_out_is_refused_before_it_starts() {
    let codec = || codec::by_name("none").unwrap();
    let refused = |plan: &Plan| run(plan, codec(), &mut |_| true).is_err();
    assert!(refused(&plan(1).producers(0)));
    assert!(refused(&plan(1).block_bytes(0, 2048)));
    assert!(refused(&plan(1).pace(Pace::Poisson(-1.0))));
    assert!(refused(&plan(1).data(DataKind::Bytes([].into()))));
}

#[test]
fn a_watcher_sees_distributions_that_add_up() {
    let plan = plan(0).live(true).blocks_max(None);
    let mut last = None;
    let codec = codec::by_name("snappy").expect("known");
    run(&plan, codec, &mut |progress| {
        let live = progress.live.expect("asked for");
        let sum = |buckets: Buckets| buckets.counts.iter().sum::<u64>();
        let seen = [live.compress, live.decompress, live.end_to_end].map(sum);
        let more = last.is_none_or(|last| seen > last);
        last = Some(seen);
        !more || seen[1] < 1_000
    })
    .expect("runs");
    assert!(last.is_some_and(|seen| seen[1] >= 1_000));
}

#[test]
fn a_loop_that_is_behind_sleeps_until_it_can_go_on() {
    // One producer, one consumer that pauses after each block, room for one batch: due blocks pile up.
    let plan = |pace, threads, consumers| {
        plan(200)
            .pace(pace)
            .threads(threads)
            .producers(1)
            .consumers(consumers)
            .batch_blocks(Some(1))
            .queue_batches(Some(1))
            .faults(Faults::default().consumer_pause(Some(Duration::from_millis(2))))
    };
    let closed = found(&plan(Pace::Closed, 1, 1), "none").counts;
    assert_eq!((closed.verified, closed.spun), (200, 0));
    for pace in [Pace::Uniform(1e6), Pace::Poisson(1e6)] {
        for (threads, consumers) in [(1, 1), (2, 2)] {
            let counts = found(&plan(pace, threads, consumers), "none").counts;
            assert_eq!(counts.verified, 200);
            // A few blocks are due in the future at the start; later none is. Spinning through the pauses would
            // be thousands of times.
            assert!(counts.spun <= 20, "{pace:?}: {counts:?}");
            assert!(counts.slept <= 200 * 20, "{pace:?}: {counts:?}");
        }
    }
}

#[test]
fn an_open_loop_starts_when_it_is_told_to() {
    let hour = Duration::from_secs(3600);
    let open = |start_at, late| {
        // Of one thread: of several, a slow one may leave its blocks to another, whose own are due earlier.
        let plan = plan(50).threads(1).pace(Pace::Uniform(1_000.0));
        // The end is counted from the start, which may be hours ago: the blocks end the run.
        let plan = plan.duration(3 * hour).start_at(Some(start_at));
        let plan = plan.late_above(Some(late));
        found(&plan, "none").load.late_start_ratio
    };
    let start = Instant::now() + Duration::from_millis(200);
    // Nothing starts before it is due, and nothing is an hour late.
    assert_eq!(open(start, hour), Some(0.0));
    assert!(Instant::now() >= start + Duration::from_millis(49));
    // What was due two hours ago is.
    if let Some(past) = Instant::now().checked_sub(2 * hour) {
        assert_eq!(open(past, hour), Some(1.0));
    }
}
