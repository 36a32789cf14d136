//! One measurement: all streams at once in a runtime of their own, and a probe.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use latency::CpuClock;
use tokio::runtime::{Builder, Runtime};
use zstdkit::schedule::{CostModel, Offload};
use zstdkit::tokio::Scheduler;
use zstdkit::{EncoderOptions, Pool, PoolOptions, PoolStats};

use super::way::{Stream, Way};
use crate::advise::data::piece;
use crate::advise::plan::{Plan, Streams};
use crate::advise::probe::{Delays, Probe};
use crate::{Context, Error, runtime};

/// The most different contents. More streams than that repeat them.
const CONTENTS_MAX: usize = 16;
/// How often it is asked whether to stop.
const LOOK: Duration = Duration::from_millis(20);

/// What is the same for all rounds.
pub(crate) struct Setup {
    pub(crate) count: usize,
    pub(crate) options: EncoderOptions,
    pub(crate) memory_bytes: u64,
    write_bytes: usize,
    flush: bool,
    workers: usize,
    contents: Vec<Arc<[u8]>>,
}

impl Setup {
    /// Streams of parts of this content.
    pub(crate) fn new(
        plan: &Plan,
        asked: &Streams,
        options: EncoderOptions,
        content: &[u8],
    ) -> Self {
        let contents = (0..asked.count.clamp(1, CONTENTS_MAX))
            .map(|nth| piece(content, nth, asked.bytes).into());
        Self {
            count: asked.count.max(1),
            options,
            memory_bytes: asked.memory_bytes,
            write_bytes: asked.write_bytes.max(1),
            flush: asked.flush,
            workers: plan.workers.max(1),
            contents: contents.collect(),
        }
    }

    /// The content of a stream.
    pub(crate) fn content(&self, number: usize) -> Arc<[u8]> {
        let place = number % self.contents.len().max(1);
        self.contents.get(place).cloned().unwrap_or_default()
    }

    /// The size of each.
    pub(crate) fn content_bytes(&self) -> usize {
        self.contents.first().map_or(0, |content| content.len())
    }
}

/// What a round found.
pub(crate) struct Round {
    pub(crate) wall_ns: u64,
    pub(crate) cpu_ns: Option<u64>,
    pub(crate) delays: Delays,
    /// The streams in the order in which they ended.
    pub(crate) ended: Vec<Ended>,
    pub(crate) stats: PoolStats,
}

/// A stream that has ended.
pub(crate) struct Ended {
    pub(crate) number: usize,
    /// From the start of all streams.
    pub(crate) ns: u64,
    pub(crate) compressed: Vec<u8>,
}

/// Compresses all streams once in this way. Idle: waits for this long.
pub(crate) fn run(
    way: Way,
    setup: &Setup,
    idle: Duration,
    context: Context<'_>,
) -> Result<Round, Error> {
    let runtime = runtime::start(Builder::new_multi_thread().worker_threads(setup.workers))?;
    let pool = PoolOptions::default().with_memory_budget_bytes(setup.memory_bytes);
    let threads = thread::available_parallelism().map_or(1, |count| count.get());
    let offload = Offload::new(threads)
        .map_err(|error| Error::new(format!("cannot start threads: {error}")))?;
    let scheduler = Scheduler::new(CostModel::default(), Pool::new(pool), offload);
    let stop = Arc::new(AtomicBool::new(false));
    let stream = Stream {
        scheduler: scheduler.clone(),
        options: setup.options.clone(),
        write_bytes: setup.write_bytes,
        flush: setup.flush,
        stop: stop.clone(),
    };
    let start = Instant::now();
    let over = Arc::new(AtomicBool::new(false));
    let (probed, delays) = (over.clone(), Delays::new(start));
    let probe = Probe::start(&runtime, delays, start, move |_| !probed.load(Relaxed));
    let cpu = CpuClock::Process.now();
    let ended = match way {
        Way::Idle => {
            thread::sleep(idle);
            Ok(Vec::new())
        }
        _ => streams(&runtime, way, setup, &stream, start, context),
    };
    let wall_ns = ns(start.elapsed());
    let cpu_ns = CpuClock::Process
        .now()
        .zip(cpu)
        .map(|(now, cpu)| ns(now - cpu));
    over.store(true, Relaxed);
    let delays = probe.finish(&runtime)?;
    stop.store(true, Relaxed);
    let stats = scheduler.pool().stats();
    // Streams that were stopped may still be at work.
    drop(runtime);
    Ok(Round {
        wall_ns,
        cpu_ns,
        delays,
        ended: ended?,
        stats,
    })
}

/// Starts all streams and waits for them, or until the run is stopped.
fn streams(
    runtime: &Runtime,
    way: Way,
    setup: &Setup,
    stream: &Stream,
    start: Instant,
    context: Context<'_>,
) -> Result<Vec<Ended>, Error> {
    let (tell, told) = mpsc::channel();
    for number in 0..setup.count {
        let (stream, content, tell) = (stream.clone(), setup.content(number), tell.clone());
        runtime.spawn(async move {
            let compressed = stream.compress(way, content).await;
            let ns = ns(start.elapsed());
            let _ = tell.send(compressed.map(|compressed| {
                compressed.map(|compressed| Ended {
                    number,
                    ns,
                    compressed,
                })
            }));
        });
    }
    drop(tell);
    let mut ended = Vec::with_capacity(setup.count);
    loop {
        match told.recv_timeout(LOOK) {
            Ok(one) => ended.extend(one.inspect_err(|_| stream.stop.store(true, Relaxed))?),
            Err(RecvTimeoutError::Timeout) if !context.watch.is_stopped() => {}
            Err(RecvTimeoutError::Timeout) => stream.stop.store(true, Relaxed),
            Err(RecvTimeoutError::Disconnected) => return Ok(ended),
        }
    }
}

fn ns(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}
