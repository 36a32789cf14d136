//! Archives that go on: what is there is taken over by its directory, and more entries follow.

use super::{ArchiveEncoder, State};
use crate::error::{Error, ErrorKind};
use crate::read::{Directory, Warning};
use crate::write::options::ArchiveOptions;
use crate::write::sequence::Sequence;

impl ArchiveEncoder {
    /// Goes on with an archive that exists. The output is what is to stand from byte
    /// [`Directory::start`] of it on, to its new end: the new entries, then the directory of all of
    /// them. What stands before stays as it is and is not looked at.
    ///
    /// Until all of that output is in its place the archive has no directory. Who writes it over the
    /// old one therefore collects it first, or keeps the old end to put it back.
    ///
    /// The comment is that of `options`. Names that the archive holds may not repeat. An archive
    /// with bytes before or behind it is [`Unsupported`](ErrorKind::Unsupported).
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

    /// Takes over what a directory has, before there is anything else.
    pub(crate) fn take_over(&mut self, directory: &Directory) -> Result<(), Error> {
        let lost = |found: &&Warning| matches!(found, Warning::Trailing { .. });
        let trailing = directory.warnings().iter().find(lost);
        let prefix = Warning::Prefix {
            bytes: directory.base(),
        };
        if let Some(around) = trailing.or((directory.base() > 0).then_some(&prefix)) {
            let what = format!("{around}: it cannot go on");
            return Err(Error::new(ErrorKind::Unsupported, what)
                .help("copy its entries into a new archive"));
        }
        debug_assert!(matches!(self.state, State::Idle) && self.started == 0);
        let (mut entries, mut content_bytes) = (0, 0_u64);
        for entry in directory {
            let entry = entry?;
            // One that is there twice already may stay so.
            self.take_name(entry.name_bytes());
            entries += 1;
            content_bytes = content_bytes.saturating_add(entry.content_bytes());
        }
        let records = directory.records().to_vec();
        self.sequence = Sequence::resume(directory.start(), records, entries, content_bytes);
        Ok(())
    }
}
