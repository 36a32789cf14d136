//! The encoder over anything that takes bytes asynchronously.

use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use ::tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite};

use super::{ENTRY_BYTES, Turn};
use crate::error::Error;
use crate::read::Directory;
use crate::write::{ArchiveEncoder, ArchiveOptions, EntryOptions, PushError, Totals};

/// Output that is worth a write.
const WRITE_BYTES: usize = 128 << 10;

/// Writes an archive to an [`AsyncWrite`], of which it needs nothing else.
///
/// Dropped without [`close`](AsyncArchiveWriter::close) or [`finish`](AsyncArchiveWriter::finish) it
/// leaves an archive without a directory.
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
    pub(super) turn: Turn,
}

impl<W: AsyncWrite + Unpin> AsyncArchiveWriter<W> {
    /// An archive with default options.
    pub fn new(sink: W) -> Self {
        Self {
            encoder: ArchiveEncoder::unwaiting_default(),
            sink,
            turn: Turn::default(),
        }
    }

    /// An archive with these options. Without threads of its own it has one of the
    /// [shared](crate::Workers::shared) ones work for it at a time.
    pub fn with_options(sink: W, options: ArchiveOptions) -> Result<Self, Error> {
        Ok(Self {
            encoder: ArchiveEncoder::unwaiting(options)?,
            sink,
            turn: Turn::default(),
        })
    }

    /// Goes on with an archive, as [`ArchiveEncoder::resume`] does: `sink` stands where the directory
    /// of that archive starts, or takes what is to stand there.
    pub fn resume(sink: W, options: ArchiveOptions, directory: &Directory) -> Result<Self, Error> {
        let mut writer = Self::with_options(sink, options)?;
        writer.encoder.take_over(directory)?;
        Ok(writer)
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

    /// Takes some of `content` for the open entry, all of it or none when the future is dropped; gives
    /// how much, at least one byte of what is not empty.
    pub async fn push_some(&mut self, content: &[u8]) -> Result<usize, Error> {
        self.ready().await?;
        let bytes = self.encoder.push(content)?;
        self.turn.charge(bytes as u64);
        Ok(bytes)
    }

    /// Reads once from `source` into the open entry; gives the bytes read, 0 at its end. It loses
    /// nothing when it is dropped if the read of `source` loses nothing.
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

    /// Drops the open entry, as [`ArchiveEncoder::abandon_entry`] does.
    pub fn abandon_entry(&mut self) -> Result<(), Error> {
        self.encoder.abandon_entry()
    }

    /// Adds an entry with all that `source` gives.
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

    /// Writes out what waits, without ending anything.
    pub async fn flush(&mut self) -> Result<(), Error> {
        poll_fn(|context| self.poll_flush(context)).await
    }

    /// Writes the directory and all that waits. It may be called again, as after its future was
    /// dropped.
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

    /// Writes the directory; gives the sink back, flushed but not shut down, and what the archive adds
    /// up to.
    pub async fn finish(mut self) -> Result<(W, Totals), Error> {
        let totals = self.close().await?;
        Ok((self.sink, totals))
    }

    /// What is in the archive so far. Entries that threads still work on are not.
    pub fn totals(&self) -> Totals {
        self.encoder.totals()
    }

    /// Content that was taken of the open entry, or of the last one.
    pub fn entry_bytes(&self) -> u64 {
        self.encoder.entry_bytes()
    }

    /// The sink.
    pub fn sink(&self) -> &W {
        &self.sink
    }

    /// Waits until a call may be made: others had their turn, output was written, and the threads
    /// have room.
    async fn ready(&mut self) -> Result<(), Error> {
        self.turn.take().await;
        poll_fn(|context| self.poll_room(context)).await
    }

    /// The same without the turn of others.
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
