//! The encoder over an [`AsyncWrite`].

use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use ::tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite};

use super::{ENTRY_BYTES, YieldBudget};
use crate::crypt::Encryption;
use crate::error::Error;
use crate::read::Directory;
use crate::write::{ArchiveEncoder, ArchiveOptions, EntryOptions, PushError, Totals};

/// Output from which a write to the sink pays off.
const WRITE_BYTES: usize = 128 << 10;

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
#[derive(Debug)]
pub struct AsyncArchiveWriter<W> {
    pub(super) encoder: ArchiveEncoder,
    sink: W,
    pub(super) turn: YieldBudget,
}

impl<W: AsyncWrite + Unpin> AsyncArchiveWriter<W> {
    /// An archive with default options.
    pub fn new(sink: W) -> Self {
        Self {
            encoder: ArchiveEncoder::nonblocking_default(),
            sink,
            turn: YieldBudget::default(),
        }
    }

    /// An archive with these options. Without own threads it keeps one of the
    /// [shared](crate::Workers::shared) ones busy at a time.
    pub fn with_options(sink: W, options: ArchiveOptions) -> Result<Self, Error> {
        Ok(Self {
            encoder: ArchiveEncoder::nonblocking(options)?,
            sink,
            turn: YieldBudget::default(),
        })
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
        self.turn.charge(ENTRY_BYTES);
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
        self.ready().await?;
        let bytes = self.encoder.push(content)?;
        self.turn.charge(bytes as u64);
        Ok(bytes)
    }

    /// Reads once from `source` into the open entry; returns the number of bytes, 0 at its end. A
    /// dropped future loses nothing if the read of `source` loses nothing.
    pub async fn push_from(
        &mut self,
        source: &mut (impl AsyncRead + Unpin),
    ) -> Result<usize, PushError> {
        self.ready().await.map_err(PushError::Archive)?;
        let room = self.encoder.room().map_err(PushError::Archive)?;
        let bytes = source.read(room).await.map_err(PushError::Source)?;
        self.encoder.filled(bytes).map_err(PushError::Archive)?;
        self.turn.charge(bytes as u64);
        Ok(bytes)
    }

    /// Ends the entry.
    pub async fn finish_entry(&mut self) -> Result<(), Error> {
        self.ready().await?;
        self.encoder.finish_entry()
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
        let totals = self.encoder.finish()?;
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

    /// Waits until a call may be made: the task has yielded if it is due, output is written, and
    /// another job may be submitted.
    async fn ready(&mut self) -> Result<(), Error> {
        self.turn.take().await;
        poll_fn(|context| self.poll_room(context)).await
    }

    /// The same without yielding.
    pub(super) fn poll_room(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Error>> {
        ready!(self.poll_drain(context, WRITE_BYTES))?;
        self.encoder.poll_room(context.waker())
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
