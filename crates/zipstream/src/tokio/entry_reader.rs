//! One entry of an archive as an [`AsyncRead`].

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use ::tokio::io::{AsyncBufRead, AsyncRead, AsyncSeek, ReadBuf};

use super::fetch::Fetch;
use super::reader::{AsyncArchiveReader, is_missing};
use crate::read::{Entry, EntryContent};

impl<R: AsyncRead + AsyncSeek + Unpin> AsyncArchiveReader<R> {
    /// The content of an entry as an [`AsyncRead`] and [`AsyncBufRead`]. Nothing is read before the
    /// first poll.
    ///
    /// ```
    /// # ::tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
    /// use tokio::io::AsyncBufReadExt as _;
    /// use zipstream::tokio::AsyncArchiveReader;
    /// use zipstream::{ArchiveWriter, EntryOptions};
    ///
    /// let mut writer = ArchiveWriter::new(Vec::new());
    /// writer.add("a.txt", &EntryOptions::default(), &mut &b"first\nsecond\n"[..])?;
    /// let (archive, _) = writer.finish()?;
    ///
    /// let mut reader = AsyncArchiveReader::open(std::io::Cursor::new(archive)).await?;
    /// let directory = reader.directory();
    /// let entry = directory.find("a.txt")?.expect("it was added");
    /// let mut lines = reader.entry_reader(&entry).lines();
    /// assert_eq!(lines.next_line().await?.as_deref(), Some("first"));
    /// assert_eq!(lines.next_line().await?.as_deref(), Some("second"));
    /// assert_eq!(lines.next_line().await?, None);
    /// # Ok::<(), std::io::Error>(()) }).unwrap();
    /// ```
    ///
    /// [`AsyncRead`]: https://docs.rs/tokio/1/tokio/io/trait.AsyncRead.html
    /// [`AsyncBufRead`]: https://docs.rs/tokio/1/tokio/io/trait.AsyncBufRead.html
    pub fn entry_reader<'a>(&'a mut self, entry: &Entry<'a>) -> AsyncEntryReader<'a, R> {
        AsyncEntryReader {
            reader: self,
            entry: *entry,
            content: EntryContent::new(),
            fetch: None,
        }
    }
}

/// The content of one entry as an [`AsyncRead`]; made by [`AsyncArchiveReader::entry_reader`].
///
/// An entry of up to 1 MiB is decoded and verified before its first byte is returned. A larger one is
/// decoded as it is read and verified at its end: its content can be trusted only after a read of 0
/// bytes. Errors are [`zipstream::Error`](crate::Error) inside an [`io::Error`]. An error of the
/// source may be retried; every other one is returned again by every later call.
///
/// [`AsyncRead`]: https://docs.rs/tokio/1/tokio/io/trait.AsyncRead.html
#[derive(Debug)]
pub struct AsyncEntryReader<'a, R> {
    reader: &'a mut AsyncArchiveReader<R>,
    entry: Entry<'a>,
    content: EntryContent,
    fetch: Option<Fetch>,
}

impl<'a, R> AsyncEntryReader<'a, R> {
    /// The entry that is read.
    pub fn entry(&self) -> &Entry<'a> {
        &self.entry
    }
}

impl<R: AsyncRead + AsyncSeek + Unpin> AsyncRead for AsyncEntryReader<'_, R> {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        read_buffered(self, context, buffer)
    }
}

impl<R: AsyncRead + AsyncSeek + Unpin> AsyncBufRead for AsyncEntryReader<'_, R> {
    fn poll_fill_buf(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<&[u8]>> {
        let Self {
            reader,
            entry,
            content,
            fetch,
        } = self.get_mut();
        loop {
            if fetch.is_some() {
                ready!(reader.poll_fill(fetch, context))?;
            }
            if content.has_unread() {
                return Poll::Ready(Ok(content.unread(&reader.scratch)));
            }
            let most = reader.prepare(content, entry);
            let next_ns = reader.to_decode(content, entry, most);
            ready!(reader.pace.poll_take(next_ns, context));
            let step = || content.step(&reader.reader, entry, &mut reader.scratch, most);
            match reader.pace.work(step) {
                Ok(Some(bytes)) => reader.pace.worked_on(bytes),
                Ok(None) => return Poll::Ready(Ok(&[])),
                Err(error) if is_missing(&error) => ready!(reader.poll_fill(fetch, context))?,
                Err(error) => return Poll::Ready(Err(error.into())),
            }
        }
    }

    fn consume(self: Pin<&mut Self>, bytes: usize) {
        self.get_mut().content.consume(bytes);
    }
}

/// Reads from a buffered reader.
pub(super) fn read_buffered<T: AsyncBufRead>(
    mut reader: Pin<&mut T>,
    context: &mut Context<'_>,
    buffer: &mut ReadBuf<'_>,
) -> Poll<io::Result<()>> {
    if buffer.remaining() == 0 {
        return Poll::Ready(Ok(()));
    }
    let content = ready!(reader.as_mut().poll_fill_buf(context))?;
    let bytes = content.len().min(buffer.remaining());
    buffer.put_slice(&content[..bytes]);
    reader.consume(bytes);
    Poll::Ready(Ok(()))
}
