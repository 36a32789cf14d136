//! The encoder over a [`Write`]: one buffer, few writes, no seeking.

use std::io::{self, Read, Write};

use super::encoder::ArchiveEncoder;
use super::options::{ArchiveOptions, EntryOptions};
use super::sequence::Totals;
use crate::crypt::Encryption;
use crate::error::Error;
use crate::raw_entry::RawEntry;
use crate::read::{ArchiveReader, Directory, Entry, ReadAt, Scratch};

/// Output from which a write to the sink pays off.
pub(super) const WRITE_BYTES: usize = 128 << 10;

/// Writes an archive to a [`Write`].
///
/// If it is dropped without [`finish`](ArchiveWriter::finish), the archive has no directory.
///
/// ```
/// use zipstream::{ArchiveWriter, EntryOptions};
///
/// let mut writer = ArchiveWriter::new(Vec::new());
/// writer.add("a.txt", &EntryOptions::default(), &mut &b"first"[..])?;
/// let (archive, totals) = writer.finish()?;
/// assert_eq!(totals.entries, 1);
/// assert_eq!(archive.len() as u64, totals.archive_bytes);
/// # Ok::<(), zipstream::Error>(())
/// ```
#[derive(Debug)]
pub struct ArchiveWriter<W> {
    pub(super) encoder: ArchiveEncoder,
    sink: W,
}

impl<W: Write> ArchiveWriter<W> {
    /// An archive with default options. Without threads nothing can fail here.
    pub fn new(sink: W) -> Self {
        let encoder = ArchiveEncoder::inline();
        Self { encoder, sink }
    }

    /// An archive with these options. Fails if an option is invalid.
    pub fn with_options(sink: W, options: ArchiveOptions) -> Result<Self, Error> {
        let encoder = ArchiveEncoder::new(options)?;
        Ok(Self { encoder, sink })
    }

    /// Continues an archive, as [`ArchiveEncoder::resume`] does. `sink` must be positioned where
    /// the directory of that archive starts, or collect what belongs there.
    pub fn resume(sink: W, options: ArchiveOptions, directory: &Directory) -> Result<Self, Error> {
        let encoder = ArchiveEncoder::resume(options, directory)?;
        Ok(Self { encoder, sink })
    }

    /// Sets how entries are encrypted from the next one on, as [`ArchiveEncoder::set_encryption`] does.
    pub fn set_encryption(&mut self, encryption: Option<Encryption>) -> Result<(), Error> {
        self.encoder.set_encryption(encryption)
    }

    /// Starts an entry, as [`ArchiveEncoder::start_entry`] does.
    pub fn start_entry(&mut self, name: &str, options: &EntryOptions) -> Result<(), Error> {
        self.encoder.start_entry(name, options)
    }

    /// Takes all of `content` for the open entry.
    pub fn push(&mut self, mut content: &[u8]) -> Result<(), Error> {
        while !content.is_empty() {
            content = &content[self.encoder.push(content)?..];
            self.drain(WRITE_BYTES)?;
        }
        Ok(())
    }

    /// Reads once from `source` into the open entry; returns the number of bytes, 0 at its end.
    pub fn push_from(&mut self, source: &mut impl Read) -> Result<usize, PushError> {
        let room = self.encoder.room().map_err(PushError::Archive)?;
        let bytes = loop {
            match source.read(room) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                other => break other.map_err(PushError::Source)?,
            }
        };
        self.encoder.filled(bytes).map_err(PushError::Archive)?;
        self.drain(WRITE_BYTES).map_err(PushError::Archive)?;
        Ok(bytes)
    }

    /// Ends the entry.
    pub fn finish_entry(&mut self) -> Result<(), Error> {
        self.encoder.finish_entry()?;
        self.drain(WRITE_BYTES)
    }

    /// Removes the open entry, as [`ArchiveEncoder::abandon_entry`] does.
    pub fn abandon_entry(&mut self) -> Result<(), Error> {
        self.encoder.abandon_entry()
    }

    /// Removes the open entry even if its beginning has gone to the sink, and waits for running jobs. Returns how many
    /// bytes at the end of what the sink was given belong to that entry: the caller must cut them off before anything
    /// else is written.
    ///
    /// # Errors
    /// No entry is open, or the archive has failed already.
    ///
    /// ```
    /// use zipstream::{ArchiveWriter, EntryOptions};
    ///
    /// let mut writer = ArchiveWriter::new(Vec::new());
    /// writer.start_entry("broken.log", &EntryOptions::default().size_hint(5 << 20))?;
    /// writer.push(&vec![b'x'; 3 << 20])?;
    /// let given = writer.retract_entry()?;
    /// let kept = writer.sink().len() - given as usize;
    /// writer.sink_mut().truncate(kept);
    /// let (archive, _) = writer.finish()?;
    /// assert!(zipstream::ArchiveReader::open(&archive[..])?.is_empty());
    /// # Ok::<(), zipstream::Error>(())
    /// ```
    pub fn retract_entry(&mut self) -> Result<u64, Error> {
        let given = self.encoder.consumed_bytes();
        Ok(given.saturating_sub(self.encoder.retract_entry()?))
    }

    /// Adds an entry with everything that `source` returns.
    pub fn add(
        &mut self,
        name: &str,
        options: &EntryOptions,
        source: &mut impl Read,
    ) -> Result<(), Error> {
        self.start_entry(name, options)?;
        while self.push_from(source).map_err(Error::from)? > 0 {}
        self.finish_entry()
    }

    /// Copies an entry of another archive unchanged: compressed, encrypted, unverified.
    pub fn copy<R: ReadAt>(
        &mut self,
        archive: &ArchiveReader<R>,
        entry: &Entry<'_>,
        scratch: &mut Scratch,
    ) -> Result<(), Error> {
        self.copy_with(archive, entry, scratch, |_| Ok(()))
    }

    /// The same, after `change` has changed what its headers say.
    pub fn copy_with<R: ReadAt>(
        &mut self,
        archive: &ArchiveReader<R>,
        entry: &Entry<'_>,
        scratch: &mut Scratch,
        change: impl FnOnce(&mut RawEntry) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let mut raw = archive.raw(entry, scratch)?;
        change(&mut raw)?;
        self.encoder.start_raw(raw)?;
        archive.copy_raw(entry, scratch, &mut |bytes: &[u8]| {
            self.encoder.push_raw(bytes)?;
            self.drain(WRITE_BYTES)
        })?;
        self.encoder.finish_raw()?;
        self.drain(WRITE_BYTES)
    }

    /// Starts an entry whose headers say this, as [`copy`](Self::copy) does. Its bytes follow by
    /// [`push_raw`](Self::push_raw), compressed as they are.
    pub fn start_raw(&mut self, raw: RawEntry) -> Result<(), Error> {
        self.encoder.start_raw(raw)
    }

    /// Adds bytes to the entry that [`start_raw`](Self::start_raw) has started.
    pub fn push_raw(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.encoder.push_raw(bytes)?;
        self.drain(WRITE_BYTES)
    }

    /// Ends that entry.
    pub fn finish_raw(&mut self) -> Result<(), Error> {
        self.encoder.finish_raw()?;
        self.drain(WRITE_BYTES)
    }

    /// Writes all output to the sink and flushes it, without ending anything.
    pub fn flush(&mut self) -> Result<(), Error> {
        self.drain(1)?;
        self.sink.flush().map_err(|error| Error::io(&error))
    }

    /// Writes the directory; returns the sink and the totals of the archive.
    pub fn finish(mut self) -> Result<(W, Totals), Error> {
        if self.encoder.directory_bytes() > WRITE_BYTES as u64 {
            self.encoder.settle_all()?;
            self.drain(1)?;
        }
        let totals = self.encoder.finish()?;
        self.flush()?;
        Ok((self.sink, totals))
    }

    /// Totals of the archive so far.
    pub fn totals(&self) -> Totals {
        self.encoder.totals()
    }

    /// The sink.
    pub fn sink(&self) -> &W {
        &self.sink
    }

    /// The sink, mutably. Bytes written to it directly break the archive.
    pub fn sink_mut(&mut self) -> &mut W {
        &mut self.sink
    }

    /// Writes the output to the sink if there are at least `least` bytes of it. After an error the next
    /// call continues with the first byte that the sink has not taken.
    pub(super) fn drain(&mut self, least: usize) -> Result<(), Error> {
        if self.encoder.output().len() < least {
            return Ok(());
        }
        while !self.encoder.output().is_empty() {
            match self.sink.write(self.encoder.output()) {
                Ok(0) => return Err(Error::io(&io::ErrorKind::WriteZero.into())),
                Ok(bytes) => self.encoder.consume(bytes),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(Error::io(&error)),
            }
        }
        Ok(())
    }
}

/// Why content could not be taken from a source.
#[derive(Debug)]
pub enum PushError {
    /// The source could not be read; the archive is as it was.
    Source(io::Error),
    /// The archive failed.
    Archive(Error),
}

impl From<PushError> for Error {
    fn from(error: PushError) -> Self {
        match error {
            PushError::Source(error) => Self::io(&error),
            PushError::Archive(error) => error,
        }
    }
}
