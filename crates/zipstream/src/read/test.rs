//! Verifying entries without returning their content.

use super::encrypted;
use super::entry::Entry;
use super::reader::{ArchiveReader, Scratch, is_small};
use super::source::ReadAt;
use crate::engine::bounds::limit;
use crate::error::Error;
use crate::method::Method;

impl<R: ReadAt> ArchiveReader<R> {
    /// Verifies the content of an entry as [`extract`](ArchiveReader::extract) does, and returns
    /// its size. `step` is called with the number of verified bytes, about every 128 KiB of large
    /// contents; its error ends the call.
    ///
    /// A large stored entry whose authentication code alone protects it (AE-2) is authenticated
    /// without being decrypted.
    ///
    /// ```
    /// use zipstream::{ArchiveReader, ArchiveWriter, EntryOptions, Error, Scratch};
    ///
    /// let mut writer = ArchiveWriter::new(Vec::new());
    /// writer.add("a.txt", &EntryOptions::default(), &mut &b"content"[..])?;
    /// let reader = ArchiveReader::open(writer.finish()?.0)?;
    /// let mut scratch = Scratch::default();
    /// for entry in reader.entries() {
    ///     let bytes = reader.test(&entry?, &mut scratch, &mut |_| Ok::<_, Error>(()))?;
    ///     assert_eq!(bytes, 7);
    /// }
    /// # Ok::<(), zipstream::Error>(())
    /// ```
    pub fn test<E: From<Error>>(
        &self,
        entry: &Entry<'_>,
        scratch: &mut Scratch,
        step: &mut impl FnMut(u64) -> Result<(), E>,
    ) -> Result<u64, E> {
        let scheme = encrypted::scheme(entry).ok().flatten();
        let code_alone = scheme.is_some_and(|scheme| !scheme.has_crc());
        if is_small(entry) || entry.method() != Method::Stored || !code_alone {
            return self.extract(entry, scratch, &mut |piece: &[u8]| step(piece.len() as u64));
        }
        let named = |error: Error| E::from(error.entry(entry.name_lossy()));
        let data = self.locate(entry, scratch).map_err(named)?;
        let mut body = self.begin(entry, scratch, data).map_err(named)?;
        let content_bytes = entry.content_bytes();
        let most = self.options().limits.entry_bytes;
        if content_bytes > most {
            return Err(named(limit(most).at(body.start)));
        }
        loop {
            let passed = body.authenticate_next(&mut scratch.window, self.source());
            let passed = passed.map_err(|error| named(error.at(body.start)))?;
            if passed == 0 {
                break;
            }
            self.count(passed).map_err(named)?;
            step(passed)?;
        }
        let end = body.end;
        let verified = body.finish(&mut scratch.window, self.source(), end, usize::MAX);
        verified.map_err(|error| named(error.at(body.start)))?;
        Ok(content_bytes)
    }
}
