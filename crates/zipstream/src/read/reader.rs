//! Reads entries in any order, from any number of threads.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::directory::{Directory, Entries, Entry};
use super::encrypted::{self, Body, refuse_unreadable};
use super::locate::Locator;
use super::options::ReadOptions;
use super::source::{ReadAt, read_full};
use super::strict::agree;
use super::window::Window;
use crate::crypt::Decryption;
use crate::crypt::decrypt::decrypt_whole;
use crate::engine::content::{Bounds, ContentDecoder, compare, limit, more};
use crate::error::{Error, ErrorKind};
use crate::format::flag;
use crate::format::local::{LOCAL_BYTES, Local, has_signature, total_bytes};
use crate::method::Method;

/// The most content, and the most compressed content, that is decoded in one piece.
const WHOLE_BYTES_MAX: u64 = 1 << 20;
/// Room for one piece of larger content.
const PIECE_BYTES: usize = 128 << 10;
/// How many bytes longer than in the directory the local extra fields may be to be read together
/// with the content.
const EXTRA_SLACK_BYTES: usize = 64;

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
}

/// The buffers and codecs of one reading thread.
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
        let reader = Self::over(source, locator.finish()?, options)?;
        if options.is_strict() {
            reader.check()?;
        }
        Ok(reader)
    }

    /// An archive with this directory, checked as far as possible without reading more.
    pub(crate) fn over(
        source: R,
        mut directory: Directory,
        options: &ReadOptions,
    ) -> Result<Self, Error> {
        let entries = directory.count(options)?;
        Ok(Self {
            source,
            directory: Arc::new(directory),
            entries,
            options: *options,
            decryption: None,
            produced: AtomicU64::new(0),
        })
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

    /// The options it was opened with.
    pub fn options(&self) -> &ReadOptions {
        &self.options
    }

    /// The source it reads from.
    pub fn source(&self) -> &R {
        &self.source
    }

    /// The last entry of this name: it replaces earlier ones.
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
            let error = encrypted::doubted(entry, error);
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
        let (offset, end) = (entry.offset(), self.directory.start());
        let stated_at = entry.record_offset();
        refuse_unreadable(entry.central().flags, stated_at)?;
        let outside = || Error::corrupt(stated_at, "it reaches into the directory");
        let header_end = offset.checked_add(LOCAL_BYTES as u64);
        if header_end.is_none_or(|header_end| header_end > end) {
            return Err(outside());
        }
        let names = entry.name_bytes().len() + entry.central().extra.len();
        let whole = entry.compressed_bytes().min(WHOLE_BYTES_MAX) as usize;
        let guess = LOCAL_BYTES + names + EXTRA_SLACK_BYTES + whole;
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

    /// Decodes and verifies a small content in one piece.
    pub(crate) fn whole<'s>(
        &self,
        entry: &Entry<'_>,
        scratch: &'s mut Scratch,
        data: u64,
    ) -> Result<&'s [u8], Error> {
        let bounds = self.bounds(entry);
        if entry.content_bytes() > bounds.limit {
            return Err(limit(bounds.limit).at(data));
        }
        // Both are at most 1 MiB.
        let content_bytes = entry.content_bytes() as usize;
        let compressed_bytes = entry.compressed_bytes() as usize;
        let Scratch {
            window,
            output,
            plain,
            inflate,
            decoder,
        } = scratch;
        let end = self.directory.start();
        let held = window.get(&self.source, data, compressed_bytes, end)?;
        let mut input = &held[..compressed_bytes];
        let scheme = encrypted::scheme(entry).map_err(|error| error.at(entry.record_offset()))?;
        if let Some(scheme) = &scheme {
            let decrypted = decrypt_whole(scheme, self.decryption.as_ref(), input, plain);
            input = decrypted.map_err(|error| error.at(data))?;
        }
        let compressed_bytes = input.len();
        let bounds = Bounds {
            compressed: Some(compressed_bytes as u64),
            ..bounds
        };
        // One more byte shows content beyond the stated size.
        if output.len() < content_bytes + 1 {
            output.resize(content_bytes + 1, 0);
        }
        let content = match entry.method() {
            Method::Stored if compressed_bytes != content_bytes => {
                return Err(unequal(entry).at(data));
            }
            Method::Stored => input,
            Method::Deflate if !self.options.is_strict() => {
                let decompressor = inflate.get_or_insert_with(libdeflater::Decompressor::new);
                let produced = decompressor
                    .deflate_decompress(input, &mut output[..content_bytes])
                    .map_err(|error| refused(error, entry).at(data))?;
                &output[..produced]
            }
            Method::Deflate => {
                let inflated = decoder.inflate_whole(input, output, content_bytes);
                let (consumed, produced) = inflated.map_err(|error| error.at(data))?;
                self.leftover(consumed as u64, compressed_bytes as u64, data)?;
                &output[..produced]
            }
            method => {
                let started = decoder.start(method, bounds);
                let produced = started
                    .and_then(|()| decode(decoder, input, &mut output[..=content_bytes]))
                    .map_err(|error| error.at(data))?;
                self.leftover(decoder.consumed(), compressed_bytes as u64, data)?;
                &output[..produced]
            }
        };
        let found = (libdeflater::crc32(content), content.len() as u64);
        let stated = scheme.map_or(entry.crc32(), |scheme| scheme.crc32(found.0, entry.crc32()));
        compare(found, (stated, entry.content_bytes())).map_err(|error| error.at(data))?;
        self.count(content.len() as u64)?;
        Ok(content)
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
        while let Some(piece) = self.piece(entry, scratch, &mut body).map_err(&named)? {
            sink(piece)?;
        }
        Ok(scratch.decoder.produced())
    }

    /// Starts decoding large content, which starts at byte `data`.
    pub(crate) fn begin(
        &self,
        entry: &Entry<'_>,
        scratch: &mut Scratch,
        data: u64,
    ) -> Result<Body, Error> {
        let Scratch {
            window,
            output,
            decoder,
            ..
        } = scratch;
        let body = Body::open(entry, self.decryption.as_ref(), window, &self.source, data);
        let body = body.map_err(|error| error.at(data))?;
        let compressed_bytes = body.end - body.start;
        if entry.method() == Method::Stored && compressed_bytes != entry.content_bytes() {
            return Err(unequal(entry).at(body.start));
        }
        let bounds = Bounds {
            compressed: Some(compressed_bytes),
            ..self.bounds(entry)
        };
        let started = decoder.start(entry.method(), bounds);
        started.map_err(|error| error.at(body.start))?;
        if !body.has_crc() {
            decoder.leave_out_sum();
        }
        // Deflate decodes into its own buffer.
        let own = entry.method() == Method::Deflate && !body.is_encrypted();
        if !own && output.len() < PIECE_BYTES {
            output.resize(PIECE_BYTES, 0);
        }
        Ok(body)
    }

    /// The next piece of that content; `None` after all of it was returned and verified.
    pub(crate) fn piece<'s>(
        &self,
        entry: &Entry<'_>,
        scratch: &'s mut Scratch,
        body: &mut Body,
    ) -> Result<Option<&'s [u8]>, Error> {
        let (data, end) = (body.start, body.end);
        let named = |error: Error| error.at(data);
        let Scratch {
            window,
            output,
            decoder,
            ..
        } = scratch;
        body.authenticate(window, &self.source).map_err(named)?;
        let at = data + decoder.consumed();
        if decoder.is_done() {
            self.leftover(decoder.consumed(), end - data, data)
                .map_err(named)?;
            body.finish(window, &self.source, at).map_err(named)?;
            let crc32 = body.crc32(decoder.crc32(), entry.crc32());
            let content = entry.content_bytes();
            decoder.verify(crc32, content).map_err(named)?;
            return Ok(None);
        }
        let need = usize::from(at < end);
        let input = window.get(&self.source, at, need, end).map_err(named)?;
        let left = usize::try_from(end - at).unwrap_or(usize::MAX);
        let input = &input[..input.len().min(left)];
        let last = input.len() == left;
        let room = output.len().min(PIECE_BYTES);
        let (step, piece) = body
            .push(decoder, input, &mut output[..room], last)
            .map_err(named)?;
        self.count(step.produced as u64).map_err(named)?;
        Ok(Some(piece))
    }

    fn bounds(&self, entry: &Entry<'_>) -> Bounds {
        let limits = &self.options.limits;
        let produced = self.produced.load(Ordering::Relaxed);
        let left = limits.total_bytes.saturating_sub(produced);
        Bounds {
            stated: Some(entry.content_bytes()),
            compressed: Some(entry.compressed_bytes()),
            limit: limits.entry_bytes.min(left),
            ratio: limits.ratio,
            memory: limits.window_bytes,
            marker: entry.central().flags & flag::MARKER != 0,
        }
    }

    /// Counts content against the limit for all entries.
    pub(super) fn count(&self, bytes: u64) -> Result<(), Error> {
        let most = self.options.limits.total_bytes;
        let before = self.produced.fetch_add(bytes, Ordering::Relaxed);
        if before.saturating_add(bytes) > most {
            return Err(limit(most));
        }
        Ok(())
    }

    fn leftover(&self, consumed: u64, all: u64, at: u64) -> Result<(), Error> {
        let left = all.saturating_sub(consumed);
        if left > 0 && self.options.is_strict() {
            let what = format!("{left} bytes follow its compressed content");
            return Err(Error::corrupt(at + consumed, what));
        }
        Ok(())
    }
}

/// Whether the content is decoded and verified in one piece.
pub(crate) fn is_small(entry: &Entry<'_>) -> bool {
    entry.content_bytes() <= WHOLE_BYTES_MAX && entry.compressed_bytes() <= WHOLE_BYTES_MAX
}

/// Decodes all of `input` into `output`, which has room for one byte more than is allowed.
fn decode(
    decoder: &mut ContentDecoder,
    mut input: &[u8],
    output: &mut [u8],
) -> Result<usize, Error> {
    let mut filled = 0;
    while !decoder.is_done() {
        let step = decoder.push(input, &mut output[filled..], true)?;
        input = &input[step.consumed..];
        filled += step.produced;
    }
    Ok(filled)
}

fn unequal(entry: &Entry<'_>) -> Error {
    let (compressed, content) = (entry.compressed_bytes(), entry.content_bytes());
    let what = format!("stored, with {compressed} compressed bytes but {content} bytes of content");
    Error::new(ErrorKind::Size, what)
}

fn refused(error: libdeflater::DecompressionError, entry: &Entry<'_>) -> Error {
    match error {
        libdeflater::DecompressionError::BadData => {
            Error::new(ErrorKind::Corrupt, "invalid deflate data")
        }
        libdeflater::DecompressionError::InsufficientSpace => more(entry.content_bytes()),
    }
}
