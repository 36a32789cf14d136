//! One entry of an archive as a [`Read`].

use std::io::{self, BufRead, Read};

use super::entry::Entry;
use super::entry_content::EntryContent;
use super::reader::{ArchiveReader, Scratch};
use super::source::ReadAt;

impl<R: ReadAt> ArchiveReader<R> {
    /// The content of an entry as a [`Read`] and [`BufRead`], for [`io::copy`] and for every library
    /// that reads from one. Nothing is read before the first call of `read`.
    ///
    /// ```
    /// use std::io::BufRead as _;
    /// use zipstream::{ArchiveReader, ArchiveWriter, EntryOptions};
    ///
    /// let mut writer = ArchiveWriter::new(Vec::new());
    /// writer.add("prices.json", &EntryOptions::default(), &mut &b"[1.5, 2.25]"[..])?;
    /// writer.add("lines.txt", &EntryOptions::default(), &mut &b"first\nsecond\n"[..])?;
    /// let (archive, _) = writer.finish()?;
    ///
    /// let reader = ArchiveReader::open(archive)?;
    /// let entry = reader.find("prices.json")?.expect("it was added");
    /// let prices: Vec<f64> = serde_json::from_reader(reader.entry_reader(&entry)).unwrap();
    /// assert_eq!(prices, [1.5, 2.25]);
    ///
    /// let entry = reader.find("lines.txt")?.expect("it was added");
    /// let lines: Vec<String> = reader.entry_reader(&entry).lines().collect::<Result<_, _>>()?;
    /// assert_eq!(lines, ["first", "second"]);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn entry_reader<'a>(&'a self, entry: &Entry<'a>) -> EntryReader<'a, R> {
        self.entry_reader_with(entry, Scratch::default())
    }

    /// The same with buffers that another entry was read with; see [`EntryReader::into_scratch`].
    pub fn entry_reader_with<'a>(
        &'a self,
        entry: &Entry<'a>,
        scratch: Scratch,
    ) -> EntryReader<'a, R> {
        EntryReader {
            archive: self,
            entry: *entry,
            scratch,
            content: EntryContent::new(),
        }
    }
}

/// The content of one entry as a [`Read`]; made by [`ArchiveReader::entry_reader`].
///
/// An entry of up to 1 MiB is decoded and verified before its first byte is returned. A larger one is
/// decoded as it is read and verified at its end: its content can be trusted only after `read` has
/// returned 0. A wrong checksum, size or authentication code is an error in place of that 0.
///
/// Errors are [`zipstream::Error`](crate::Error) inside an [`io::Error`]. An error of the source may be
/// retried; every other one is returned again by every later call.
#[derive(Debug)]
pub struct EntryReader<'a, R> {
    archive: &'a ArchiveReader<R>,
    entry: Entry<'a>,
    scratch: Scratch,
    content: EntryContent,
}

impl<'a, R> EntryReader<'a, R> {
    /// The entry that is read.
    pub fn entry(&self) -> &Entry<'a> {
        &self.entry
    }

    /// The buffers, for [`ArchiveReader::entry_reader_with`].
    pub fn into_scratch(self) -> Scratch {
        self.scratch
    }
}

impl<R: ReadAt> Read for EntryReader<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        let content = self.fill_buf()?;
        let bytes = content.len().min(buffer.len());
        buffer[..bytes].copy_from_slice(&content[..bytes]);
        self.consume(bytes);
        Ok(bytes)
    }

    fn read_to_end(&mut self, out: &mut Vec<u8>) -> io::Result<usize> {
        let mut total = 0;
        loop {
            let content = self.fill_buf()?;
            let bytes = content.len();
            if bytes == 0 {
                return Ok(total);
            }
            out.extend_from_slice(content);
            self.consume(bytes);
            total += bytes;
        }
    }
}

impl<R: ReadAt> BufRead for EntryReader<'_, R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        let Self {
            archive,
            entry,
            scratch,
            content,
        } = self;
        content.fill(archive, entry, scratch)?;
        Ok(content.unread(scratch))
    }

    fn consume(&mut self, bytes: usize) {
        self.content.consume(bytes);
    }
}
