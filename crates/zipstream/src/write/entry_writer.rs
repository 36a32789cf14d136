//! One entry of an archive as a [`Write`].

use std::io::{self, Write};

use super::options::EntryOptions;
use super::writer::{ArchiveWriter, WRITE_BYTES};
use crate::error::Error;

impl<W: Write> ArchiveWriter<W> {
    /// Starts an entry, as [`start_entry`](ArchiveWriter::start_entry) does, and returns it as a
    /// [`Write`], for [`io::copy`] and for every library that writes to one.
    ///
    /// ```
    /// use std::io::Write as _;
    /// use zipstream::{ArchiveReader, ArchiveWriter, EntryOptions};
    ///
    /// let mut archive = ArchiveWriter::new(Vec::new());
    ///
    /// let mut entry = archive.entry_writer("prices.json", &EntryOptions::default())?;
    /// serde_json::to_writer(&mut entry, &[1.5, 2.25]).unwrap();
    /// entry.finish()?;
    ///
    /// let mut entry = archive.entry_writer("notes.txt", &EntryOptions::default())?;
    /// writeln!(entry, "{} prices", 2)?;
    /// entry.finish()?;
    ///
    /// let (bytes, _) = archive.finish()?;
    /// let reader = ArchiveReader::open(bytes)?;
    /// let entry = reader.find("prices.json")?.expect("it was written");
    /// assert_eq!(reader.read(&entry)?, b"[1.5,2.25]");
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn entry_writer(
        &mut self,
        name: &str,
        options: &EntryOptions,
    ) -> Result<EntryWriter<'_, W>, Error> {
        self.start_entry(name, options)?;
        Ok(EntryWriter { archive: self })
    }
}

/// The content of one entry as a [`Write`]; made by [`ArchiveWriter::entry_writer`].
///
/// [`finish`](EntryWriter::finish) ends the entry. If the writer is dropped before, for example
/// because its source failed, the entry stays open: call [`ArchiveWriter::finish_entry`] to keep what
/// was written, or [`ArchiveWriter::abandon_entry`] to remove it.
///
/// A write that fails has taken none of its bytes. It may be repeated when the error came from the
/// sink; every other error repeats itself.
#[derive(Debug)]
#[must_use = "an entry is complete only after `finish`"]
pub struct EntryWriter<'a, W: Write> {
    archive: &'a mut ArchiveWriter<W>,
}

impl<W: Write> EntryWriter<'_, W> {
    /// Ends the entry.
    pub fn finish(self) -> Result<(), Error> {
        self.archive.finish_entry()
    }

    /// Removes the entry again; see [`ArchiveEncoder::abandon_entry`](crate::ArchiveEncoder::abandon_entry).
    pub fn abandon(self) -> Result<(), Error> {
        self.archive.abandon_entry()
    }

    /// Bytes of content written so far.
    pub fn content_bytes(&self) -> u64 {
        self.archive.encoder.entry_bytes()
    }
}

impl<W: Write> Write for EntryWriter<'_, W> {
    fn write(&mut self, content: &[u8]) -> io::Result<usize> {
        // First make room, then take content: an error of the sink loses nothing of `content`.
        self.archive.drain(WRITE_BYTES)?;
        Ok(self.archive.encoder.push(content)?)
    }

    /// Writes all compressed bytes to the sink and flushes it. Content that waits to be compressed
    /// stays in the entry.
    fn flush(&mut self) -> io::Result<()> {
        Ok(self.archive.flush()?)
    }
}
