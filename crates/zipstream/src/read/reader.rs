//! Reads entries in any order, from any number of threads.

mod decode;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::directory::{Count, Directory, Entries};
use super::encrypted::{self, refuse_unreadable};
use super::entry::Entry;
use super::locate::Locator;
use super::options::ReadOptions;
use super::source::{ReadAt, read_full};
use super::strict::agree;
use super::window::Window;
use crate::crypt::Decryption;
use crate::engine::content::ContentDecoder;
use crate::error::Error;
use crate::format::local::{LOCAL_BYTES, Local, has_signature, total_bytes};
use crate::write::Budget;

/// The most content, and the most compressed content, that is decoded in one piece.
const WHOLE_BYTES_MAX: u64 = 1 << 20;
/// How many bytes longer than in the directory the local extra fields may be to be read together
/// with the content.
const EXTRA_SLACK_BYTES: usize = 64;

/// The number of the next reader: the bytes in a scratch are those of one archive.
static NEXT: AtomicU64 = AtomicU64::new(1);

/// Reads an archive by its directory, which is kept in memory.
///
/// ```
/// use zipstream::{ArchiveReader, ArchiveWriter, EntryOptions};
///
/// let mut writer = ArchiveWriter::new(Vec::new());
/// writer.add("a.txt", &EntryOptions::default(), &mut &b"first"[..])?;
/// let (archive, _) = writer.finish()?;
///
/// let reader = ArchiveReader::open(archive)?;
/// let entry = reader.find("a.txt")?.expect("it was added");
/// assert_eq!(reader.read(&entry)?, b"first");
/// # Ok::<(), zipstream::Error>(())
/// ```
#[derive(Debug)]
pub struct ArchiveReader<R> {
    source: R,
    directory: Arc<Directory>,
    entries: u64,
    options: ReadOptions,
    decryption: Option<Decryption>,
    produced: AtomicU64,
    number: u64,
}

/// The buffers and codecs of one reading thread, for any archives.
#[derive(Default)]
pub struct Scratch {
    pub(crate) window: Window,
    pub(super) output: Vec<u8>,
    pub(super) plain: Vec<u8>,
    inflate: Option<libdeflater::Decompressor>,
    pub(super) decoder: ContentDecoder,
}

impl std::fmt::Debug for Scratch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Scratch").finish_non_exhaustive()
    }
}

impl<R: ReadAt> ArchiveReader<R> {
    /// Opens an archive in the default profile.
    pub fn open(source: R) -> Result<Self, Error> {
        Self::open_with(source, &ReadOptions::default())
    }

    /// Opens an archive: finds and reads its directory. The strict profile also checks every local
    /// header, as [`check`](ArchiveReader::check) does.
    pub fn open_with(source: R, options: &ReadOptions) -> Result<Self, Error> {
        let archive_bytes = source.size().map_err(|error| Error::io(&error))?;
        let mut locator = Locator::new(archive_bytes, options);
        while let Some(range) = locator.wants() {
            // The range is within the archive, and a directory within its limit.
            let mut bytes = vec![0; usize::try_from(range.end - range.start).unwrap_or(0)];
            let got = read_full(&source, &mut bytes, range.start)
                .map_err(|error| Error::io(&error).at(range.start))?;
            bytes.truncate(got);
            locator.supply(bytes)?;
        }
        let mut count = Count::new(locator.finish()?);
        count.run(options, &mut Budget::bytes(u64::MAX))?;
        let reader = Self::over(source, count.finish(options)?, options);
        if options.is_strict() {
            reader.check()?;
        }
        Ok(reader)
    }

    /// An archive with this directory, whose entries were counted.
    pub(crate) fn over(source: R, directory: Directory, options: &ReadOptions) -> Self {
        Self {
            source,
            entries: directory.entries(),
            directory: Arc::new(directory),
            options: *options,
            decryption: None,
            produced: AtomicU64::new(0),
            number: NEXT.fetch_add(1, Ordering::Relaxed),
        }
    }

    /// The same archive, read from another source of the same bytes.
    #[cfg(feature = "tokio")]
    pub(crate) fn with_source<S>(&self, source: S) -> ArchiveReader<S> {
        ArchiveReader {
            source,
            directory: Arc::clone(&self.directory),
            entries: self.entries,
            options: self.options,
            decryption: self.decryption.clone(),
            produced: AtomicU64::new(0),
            number: self.number,
        }
    }

    /// Sets the password for encrypted entries.
    pub fn set_decryption(&mut self, decryption: Option<Decryption>) {
        self.decryption = decryption;
    }

    /// The directory.
    pub fn directory(&self) -> &Directory {
        &self.directory
    }

    /// The directory, for use after or independently of the reader.
    pub fn shared_directory(&self) -> Arc<Directory> {
        Arc::clone(&self.directory)
    }

    /// The entries in the order of the directory.
    pub fn entries(&self) -> Entries<'_> {
        self.directory.iter()
    }

    /// The number of entries.
    pub fn len(&self) -> u64 {
        self.entries
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.entries == 0
    }

    /// Whether an entry is encrypted.
    pub fn has_encrypted(&self) -> bool {
        self.directory.encrypted() > 0
    }

    /// The options it was opened with.
    pub fn options(&self) -> &ReadOptions {
        &self.options
    }

    /// The source it reads from.
    pub fn source(&self) -> &R {
        &self.source
    }

    /// The last entry of this name, by an index from the second call on: see [`Directory::find`].
    pub fn find(&self, name: &str) -> Result<Option<Entry<'_>>, Error> {
        self.directory.find(name)
    }

    /// The content of an entry.
    pub fn read(&self, entry: &Entry<'_>) -> Result<Vec<u8>, Error> {
        let mut content = Vec::new();
        self.extract(entry, &mut Scratch::default(), &mut |piece: &[u8]| {
            content.extend_from_slice(piece);
            Ok::<_, Error>(())
        })?;
        Ok(content)
    }

    /// Passes the content of an entry to `sink` and returns its size. Content of up to 1 MiB comes
    /// in one verified piece. Larger content comes in pieces of about 128 KiB and is verified at
    /// its end: trust it only when this call has returned.
    pub fn extract<E: From<Error>>(
        &self,
        entry: &Entry<'_>,
        scratch: &mut Scratch,
        sink: &mut impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<u64, E> {
        let named = |error: Error| {
            let error = encrypted::explain(entry, error);
            E::from(error.entry(entry.name_lossy()))
        };
        let data = self.locate(entry, scratch).map_err(named)?;
        if is_small(entry) {
            let content = self.whole(entry, scratch, data).map_err(named)?;
            sink(content)?;
            return Ok(content.len() as u64);
        }
        self.pieces(entry, scratch, data, sink, named)
    }

    /// Where the content of an entry starts, according to its local header.
    pub(crate) fn locate(&self, entry: &Entry<'_>, scratch: &mut Scratch) -> Result<u64, Error> {
        self.locate_and_fetch(entry, scratch, entry.compressed_bytes())
    }

    /// The same, with this much of the content in the window, as long as that is not too much.
    pub(crate) fn locate_and_fetch(
        &self,
        entry: &Entry<'_>,
        scratch: &mut Scratch,
        content_bytes: u64,
    ) -> Result<u64, Error> {
        scratch.window.belong_to(self.number);
        let (offset, end) = (entry.offset(), self.directory.start());
        let stated_at = entry.record_offset();
        refuse_unreadable(entry.central().flags, stated_at)?;
        let outside = || Error::corrupt(stated_at, "it reaches into the directory");
        let header_end = offset.checked_add(LOCAL_BYTES as u64);
        if header_end.is_none_or(|header_end| header_end > end) {
            return Err(outside());
        }
        let guess = header_bytes_about(entry) + content_bytes.min(WHOLE_BYTES_MAX) as usize;
        let left = usize::try_from(end - offset).unwrap_or(usize::MAX);
        let source = &self.source;
        let held = scratch.window.get(source, offset, guess.min(left), end)?;
        let Some(fixed) = held.first_chunk().filter(|fixed| has_signature(*fixed)) else {
            return Err(Error::corrupt(offset, "no local header"));
        };
        let header_bytes = total_bytes(fixed);
        let data = offset + header_bytes as u64;
        let data_end = data.checked_add(entry.compressed_bytes());
        if data_end.is_none_or(|data_end| data_end > end) {
            return Err(outside());
        }
        if self.options.is_strict() {
            let held = scratch.window.get(source, offset, header_bytes, end)?;
            let local = Local::parse(&held[..header_bytes]);
            let local = local.ok_or_else(|| Error::corrupt(offset, "no local header"))?;
            agree(entry, &local).map_err(|error| error.at(offset))?;
        }
        Ok(data)
    }

    fn pieces<E: From<Error>>(
        &self,
        entry: &Entry<'_>,
        scratch: &mut Scratch,
        data: u64,
        sink: &mut impl FnMut(&[u8]) -> Result<(), E>,
        named: impl Fn(Error) -> E,
    ) -> Result<u64, E> {
        let mut body = self.begin(entry, scratch, data).map_err(&named)?;
        while let Some((_, piece)) = self
            .piece(entry, scratch, &mut body, usize::MAX)
            .map_err(&named)?
        {
            sink(piece)?;
        }
        Ok(scratch.decoder.produced())
    }
}

/// About the bytes of the local header of an entry, rather more.
fn header_bytes_about(entry: &Entry<'_>) -> usize {
    let names = entry.name_bytes().len() + entry.central().extra.len();
    LOCAL_BYTES + names + EXTRA_SLACK_BYTES
}

/// About the bytes of an entry with its header; of a large one those of its beginning.
#[cfg(feature = "tokio")]
pub(crate) fn beginning_bytes(entry: &Entry<'_>) -> u64 {
    header_bytes_about(entry) as u64 + entry.compressed_bytes().min(WHOLE_BYTES_MAX)
}

/// Whether the content is decoded and verified in one piece, or in steps that are verified together.
pub(crate) fn is_small(entry: &Entry<'_>) -> bool {
    entry.content_bytes() <= WHOLE_BYTES_MAX && entry.compressed_bytes() <= WHOLE_BYTES_MAX
}
