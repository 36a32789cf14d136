//! Continuing an archive: its directory is taken over, and new entries follow.

use super::{ArchiveEncoder, State};
use crate::error::{Error, ErrorKind};
use crate::read::{Directory, Warning};
use crate::write::options::ArchiveOptions;
use crate::write::sequence::Sequence;

impl ArchiveEncoder {
    /// Continues an existing archive. The output belongs at byte [`Directory::start`] of it, up to
    /// its new end: first the new entries, then the directory of all entries. Bytes before that
    /// place stay unchanged and are not read.
    ///
    /// The archive has no directory until all of that output is in place. Either collect the output
    /// before overwriting the old directory, or keep the old end to restore it.
    ///
    /// The comment is that of `options`. Names in the archive may not repeat. An archive with bytes
    /// before or after it is [`Unsupported`](ErrorKind::Unsupported).
    ///
    /// ```
    /// use zipstream::{ArchiveEncoder, ArchiveOptions, ArchiveReader, ArchiveWriter, EntryOptions};
    ///
    /// let mut writer = ArchiveWriter::new(Vec::new());
    /// writer.add("a", &EntryOptions::default(), &mut &b"first"[..])?;
    /// let (mut archive, _) = writer.finish()?;
    ///
    /// let directory = ArchiveReader::open(&archive[..])?.shared_directory();
    /// let mut encoder = ArchiveEncoder::resume(ArchiveOptions::default(), &directory)?;
    /// encoder.start_entry("b", &EntryOptions::default())?;
    /// encoder.push_all(b"second")?;
    /// encoder.finish_entry()?;
    /// encoder.finish()?;
    ///
    /// archive.truncate(directory.start() as usize);
    /// archive.extend_from_slice(encoder.output());
    /// assert_eq!(ArchiveReader::open(archive)?.len(), 2);
    /// # Ok::<(), zipstream::Error>(())
    /// ```
    pub fn resume(options: ArchiveOptions, directory: &Directory) -> Result<Self, Error> {
        let mut encoder = Self::new(options)?;
        encoder.take_over(directory)?;
        Ok(encoder)
    }

    /// Takes over a directory, before the first entry.
    pub(crate) fn take_over(&mut self, directory: &Directory) -> Result<(), Error> {
        let lost = |found: &&Warning| matches!(found, Warning::Trailing { .. });
        let trailing = directory.warnings().iter().find(lost);
        let prefix = Warning::Prefix {
            bytes: directory.base(),
        };
        if let Some(warning) = trailing.or((directory.base() > 0).then_some(&prefix)) {
            let what = format!("{warning}: such an archive cannot be continued");
            return Err(Error::new(ErrorKind::Unsupported, what)
                .help("copy its entries into a new archive"));
        }
        debug_assert!(matches!(self.state, State::Idle) && self.started == 0);
        let (mut entries, mut content_bytes) = (0, 0_u64);
        for entry in directory {
            let entry = entry?;
            // A name that is already there twice may stay so.
            self.take_name(entry.name_bytes());
            entries += 1;
            content_bytes = content_bytes.saturating_add(entry.content_bytes());
        }
        let records = directory.records().to_vec();
        self.sequence = Sequence::resume(directory.start(), records, entries, content_bytes);
        Ok(())
    }
}
