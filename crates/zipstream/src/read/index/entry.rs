//! Indexes of entries.

use super::super::entry::Entry;
use super::super::reader::{ArchiveReader, Scratch};
use super::super::source::ReadAt;
use super::builder::IndexBuilder;
use super::deflate_index::DeflateIndex;
use super::indexed::IndexedReader;
use crate::engine::bounds::{Bounds, compare, judge, limit};
use crate::error::{Error, ErrorKind};
use crate::method::Method;

impl<R: ReadAt> ArchiveReader<R> {
    /// Passes the content of a deflate entry to `sink`, verifies it, and makes an index of it, with points
    /// `spacing` bytes apart ([`IndexBuilder::SPACING_BYTES`]). As with
    /// [`extract`](ArchiveReader::extract), the content can be trusted when the call has returned.
    ///
    /// # Errors
    /// As of [`extract`](ArchiveReader::extract), and [`ErrorKind::Unsupported`] for entries that are
    /// encrypted or of another method.
    ///
    /// ```
    /// use zipstream::{ArchiveReader, ArchiveWriter, EntryOptions, Error, IndexBuilder, ReadAt, Scratch};
    ///
    /// let content: Vec<u8> = (0..2_000_000_u32).flat_map(|n| (n / 9).to_le_bytes()).collect();
    /// let mut writer = ArchiveWriter::new(Vec::new());
    /// writer.add("numbers", &EntryOptions::default(), &mut &content[..])?;
    /// let reader = ArchiveReader::open(writer.finish()?.0)?;
    ///
    /// let entry = reader.find("numbers")?.expect("it was added");
    /// let mut scratch = Scratch::default();
    /// let spacing = IndexBuilder::SPACING_BYTES;
    /// let index = reader.build_index(&entry, &mut scratch, spacing, &mut |_: &[u8]| {
    ///     Ok::<_, Error>(())
    /// })?;
    /// // The file that is kept.
    /// let saved: &[u8] = index.source();
    ///
    /// let index = zipstream::DeflateIndex::open(saved)?;
    /// let numbers = reader.indexed(&entry, &index, &mut scratch)?;
    /// let mut number = [0; 4];
    /// assert_eq!(numbers.read_at(&mut number, 4 * 1_234_567)?, 4);
    /// assert_eq!(u32::from_le_bytes(number), 1_234_567 / 9);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn build_index<E: From<Error>>(
        &self,
        entry: &Entry<'_>,
        scratch: &mut Scratch,
        spacing: u64,
        sink: &mut impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<DeflateIndex, E> {
        let named = |error: Error| E::from(error.entry(entry.name_lossy()));
        let data = self.indexable(entry, scratch).map_err(named)?;
        let end = data + entry.compressed_bytes();
        let mut bounds = Bounds {
            limit: self.options().limits.entry_bytes,
            ratio: self.options().limits.ratio,
            ..Bounds::default()
        };
        bounds.stated = Some(entry.content_bytes());
        let mut builder = IndexBuilder::new(spacing);
        let mut at = data;
        while !builder.is_done() {
            let need = usize::from(at < end);
            let held = scratch.window.get(self.source(), at, need, end);
            let input = held.map_err(named)?;
            let left = usize::try_from(end - at).unwrap_or(usize::MAX);
            let input = &input[..input.len().min(left)];
            let is_last = input.len() == left;
            let piece = builder.push(input).map_err(|error| named(error.at(data)))?;
            let (consumed, produced) = (piece.consumed, piece.content.len());
            at += consumed as u64;
            if is_last && consumed == input.len() && produced == 0 && !piece.done {
                let what = "its compressed content ends too early";
                return Err(named(Error::corrupt(data, what)));
            }
            self.count(produced as u64).map_err(named)?;
            sink(piece.content)?;
            let judged = judge(&bounds, at - data, builder.content_bytes());
            judged.map_err(|error| named(error.at(data)))?;
        }
        if at < end && self.options().is_strict() {
            let what = format!("{} bytes follow its compressed content", end - at);
            return Err(named(Error::corrupt(at, what)));
        }
        let index = builder.finish(data).map_err(named)?;
        let found = (index.crc32(), index.content_bytes());
        let compared = compare(found, (entry.crc32(), entry.content_bytes()));
        compared.map_err(|error| named(error.at(data)))?;
        Ok(index)
    }

    /// Reads any range of an entry by its index, which is compared with the entry. An entry may have been
    /// moved since, as when others before it were deleted.
    ///
    /// # Errors
    /// [`ErrorKind::StaleIndex`] for the index of another content, and [`ErrorKind::Unsupported`] for
    /// entries that are encrypted or of another method.
    pub fn indexed<'a, S: ReadAt>(
        &'a self,
        entry: &Entry<'_>,
        index: &'a DeflateIndex<S>,
        scratch: &mut Scratch,
    ) -> Result<IndexedReader<'a, R, S>, Error> {
        let named = |error: Error| error.entry(entry.name_lossy());
        let data = self.indexable(entry, scratch).map_err(named)?;
        let most = self.options().limits.entry_bytes;
        if entry.content_bytes() > most {
            return Err(named(limit(most).at(data)));
        }
        // Bytes may follow the stream, unless the profile forbids it.
        let used = index.compressed_bytes();
        let compressed = match self.options().is_strict() {
            true => entry.compressed_bytes(),
            false => used.min(entry.compressed_bytes()),
        };
        let bound = index.bind(compressed, entry.content_bytes(), entry.crc32());
        bound.map_err(named)?;
        let name = entry.name_lossy().into_owned();
        Ok(IndexedReader::bound(self.source(), index, data, Some(name)))
    }

    /// Where the stream of an entry starts that can have an index.
    fn indexable(&self, entry: &Entry<'_>, scratch: &mut Scratch) -> Result<u64, Error> {
        let refused =
            |what: String| Err(Error::new(ErrorKind::Unsupported, what).at(entry.offset()));
        if entry.is_encrypted() {
            return refused("it is encrypted: only other entries can have an index".to_owned());
        }
        if entry.method() != Method::Deflate {
            let method = entry.method();
            return refused(format!(
                "its method is {method}: only deflate entries have an index"
            ));
        }
        // Which part of the content is wanted, the index will say.
        self.locate_and_fetch(entry, scratch, 0)
    }
}
