//! Where the tables of a frame are made, and where not.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::mpsc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use tokio::io::AsyncWriteExt as _;
use tokio::runtime::Builder;
use tokio::time::timeout;
use zstdkit::schedule::{CostKey, CostModel, Offload};
use zstdkit::tokio::Scheduler;
use zstdkit::{DecoderOptions, EncoderOptions, Pool, sliced::SLICE_BYTES};

/// Longer than any test takes.
const END: Duration = Duration::from_secs(300);

/// A scheduler with one offload thread, and a model that knows slices to be short.
fn scheduler(options: &EncoderOptions) -> Scheduler {
    let model = CostModel::default();
    for _ in 0..100 {
        model.observe(CostKey::compress_slice(options, None), SLICE_BYTES, 1_000);
    }
    assert!(model.opens_slowly(options, None));
    Scheduler::new(model, Pool::default(), Offload::new(1).unwrap())
}

async fn compress(scheduler: &Scheduler, options: &EncoderOptions, content: &[u8]) -> Vec<u8> {
    let mut encoder = scheduler.encoder(Vec::new(), options, None).unwrap();
    for piece in content.chunks(16_000) {
        encoder.write_all(piece).await.unwrap();
    }
    encoder.shutdown().await.unwrap();
    encoder.into_inner()
}

#[test]
fn a_context_that_has_its_tables_is_not_sent_to_another_thread() {
    let runtime = Builder::new_current_thread().enable_time().build().unwrap();
    let options = EncoderOptions::default();
    let content = b"to be or not to be ".repeat(16_000);
    let work = async {
        let scheduler = scheduler(&options);
        let first = compress(&scheduler, &options, &content).await;
        // From here on no job ends.
        let (end, ends) = mpsc::channel::<()>();
        let mut job = pin!(scheduler.offload().run(move || ends.recv().is_err()));
        let mut context = Context::from_waker(Waker::noop());
        assert!(job.as_mut().poll(&mut context).is_pending());
        for _ in 0..3 {
            let next = compress(&scheduler, &options, &content).await;
            let decoded = zstdkit::decompress(&next, &DecoderOptions::default()).unwrap();
            assert!(decoded == content && next.len() <= first.len() * 2);
        }
        drop(end);
        assert!(job.await.unwrap());
    };
    runtime.block_on(async { timeout(END, work).await.unwrap() });
}

/// The table of distant matches is cleared for each frame.
#[test]
fn a_context_that_clears_a_large_table_again_is_sent_to_another_thread() {
    let runtime = Builder::new_current_thread().enable_time().build().unwrap();
    let options = EncoderOptions::default().with_long_distance(true);
    let content = b"to be or not to be ".repeat(16_000);
    let work = async {
        let scheduler = scheduler(&options);
        let first = compress(&scheduler, &options, &content).await;
        let (end, ends) = mpsc::channel::<()>();
        let mut job = pin!(scheduler.offload().run(move || ends.recv().is_err()));
        let mut context = Context::from_waker(Waker::noop());
        assert!(job.as_mut().poll(&mut context).is_pending());
        let mut next = pin!(compress(&scheduler, &options, &content));
        // It waits for the thread that clears, and not before or behind it.
        while scheduler.offload().queued() == 0 {
            let ready = poll_fn(|context| Poll::Ready(next.as_mut().poll(context).is_ready()));
            assert!(!ready.await);
            tokio::task::yield_now().await;
        }
        drop(end);
        assert!(job.await.unwrap());
        let next = next.await;
        let decoded = zstdkit::decompress(&next, &DecoderOptions::default()).unwrap();
        assert!(decoded == content && next.len() <= first.len() * 2);
        assert_eq!(scheduler.pool().stats().misses, 1);
    };
    runtime.block_on(async { timeout(END, work).await.unwrap() });
}
