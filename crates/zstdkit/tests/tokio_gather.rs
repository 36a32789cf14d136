//! What is only gathered holds its thread, too, where many streams do so at once. Counted in writes, not timed.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use tokio::io::AsyncWriteExt as _;
use tokio::runtime::Builder;
use tokio::task::yield_now;
use zstdkit::EncoderOptions;
use zstdkit::tokio::Scheduler;

const STREAMS: usize = 300;
const SLICE_BYTES: usize = zstdkit::sliced::SLICE_BYTES;

#[test]
fn chunks_that_many_streams_gather_leave_the_thread_to_others() {
    for write_bytes in [16_384, 1_024, 50_000] {
        let runtime = Builder::new_current_thread().build().unwrap();
        let scheduler = Scheduler::with_defaults().unwrap();
        let gathered = Arc::new(AtomicUsize::new(0));
        let most = runtime.block_on(async {
            let tasks: Vec<_> = (0..STREAMS)
                .map(|_| {
                    let (scheduler, gathered) = (scheduler.clone(), gathered.clone());
                    tokio::spawn(async move {
                        let options = EncoderOptions::default().with_level(9);
                        let sink = Vec::new();
                        let mut encoder = scheduler.encoder(sink, &options, None).unwrap();
                        let content = vec![b'a'; write_bytes];
                        // Not all of a chunk: no context is opened.
                        for _ in 0..100_000 / write_bytes {
                            encoder.write_all(&content).await.unwrap();
                            gathered.fetch_add(write_bytes, Relaxed);
                        }
                    })
                })
                .collect();
            let mut most = 0;
            while tasks.iter().any(|task| !task.is_finished()) {
                yield_now().await;
                most = most.max(gathered.swap(0, Relaxed));
            }
            for task in tasks {
                task.await.unwrap();
            }
            most
        });
        // Writes of less than a slice wait for a turn once they add up to one.
        let first = match write_bytes < SLICE_BYTES {
            true => STREAMS * SLICE_BYTES,
            false => 0,
        };
        assert!(most <= first + (2 << 20), "{write_bytes}: {most}");
    }
}
