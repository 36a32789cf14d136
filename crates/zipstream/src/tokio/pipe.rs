//! An archive from an [`AsyncRead`], in the order of its bytes.

use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use ::tokio::io::{AsyncRead, ReadBuf};

use super::pace::Pace;
use crate::crypt::Decryption;
use crate::error::Error;
use crate::read::{Buffered, Entry, Next, Piece, ReadOptions, StreamEntry};

/// What 1 KiB of content takes to decode, until it is known better.
const NS_PER_KIB: u64 = 2_000;

/// Reads an archive from an [`AsyncRead`]. Any of its futures may be dropped and repeated; nothing
/// is lost if the reads of the source lose nothing.
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
/// while let Some(entry) = pipe.next_entry().await? {
///     assert_eq!(entry.name, "a.txt");
///     while let Some(piece) = pipe.next_piece().await? {
///         assert_eq!(piece, b"first");
///     }
/// }
/// # Ok::<(), zipstream::Error>(()) }).unwrap();
/// ```
///
/// [`AsyncRead`]: https://docs.rs/tokio/1/tokio/io/trait.AsyncRead.html
#[derive(Debug)]
pub struct AsyncPipeReader<R> {
    source: R,
    pub(super) pipe: Buffered,
    pub(super) pace: Pace,
}

impl<R: AsyncRead + Unpin> AsyncPipeReader<R> {
    /// Reads from the first byte of the archive on.
    pub fn new(source: R, options: &ReadOptions) -> Self {
        Self {
            source,
            pipe: Buffered::new(options),
            pace: Pace::new(NS_PER_KIB, options.threshold_ns),
        }
    }

    /// Sets the password for encrypted entries, as
    /// [`StreamDecoder`](crate::StreamDecoder::set_decryption) does.
    pub fn set_decryption(&mut self, decryption: Option<Decryption>) {
        self.pipe.set_decryption(decryption);
    }

    /// The next entry; skips the rest of the current one. `None` where the directory starts.
    pub async fn next_entry(&mut self) -> Result<Option<&StreamEntry>, Error> {
        let entry = loop {
            match self.step(Buffered::next_entry).await? {
                Next::Is(entry) => break entry,
                Next::Missing => self.fill().await?,
                Next::Spent => {}
            }
        };
        Ok(if entry { self.pipe.entry() } else { None })
    }

    /// The next piece of the content of the current entry, of up to 128 KiB. `None` after all of it
    /// was returned and verified.
    pub async fn next_piece(&mut self) -> Result<Option<&[u8]>, Error> {
        loop {
            match self.step(Buffered::next_piece).await? {
                Piece::Missing => self.fill().await?,
                Piece::Spent => {}
                Piece::Content => return Ok(Some(self.pipe.take_piece())),
                Piece::End => return Ok(None),
            }
        }
    }

    /// The next record of the directory, after the last entry; `None` at the end of the archive.
    pub async fn next_record(&mut self) -> Result<Option<Entry<'_>>, Error> {
        let record = loop {
            match self.step(Buffered::next_record).await? {
                Next::Is(record) => break record,
                Next::Missing => self.fill().await?,
                Next::Spent => {}
            }
        };
        Ok(if record { self.pipe.record() } else { None })
    }

    /// Bytes of the archive read so far.
    pub fn offset(&self) -> u64 {
        self.pipe.offset()
    }

    /// The number of bytes before the first entry, such as the program of a self-extracting archive, once
    /// that was read. The strict profile takes none.
    pub fn preceding_bytes(&self) -> u64 {
        self.pipe.preceding_bytes()
    }

    /// Whether reading can continue with the next entry after an error, as
    /// [`StreamDecoder::can_go_on`](crate::StreamDecoder::can_go_on) says.
    pub fn can_go_on(&self) -> bool {
        self.pipe.can_go_on()
    }

    /// Waits for a turn, and does a step in it.
    async fn step<T>(
        &mut self,
        step: impl FnOnce(&mut Buffered, usize) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let most = self.pace.piece_bytes();
        self.pace.take(self.pace.to_work(most as u64)).await;
        self.work(step, most)
    }

    /// Does a step on at most `most` bytes.
    pub(super) fn work<T>(
        &mut self,
        step: impl FnOnce(&mut Buffered, usize) -> Result<T, Error>,
        most: usize,
    ) -> Result<T, Error> {
        let done = self.pace.work(|| step(&mut self.pipe, most));
        self.pace.worked_on(self.pipe.take_worked());
        done
    }

    async fn fill(&mut self) -> Result<(), Error> {
        poll_fn(|context| self.poll_fill(context)).await
    }

    /// Reads more input from the source.
    pub(super) fn poll_fill(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Error>> {
        let mut room = ReadBuf::new(self.pipe.room());
        let read = ready!(Pin::new(&mut self.source).poll_read(context, &mut room));
        let bytes = room.filled().len();
        read.map_err(|error| Error::io(&error).at(self.pipe.offset()))?;
        self.pipe.filled(bytes);
        self.pace.copied(bytes as u64);
        Poll::Ready(Ok(()))
    }
}
