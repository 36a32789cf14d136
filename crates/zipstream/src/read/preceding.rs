//! What precedes the first entry, such as the program of a self-extracting archive.

use std::io::Write;

use super::{ArchiveReader, ReadAt};
use crate::error::Error;

/// Bytes per read.
const READ_BYTES: usize = 64 << 10;

impl<R: ReadAt> ArchiveReader<R> {
    /// The number of bytes before the first entry, or before the directory if there are no entries.
    ///
    /// # Errors
    ///
    /// Those of the directory.
    pub fn preceding_bytes(&self) -> Result<u64, Error> {
        let mut first = self.directory().start();
        for entry in self.entries() {
            first = first.min(entry?.offset());
        }
        Ok(first)
    }

    /// Copies these bytes to `out`; returns their number. An archive that is written behind them with that
    /// number as its [`preceding_bytes`](crate::ArchiveOptions::preceding_bytes) keeps them working.
    ///
    /// ```
    /// use zipstream::{ArchiveOptions, ArchiveReader, ArchiveWriter, EntryOptions};
    ///
    /// let mut old = b"#!/bin/sh\n".to_vec();
    /// let mut writer = ArchiveWriter::new(&mut old);
    /// writer.add("a", &EntryOptions::default(), &mut &b"first"[..])?;
    /// writer.finish()?;
    ///
    /// let mut new = Vec::new();
    /// let bytes = ArchiveReader::open(&old[..])?.copy_preceding(&mut new)?;
    /// let options = ArchiveOptions::new().preceding_bytes(bytes);
    /// let writer = ArchiveWriter::with_options(&mut new, options)?;
    /// writer.finish()?;
    /// assert!(new.starts_with(b"#!/bin/sh\nPK"));
    /// assert!(ArchiveReader::open(&new[..])?.directory().warnings().is_empty());
    /// # Ok::<(), zipstream::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Those of the directory, of the source and of `out`.
    pub fn copy_preceding(&self, out: &mut impl Write) -> Result<u64, Error> {
        let bytes = self.preceding_bytes()?;
        let failed = |error: std::io::Error| Error::from_io(&error);
        let mut buffer = [0; READ_BYTES];
        let mut at = 0;
        while at < bytes {
            let most = usize::try_from(bytes - at)
                .unwrap_or(READ_BYTES)
                .min(READ_BYTES);
            let read = self
                .source()
                .read_at(&mut buffer[..most], at)
                .map_err(failed)?;
            if read == 0 {
                return Err(failed(std::io::ErrorKind::UnexpectedEof.into()));
            }
            out.write_all(&buffer[..read]).map_err(failed)?;
            at += read as u64;
        }
        Ok(bytes)
    }
}
