//! Compression inside a tokio runtime, as `perfkit advise` advises it.
//!
//! Needs `zstdkit` with its feature `tokio`. The scheduler knows what calls cost on this machine: it runs short
//! ones at once, longer ones in slices between which other tasks run, and the longest on threads of its own.

use zstdkit::tokio::Scheduler;
use zstdkit::{DecoderOptions, EncoderOptions, Recipe};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

fn main() -> Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().build()?;
    // One for the whole program; clones share it. Its calls and slices end within 300 µs: for another limit, such as 200,
    // `Scheduler::new(CostModel::new(200_000), Pool::default(), Offload::new(2)?)`.
    let scheduler = Scheduler::with_defaults()?;
    runtime.block_on(serve(&scheduler))
}

async fn serve(scheduler: &Scheduler) -> Result<()> {
    // Small contents at a fast recipe run inline, large ones in slices: the call is the same.
    let content = b"to be or not to be ".repeat(100_000);
    let small = scheduler.compress_recipe(content[..2048].to_vec(), Recipe::Fast);
    let large = scheduler.compress_recipe(content.clone(), Recipe::Text);
    let (small, large) = (small.await?, large.await?);

    let options = DecoderOptions::default();
    assert_eq!(
        scheduler.decompress(small, &options).await?,
        content[..2048]
    );
    assert_eq!(scheduler.decompress(large, &options).await?, content);

    // "Offload", for any library: a call that is always long runs on a thread for blocking work.
    let best = tokio::task::spawn_blocking(move || {
        zstdkit::compress(&content, &EncoderOptions::default().with_level(19))
    });
    assert!(best.await??.len() < 2048);
    Ok(())
}
