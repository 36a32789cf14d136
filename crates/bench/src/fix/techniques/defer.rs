//! What a message costs the thread that has it: worked on there, or handed over a queue.

use std::hint::black_box;

use fixcore::Decoder;
use fixcore::deferred::{self, Deferred};
use fixcore::spsc::{self, Wait};
use fixcore::workload::Sample;
use latency::Recorder;

use crate::Error;
use crate::fix::sides;
use crate::fix::sides::{Called, Turn};
use crate::fix::techniques::bench::{Bench, DEFERRED, Samples};

/// Messages of a turn at most: a queue of 1 MiB takes them all.
const MESSAGES_MAX: usize = 4000;

/// The work: a message is decoded, and its bytes are kept.
struct Work {
    decoder: Decoder,
    kept: Vec<u8>,
    good: u64,
}

impl Work {
    fn new() -> Self {
        Self {
            decoder: Decoder::new(),
            kept: Vec::with_capacity(1 << 20),
            good: 0,
        }
    }

    fn take(&mut self, message: &[u8]) {
        self.good += u64::from(self.decoder.parse(message).is_ok());
        if self.kept.len() + message.len() > self.kept.capacity() {
            self.kept.clear();
        }
        self.kept.extend_from_slice(message);
        black_box(&self.kept);
    }
}

/// The row, and the queue by itself.
pub(crate) fn rows(bench: &mut Bench<'_>) -> Result<(), Error> {
    let order = Sample::NewOrder.bytes();
    let (all, pushed) = (bench.ops(), bench.ops());
    let next = || all.next().min(MESSAGES_MAX);
    let mut wrong = [0; 2];
    let [inline, handed] = &mut wrong;
    let mut work = Work::new();
    let called = Called {
        operation: "message at its thread",
        base: "worked on",
        target: "handed over",
    };
    let turns: (Turn<'_>, Turn<'_>) = (
        &mut |recorder| {
            let (ops, before) = (next(), work.good);
            let ns = sides::spans(recorder, ops, |_| work.take(black_box(&order)));
            *inline += ops as u64 - (work.good - before);
            Ok(ns)
        },
        &mut |recorder| hand_over(next(), &order, handed, recorder),
    );
    let pair = bench.technique(DEFERRED, Samples::Means, called, turns)?;
    bench
        .checks
        .add(pair.base.n + pair.target.n, wrong.iter().sum());
    let next = || pushed.next().min(MESSAGES_MAX);
    let mut wrong = 0;
    let called = Called {
        operation: "push",
        base: "nobody reads meanwhile",
        target: "the same again",
    };
    let mut other = 0;
    let turns: (Turn<'_>, Turn<'_>) = (
        &mut |recorder| Ok(push(next(), &order, &mut wrong, recorder)),
        &mut |recorder| Ok(push(next(), &order, &mut other, recorder)),
    );
    let pair = sides::measure(
        bench.context,
        bench.plan.batches,
        called,
        turns,
        bench.outcome,
    )?;
    bench.checks.add(pair.base.n + pair.target.n, wrong + other);
    bench.component("push to a queue, 197 bytes", &pair.target);
    Ok(())
}

/// Hands messages to a thread that does the work; only the handing over is timed.
fn hand_over(
    ops: usize,
    message: &[u8],
    wrong: &mut u64,
    recorder: &mut Recorder,
) -> Result<f64, Error> {
    let mut work = Work::new();
    let mut options = deferred::Options::default();
    options.wait = Wait::Spin;
    let thread = Deferred::start(&options, move |_, message| work.take(message));
    let mut thread =
        thread.map_err(|error| Error::new(format!("cannot start a thread: {error}")))?;
    let ns = sides::spans(recorder, ops, |at| {
        let _ = black_box(thread.submit(at as u64, black_box(message)));
    });
    let finished = thread.finish();
    *wrong += (ops as u64).abs_diff(finished.handled) + finished.dropped;
    Ok(ns)
}

/// Fills a queue that nobody reads, then reads it.
fn push(ops: usize, message: &[u8], wrong: &mut u64, recorder: &mut Recorder) -> f64 {
    let (mut producer, mut consumer) = spsc::queue(1 << 20, Wait::Spin);
    // What is written for the first time brings its pages.
    for _ in 0..ops {
        let _ = producer.push(0, message);
    }
    consumer.drain(ops, |_, _| {});
    let ns = sides::spans(recorder, ops, |at| {
        let _ = black_box(producer.push(at as u64, black_box(message)));
    });
    let mut right = 0;
    consumer.drain(ops, |at, bytes| {
        right += u64::from(at < ops as u64 && bytes == message)
    });
    *wrong += (ops as u64).abs_diff(right);
    ns
}
