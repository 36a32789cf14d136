//! One entry of an archive as an [`AsyncWrite`].

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use ::tokio::io::AsyncWrite;

use super::writer::AsyncArchiveWriter;
use crate::error::Error;
use crate::write::EntryOptions;

impl<W: AsyncWrite + Unpin> AsyncArchiveWriter<W> {
    /// Starts an entry, as [`start_entry`](AsyncArchiveWriter::start_entry) does, and returns it as an
    /// [`AsyncWrite`].
    ///
    /// ```
    /// # ::tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
    /// use zipstream::tokio::AsyncArchiveWriter;
    /// use zipstream::{ArchiveReader, EntryOptions};
    ///
    /// let mut archive = AsyncArchiveWriter::new(Vec::new());
    /// let mut entry = archive.entry_writer("a.txt", &EntryOptions::default()).await?;
    /// tokio::io::copy(&mut &b"some text"[..], &mut entry).await?;
    /// entry.finish().await?;
    /// let (bytes, _) = archive.finish().await?;
    ///
    /// let reader = ArchiveReader::open(bytes)?;
    /// let entry = reader.find("a.txt")?.expect("it was written");
    /// assert_eq!(reader.read(&entry)?, b"some text");
    /// # Ok::<(), std::io::Error>(()) }).unwrap();
    /// ```
    ///
    /// [`AsyncWrite`]: https://docs.rs/tokio/1/tokio/io/trait.AsyncWrite.html
    pub async fn entry_writer(
        &mut self,
        name: &str,
        options: &EntryOptions,
    ) -> Result<AsyncEntryWriter<'_, W>, Error> {
        self.start_entry(name, options).await?;
        Ok(AsyncEntryWriter {
            archive: self,
            ended: false,
        })
    }
}

/// The content of one entry as an [`AsyncWrite`]; made by [`AsyncArchiveWriter::entry_writer`].
///
/// [`finish`](AsyncEntryWriter::finish) or
/// [`shutdown`](::tokio::io::AsyncWriteExt::shutdown) ends the entry; the sink of the archive stays
/// open. If the writer is dropped before, the entry stays open: call
/// [`AsyncArchiveWriter::finish_entry`] to keep what was written, or
/// [`AsyncArchiveWriter::abandon_entry`] to remove it.
///
/// [`AsyncWrite`]: https://docs.rs/tokio/1/tokio/io/trait.AsyncWrite.html
#[derive(Debug)]
#[must_use = "an entry is complete only after `finish`"]
pub struct AsyncEntryWriter<'a, W> {
    archive: &'a mut AsyncArchiveWriter<W>,
    ended: bool,
}

impl<W: AsyncWrite + Unpin> AsyncEntryWriter<'_, W> {
    /// Ends the entry, if [`shutdown`](::tokio::io::AsyncWriteExt::shutdown) has not done so already.
    pub async fn finish(self) -> Result<(), Error> {
        match self.ended {
            true => Ok(()),
            false => self.archive.finish_entry().await,
        }
    }

    /// Bytes of content written so far.
    pub fn content_bytes(&self) -> u64 {
        self.archive.entry_bytes()
    }
}

impl<W: AsyncWrite + Unpin> AsyncWrite for AsyncEntryWriter<'_, W> {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        content: &[u8],
    ) -> Poll<io::Result<usize>> {
        let archive = &mut *self.get_mut().archive;
        ready!(archive.poll_push_ready(content, context))?;
        Poll::Ready(Ok(archive.push_now(content)?))
    }

    /// Writes all compressed bytes to the sink and flushes it. Content that waits to be compressed
    /// stays in the entry.
    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = ready!(self.get_mut().archive.poll_flush(context));
        Poll::Ready(Ok(flushed?))
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if !this.ended {
            ready!(this.archive.poll_finish_ready(context))?;
            this.archive.finish_now()?;
            this.ended = true;
        }
        Poll::Ready(Ok(()))
    }
}
