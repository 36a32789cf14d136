//! Reads entries of an archive asynchronously, in any order.
//!
//! The reader without tokio works on bytes in memory. When it misses some, they are fetched and its
//! call is repeated.

use std::future::poll_fn;
use std::io::{self, SeekFrom};
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};

use ::tokio::io::{AsyncRead, AsyncSeek, AsyncSeekExt as _, AsyncWrite, AsyncWriteExt as _};
use turns::{Content, OutOfMemory};

use super::fetch::{Fetch, Known};
use super::pace::Pace;
use crate::crypt::Decryption;
use crate::error::{Error, ErrorKind};
use crate::read::{
    ArchiveReader, Check, Count, Directory, Entry, EntryContent, Locator, ReadAt, ReadOptions,
    Scratch, beginning_bytes,
};

/// What 1 KiB of content takes to decode, until it is known better.
const NS_PER_KIB: u64 = 2_000;
/// What the key of an encrypted entry takes. It is made in one step.
const KEY_NS: u64 = 300_000;
/// About as much content as is copied in one go.
const COPY_BYTES: u64 = 128 << 10;
/// Room for content is reserved up to this many times the compressed bytes.
const TRUSTED_RATIO: u64 = 64;

/// Reads an archive from anything that reads and seeks asynchronously.
///
/// ```
/// # ::tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// use zipstream::tokio::AsyncArchiveReader;
/// use zipstream::{ArchiveWriter, EntryOptions};
///
/// let mut writer = ArchiveWriter::new(Vec::new());
/// writer.add("a.txt", &EntryOptions::default(), &mut &b"first"[..])?;
/// let (archive, _) = writer.finish()?;
///
/// let mut reader = AsyncArchiveReader::open(std::io::Cursor::new(archive)).await?;
/// let directory = reader.directory();
/// let entry = directory.find("a.txt")?.expect("it was added");
/// assert_eq!(reader.read(&entry).await?, b"first");
/// # Ok::<(), zipstream::Error>(()) }).unwrap();
/// ```
#[derive(Debug)]
pub struct AsyncArchiveReader<R> {
    source: R,
    known: Known,
    pub(super) reader: ArchiveReader<Held>,
    pub(super) scratch: Scratch,
    pub(super) pace: Pace,
}

impl<R: AsyncRead + AsyncSeek + Unpin> AsyncArchiveReader<R> {
    /// Opens an archive in the default profile.
    pub async fn open(source: R) -> Result<Self, Error> {
        Self::open_with(source, &ReadOptions::default()).await
    }

    /// Opens an archive: finds and reads its directory. The strict profile also checks every local
    /// header, as [`check`](AsyncArchiveReader::check) does.
    pub async fn open_with(mut source: R, options: &ReadOptions) -> Result<Self, Error> {
        let sought = source.seek(SeekFrom::End(0)).await;
        let size = sought.map_err(|error| Error::io(&error))?;
        let mut pace = Pace::new(NS_PER_KIB, options.threshold_ns);
        let (mut locator, mut known) = (Locator::new(size, options), Known::default());
        while let Some(range) = locator.wants() {
            let mut fetch = Fetch::new(range, Vec::new());
            let fetched =
                poll_fn(|context| fetch.poll(&mut source, &mut known, &mut pace, context));
            let bytes = fetched.await?;
            pace.step(|_| locator.supply(bytes)).await?;
        }
        let mut count = Count::new(locator.finish()?);
        while !pace.step(|budget| count.run(options, budget)).await? {}
        let held = Held {
            size,
            state: Mutex::default(),
        };
        let mut reader = Self {
            source,
            known,
            reader: ArchiveReader::over(held, count.finish(options)?, options),
            scratch: Scratch::default(),
            pace,
        };
        if options.is_strict() {
            reader.check().await?;
        }
        Ok(reader)
    }

    /// Sets the password for encrypted entries. Large ones are read twice, first to authenticate
    /// them, unless their content is [released early](Decryption::release_early).
    pub fn set_decryption(&mut self, decryption: Option<Decryption>) {
        self.reader.set_decryption(decryption);
    }

    /// The directory; its entries are passed to the calls that read.
    pub fn directory(&self) -> Arc<Directory> {
        self.reader.shared_directory()
    }

    /// Another reader of the same archive by a source of its own, without reading the directory again. Limits
    /// on the content of all entries count for each by itself.
    pub fn with_source<S: AsyncRead + AsyncSeek + Unpin>(
        &self,
        source: S,
    ) -> AsyncArchiveReader<S> {
        let held = Held {
            size: self.size(),
            state: Mutex::default(),
        };
        AsyncArchiveReader {
            source,
            known: Known::default(),
            reader: self.reader.with_source(held),
            scratch: Scratch::default(),
            pace: Pace::new(NS_PER_KIB, self.reader.options().threshold_ns),
        }
    }

    /// The source it reads from.
    pub fn source(&self) -> &R {
        &self.source
    }

    /// The size of the archive.
    pub(super) fn size(&self) -> u64 {
        self.reader.source().size
    }

    /// The source, and the reader of what is in memory.
    pub(super) fn into_parts(self) -> (R, ArchiveReader<Held>) {
        (self.source, self.reader)
    }

    /// The source, which may be at any position.
    pub fn into_source(self) -> R {
        self.source
    }

    /// The number of entries.
    pub fn len(&self) -> u64 {
        self.reader.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.reader.is_empty()
    }

    /// Checks the layout, as [`ArchiveReader::check`] does.
    pub async fn check(&mut self) -> Result<(), Error> {
        let mut check = Check::new(&self.reader, true);
        loop {
            let step = self.pace.step(|budget| check.run(&self.reader, budget));
            match step.await {
                Ok(false) => {}
                Ok(true) => return Ok(()),
                Err(error) if is_missing(&error) => self.fill().await?,
                Err(error) => return Err(error),
            }
        }
    }

    /// The content of an entry. It is gathered in several turns, without being moved when it grows.
    pub async fn read(&mut self, entry: &Entry<'_>) -> Result<Vec<u8>, Error> {
        let named = |error: OutOfMemory| {
            let what = format!("no memory for {} bytes of content", error.bytes);
            Error::new(ErrorKind::Io(io::ErrorKind::OutOfMemory), what).entry(entry.name_lossy())
        };
        let mut gathered = Content::with_capacity(trusted_bytes(entry));
        let mut content = EntryContent::new();
        while self.decode(&mut content, entry).await? {
            while content.has_unread() {
                let unread = content.unread(&self.scratch).len() as u64;
                self.pace.take(Pace::to_copy(unread.min(COPY_BYTES))).await;
                let piece = content.unread(&self.scratch);
                let taken = self.pace.work(|| gathered.put(piece)).map_err(named)?;
                content.consume(taken);
            }
        }
        let mut join = match gathered.whole().map_err(named)? {
            Ok(whole) => return Ok(whole),
            Err(join) => join,
        };
        let mut done = false;
        while !done {
            self.pace.take(Pace::to_copy(COPY_BYTES)).await;
            done = self.pace.work(|| join.step());
        }
        Ok(join.into_whole())
    }

    /// Writes the content of an entry to `sink`, in pieces of up to 128 KiB without flushing, and returns its size. Content of
    /// up to 1 MiB is verified first. Larger content is verified at its end: trust it only when this call has
    /// returned.
    ///
    /// If the future is dropped, the sink may have a part of the content; the reader is unchanged.
    pub async fn copy_to(
        &mut self,
        entry: &Entry<'_>,
        sink: &mut (impl AsyncWrite + Unpin),
    ) -> Result<u64, Error> {
        let named = |error: Error| error.entry(entry.name_lossy());
        let (mut content, mut total) = (EntryContent::new(), 0);
        while self.decode(&mut content, entry).await? {
            while content.has_unread() {
                let unread = content.unread(&self.scratch).len();
                let bytes = unread.min(COPY_BYTES as usize);
                self.pace.take(Pace::to_copy(bytes as u64)).await;
                let piece = &content.unread(&self.scratch)[..bytes];
                write(sink, piece).await.map_err(named)?;
                self.pace.copied(bytes as u64);
                content.consume(bytes);
                total += bytes as u64;
            }
        }
        Ok(total)
    }

    /// Decodes until there is unread content. `false`: there is no more.
    async fn decode(
        &mut self,
        content: &mut EntryContent,
        entry: &Entry<'_>,
    ) -> Result<bool, Error> {
        loop {
            let most = self.prepare(content, entry);
            self.pace.take(self.to_decode(content, entry, most)).await;
            let step = || content.step(&self.reader, entry, &mut self.scratch, most);
            match self.pace.work(step) {
                Ok(Some(bytes)) => {
                    self.pace.worked_on(bytes);
                    if content.has_unread() {
                        return Ok(true);
                    }
                }
                Ok(None) => {
                    self.pace.entry();
                    return Ok(false);
                }
                Err(error) if is_missing(&error) => {
                    let filled = self.fill().await;
                    filled.map_err(|error| error.entry(entry.name_lossy()))?;
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// How much the next step may work on. Of an entry that takes several steps all is fetched with its first byte.
    pub(super) fn prepare(&self, content: &EntryContent, entry: &Entry<'_>) -> usize {
        let most = self.pace.piece_bytes();
        if content.begins_in_steps(entry, most) {
            let end = entry.offset().saturating_add(beginning_bytes(entry));
            self.reader.source().lock().together = entry.offset()..end;
        }
        most
    }

    /// How long the next step will probably take.
    pub(super) fn to_decode(&self, content: &EntryContent, entry: &Entry<'_>, most: usize) -> u64 {
        let key_ns = match content.derives_key(entry) {
            true => KEY_NS,
            false => 0,
        };
        key_ns + self.pace.to_work(content.next_bytes(entry, most))
    }

    /// Fetches what was missing last.
    async fn fill(&mut self) -> Result<(), Error> {
        let mut fetch = None;
        poll_fn(|context| self.poll_fill(&mut fetch, context)).await
    }

    /// The same; `fetch` keeps the progress.
    pub(super) fn poll_fill(
        &mut self,
        fetch: &mut Option<Fetch>,
        context: &mut Context<'_>,
    ) -> Poll<Result<(), Error>> {
        let held = self.reader.source();
        let running = fetch.get_or_insert_with(|| {
            let mut state = held.lock();
            let memory = std::mem::take(&mut state.bytes);
            Fetch::new(state.wanted.clone(), memory)
        });
        let (source, known) = (&mut self.source, &mut self.known);
        let fetched = ready!(running.poll(source, known, &mut self.pace, context));
        let start = running.start();
        *fetch = None;
        let bytes = fetched?;
        let mut state = held.lock();
        (state.bytes, state.start) = (bytes, start);
        Poll::Ready(Ok(()))
    }
}

/// As much of the content as is reserved for an entry. It is not touched before it comes.
fn trusted_bytes(entry: &Entry<'_>) -> usize {
    let most = entry.compressed_bytes().saturating_mul(TRUSTED_RATIO);
    usize::try_from(entry.content_bytes().min(most)).unwrap_or(usize::MAX)
}

async fn write(sink: &mut (impl AsyncWrite + Unpin), content: &[u8]) -> Result<(), Error> {
    let written = sink.write_all(content).await;
    written.map_err(|error| Error::io(&error))
}

/// Whether bytes are missing in memory that can be fetched.
pub(super) fn is_missing(error: &Error) -> bool {
    error.kind() == ErrorKind::Io(io::ErrorKind::WouldBlock)
}

/// The part of the archive that is in memory.
#[derive(Debug)]
pub(super) struct Held {
    size: u64,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    bytes: Vec<u8>,
    start: u64,
    /// The range that was requested and is missing.
    wanted: Range<u64>,
    /// What is fetched together, once some of it is missing.
    together: Range<u64>,
}

impl Held {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ReadAt for Held {
    /// Reads all requested bytes up to the end of the archive, or none.
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let mut state = self.lock();
        let end = self.size.min(offset.saturating_add(buffer.len() as u64));
        if offset >= end {
            return Ok(0);
        }
        let bytes = usize::try_from(end - offset).unwrap_or(usize::MAX);
        let at = offset.checked_sub(state.start);
        let at = at.and_then(|at| usize::try_from(at).ok());
        let held = at.and_then(|at| state.bytes.get(at..at.checked_add(bytes)?));
        let Some(held) = held else {
            let end = match state.together.contains(&offset) {
                true => end.max(state.together.end.min(self.size)),
                false => end,
            };
            state.wanted = offset..end;
            return Err(io::ErrorKind::WouldBlock.into());
        };
        buffer[..bytes].copy_from_slice(held);
        Ok(bytes)
    }

    fn size(&self) -> io::Result<u64> {
        Ok(self.size)
    }
}
