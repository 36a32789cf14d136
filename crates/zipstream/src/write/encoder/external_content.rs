//! Stored entries whose content does not pass through the encoder: the caller puts it into the
//! archive and reports its checksum, which then completes the header.

use super::{ArchiveEncoder, State, order};
use crate::error::{Error, ErrorKind};
use crate::write::options::{EntryOptions, KnownContent};
use crate::write::sequence::Patch;

impl ArchiveEncoder {
    /// Starts a stored entry of exactly `bytes` bytes. The caller puts its content after the output
    /// so far, from any number of threads or by calls that copy from file to file. The method and
    /// the known content in `options` are ignored. The call waits for running jobs. It fails for
    /// encrypted archives.
    ///
    /// ```
    /// use zipstream::{ArchiveEncoder, ArchiveOptions, Crc32, EntryOptions};
    ///
    /// let content = b"something that is stored";
    /// let mut encoder = ArchiveEncoder::new(ArchiveOptions::default())?;
    /// encoder.start_external("a.bin", &EntryOptions::default(), content.len() as u64)?;
    /// let mut archive = encoder.output().to_vec();
    /// encoder.consume(archive.len());
    /// archive.extend_from_slice(content);
    /// let mut sum = Crc32::new();
    /// sum.update(content);
    /// let patch = encoder.finish_external(sum.sum())?;
    /// archive[patch.offset as usize..][..4].copy_from_slice(&patch.bytes);
    /// encoder.finish()?;
    /// archive.extend_from_slice(encoder.output());
    /// # let reader = zipstream::ArchiveReader::open(&archive[..])?;
    /// # assert_eq!(reader.entries().next().unwrap()?.content_bytes(), 24);
    /// # Ok::<(), zipstream::Error>(())
    /// ```
    pub fn start_external(
        &mut self,
        name: &str,
        options: &EntryOptions,
        bytes: u64,
    ) -> Result<(), Error> {
        if self.options.encryption.is_some() {
            let what = "encrypted content must pass through the encoder";
            return Err(Error::new(ErrorKind::Setting, what).entry(name));
        }
        let mut options = *options;
        options.method = crate::method::Method::Stored;
        options.known = Some(KnownContent::new(bytes, 0));
        self.open_entry(name, &options, true)?;
        let result = self.settle();
        self.keep_error(result)?;
        self.state = State::External;
        Ok(())
    }

    /// Ends such an entry. All output before its content must be
    /// [consumed](ArchiveEncoder::consume) first. The returned patch must be written into the
    /// archive before anyone reads it.
    pub fn finish_external(&mut self, crc32: u32) -> Result<Patch, Error> {
        match &self.state {
            State::External => {}
            State::Failed(error) => return Err(error.clone()),
            _ => return Err(order("no entry with external content is open")),
        }
        if !self.output().is_empty() {
            return Err(order(
                "output before the content has not been consumed: call `consume` first",
            ));
        }
        let result = self.sequence.end_external(crc32);
        let patch = self.keep_error(result)?;
        self.state = State::Idle;
        Ok(patch)
    }
}
