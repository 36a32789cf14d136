//! Stored entries whose content never passes through here: the caller puts it into the archive and
//! tells its checksum, which is then completed in the header.

use super::{ArchiveEncoder, State, order};
use crate::error::{Error, ErrorKind};
use crate::write::options::{EntryOptions, KnownContent};
use crate::write::sequence::Patch;

impl ArchiveEncoder {
    /// Starts a stored entry of exactly `bytes` bytes, which the caller itself puts behind the output
    /// so far: with as many threads as it likes, or by calls that copy from file to file. Its method
    /// and its content in the options do not count. Waits for what threads work on. Encrypted
    /// archives have no such entries.
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
            let what = "encrypted content has to pass through the encoder";
            return Err(Error::new(ErrorKind::Setting, what).entry(name));
        }
        let mut options = *options;
        options.method = crate::method::Method::Stored;
        options.known = Some(KnownContent::new(bytes, 0));
        self.open_entry(name, &options, true)?;
        let result = self.settle();
        self.hold(result)?;
        self.state = State::External;
        Ok(())
    }

    /// Ends such an entry. All of the output before its content has to be
    /// [consumed](ArchiveEncoder::consume). What is given belongs into the archive before anyone reads
    /// it.
    pub fn finish_external(&mut self, crc32: u32) -> Result<Patch, Error> {
        match &self.state {
            State::External => {}
            State::Failed(error) => return Err(error.clone()),
            _ => return Err(order("no entry apart is open")),
        }
        if !self.output().is_empty() {
            return Err(order("what stands before the content is not written"));
        }
        let result = self.sequence.end_external(crc32);
        let patch = self.hold(result)?;
        self.state = State::Idle;
        Ok(patch)
    }
}
