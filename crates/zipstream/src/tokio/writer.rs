//! The encoder over an [`AsyncWrite`].

use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use ::tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite};
use turns::Rate;

use super::pace::Pace;
use crate::crypt::Encryption;
#[cfg(feature = "zstd")]
use crate::engine::whole::zstd_options;
use crate::error::Error;
use crate::method::Method;
use crate::read::{Directory, THRESHOLD_NS};
use crate::write::{ArchiveEncoder, ArchiveOptions, EntryOptions, PushError, Totals};

/// Output from which a write to the sink pays off.
const WRITE_BYTES: usize = 128 << 10;
/// About as much content as a read gives.
const READ_BYTES: u64 = 16 << 10;
/// About the most content that a push takes.
const PUSH_BYTES_MAX: usize = 256 << 10;
/// Less content is copied without looking at a clock.
const COPY_BYTES_MAX: usize = 4 << 10;

/// Writes an archive to an [`AsyncWrite`].
///
/// If it is dropped without [`close`](AsyncArchiveWriter::close) or
/// [`finish`](AsyncArchiveWriter::finish), the archive has no directory.
///
/// ```
/// # ::tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// use zipstream::EntryOptions;
/// use zipstream::tokio::AsyncArchiveWriter;
///
/// let mut writer = AsyncArchiveWriter::new(Vec::new());
/// writer.add("a.txt", &EntryOptions::default(), &mut &b"first"[..]).await?;
/// let (archive, totals) = writer.finish().await?;
/// assert_eq!(totals.entries, 1);
/// assert_eq!(archive.len() as u64, totals.archive_bytes);
/// # Ok::<(), zipstream::Error>(()) }).unwrap();
/// ```
///
/// [`AsyncWrite`]: https://docs.rs/tokio/1/tokio/io/trait.AsyncWrite.html
#[derive(Debug)]
pub struct AsyncArchiveWriter<W> {
    pub(super) encoder: ArchiveEncoder,
    sink: W,
    pub(super) pace: Pace,
    threshold_ns: u64,
    /// What the rate of the pace is of.
    coding: (Method, i32),
    /// Whether the open entry is compressed in almost no time.
    repeats: bool,
}

impl<W: AsyncWrite + Unpin> AsyncArchiveWriter<W> {
    /// An archive with default options.
    pub fn new(sink: W) -> Self {
        Self::over(sink, ArchiveEncoder::nonblocking_default(), THRESHOLD_NS)
    }

    fn over(sink: W, encoder: ArchiveEncoder, threshold_ns: u64) -> Self {
        let coding = (Method::Stored, 0);
        Self {
            encoder,
            sink,
            pace: Pace::new(assumed_ns_per_kib(coding), threshold_ns),
            threshold_ns,
            coding,
            repeats: false,
        }
    }

    /// An archive with these options. Without own threads it keeps one of the
    /// [shared](crate::Workers::shared) ones busy at a time.
    pub fn with_options(sink: W, options: ArchiveOptions) -> Result<Self, Error> {
        let threshold_ns = options.threshold_ns;
        let encoder = ArchiveEncoder::nonblocking(options)?;
        Ok(Self::over(sink, encoder, threshold_ns))
    }

    /// Continues an archive, as [`ArchiveEncoder::resume`] does. `sink` must be positioned where
    /// the directory of that archive starts, or collect what belongs there.
    pub fn resume(sink: W, options: ArchiveOptions, directory: &Directory) -> Result<Self, Error> {
        let mut writer = Self::with_options(sink, options)?;
        writer.encoder.take_over(directory)?;
        Ok(writer)
    }

    /// Sets how entries are encrypted from the next one on, as [`ArchiveEncoder::set_encryption`] does,
    /// when running jobs are done.
    pub async fn set_encryption(&mut self, encryption: Option<Encryption>) -> Result<(), Error> {
        self.ready().await?;
        let encoder = &mut self.encoder;
        poll_fn(|context| encoder.poll_settled(context.waker())).await?;
        self.encoder.set_encryption(encryption)
    }

    /// Starts an entry, as [`ArchiveEncoder::start_entry`] does.
    pub async fn start_entry(&mut self, name: &str, options: &EntryOptions) -> Result<(), Error> {
        self.ready().await?;
        self.pace.entry();
        self.encoder.start_entry(name, options)
    }

    /// Takes all of `content` for the open entry.
    pub async fn push(&mut self, mut content: &[u8]) -> Result<(), Error> {
        while !content.is_empty() {
            content = &content[self.push_some(content).await?..];
        }
        Ok(())
    }

    /// Takes some of `content` and returns the number of bytes: at least one, unless it is empty. A
    /// dropped future has taken none.
    pub async fn push_some(&mut self, content: &[u8]) -> Result<usize, Error> {
        poll_fn(|context| self.poll_push_ready(content, context)).await?;
        self.push_now(content)
    }

    /// Reads once from `source` into the open entry; returns the number of bytes, 0 at its end. A
    /// dropped future loses nothing if the read of `source` loses nothing.
    pub async fn push_from(
        &mut self,
        source: &mut (impl AsyncRead + Unpin),
    ) -> Result<usize, PushError> {
        self.ready().await.map_err(PushError::Archive)?;
        if !self.encoder.only_copies() {
            let room = || self.encoder.room().map(drop);
            self.pace.work(room).map_err(PushError::Archive)?;
        }
        let room = self.encoder.room().map_err(PushError::Archive)?;
        let bytes = source.read(room).await.map_err(PushError::Source)?;
        self.encoder.filled(bytes).map_err(PushError::Archive)?;
        self.pace.copied(bytes as u64);
        Ok(bytes)
    }

    /// Ends the entry.
    pub async fn finish_entry(&mut self) -> Result<(), Error> {
        poll_fn(|context| self.poll_finish_ready(context)).await?;
        self.finish_now()
    }

    /// Removes the open entry, as [`ArchiveEncoder::abandon_entry`] does.
    pub fn abandon_entry(&mut self) -> Result<(), Error> {
        self.encoder.abandon_entry()
    }

    /// Adds an entry with everything that `source` returns.
    pub async fn add(
        &mut self,
        name: &str,
        options: &EntryOptions,
        source: &mut (impl AsyncRead + Unpin),
    ) -> Result<(), Error> {
        self.start_entry(name, options).await?;
        while self.push_from(source).await.map_err(Error::from)? > 0 {}
        self.finish_entry().await
    }

    /// Writes all output to the sink and flushes it, without ending anything.
    pub async fn flush(&mut self) -> Result<(), Error> {
        poll_fn(|context| self.poll_flush(context)).await
    }

    /// Writes the directory and all output. It may be called again, for example after its future
    /// was dropped.
    pub async fn close(&mut self) -> Result<Totals, Error> {
        loop {
            let encoder = &mut self.encoder;
            poll_fn(|context| encoder.poll_settled(context.waker())).await?;
            if self.encoder.output().len() < WRITE_BYTES {
                break;
            }
            self.drain(WRITE_BYTES).await?;
        }
        if self.encoder.directory_bytes() > WRITE_BYTES as u64 {
            self.drain(1).await?;
        }
        self.pace.take(0).await;
        let totals = self.pace.work(|| self.encoder.finish())?;
        self.flush().await?;
        Ok(totals)
    }

    /// Writes the directory; returns the sink, flushed but not shut down, and the totals of the
    /// archive.
    pub async fn finish(mut self) -> Result<(W, Totals), Error> {
        let totals = self.close().await?;
        Ok((self.sink, totals))
    }

    /// Totals of the archive so far, without entries that threads still work on.
    pub fn totals(&self) -> Totals {
        self.encoder.totals()
    }

    /// Content taken of the open entry, or of the last one.
    pub fn entry_bytes(&self) -> u64 {
        self.encoder.entry_bytes()
    }

    /// The sink.
    pub fn sink(&self) -> &W {
        &self.sink
    }

    /// Waits until a call may be made: its thread has time for it in this turn, output is written, and another job
    /// may be submitted.
    async fn ready(&mut self) -> Result<(), Error> {
        let next_ns = Pace::to_copy(READ_BYTES);
        poll_fn(|context| self.poll_ready(next_ns, context)).await
    }

    /// The same for a call that will probably take this long.
    fn poll_ready(&mut self, next_ns: u64, context: &mut Context<'_>) -> Poll<Result<(), Error>> {
        ready!(self.poll_room(context))?;
        self.pace.poll_take(next_ns, context).map(Ok)
    }

    /// The same for a call that takes some of the content.
    pub(super) fn poll_push_ready(
        &mut self,
        content: &[u8],
        context: &mut Context<'_>,
    ) -> Poll<Result<(), Error>> {
        let bytes = content.len().min(PUSH_BYTES_MAX);
        self.poll_ready(Pace::to_copy(bytes as u64), context)
    }

    /// The same for the call that ends an entry.
    pub(super) fn poll_finish_ready(
        &mut self,
        context: &mut Context<'_>,
    ) -> Poll<Result<(), Error>> {
        self.limit_inline();
        let bytes = self.encoder.inline_bytes();
        let next_ns = match self.repeats {
            true => Pace::to_copy(bytes),
            false => self.pace.to_work(bytes),
        };
        self.poll_ready(next_ns, context)
    }

    /// Has the call compress the open entry only if it ends within the threshold, even if it is as hard as content may be.
    fn limit_inline(&mut self) {
        let coding = self.encoder.coding();
        if coding != self.coding {
            self.coding = coding;
            *self.pace.rate() = Rate::new(assumed_ns_per_kib(coding));
        }
        let bytes = self.encoder.entry_bytes();
        let most = self.pace.rate().surely_within(self.threshold_ns);
        self.repeats = bytes > most && self.encoder.repeats();
        self.encoder
            .limit_inline(if self.repeats { bytes } else { most });
    }

    /// Takes some of the content, when this is [ready](Self::poll_push_ready).
    pub(super) fn push_now(&mut self, content: &[u8]) -> Result<usize, Error> {
        if content.len() < COPY_BYTES_MAX && self.encoder.only_copies() {
            let bytes = self.encoder.push(content)?;
            self.pace.copied(bytes as u64);
            return Ok(bytes);
        }
        self.pace.work(|| self.encoder.push(content))
    }

    /// Ends the entry, when this is ready. What compressing takes decides which of the next ones are compressed by the call.
    pub(super) fn finish_now(&mut self) -> Result<(), Error> {
        let bytes = self.encoder.inline_bytes();
        self.pace.work(|| self.encoder.finish_entry())?;
        match bytes {
            0 => self.pace.rate().relax(),
            _ if self.repeats => {}
            bytes => self.pace.worked_on(bytes),
        }
        Ok(())
    }

    /// Writes the output to the sink if there is much of it, and waits until another job may be submitted.
    fn poll_room(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Error>> {
        ready!(self.poll_drain(context, WRITE_BYTES))?;
        let before = self.encoder.output().len();
        let room = self.encoder.poll_room(context.waker());
        let more = self.encoder.output().len().saturating_sub(before);
        if more > 0 {
            self.pace.copied(more as u64);
        }
        room
    }

    async fn drain(&mut self, least: usize) -> Result<(), Error> {
        poll_fn(|context| self.poll_drain(context, least)).await
    }

    /// Writes the output to the sink if there are at least `least` bytes of it.
    fn poll_drain(&mut self, context: &mut Context<'_>, least: usize) -> Poll<Result<(), Error>> {
        if self.encoder.output().len() < least {
            return Poll::Ready(Ok(()));
        }
        while !self.encoder.output().is_empty() {
            let sink = Pin::new(&mut self.sink);
            let written = ready!(sink.poll_write(context, self.encoder.output()));
            match written.map_err(|error| Error::io(&error))? {
                0 => return Poll::Ready(Err(Error::io(&io::ErrorKind::WriteZero.into()))),
                bytes => self.encoder.consume(bytes),
            }
        }
        Poll::Ready(Ok(()))
    }

    /// Writes all output to the sink and flushes that.
    pub(super) fn poll_flush(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Error>> {
        ready!(self.poll_drain(context, 1))?;
        let flushed = ready!(Pin::new(&mut self.sink).poll_flush(context));
        Poll::Ready(flushed.map_err(|error| Error::io(&error)))
    }
}

/// What 1 KiB of hard content takes to compress, until it is known better: that of a call that compresses it, which is not
/// divided.
fn assumed_ns_per_kib((method, level): (Method, i32)) -> u64 {
    match (method, level) {
        (Method::Deflate, ..=1) => 5_000,
        (Method::Deflate, 2..=6) => 10_000,
        (Method::Deflate, 7) => 25_000,
        (Method::Deflate, 8) => 60_000,
        (Method::Deflate, 9) => 120_000,
        (Method::Deflate, _) => 600_000,
        #[cfg(feature = "zstd")]
        (Method::Zstd, level) => zstd_ns_per_kib(level),
        _ => 100,
    }
}

/// As the scheduler of zstdkit assumes.
#[cfg(feature = "zstd")]
fn zstd_ns_per_kib(level: i32) -> u64 {
    use zstdkit::schedule::CostKey;

    const KIB: usize = 1 << 10;
    CostKey::compress(&zstd_options(level), 128 * KIB).assumed_ns(KIB)
}
