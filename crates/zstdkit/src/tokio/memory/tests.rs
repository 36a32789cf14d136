//! A budget that is used up by those who do not give memory back. Ticks of the line come by hand.

use std::task::Waker;

use super::*;
use crate::encoder::Encoder;
use crate::options::EncoderOptions;
use crate::pool::{Pool, PoolOptions, PoolStats, Pooled};
use crate::reservation::line::{AGAIN_TICKS, STILL_TICKS};
use crate::schedule::{CostModel, Offload};

const CONTENT: Option<u64> = Some(200_000);

/// A pool, and what is needed of it for a stream.
struct Bank {
    scheduler: Scheduler,
    options: EncoderOptions,
    need: Need,
}

impl Bank {
    /// A budget for this many halves of a stream, and a limit.
    fn new(halves: u64, limit_halves: Option<u64>) -> Self {
        let options = EncoderOptions::default().with_level(9);
        let bytes = options.memory_estimate_bytes(CONTENT);
        let of = |halves: u64| bytes.div_ceil(2) * halves;
        let mut pool = PoolOptions::default().with_memory_budget_bytes(of(halves));
        pool.memory_limit_bytes = limit_halves.map(of);
        let offload = Offload::new(1).unwrap();
        let scheduler = Scheduler::new(CostModel::default(), Pool::new(pool), offload);
        scheduler.pool().ledger().line.by_hand();
        let brief = false;
        Self {
            scheduler,
            options,
            need: Need { bytes, brief },
        }
    }

    /// Polls one who opens a stream.
    fn poll(&self, memory: &mut Memory) -> Poll<Result<Pooled<Encoder>, Error>> {
        let make = || self.scheduler.pool().encoder(&self.options, CONTENT);
        let mut context = Context::from_waker(Waker::noop());
        memory.poll_take(&self.scheduler, self.need, &mut context, make)
    }

    fn ticks(&self, count: u64) {
        self.scheduler.pool().ledger().line.ticks(count);
    }

    fn stats(&self) -> PoolStats {
        self.scheduler.pool().stats()
    }

    /// Opens a stream that waits as long as it must.
    fn open(&self) -> Result<Pooled<Encoder>, Error> {
        let mut memory = Memory::default();
        if let Poll::Ready(made) = self.poll(&mut memory) {
            return made;
        }
        self.ticks(STILL_TICKS - 1);
        assert!(self.poll(&mut memory).is_pending());
        self.ticks(1);
        match self.poll(&mut memory) {
            Poll::Ready(made) => made,
            Poll::Pending => panic!("it still waits"),
        }
    }
}

#[test]
fn streams_that_arekept_take_twice_the_budget_at_most() {
    let bank = Bank::new(3, None);
    let kept: Vec<_> = (0..3).map(|_| bank.open().unwrap()).collect();
    let full = bank.stats();
    assert_eq!(
        (full.beyond_budget, full.exhausted, full.refused),
        (2, 0, 0)
    );
    assert!(full.held_bytes > full.budget_bytes && full.held_bytes <= full.limit_bytes);
    for nth in 1..=3 {
        let error = bank.open().unwrap_err();
        assert!(error.is_pool_exhausted(), "{error}");
        let stats = bank.stats();
        assert_eq!((stats.exhausted, stats.waiting), (nth, 0));
        assert_eq!(stats.held_bytes, full.held_bytes);
    }
    // Idle contexts beyond the budget are freed at once.
    drop(kept);
    let after = bank.stats();
    assert_eq!((after.in_use, after.idle), (0, 1));
    assert!(after.held_bytes == after.idle_bytes && after.held_bytes <= after.budget_bytes);
    drop(bank.open().unwrap());
}

#[test]
fn while_nothing_comes_back_the_next_in_line_waits_little() {
    let bank = Bank::new(2, Some(8));
    let first = bank.open().unwrap();
    let mut others: Vec<_> = (0..4).map(|_| Memory::default()).collect();
    for other in &mut others {
        assert!(bank.poll(other).is_pending());
    }
    bank.ticks(STILL_TICKS);
    let mut kept = Vec::new();
    for (nth, other) in others.iter_mut().enumerate() {
        match (nth, bank.poll(other)) {
            (3, Poll::Ready(Err(error))) => assert!(error.is_pool_exhausted()),
            (0..3, Poll::Ready(Ok(stream))) => kept.push(stream),
            (_, other) => panic!("{nth}: {other:?}"),
        }
        bank.ticks(AGAIN_TICKS);
    }
    // Who comes when none waits has all of the time.
    let mut late = Memory::default();
    assert!(bank.poll(&mut late).is_pending());
    bank.ticks(STILL_TICKS - 1);
    assert!(bank.poll(&mut late).is_pending());
    drop((first, kept));
    assert!(matches!(bank.poll(&mut late), Poll::Ready(Ok(_))));
}

#[test]
fn those_who_wait_together_fail_together() {
    let bank = Bank::new(2, Some(2));
    let kept = bank.open().unwrap();
    let mut others: Vec<_> = (0..10).map(|_| Memory::default()).collect();
    for other in &mut others {
        assert!(bank.poll(other).is_pending());
    }
    bank.ticks(STILL_TICKS / 2);
    let mut late = Memory::default();
    assert!(bank.poll(&mut late).is_pending());
    bank.ticks(STILL_TICKS / 2);
    for other in &mut others {
        let failed = bank.poll(other);
        assert!(matches!(&failed, Poll::Ready(Err(error)) if error.is_pool_exhausted()));
    }
    assert!(bank.poll(&mut late).is_pending());
    drop(kept);
    assert!(matches!(bank.poll(&mut late), Poll::Ready(Ok(_))));
    assert_eq!(
        (bank.stats().exhausted, bank.stats().beyond_budget),
        (10, 0)
    );
}

#[test]
fn a_task_that_has_one_stream_can_open_another_one() {
    for halves in [2, 3] {
        let bank = Bank::new(halves, None);
        let first = bank.open().unwrap();
        drop((bank.open().unwrap(), first));
        assert_eq!(bank.stats().exhausted, 0);
    }
}
