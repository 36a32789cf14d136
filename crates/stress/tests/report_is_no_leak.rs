//! Memory for reporting on a run does not count as a leak of the pool. Alone in its process, because the test
//! judges the memory of the process.

use std::io::{self, Read, Seek, SeekFrom, Write};
use std::time::Duration;

use latency::IntervalLog;
use perfkit_stress::{Growth, Pace, Plan, PoolKind, codec, run};

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
        let found = run(plan, codec, &mut |_| true).expect("runs");
        let verdicts: Vec<Growth> = found.leak.trends.iter().map(|trend| trend.growth).collect();
        (found.leak.found(), verdicts, found.leak)
    };
    let with = judged(&plan(PoolKind::Sharded, Some(log())));
    assert_eq!(
        (with.0, with.1),
        (false, vec![Growth::Steady; 4]),
        "{:?}",
        with.2
    );
    let leaking = judged(&plan(PoolKind::Leaking, Some(log())));
    assert!(leaking.0 && leaking.2.left(), "{:?}", leaking.2);
}
