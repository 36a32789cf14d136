//! The tokio adapters: round trips over readers and writers that are short, late or broken, on one thread
//! and on two; futures that are dropped at any point; workers that are never held.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::future::Future;
use std::io;
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Barrier, Mutex};
use std::task::{Context, Poll, Waker};

use crate::common::{self, noise, prose};
use proptest::prelude::*;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, ReadBuf};
use tokio::runtime::{Builder, Runtime};
use zstdkit::schedule::{CostKey, CostModel, Offload};
use zstdkit::tokio::Scheduler;
use zstdkit::{DecoderOptions, EncoderOptions, Operation, Pool, Recipe};

/// What the next calls of a flaky reader or writer do: 0 is "not yet", else at most this many bytes.
#[derive(Debug, Clone)]
struct Script {
    steps: Vec<usize>,
    at: usize,
}

impl Script {
    fn next(&mut self, context: &Context<'_>) -> Poll<usize> {
        self.at += 1;
        match self.steps[self.at % self.steps.len()] {
            0 => {
                context.waker().wake_by_ref();
                Poll::Pending
            }
            most => Poll::Ready(most),
        }
    }
}

fn script() -> impl Strategy<Value = Script> {
    let step = prop_oneof![1 => Just(0), 1 => 1_usize..50, 3 => 1000_usize..200_000];
    prop::collection::vec(step, 0..6).prop_map(|mut steps| {
        steps.push(20_000);
        Script { steps, at: 0 }
    })
}

/// A sink and a source that follow a script.
struct Flaky {
    bytes: Vec<u8>,
    from: usize,
    script: Script,
    /// Fails once it has taken or given this many bytes.
    fails_at: usize,
    shut: usize,
}

impl Flaky {
    fn new(bytes: Vec<u8>, script: Script) -> Self {
        Self {
            bytes,
            from: 0,
            script,
            fails_at: usize::MAX,
            shut: 0,
        }
    }
}

impl AsyncWrite for Flaky {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        input: &[u8],
    ) -> Poll<io::Result<usize>> {
        if self.bytes.len() >= self.fails_at {
            return Poll::Ready(Err(io::ErrorKind::StorageFull.into()));
        }
        self.script.next(context).map(|most| {
            let count = most.min(input.len());
            self.bytes.extend_from_slice(&input[..count]);
            Ok(count)
        })
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.script.next(context).map(|_| Ok(()))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.script.next(context).map(|_| {
            self.shut += 1;
            Ok(())
        })
    }
}

impl AsyncRead for Flaky {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.from >= self.fails_at {
            return Poll::Ready(Err(io::ErrorKind::ConnectionReset.into()));
        }
        self.script.next(context).map(|most| {
            let end = self
                .bytes
                .len()
                .min(self.from + most.min(buffer.remaining()));
            buffer.put_slice(&self.bytes[self.from..end]);
            self.from = end;
            Ok(())
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

fn scheduler(threshold_ns: u64) -> Scheduler {
    let offload = Offload::new(1).unwrap();
    Scheduler::new(CostModel::new(threshold_ns), Pool::default(), offload)
}

/// Thresholds at which nothing, some and everything is offloaded.
fn threshold() -> impl Strategy<Value = u64> {
    prop_oneof![Just(u64::MAX), Just(300_000_u64), Just(0)]
}

fn recipe() -> impl Strategy<Value = Recipe> {
    prop::sample::select(vec![
        Recipe::Fast,
        Recipe::Balanced,
        Recipe::Binary,
        Recipe::Text,
    ])
}

fn one_shot(frames: &[u8]) -> Vec<u8> {
    zstdkit::decompress(frames, &DecoderOptions::default()).unwrap()
}

/// Runs on the runtime's own threads.
fn run<T: Send + 'static>(workers: usize, work: impl Future<Output = T> + Send + 'static) -> T {
    let runtime = runtime(workers);
    let task = runtime.spawn(work);
    runtime.block_on(task).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn streams_round_trip(
        seed: u64,
        len in prop_oneof![0_usize..3000, 10_000_usize..500_000],
        recipe in recipe(),
        threshold_ns in threshold(),
        pledge: bool,
        cuts in prop::collection::vec(prop_oneof![100_usize..3000, 1000_usize..300_000], 1..4),
        flush_every in prop::option::of(1_usize..5),
        write in script(),
        read in script(),
        rooms in prop::collection::vec(prop_oneof![50_usize..300, 1000_usize..200_000], 1..4),
        workers in 0_usize..3,
    ) {
        let content = prose(seed, len);
        let expected = content.clone();
        let (frame, decoded, idle) = run(workers, async move {
            let scheduler = scheduler(threshold_ns);
            let size = pledge.then_some(content.len() as u64);
            let options = recipe.options(size);
            let sink = Flaky::new(Vec::new(), write);
            let mut encoder = scheduler.encoder(sink, &options, size).unwrap();
            let mut rest = &content[..];
            for (piece, cut) in common::cycle(&cuts).enumerate() {
                let (input, after) = rest.split_at(cut.min(rest.len()));
                encoder.write_all(input).await.unwrap();
                rest = after;
                if rest.is_empty() {
                    break;
                }
                if flush_every.is_some_and(|every| piece % every == 0) {
                    encoder.flush().await.unwrap();
                    let taken = content.len() - rest.len();
                    let written = partial(&encoder.get_ref().bytes);
                    assert!(written == content[..taken], "{} of {taken}", written.len());
                }
            }
            encoder.shutdown().await.unwrap();
            encoder.shutdown().await.unwrap();
            let late = encoder.write(b"late").await.unwrap_err();
            assert_eq!(late.kind(), io::ErrorKind::BrokenPipe);
            let sink = encoder.into_inner();
            assert_eq!(sink.shut, 1);

            let source = Flaky::new(sink.bytes.clone(), read);
            let mut decoder = scheduler.decoder(source, &DecoderOptions::default()).unwrap();
            let (mut decoded, mut buffer) = (Vec::new(), vec![0; 200_000]);
            for room in common::cycle(&rooms) {
                let count = decoder.read(&mut buffer[..room]).await.unwrap();
                decoded.extend_from_slice(&buffer[..count]);
                if count == 0 {
                    break;
                }
            }
            assert_eq!(decoder.read(&mut buffer).await.unwrap(), 0);
            assert_eq!(decoder.totals().frames, 1);
            drop(decoder);
            (sink.bytes, decoded, scheduler.pool().stats())
        });
        prop_assert!(one_shot(&frame) == expected);
        prop_assert!(decoded == expected);
        prop_assert_eq!((idle.in_use, idle.discarded), (0, 0));
    }

    #[test]
    fn buffers_round_trip(
        seed: u64,
        len in prop_oneof![0_usize..3000, 10_000_usize..600_000],
        random in prop::bool::weighted(0.2),
        recipe in prop_oneof![recipe(), Just(Recipe::Auto)],
        threshold_ns in threshold(),
        content_size: bool,
        frames in 1_usize..3,
        workers in 0_usize..3,
    ) {
        let content = if random { noise(seed, len) } else { prose(seed, len) };
        let expected = content.repeat(frames);
        let decoded = run(workers, async move {
            let scheduler = scheduler(threshold_ns);
            let frame = match content_size {
                true => scheduler.compress_recipe(content.clone(), recipe).await.unwrap(),
                false => {
                    let options = EncoderOptions::default().with_content_size(content_size);
                    scheduler.compress(content.clone(), &options).await.unwrap()
                }
            };
            assert!(one_shot(&frame) == content);
            let stream = frame.repeat(frames);
            let decoded = scheduler.decompress(stream, &DecoderOptions::default()).await.unwrap();
            let stats = scheduler.pool().stats();
            assert_eq!((stats.in_use, stats.discarded), (0, 0));
            decoded
        });
        prop_assert!(decoded == expected);
    }

    #[test]
    fn a_future_may_be_dropped_at_any_point(
        seed: u64,
        recipe in recipe(),
        threshold_ns in threshold(),
        polls in 0_usize..12,
        write in script(),
        stream: bool,
    ) {
        let runtime = runtime(1);
        let _inside = runtime.enter();
        let scheduler = scheduler(threshold_ns);
        let content = prose(seed, 300_000);
        let options = recipe.options(Some(300_000));
        let mut context = Context::from_waker(Waker::noop());
        {
            let mut encoder =
                scheduler.encoder(Flaky::new(Vec::new(), write), &options, None).unwrap();
            let work = async {
                if stream {
                    encoder.write_all(&content).await.unwrap();
                    encoder.shutdown().await.unwrap();
                } else {
                    scheduler.compress(content.clone(), &options).await.unwrap();
                }
            };
            let mut work = pin!(work);
            for _ in 0..polls {
                if work.as_mut().poll(&mut context).is_ready() {
                    break;
                }
                std::thread::yield_now();
            }
        }
        // The offload thread still works. When it is done, no context is in use.
        let after = runtime.block_on(scheduler.offload().run(|| 7));
        prop_assert_eq!(after, Ok(7));
        prop_assert_eq!(scheduler.offload().queued(), 0);
        prop_assert_eq!(scheduler.pool().stats().in_use, 0);
        let frame = runtime.block_on(scheduler.compress(content.clone(), &options)).unwrap();
        prop_assert!(one_shot(&frame) == content);
    }

    #[test]
    fn a_writer_or_reader_that_fails_is_heard(
        recipe in recipe(),
        threshold_ns in threshold(),
        fails_at in 0_usize..20_000,
        script in script(),
    ) {
        run(0, async move {
            let scheduler = scheduler(threshold_ns);
            let content = noise(1, 400_000);
            let mut sink = Flaky::new(Vec::new(), script.clone());
            sink.fails_at = fails_at;
            let options = recipe.options(None);
            let mut encoder = scheduler.encoder(sink, &options, None).unwrap();
            let result = async {
                encoder.write_all(&content).await?;
                encoder.shutdown().await
            };
            assert_eq!(result.await.unwrap_err().kind(), io::ErrorKind::StorageFull);
            let frame = zstdkit::compress(&content, &EncoderOptions::default()).unwrap();
            let mut source = Flaky::new(frame, script);
            source.fails_at = fails_at;
            let options = DecoderOptions::default();
            let mut decoder = scheduler.decoder(source, &options).unwrap();
            let error = decoder.read_to_end(&mut Vec::new()).await.unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::ConnectionReset);
        });
    }

    #[test]
    fn hostile_frames_are_errors_and_stay_errors(
        seed: u64,
        flip in any::<prop::sample::Index>(),
        mask in 1_u8..,
        cut in any::<prop::sample::Index>(),
        threshold_ns in threshold(),
    ) {
        run(0, async move {
            let scheduler = scheduler(threshold_ns);
            let content = prose(seed, 200_000);
            let frame = zstdkit::compress(&content, &EncoderOptions::default()).unwrap();
            let options = DecoderOptions::default().with_output_limit(4 << 20);
            let mut flipped = frame.clone();
            flipped[flip.index(frame.len())] ^= mask;
            for stream in [flipped, frame[..cut.index(frame.len())].to_vec()] {
                let expected = zstdkit::decompress(&stream, &options);
                let got = scheduler.decompress(stream.clone(), &options).await;
                assert_eq!(got, expected);
                let mut decoder = scheduler.decoder(&stream[..], &options).unwrap();
                let mut content = Vec::new();
                match (decoder.read_to_end(&mut content).await, expected) {
                    (Ok(_), Ok(expected)) => assert!(content == expected),
                    (Err(error), Err(expected)) => {
                        assert_eq!(error.to_string(), expected.to_string());
                        let again = decoder.read(&mut [0; 10]).await.unwrap_err();
                        assert_eq!(again.to_string(), error.to_string());
                    }
                    other => panic!("{other:?}"),
                }
            }
        });
    }
}

/// The content that can be decoded from a frame without its end.
fn partial(bytes: &[u8]) -> Vec<u8> {
    let mut decoder = zstdkit::sliced::SlicedDecoder::new(&DecoderOptions::default()).unwrap();
    let (mut rest, mut content) = (bytes, Vec::new());
    let mut budget = zstdkit::sliced::Budget::slices(u32::MAX);
    decoder
        .step_into(&mut rest, &mut content, &mut budget)
        .unwrap();
    content
}

#[test]
fn a_wrong_pledge_is_an_error_that_stays() {
    for threshold_ns in [u64::MAX, 0] {
        run(0, async move {
            let scheduler = scheduler(threshold_ns);
            let options = Recipe::Fast.options(Some(10));
            let mut encoder = scheduler.encoder(Vec::new(), &options, Some(10)).unwrap();
            encoder.write_all(b"short").await.unwrap();
            let first = encoder.shutdown().await.unwrap_err();
            assert_eq!(first.kind(), io::ErrorKind::InvalidInput);
            let again = encoder.write(b"more").await.unwrap_err();
            assert_eq!(again.to_string(), first.to_string());
        });
    }
}

#[test]
fn content_beyond_a_pledge_is_an_error_when_it_is_written() {
    for threshold_ns in [u64::MAX, 0] {
        run(0, async move {
            let scheduler = scheduler(threshold_ns);
            let options = EncoderOptions::default();
            for (size, writes) in [(10, 1), (100_000, 7)] {
                let mut encoder = scheduler.encoder(Vec::new(), &options, Some(size)).unwrap();
                let content = vec![7; size as usize / writes];
                for _ in 0..writes {
                    encoder.write_all(&content).await.unwrap();
                }
                let error = encoder.write(&content).await.unwrap_err();
                assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
                let error = error.downcast::<zstdkit::Error>().unwrap();
                assert_eq!(error.kind(), zstdkit::ErrorKind::PledgedSize);
                assert_eq!(error.offset(), Some(size));
                encoder.shutdown().await.unwrap_err();
            }
        });
    }
}

/// Content whose first chunk waits on the offload thread until it is released.
struct Held {
    bytes: Vec<u8>,
    chunks: Arc<AtomicUsize>,
    go: Arc<Barrier>,
}

impl AsRef<[u8]> for Held {
    fn as_ref(&self) -> &[u8] {
        let offloaded = std::thread::current().name() == Some("zstdkit-offload");
        // The first look is at the length.
        if offloaded && self.chunks.fetch_add(1, Relaxed) == 1 {
            self.go.wait();
        }
        &self.bytes
    }
}

#[test]
fn a_long_buffer_leaves_its_thread_to_who_waits_and_to_who_wants_nothing() {
    let runtime = runtime(1);
    let _inside = runtime.enter();
    let options = Recipe::Text.options(Some(2 << 20));
    let mut context = Context::from_waker(Waker::noop());
    for abandon in [false, true] {
        let scheduler = scheduler(0);
        let (chunks, go) = (Arc::<AtomicUsize>::default(), Arc::new(Barrier::new(2)));
        let content = Held {
            bytes: prose(1, 2 << 20),
            chunks: chunks.clone(),
            go: go.clone(),
        };
        let mut work = Box::pin(scheduler.compress(content, &options));
        // The tables are made first.
        while chunks.load(Relaxed) < 2 {
            assert!(work.as_mut().poll(&mut context).is_pending());
            std::thread::yield_now();
        }
        let mut other = scheduler.offload().run(|| 7);
        if abandon {
            drop(work);
            go.wait();
        } else {
            assert!(Pin::new(&mut other).poll(&mut context).is_pending());
            go.wait();
        }
        assert_eq!(runtime.block_on(other), Ok(7));
        // The length and one chunk, of sixteen.
        assert_eq!(chunks.load(Relaxed), 2);
    }
}

/// Counts how often a task ran while another worked.
fn turns_of_others(work: impl Future<Output = ()> + 'static) -> usize {
    let local = tokio::task::LocalSet::new();
    let runtime = runtime(0);
    let turns = std::rc::Rc::new(std::cell::Cell::new(0));
    let seen = turns.clone();
    local.spawn_local(async move {
        loop {
            seen.set(seen.get() + 1);
            tokio::task::yield_now().await;
        }
    });
    local.block_on(&runtime, work);
    turns.get()
}

#[test]
fn others_run_between_slices_and_between_small_calls() {
    let scheduler = scheduler(100_000);
    let options = Recipe::Fast.options(Some(400_000));
    // Each slice fills the threshold, as far as the model knows.
    let content = prose(3, 400_000);
    for _ in 0..50 {
        let key = CostKey::compress_slice(&options, Some(400_000));
        scheduler.model().observe(key, 16 << 10, 80_000);
        scheduler
            .model()
            .observe(CostKey::decompress_slice(), 128 << 10, 99_000);
        scheduler
            .model()
            .observe(CostKey::decompress(400_000), 400_000, 900_000);
    }
    let slices = 400_000 / (16 << 10);
    let (own, frames) = (scheduler.clone(), content.clone());
    let compressing = turns_of_others(async move {
        own.compress(frames, &options).await.unwrap();
    });
    // On a machine so fast that several slices fit the threshold there are fewer yields.
    assert!(compressing >= slices / 8, "{compressing}");
    let small = turns_of_others(async move {
        let options = Recipe::Fast.options(Some(1000));
        for _ in 0..2000 {
            scheduler.compress(vec![7; 1000], &options).await.unwrap();
        }
    });
    assert!(small >= 10, "{small}");
}

#[test]
fn others_run_between_the_blocks_of_a_single_read() {
    // 512 blocks of 128 KiB in a few kilobytes, and 2,000 blocks of 1 KiB.
    let long = zstdkit::compress(&vec![0; 64 << 20], &EncoderOptions::default()).unwrap();
    assert!(long.len() < 16 << 10, "{}", long.len());
    let content = prose(3, 2_000 << 10);
    let mut encoder = zstdkit::Encoder::new(&EncoderOptions::default()).unwrap();
    encoder.begin(None).unwrap();
    let mut short = Vec::new();
    let mut room = vec![0; 256 << 10];
    for piece in content.chunks(1 << 10).chain([&[][..]]) {
        let last = piece.is_empty();
        let operation = if last {
            Operation::End
        } else {
            Operation::Flush
        };
        let step = encoder.push(piece, &mut room, operation).unwrap();
        assert_eq!(step.consumed, piece.len());
        short.extend_from_slice(&room[..step.produced]);
    }
    let read = |frame: Vec<u8>, room_bytes: usize| {
        let scheduler = scheduler(0);
        turns_of_others(async move {
            let options = DecoderOptions::default();
            let mut decoder = scheduler.decoder(&frame[..], &options).unwrap();
            let mut room = vec![0; room_bytes];
            while decoder.read(&mut room).await.unwrap() > 0 {}
        })
    };
    // A block, or short ones with the content of a slice, each have a turn, however much is read at once.
    for room_bytes in [16 << 10, 1 << 20] {
        let turns = read(long.clone(), room_bytes);
        assert!(turns >= 511, "{turns}");
        let turns = read(short.clone(), room_bytes);
        assert!((125..1_000).contains(&turns), "{turns}");
    }
}

#[test]
fn many_streams_of_a_thread_need_few_contexts() {
    let scheduler = scheduler(100_000);
    let content = prose(5, 400_000);
    let (own, expected) = (scheduler.clone(), content.clone());
    let frames = run(0, async move {
        let tasks: Vec<_> = (0..40)
            .map(|_| {
                let (scheduler, content) = (own.clone(), content.clone());
                tokio::spawn(async move {
                    let options = EncoderOptions::default();
                    let mut encoder = scheduler.encoder(Vec::new(), &options, None).unwrap();
                    for piece in content.chunks(5_000) {
                        encoder.write_all(piece).await.unwrap();
                    }
                    encoder.shutdown().await.unwrap();
                    encoder.into_inner()
                })
            })
            .collect();
        let mut frames = Vec::new();
        for task in tasks {
            frames.push(task.await.unwrap());
        }
        frames
    });
    assert!(frames.iter().all(|frame| one_shot(frame) == expected));
    let stats = scheduler.pool().stats();
    // About four are at work, and one more begins.
    assert!(stats.misses <= 10, "{stats:?}");
    assert_eq!((stats.in_use, stats.refused), (0, 0));
}

#[test]
fn a_future_that_is_kept_holds_up_no_other_stream() {
    for threshold_ns in [0, 1, 100_000] {
        run(0, async move {
            // The offload thread begins once all of them were left alone, and so has all their chunks before it.
            let (begin, begins) = std::sync::mpsc::channel::<()>();
            let begins = Mutex::new(begins);
            let offload = Offload::with_setup(1, move |_| {
                let _ = begins.lock().unwrap().recv();
            });
            let model = CostModel::new(threshold_ns);
            let scheduler = Scheduler::new(model, Pool::default(), offload.unwrap());
            let options = EncoderOptions::default().with_level(1);
            let content = prose(6, 600_000);
            let mut encoders: Vec<_> = (0..6)
                .map(|_| scheduler.encoder(Vec::new(), &options, None).unwrap())
                .collect();
            // Each is polled a few times and then left alone, wherever it waits.
            let mut kept: Vec<_> = encoders
                .iter_mut()
                .map(|encoder| Box::pin(encoder.write_all(&content)))
                .collect();
            for (polls, writing) in kept.iter_mut().enumerate() {
                for _ in 0..polls {
                    let first = std::future::poll_fn(|context| {
                        Poll::Ready(writing.as_mut().poll(context).is_ready())
                    });
                    if first.await {
                        break;
                    }
                }
            }
            drop(begin);
            let other = tokio::spawn({
                let (scheduler, content) = (scheduler.clone(), content.clone());
                async move {
                    let mut encoder = scheduler.encoder(Vec::new(), &options, None).unwrap();
                    encoder.write_all(&content).await.unwrap();
                    encoder.shutdown().await.unwrap();
                    assert!(one_shot(&encoder.into_inner()) == content);
                }
            });
            other.await.unwrap();
        });
    }
}

#[test]
fn runtimes_take_turns_on_a_thread() {
    let scheduler = scheduler(100_000);
    let content = prose(7, 500_000);
    let runtimes = [runtime(0), runtime(0), runtime(1)];
    for round in 0..9 {
        let runtime = &runtimes[round % 3];
        let streams: Vec<_> = (0..3)
            .map(|_| {
                let (scheduler, content) = (scheduler.clone(), content.clone());
                let work = async move {
                    let options = EncoderOptions::default().with_level(1);
                    let mut encoder = scheduler.encoder(Vec::new(), &options, None).unwrap();
                    encoder.write_all(&content).await.unwrap();
                    encoder.shutdown().await.unwrap();
                    encoder.into_inner()
                };
                runtime.spawn(work)
            })
            .collect();
        // One is waited for, the others stay where they are until it is the turn of their runtime again.
        for stream in streams.into_iter().take(1 + round % 2) {
            assert!(one_shot(&runtime.block_on(stream).unwrap()) == content);
        }
    }
    drop(runtimes);
    assert_eq!(scheduler.pool().stats().discarded, 0);
}

#[test]
fn a_runtime_may_end_while_streams_wait() {
    for workers in 0..3 {
        let scheduler = scheduler(1);
        let runtime = runtime(workers);
        for _ in 0..20 {
            let scheduler = scheduler.clone();
            runtime.spawn(async move {
                let options = EncoderOptions::default().with_level(1);
                let mut encoder = scheduler
                    .encoder(tokio::io::sink(), &options, None)
                    .unwrap();
                loop {
                    encoder.write_all(&[7; 50_000]).await.unwrap();
                }
            });
        }
        runtime.block_on(async {
            for _ in 0..50 {
                tokio::task::yield_now().await;
            }
        });
        drop(runtime);
        let after = self::runtime(0).block_on(scheduler.offload().run(|| 7));
        assert_eq!(after, Ok(7));
        assert_eq!(scheduler.pool().stats().in_use, 0, "{workers} workers");
    }
}

#[test]
fn content_of_unknown_size_that_ends_early_states_its_size() {
    for (len, states) in [
        (0, true),
        (1, true),
        (128 << 10, true),
        ((128 << 10) + 1, false),
    ] {
        for threshold_ns in [0, 100_000, u64::MAX] {
            let frame = run(0, async move {
                let scheduler = scheduler(threshold_ns);
                let options = EncoderOptions::default();
                let mut encoder = scheduler.encoder(Vec::new(), &options, None).unwrap();
                for piece in prose(8, len).chunks(1000) {
                    encoder.write_all(piece).await.unwrap();
                }
                encoder.shutdown().await.unwrap();
                encoder.into_inner()
            });
            assert!(one_shot(&frame) == prose(8, len));
            // The two bits of the size, and that of a single segment.
            assert_eq!(frame[4] & 0b1110_0000 != 0, states, "{len} bytes");
        }
    }
}
