//! A writer that is not ready does not keep the encoder from its work, and does not fill the memory.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use tokio::io::{AsyncWrite, AsyncWriteExt as _};
use tokio::runtime::Builder;
use tokio::time::timeout;
use zstdkit::tokio::Scheduler;
use zstdkit::{DecoderOptions, EncoderOptions};

/// Longer than any test takes.
const END: Duration = Duration::from_secs(300);

#[derive(Default)]
struct Door {
    open: bool,
    waker: Option<Waker>,
    bytes: Vec<u8>,
    /// The most that was offered at once.
    most: usize,
}

/// Takes nothing until it is opened.
#[derive(Clone, Default)]
struct Sink(Arc<Mutex<Door>>);

impl Sink {
    fn open(&self) {
        let mut door = self.0.lock().unwrap();
        door.open = true;
        if let Some(waker) = door.waker.take() {
            waker.wake();
        }
    }
}

impl AsyncWrite for Sink {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let mut door = self.0.lock().unwrap();
        door.most = door.most.max(bytes.len());
        if !door.open {
            door.waker = Some(context.waker().clone());
            return Poll::Pending;
        }
        door.bytes.extend_from_slice(bytes);
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

fn content(zeros: usize, noise: usize) -> Vec<u8> {
    let mut content = vec![0; zeros];
    let mut state = 1_u64;
    content.extend((0..noise).map(|_| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 56) as u8
    }));
    content
}

fn decoded(sink: &Sink) -> Vec<u8> {
    let bytes = sink.0.lock().unwrap().bytes.clone();
    zstdkit::decompress(&bytes, &DecoderOptions::default()).unwrap()
}

#[test]
fn what_compresses_to_little_is_taken_while_the_writer_is_not_ready() {
    let runtime = Builder::new_current_thread().enable_time().build().unwrap();
    for level in [1, 3, 9] {
        runtime.block_on(async {
            let scheduler = Scheduler::with_defaults().unwrap();
            let options = EncoderOptions::default()
                .with_level(level)
                .with_checksum(true);
            let (sink, content) = (Sink::default(), content(3 << 20, 10_000));
            let mut encoder = scheduler.encoder(sink.clone(), &options, None).unwrap();
            for piece in content.chunks(50_000) {
                timeout(END, encoder.write_all(piece))
                    .await
                    .unwrap()
                    .unwrap();
            }
            assert!(sink.0.lock().unwrap().bytes.is_empty());
            // A flush is not done before the writer has all of it.
            let (flushed, ()) = tokio::join!(timeout(END, encoder.flush()), async {
                sink.open();
            });
            flushed.unwrap().unwrap();
            assert!(sink.0.lock().unwrap().most <= 32 << 10);
            timeout(END, encoder.shutdown()).await.unwrap().unwrap();
            assert_eq!(decoded(&sink), content);
        });
    }
}

#[test]
fn no_more_than_little_and_a_chunk_waits_for_the_writer() {
    let runtime = Builder::new_current_thread().enable_time().build().unwrap();
    for level in [1, 3, 9] {
        runtime.block_on(async {
            let scheduler = Scheduler::with_defaults().unwrap();
            let options = EncoderOptions::default().with_level(level);
            let (sink, content) = (Sink::default(), content(0, 3 << 20));
            let mut encoder = scheduler.encoder(sink.clone(), &options, None).unwrap();
            let writing = async {
                encoder.write_all(&content).await.unwrap();
                encoder.shutdown().await.unwrap();
            };
            let opening = async {
                // The encoder waits now, for the writer if for nothing else.
                while sink.0.lock().unwrap().waker.is_none() {
                    tokio::time::sleep(Duration::from_millis(1)).await;
                }
                tokio::time::sleep(Duration::from_millis(20)).await;
                sink.open();
            };
            let both = async { tokio::join!(writing, opening) };
            timeout(END, both).await.unwrap();
            let most = sink.0.lock().unwrap().most;
            assert!(most <= (32 << 10) + (128 << 10) + 1024, "{level}: {most}");
            assert_eq!(decoded(&sink), content);
        });
    }
}
