//! Awaits that are cancelled, runtimes that end, sinks and sources that fail: at points drawn from a seed, over streams
//! with enough and with little memory. Nothing that was taken is lost, every context comes back, and every thread ends.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::cell::RefCell;
use std::future::{Future, poll_fn};
use std::io;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use crate::common::{noise, prose};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, ReadBuf};
use tokio::runtime::{Builder, Runtime};
use zstdkit::schedule::{CostModel, Offload};
use zstdkit::tokio::Scheduler;
use zstdkit::{DecoderOptions, EncoderOptions, Pool, PoolOptions};

const RUNS: u64 = 500;

/// What happens in a run, drawn from its seed.
#[derive(Clone)]
struct Chance {
    bytes: Vec<u8>,
    at: usize,
}

impl Chance {
    fn new(seed: u64) -> Self {
        let bytes = noise(seed, 4096);
        Self { bytes, at: 0 }
    }

    /// A number below `most`.
    fn below(&mut self, most: usize) -> usize {
        let mut drawn = 0_usize;
        for _ in 0..3 {
            self.at += 1;
            drawn = drawn << 8 | usize::from(self.bytes[self.at % self.bytes.len()]);
        }
        drawn % most.max(1)
    }

    fn one_in(&mut self, count: usize) -> bool {
        self.below(count) == 0
    }

    fn length(&mut self) -> usize {
        match self.below(4) {
            0 => self.below(100),
            1 => self.below(5_000),
            2 => self.below(70_000),
            _ => self.below(300_000),
        }
    }
}

/// A sink and a source that are short, late and fail now and then.
struct Flaky {
    bytes: Vec<u8>,
    from: usize,
    chance: Chance,
    fails: bool,
}

impl Flaky {
    fn new(bytes: Vec<u8>, seed: u64, fails: bool) -> Self {
        Self {
            bytes,
            from: 0,
            chance: Chance::new(seed ^ 0x5eed),
            fails,
        }
    }

    /// How many bytes it takes or gives now.
    fn next(&mut self, context: &Context<'_>) -> Poll<io::Result<usize>> {
        match self.chance.below(6) {
            0 => {
                context.waker().wake_by_ref();
                Poll::Pending
            }
            1 if self.fails => Poll::Ready(Err(io::ErrorKind::ConnectionReset.into())),
            2 => Poll::Ready(Ok(1 + self.chance.below(50))),
            _ => Poll::Ready(Ok(1 + self.chance.below(100_000))),
        }
    }
}

impl AsyncWrite for Flaky {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        input: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.next(context).map_ok(|most| {
            let count = most.min(input.len());
            self.bytes.extend_from_slice(&input[..count]);
            count
        })
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.next(context).map_ok(|_| ())
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.poll_flush(context)
    }
}

impl AsyncRead for Flaky {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.next(context).map_ok(|most| {
            let count = most
                .min(buffer.remaining())
                .min(self.bytes.len() - self.from);
            buffer.put_slice(&self.bytes[self.from..][..count]);
            self.from += count;
        })
    }
}

fn runtime(workers: usize) -> Runtime {
    match workers {
        0 => Builder::new_current_thread().build().unwrap(),
        _ => Builder::new_multi_thread()
            .worker_threads(workers)
            .build()
            .unwrap(),
    }
}

fn options(chance: &mut Chance) -> EncoderOptions {
    EncoderOptions::default().with_level([-3, 1, 2, 5][chance.below(4)])
}

thread_local! {
    /// What an offload thread has until it ends.
    static ALIVE: RefCell<Option<Arc<()>>> = const { RefCell::new(None) };
}

/// One with memory for one context, two or many, that works at once, now and then or always on other threads. They keep
/// `alive`.
fn scheduler(chance: &mut Chance, alive: &Arc<()>) -> Scheduler {
    let one = EncoderOptions::default().with_level(5);
    let budget = one.memory_estimate_bytes(None) * [1, 2, 100][chance.below(3)];
    let pool = Pool::new(PoolOptions::default().with_memory_budget_bytes(budget));
    let model = CostModel::new([0, 100_000, u64::MAX][chance.below(3)]);
    let alive = alive.clone();
    let setup = move |_| ALIVE.set(Some(alive.clone()));
    Scheduler::new(model, pool, Offload::with_setup(1, setup).unwrap())
}

/// The result of `work`, or `None` if it was dropped after so many polls.
async fn within<T>(polls: usize, work: impl Future<Output = T>) -> Option<T> {
    let mut work = pin!(work);
    let mut left = polls;
    poll_fn(|context| match work.as_mut().poll(context) {
        Poll::Ready(value) => Poll::Ready(Some(value)),
        Poll::Pending if left == 0 => Poll::Ready(None),
        Poll::Pending => {
            left -= 1;
            Poll::Pending
        }
    })
    .await
}

/// How long the next await may take: most are not cancelled.
fn patience(chance: &mut Chance) -> usize {
    match chance.below(3) {
        0 => chance.below(4),
        _ => usize::MAX,
    }
}

/// Every context is back, none waits, and no thread is left. Threads may need a moment for that.
fn settled(scheduler: Scheduler, alive: &Arc<()>) {
    let stats = || scheduler.pool().stats();
    let end = Instant::now() + Duration::from_secs(120);
    while stats().in_use > 0 || stats().waiting > 0 {
        assert!(Instant::now() < end, "{:?}", stats());
        std::thread::sleep(Duration::from_micros(100));
    }
    assert_eq!((stats().refused, stats().discarded), (0, 0));
    assert_eq!(scheduler.offload().queued(), 0);
    drop(scheduler);
    while Arc::strong_count(alive) > 1 {
        assert!(Instant::now() < end, "a thread is left");
        std::thread::sleep(Duration::from_micros(100));
    }
}

/// Repeats a call until it is neither cancelled nor failed by the sink or source.
macro_rules! persist {
    ($chance:expr, $call:expr) => {
        loop {
            match within(patience($chance), $call).await {
                None => {}
                Some(Err(error)) => assert_eq!(error.kind(), io::ErrorKind::ConnectionReset),
                Some(Ok(value)) => break value,
            }
        }
    };
}

/// Writes and reads content over a sink and a source that may fail, with awaits that are cancelled and made again.
async fn round_trip(scheduler: Scheduler, seed: u64, fails: bool) {
    let mut chance = Chance::new(seed);
    let content = prose(seed, chance.length());
    let options = options(&mut chance);
    let size = chance.one_in(3).then_some(content.len() as u64);
    let sink = Flaky::new(Vec::new(), seed, fails);
    let mut encoder = scheduler.encoder(sink, &options, size).unwrap();
    let mut rest = &content[..];
    while !rest.is_empty() {
        let most = 1 + chance.length().min(rest.len() - 1);
        let taken = persist!(&mut chance, encoder.write(&rest[..most]));
        rest = &rest[taken..];
        if chance.one_in(5) {
            persist!(&mut chance, encoder.flush());
        }
    }
    persist!(&mut chance, encoder.shutdown());
    let frames = encoder.into_inner().bytes;
    let decoded = zstdkit::decompress(&frames, &DecoderOptions::default()).unwrap();
    assert!(decoded == content, "seed {seed}");

    let source = Flaky::new(frames, seed + 1, fails);
    let mut decoder = scheduler
        .decoder(source, &DecoderOptions::default())
        .unwrap();
    let (mut decoded, mut buffer) = (Vec::new(), vec![0; 200_000]);
    loop {
        let room = 1 + chance.length().min(buffer.len() - 1);
        let room = &mut buffer[..room];
        let count = persist!(&mut chance, decoder.read(room));
        if count == 0 {
            break;
        }
        decoded.extend_from_slice(&buffer[..count]);
    }
    assert!(decoded == content, "seed {seed}");
}

fn round_trips(fails: bool) {
    for seed in 0..RUNS {
        let mut chance = Chance::new(!seed);
        let alive = Arc::new(());
        let scheduler = scheduler(&mut chance, &alive);
        let runtime = runtime(chance.below(3));
        let streams: Vec<_> = (0..1 + chance.below(3) as u64)
            .map(|nth| {
                let stream = round_trip(scheduler.clone(), seed * 10 + nth, fails);
                runtime.spawn(stream)
            })
            .collect();
        runtime.block_on(async {
            for stream in streams {
                stream.await.unwrap();
            }
        });
        drop(runtime);
        settled(scheduler, &alive);
    }
}

#[test]
fn cancelled_awaits_lose_nothing() {
    round_trips(false);
}

#[test]
fn sinks_and_sources_that_fail_and_go_on_lose_nothing() {
    round_trips(true);
}

#[test]
fn streams_and_calls_may_be_dropped_at_any_await() {
    for seed in 0..RUNS {
        let mut chance = Chance::new(seed);
        let alive = Arc::new(());
        let scheduler = scheduler(&mut chance, &alive);
        let runtime = runtime(chance.below(3));
        let tasks: Vec<_> = (0..4_u64)
            .map(|nth| {
                let (scheduler, mut chance) = (scheduler.clone(), Chance::new(seed * 10 + nth));
                let work = async move {
                    let polls = chance.below(20);
                    let content = prose(seed, chance.length());
                    if chance.one_in(2) {
                        let work = round_trip(scheduler, seed, false);
                        let _ = within(polls, work).await;
                        return;
                    }
                    let options = options(&mut chance);
                    let call = async {
                        let frame = scheduler.compress(content, &options).await.unwrap();
                        let options = DecoderOptions::default();
                        scheduler.decompress(frame, &options).await.unwrap()
                    };
                    let _ = within(polls, call).await;
                };
                runtime.spawn(work)
            })
            .collect();
        runtime.block_on(async {
            for task in tasks {
                task.await.unwrap();
            }
        });
        drop(runtime);
        settled(scheduler, &alive);
    }
}

#[test]
fn runtimes_may_end_at_any_time() {
    for seed in 0..RUNS {
        let mut chance = Chance::new(seed);
        let alive = Arc::new(());
        let scheduler = scheduler(&mut chance, &alive);
        let runtime = runtime(chance.below(3));
        for nth in 0..4 {
            runtime.spawn(round_trip(scheduler.clone(), seed * 10 + nth, false));
        }
        let turns = chance.below(60);
        runtime.block_on(async {
            for _ in 0..turns {
                tokio::task::yield_now().await;
            }
        });
        drop(runtime);
        settled(scheduler, &alive);
    }
}
