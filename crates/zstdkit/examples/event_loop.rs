//! A thread that compresses bodies of 200 bytes to 16 MiB and goes on answering others meanwhile:
//! `cargo run --release -p zstdkit --features tokio,workload --example event_loop`
#![allow(clippy::print_stdout)]

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use tokio::io::AsyncWriteExt as _;
use zstdkit::EncoderOptions;
use zstdkit::tokio::Scheduler;
use zstdkit::workload::{Kind, generate};

#[tokio::main(flavor = "current_thread")]
async fn main() -> io::Result<()> {
    // One for the process: its contexts, its threads and what it has learned about times are shared.
    let scheduler = Scheduler::with_defaults()?;
    let bodies =
        [200, 4 << 10, 256 << 10, 16 << 20].map(|bytes| generate(Kind::JsonLines, 1, bytes));

    let done = Arc::new(AtomicBool::new(false));
    let others = tokio::spawn(longest_wait(Arc::clone(&done)));

    for body in bodies {
        let bytes = body.len();
        let start = Instant::now();
        // A whole body: small ones are compressed at once, large ones in slices or on another thread.
        let options = EncoderOptions::default();
        let frame = scheduler
            .compress(body.clone(), &options)
            .await
            .map_err(io::Error::other)?;
        let whole = start.elapsed();

        // The same as a stream, as it would go to a socket.
        let start = Instant::now();
        let mut encoder = scheduler
            .encoder(Vec::new(), &options, None)
            .map_err(io::Error::other)?;
        encoder.write_all(&body).await?;
        encoder.shutdown().await?;
        let streamed = encoder.into_inner();
        println!(
            "{bytes:>9} bytes: {:>8} in {whole:>9.2?}, streamed {:>8} in {:>9.2?}",
            frame.len(),
            streamed.len(),
            start.elapsed()
        );
    }
    done.store(true, Ordering::Relaxed);
    println!(
        "another task of this thread waited at most {:.2?}",
        others.await?
    );
    Ok(())
}

/// How late a task that wakes each millisecond was at worst.
async fn longest_wait(done: Arc<AtomicBool>) -> Duration {
    let mut worst = Duration::ZERO;
    while !done.load(Ordering::Relaxed) {
        let due = Instant::now() + Duration::from_millis(1);
        tokio::time::sleep_until(due.into()).await;
        worst = worst.max(due.elapsed());
    }
    worst
}
