//! The current entry of an [`AsyncPipeReader`] as an [`AsyncRead`].

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use ::tokio::io::{AsyncBufRead, AsyncRead, ReadBuf};

use super::entry_reader::read_buffered;
use super::pipe::AsyncPipeReader;
use crate::read::{Buffered, Piece, StreamEntry};

impl<R: AsyncRead + Unpin> AsyncPipeReader<R> {
    /// The content of the entry that [`next_entry`](AsyncPipeReader::next_entry) returned last, as an
    /// [`AsyncRead`] and [`AsyncBufRead`]. It may be called again to continue where another reader
    /// stopped.
    ///
    /// ```
    /// # ::tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
    /// use zipstream::tokio::AsyncPipeReader;
    /// use zipstream::{ArchiveWriter, EntryOptions, ReadOptions};
    ///
    /// let mut writer = ArchiveWriter::new(Vec::new());
    /// writer.add("a.txt", &EntryOptions::default(), &mut &b"first"[..])?;
    /// let (archive, _) = writer.finish()?;
    ///
    /// let mut pipe = AsyncPipeReader::new(&archive[..], &ReadOptions::default());
    /// while pipe.next_entry().await?.is_some() {
    ///     let mut content = Vec::new();
    ///     tokio::io::copy(&mut pipe.entry_reader(), &mut content).await?;
    ///     assert_eq!(content, b"first");
    /// }
    /// # Ok::<(), std::io::Error>(()) }).unwrap();
    /// ```
    ///
    /// [`AsyncRead`]: https://docs.rs/tokio/1/tokio/io/trait.AsyncRead.html
    /// [`AsyncBufRead`]: https://docs.rs/tokio/1/tokio/io/trait.AsyncBufRead.html
    pub fn entry_reader(&mut self) -> AsyncPipeEntryReader<'_, R> {
        AsyncPipeEntryReader { reader: self }
    }
}

/// The content of one entry of a pipe as an [`AsyncRead`]; made by
/// [`AsyncPipeReader::entry_reader`].
///
/// The content is verified at its end: it can be trusted only after a read of 0 bytes. Errors are
/// [`zipstream::Error`](crate::Error) inside an [`io::Error`]. An error of the source may be retried;
/// every other one is returned again by every later call. Content that is not read is skipped by the
/// next call of [`AsyncPipeReader::next_entry`].
///
/// [`AsyncRead`]: https://docs.rs/tokio/1/tokio/io/trait.AsyncRead.html
#[derive(Debug)]
pub struct AsyncPipeEntryReader<'a, R> {
    reader: &'a mut AsyncPipeReader<R>,
}

impl<R> AsyncPipeEntryReader<'_, R> {
    /// The entry that is read.
    pub fn entry(&self) -> Option<&StreamEntry> {
        self.reader.pipe.entry()
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for AsyncPipeEntryReader<'_, R> {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        read_buffered(self, context, buffer)
    }
}

impl<R: AsyncRead + Unpin> AsyncBufRead for AsyncPipeEntryReader<'_, R> {
    fn poll_fill_buf(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<&[u8]>> {
        let reader = &mut *self.get_mut().reader;
        loop {
            let most = reader.pace.piece_bytes();
            let next_ns = reader.pace.to_work(most as u64);
            ready!(reader.pace.poll_take(next_ns, context));
            match reader.work(Buffered::next_piece, most)? {
                Piece::Missing => ready!(reader.poll_fill(context))?,
                Piece::Spent => {}
                Piece::Content => return Poll::Ready(Ok(reader.pipe.piece())),
                Piece::End => return Poll::Ready(Ok(&[])),
            }
        }
    }

    fn consume(self: Pin<&mut Self>, bytes: usize) {
        self.get_mut().reader.pipe.consume(bytes);
    }
}
