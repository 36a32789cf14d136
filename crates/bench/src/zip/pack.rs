//! The two ways to pack the same entries, each call or turn of them timed where that is asked for.

use std::fs::File;
use std::future::poll_fn;
use std::io::Write;
use std::path::Path;
use std::pin::pin;
use std::sync::Arc;
use std::time::Instant;

use latency::Recorder;
use tokio::io::AsyncWrite;
use zipstream::tokio::AsyncArchiveWriter;
use zipstream::{ArchiveWriter, EntryOptions, Error, Method};

/// Entries of one size, out of a content that goes round.
#[derive(Debug, Clone)]
pub(crate) struct Work {
    pub(crate) content: Arc<[u8]>,
    pub(crate) entries: usize,
    pub(crate) entry_bytes: usize,
    pub(crate) level: i32,
}

impl Work {
    /// The content of an entry, which may start again at the start.
    pub(crate) fn parts(&self, entry: usize) -> impl Iterator<Item = &[u8]> + Send {
        let mut at = entry * self.entry_bytes % self.content.len();
        let mut left = self.entry_bytes;
        std::iter::from_fn(move || {
            let part = &self.content[at..];
            let part = &part[..part.len().min(left)];
            left -= part.len();
            at = 0;
            (!part.is_empty()).then_some(part)
        })
    }

    pub(crate) fn bytes(&self) -> u64 {
        (self.entries * self.entry_bytes) as u64
    }

    fn options(&self) -> EntryOptions {
        let mut options = EntryOptions::new(Method::Deflate).level(self.level);
        options.size_hint = Some(self.entry_bytes as u64);
        options
    }
}

fn name(entry: usize) -> String {
    format!("entry{entry:03}.txt")
}

/// The recorders of entries and of what holds a thread.
pub(crate) struct Times {
    pub(crate) entry: Recorder,
    pub(crate) hold: Recorder,
}

/// Packs into anything that takes bytes.
pub(crate) fn sync<W: Write>(
    work: &Work,
    sink: W,
    mut times: Option<&mut Times>,
) -> Result<W, Error> {
    let mut writer = ArchiveWriter::new(sink);
    let held = |times: &mut Option<&mut Times>, start: Instant| {
        if let Some(times) = times {
            times.hold.record_span(start, Instant::now());
        }
    };
    for entry in 0..work.entries {
        let start = Instant::now();
        writer.start_entry(&name(entry), &work.options())?;
        held(&mut times, start);
        for part in work.parts(entry) {
            let start = Instant::now();
            writer.push(part)?;
            held(&mut times, start);
        }
        let end = Instant::now();
        writer.finish_entry()?;
        held(&mut times, end);
        if let Some(times) = &mut times {
            times.entry.record_span(start, Instant::now());
        }
    }
    let start = Instant::now();
    let result = writer.finish();
    held(&mut times, start);
    Ok(result?.0)
}

/// The same for tokio.
pub(crate) async fn asynchronous<W: AsyncWrite + Unpin>(
    work: &Work,
    sink: W,
    mut entries: Option<&mut Recorder>,
) -> Result<W, Error> {
    let mut writer = AsyncArchiveWriter::new(sink);
    for entry in 0..work.entries {
        let start = Instant::now();
        writer.start_entry(&name(entry), &work.options()).await?;
        for part in work.parts(entry) {
            writer.push(part).await?;
        }
        writer.finish_entry().await?;
        if let Some(entries) = &mut entries {
            entries.record_span(start, Instant::now());
        }
    }
    Ok(writer.finish().await?.0)
}

/// Runs a future; every turn that it has of its thread is a hold.
pub(crate) async fn held<T>(future: impl Future<Output = T>, hold: &mut Recorder) -> T {
    let mut future = pin!(future);
    poll_fn(|context| {
        let start = Instant::now();
        let polled = future.as_mut().poll(context);
        hold.record_span(start, Instant::now());
        polled
    })
    .await
}

/// Packs into a file.
pub(crate) fn sync_file(work: &Work, path: &Path) -> Result<(), Error> {
    let file = File::create(path).map_err(|error| Error::from_io(&error))?;
    sync(work, file, None).map(drop)
}

/// The same for tokio.
pub(crate) async fn async_file(work: &Work, path: &Path) -> Result<(), Error> {
    let file = tokio::fs::File::create(path)
        .await
        .map_err(|error| Error::from_io(&error))?;
    asynchronous(work, file, None).await.map(drop)
}
