//! Many archives on one thread hold it no longer than one, also together with streams of zstdkit. What other tasks wait
//! for is counted in calls, not timed: a busy machine does not change it.

use std::future::poll_fn;
use std::io::Cursor;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::task::{Context, Poll, Waker};
use std::thread;

use tokio::io::AsyncWrite;
use tokio::task::{JoinSet, yield_now};
use zipstream::tokio::{AsyncArchiveReader, AsyncArchiveWriter, AsyncPipeReader};
use zipstream::{ArchiveOptions, ArchiveReader, ArchiveWriter, EntryOptions, ReadOptions, Workers};

use crate::common::sample;

const ARCHIVES: usize = 32;

/// Work of the runtime's own thread since another task had its turn.
#[derive(Debug, Default)]
struct Steps {
    since: AtomicUsize,
    all: AtomicUsize,
}

impl Steps {
    fn count(&self) {
        self.since.fetch_add(1, Relaxed);
        self.all.fetch_add(1, Relaxed);
    }

    /// The most steps between two turns of this task, until all tasks of the set have ended.
    async fn most_of(&self, mut tasks: JoinSet<()>) -> usize {
        let mut most = 0;
        loop {
            yield_now().await;
            most = most.max(self.since.swap(0, Relaxed));
            match tasks.try_join_next() {
                Some(ended) => ended.unwrap(),
                None if tasks.is_empty() => return most,
                None => {}
            }
        }
    }
}

#[tokio::test]
async fn archives_that_are_written_at_once_compress_an_entry_a_turn() {
    let steps = Arc::<Steps>::default();
    let elsewhere = Arc::<AtomicUsize>::default();
    let here = thread::current().id();
    let mut options = ArchiveOptions::default();
    options.workers = Some(Workers::new(1));
    let (counted, others) = (steps.clone(), elsewhere.clone());
    options.observer = Some(Arc::new(
        move |job: zipstream::Job, work: &mut dyn FnMut()| {
            match thread::current().id() == here {
                true => counted.count(),
                false => drop(others.fetch_add(job.entries as usize, Relaxed)),
            }
            work();
        },
    ));
    // About as much as a turn allows.
    let content: Arc<[u8]> = sample(1, 10_000).into();
    let mut tasks = JoinSet::new();
    for _ in 0..ARCHIVES {
        let (options, content) = (options.clone(), content.clone());
        tasks.spawn(async move {
            let mut writer = AsyncArchiveWriter::with_options(Vec::new(), options).unwrap();
            for number in 0..10 {
                let name = format!("{number}.txt");
                let mut source = &content[..];
                let entry = EntryOptions::default();
                writer.add(&name, &entry, &mut source).await.unwrap();
            }
            let (archive, totals) = writer.finish().await.unwrap();
            assert_eq!(totals.entries, 10);
            let reader = ArchiveReader::open(archive).unwrap();
            let last = reader.entries().last().unwrap().unwrap();
            assert!(reader.read(&last).unwrap() == *content);
        });
    }
    let most = steps.most_of(tasks).await;
    let all = steps.all.load(Relaxed);
    assert_eq!(all + elsewhere.load(Relaxed), 10 * ARCHIVES);
    // One that was admitted, and one that did not have to wait. It was one of each archive.
    assert!(most <= 2, "{most} of {all}");
}

/// Counts what it is given.
#[derive(Debug, Clone)]
struct Sink(Arc<Steps>);

impl AsyncWrite for Sink {
    fn poll_write(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<std::io::Result<usize>> {
        self.0.count();
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

/// An archive of entries that are verified as a whole, and take longer than a turn.
fn archive() -> Vec<u8> {
    let mut writer = ArchiveWriter::new(Vec::new());
    for number in 0..4 {
        let content = sample(number, 1_000_000);
        let options = EntryOptions::default();
        let name = format!("{number}.txt");
        writer.add(&name, &options, &mut &content[..]).unwrap();
    }
    writer.finish().unwrap().0
}

#[tokio::test]
async fn archives_that_are_read_at_once_share_turns() {
    let steps = Arc::<Steps>::default();
    let archive = archive();
    let mut tasks = JoinSet::new();
    for _ in 0..ARCHIVES {
        let (archive, mut sink) = (archive.clone(), Sink(steps.clone()));
        tasks.spawn(async move {
            let mut reader = AsyncArchiveReader::open(Cursor::new(archive))
                .await
                .unwrap();
            let directory = reader.directory();
            for entry in &*directory {
                let copied = reader.copy_to(&entry.unwrap(), &mut sink).await;
                assert_eq!(copied.unwrap(), 1_000_000);
            }
        });
    }
    let most = steps.most_of(tasks).await;
    // Eight pieces of 128 KiB for each entry, a few of them in a turn. It was one of each archive.
    assert_eq!(steps.all.load(Relaxed), 8 * 4 * ARCHIVES);
    assert!(most <= 8, "{most}");
}

#[tokio::test]
async fn pipes_that_are_read_at_once_share_turns() {
    let steps = Arc::<Steps>::default();
    let archive: Arc<[u8]> = archive().into();
    let mut tasks = JoinSet::new();
    for _ in 0..ARCHIVES {
        let (archive, steps) = (archive.clone(), steps.clone());
        tasks.spawn(async move {
            let mut pipe = AsyncPipeReader::new(&archive[..], &ReadOptions::default());
            let mut total = 0;
            while pipe.next_entry().await.unwrap().is_some() {
                while let Some(piece) = pipe.next_piece().await.unwrap() {
                    steps.count();
                    total += piece.len();
                }
            }
            assert_eq!(total, 4_000_000);
        });
    }
    let most = steps.most_of(tasks).await;
    // Pieces have 128 KiB at most and take a good part of a turn each. It was one of each pipe.
    assert!(most < ARCHIVES / 2, "{most}");
}

#[cfg(feature = "zstd")]
#[tokio::test]
async fn archives_and_streams_of_zstd_share_a_turn() {
    use tokio::io::AsyncWriteExt as _;
    use zstdkit::EncoderOptions;
    use zstdkit::tokio::Scheduler;

    let scheduler = Scheduler::with_defaults().unwrap();
    let options = EncoderOptions::default().with_level(1);
    let mut encoder = scheduler.encoder(Vec::new(), &options, None).unwrap();
    let content = sample(1, 100_000);
    // From here on it has a context.
    encoder.write_all(&content[..40_000]).await.unwrap();
    encoder.flush().await.unwrap();
    let settings = ArchiveOptions::default().threshold_ns(5_000_000);
    let mut writer = AsyncArchiveWriter::with_options(Vec::new(), settings).unwrap();
    for number in 0..10 {
        let name = format!("{number}.txt");
        let entry = EntryOptions::default();
        writer.start_entry(&name, &entry).await.unwrap();
        writer.push(&content).await.unwrap();
        // The entry alone takes longer than a turn of the stream.
        let before = writer.totals().content_bytes;
        writer.finish_entry().await.unwrap();
        if writer.totals().content_bytes == before {
            // Too slow a machine: another thread compresses it.
            continue;
        }
        let mut context = Context::from_waker(Waker::noop());
        let poll = Pin::new(&mut encoder).poll_write(&mut context, &content);
        assert!(poll.is_pending(), "{number}");
        // Once the runtime has been back it goes on.
        let write = poll_fn(|context| Pin::new(&mut encoder).poll_write(context, &content));
        assert!(write.await.unwrap() > 0);
        encoder.flush().await.unwrap();
    }
    encoder.shutdown().await.unwrap();
    writer.finish().await.unwrap();
}
