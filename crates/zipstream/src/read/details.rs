//! What headers say of an entry that few programs need.

use super::entry::Entry;
use super::reader::{ArchiveReader, Scratch};
use super::source::ReadAt;
use crate::entry_owner::EntryOwner;
use crate::error::Error;
use crate::format::extra;

/// An extra field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct ExtraField<'a> {
    /// Its id, which says what it is about.
    pub id: u16,
    /// Its data.
    pub data: &'a [u8],
}

/// The complete fields of an extra area, as [`Entry::extra_bytes`] has one.
fn extra_fields(area: &[u8]) -> impl Iterator<Item = ExtraField<'_>> {
    extra::fields(area).map(|(id, data)| ExtraField { id, data })
}

impl<'a> Entry<'a> {
    /// The extra fields of the directory; what is cut off at their end is left out.
    ///
    /// ```
    /// use zipstream::{ArchiveReader, ArchiveWriter, EntryOptions, EntryOwner};
    ///
    /// let mut writer = ArchiveWriter::new(Vec::new());
    /// let options = EntryOptions::default().owner(EntryOwner::new(1000, 100));
    /// writer.add("a", &options, &mut &b"content"[..])?;
    /// let reader = ArchiveReader::open(writer.finish()?.0)?;
    /// let entry = reader.find("a")?.expect("it was added");
    /// let ids: Vec<u16> = entry.extra_fields().map(|field| field.id).collect();
    /// assert_eq!(ids, [0x7875]);
    /// assert_eq!(entry.owner(), Some(EntryOwner::new(1000, 100)));
    /// # Ok::<(), zipstream::Error>(())
    /// ```
    pub fn extra_fields(&self) -> impl Iterator<Item = ExtraField<'a>> + use<'a> {
        extra_fields(self.extra_bytes())
    }

    /// Who owns its file, if the archive says so (field 0x7875).
    pub fn owner(&self) -> Option<EntryOwner> {
        EntryOwner::of(self.extra_bytes())
    }
}

impl<R: ReadAt> ArchiveReader<R> {
    /// The extra fields of the local header of an entry, as they are: some programs state more there.
    pub fn local_extra_bytes(
        &self,
        entry: &Entry<'_>,
        scratch: &mut Scratch,
    ) -> Result<Vec<u8>, Error> {
        self.local(entry, scratch, |local| local.extra.to_vec())
    }
}
