//! The current entry of a [`PipeReader`] as a [`Read`].

use std::io::{self, BufRead, Read};

use super::pipe::{Piece, PipeReader};
use super::stream::StreamEntry;

impl<R: Read> PipeReader<R> {
    /// The content of the entry that [`next_entry`](PipeReader::next_entry) returned last, as a
    /// [`Read`] and [`BufRead`]. It may be called again to continue where another reader stopped.
    ///
    /// ```
    /// use zipstream::{ArchiveWriter, EntryOptions, PipeReader, ReadOptions};
    ///
    /// let mut writer = ArchiveWriter::new(Vec::new());
    /// writer.add("a.json", &EntryOptions::default(), &mut &b"{\"answer\": 42}"[..])?;
    /// let (archive, _) = writer.finish()?;
    ///
    /// let mut pipe = PipeReader::new(&archive[..], &ReadOptions::default());
    /// while let Some(entry) = pipe.next_entry()? {
    ///     println!("{}", entry.name);
    ///     let value: serde_json::Value = serde_json::from_reader(pipe.entry_reader()).unwrap();
    ///     assert_eq!(value["answer"], 42);
    /// }
    /// # Ok::<(), zipstream::Error>(())
    /// ```
    pub fn entry_reader(&mut self) -> PipeEntryReader<'_, R> {
        PipeEntryReader { reader: self }
    }
}

/// The content of one entry of a pipe as a [`Read`]; made by [`PipeReader::entry_reader`].
///
/// The content is verified at its end: it can be trusted only after `read` has returned 0. Errors are
/// [`zipstream::Error`](crate::Error) inside an [`io::Error`]. An error of the source may be retried;
/// every other one is returned again by every later call. Content that is not read is skipped by the
/// next call of [`PipeReader::next_entry`].
#[derive(Debug)]
pub struct PipeEntryReader<'a, R> {
    reader: &'a mut PipeReader<R>,
}

impl<R> PipeEntryReader<'_, R> {
    /// The entry that is read.
    pub fn entry(&self) -> Option<&StreamEntry> {
        self.reader.pipe.entry()
    }
}

impl<R: Read> Read for PipeEntryReader<'_, R> {
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
}

impl<R: Read> BufRead for PipeEntryReader<'_, R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        loop {
            match self.reader.pipe.next_piece(usize::MAX)? {
                Piece::Missing => self.reader.fill()?,
                Piece::Spent => {}
                Piece::Content => return Ok(self.reader.pipe.piece()),
                Piece::End => return Ok(&[]),
            }
        }
    }

    fn consume(&mut self, bytes: usize) {
        self.reader.pipe.consume(bytes);
    }
}
