//! Memory for reporting on a run does not count as a leak of the pool. Alone in its process, because the test
//! judges the memory of the process. How that is judged is tested over fixed samples, in `leak.rs`; here a busy
//! machine may leave too few samples for a verdict, and a run may be tried again.

use std::io::{self, Read, Seek, SeekFrom, Write};
use std::time::Duration;

use latency::IntervalLog;
use perfkit_stress::{Pace, Plan, PoolKind, codec, run};

/// How often a run is tried that seems to leak.
const TRIES: usize = 5;

/// A spool that keeps nothing, as a file keeps nothing in memory.
struct Nowhere;

impl Write for Nowhere {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Read for Nowhere {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        Ok(0)
    }
}

impl Seek for Nowhere {
    fn seek(&mut self, _: SeekFrom) -> io::Result<u64> {
        Ok(0)
    }
}

#[test]
fn a_sound_pool_is_sound_with_an_interval_log_and_a_leaking_one_leaks() {
    // Intervals of a millisecond: this run has as many as one of an hour has seconds.
    let log = || IntervalLog::new(Duration::from_millis(1), Nowhere).expect("a thread");
    let plan = |pool, intervals| {
        Plan::default()
            .pool(pool)
            .pace(Pace::Uniform(4_000.0))
            .duration(Duration::from_millis(3_500))
            .intervals(intervals)
    };
    let judged = |plan: &Plan| {
        let codec = codec::by_name("zstd:1").expect("known");
        run(plan, codec, &mut |_| true).expect("runs").leak
    };
    let mut seen = Vec::new();
    let is_sound = (0..TRIES).any(|_| {
        let leak = judged(&plan(PoolKind::Sharded, Some(log())));
        assert!(!leak.left(), "{leak:?}");
        let is_sound = !leak.found();
        seen.push(leak);
        is_sound
    });
    assert!(is_sound, "{seen:?}");
    let leaking = judged(&plan(PoolKind::Leaking, Some(log())).blocks_max(Some(4_096)));
    assert!(leaking.found() && leaking.left(), "{leaking:?}");
}
