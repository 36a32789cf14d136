//! A queue that several threads write to: behind a lock, and a ring for each of them.

use std::collections::VecDeque;
use std::hint::black_box;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::{Acquire, Release};
use std::sync::{Mutex, PoisonError};

use fixcore::spsc;
use fixcore::workload::Sample;
use latency::Recorder;

use crate::Error;
use crate::fix::sides::{self, Called, Turn};
use crate::fix::techniques::bench::{Bench, PRODUCERS, Samples};

/// Room of each ring, and messages that the queue behind a lock holds.
const RING_BYTES: usize = 1 << 20;
const MESSAGES_MAX: usize = 4_000;

/// A queue of copies behind a lock.
#[derive(Default)]
struct Locked(Mutex<VecDeque<Vec<u8>>>);

impl Locked {
    fn push(&self, message: &[u8]) -> bool {
        let mut queue = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let has_room = queue.len() < MESSAGES_MAX;
        if has_room {
            queue.push_back(message.to_vec());
        }
        has_room
    }

    fn pop(&self) -> Option<Vec<u8>> {
        let mut queue = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        queue.pop_front()
    }
}

/// The row.
pub(super) fn row(bench: &mut Bench<'_>) -> Result<(), Error> {
    let order = Sample::NewOrder.bytes();
    let ops = bench.ops();
    let called = Called {
        operation: "push of one of two",
        base: "a lock",
        target: "a ring each",
    };
    let mut wrong = [0; 2];
    let [off, on] = &mut wrong;
    let turns: (Turn<'_>, Turn<'_>) = (
        &mut |recorder| behind_lock(ops.next(), &order, off, recorder),
        &mut |recorder| rings(ops.next(), &order, on, recorder),
    );
    let pair = bench.technique(PRODUCERS, Samples::Means, called, turns)?;
    bench
        .checks
        .add(pair.base.n + pair.target.n, wrong.iter().sum());
    Ok(())
}

/// Two threads push, of which the first is timed, and this one reads until both are done and nothing is left.
fn exchange<P: FnMut(&[u8]) -> bool + Send>(
    [mut timed, mut other]: [P; 2],
    mut read: impl FnMut() -> u64,
    (ops, order): (usize, &[u8]),
    recorder: &mut Recorder,
) -> Result<(f64, u64), Error> {
    let done = [AtomicBool::new(false), AtomicBool::new(false)];
    let mut right = 0;
    std::thread::scope(|scope| {
        let pushes = scope.spawn(|| {
            let ns = sides::spans(recorder, ops, |_| push(&mut timed, order));
            done[0].store(true, Release);
            ns
        });
        scope.spawn(|| {
            for _ in 0..ops {
                push(&mut other, order);
            }
            done[1].store(true, Release);
        });
        loop {
            let is_last = done.iter().all(|done| done.load(Acquire));
            let more = read();
            right += more;
            match more {
                0 if is_last => break,
                0 => std::thread::yield_now(),
                _ => {}
            }
        }
        let ns = pushes.join();
        let ns = ns.map_err(|_| Error::new("a thread of the benchmark failed"))?;
        Ok((ns, right))
    })
}

/// Pushes until there is room.
fn push(push: &mut impl FnMut(&[u8]) -> bool, order: &[u8]) {
    while !push(black_box(order)) {
        std::thread::yield_now();
    }
}

fn behind_lock(
    ops: usize,
    order: &[u8],
    wrong: &mut u64,
    recorder: &mut Recorder,
) -> Result<f64, Error> {
    let queue = Locked::default();
    let pushes = [|order: &[u8]| queue.push(order); 2];
    let read = || queue.pop().map_or(0, |read| u64::from(read == order));
    let (ns, right) = exchange(pushes, read, (ops, order), recorder)?;
    *wrong += (2 * ops as u64).abs_diff(right);
    Ok(ns)
}

fn rings(ops: usize, order: &[u8], wrong: &mut u64, recorder: &mut Recorder) -> Result<f64, Error> {
    let (producers, mut consumer) = spsc::many(2, RING_BYTES);
    let pushes: Vec<_> = producers
        .into_iter()
        .map(|mut producer| move |order: &[u8]| producer.push(0, order).is_ok())
        .collect();
    let pushes = <[_; 2]>::try_from(pushes).map_err(|_| Error::broken("two writers"))?;
    let read = || {
        let mut right = 0;
        consumer.drain(64, |_, _, bytes| right += u64::from(bytes == order));
        right
    };
    let (ns, right) = exchange(pushes, read, (ops, order), recorder)?;
    *wrong += (2 * ops as u64).abs_diff(right);
    Ok(ns)
}
