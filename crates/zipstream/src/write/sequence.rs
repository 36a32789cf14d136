//! The archive as it grows: output, offsets and directory, one entry after the other.

use super::batch::pack_one;
use super::engines::Engines;
use super::meta::Meta;
use super::records::{Shape, Sizes, put_central, put_local, put_shifted};
use crate::crypt::Encryption;
use crate::crypt::encrypt::Encryptor;
use crate::error::{Error, ErrorKind, internal};
use crate::format::{end, local};
use crate::method::Method;
use crate::raw_entry::RawEntry;

/// Totals of an archive.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Totals {
    /// Number of entries.
    pub entries: u64,
    /// Content of all entries, before compression.
    pub content_bytes: u64,
    /// Size of the archive so far; includes the directory once it is written.
    pub archive_bytes: u64,
}

/// Bytes for a place of the archive that is already written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Patch {
    /// The byte of the archive where they start.
    pub offset: u64,
    /// The bytes for that place.
    pub bytes: [u8; 4],
}

/// A large entry.
#[derive(Debug)]
pub(crate) struct Large {
    pub(crate) name: Vec<u8>,
    pub(crate) meta: Meta,
    /// The method that its headers state.
    pub(crate) method: Method,
    pub(crate) shape: Shape,
}

/// The large entry that is open.
#[derive(Debug)]
struct Written {
    large: Large,
    offset: u64,
    sizes: Sizes,
    encryptor: Option<Encryptor>,
}

/// The output, and what the directory needs to know of it.
#[derive(Debug, Default)]
pub(crate) struct Sequence {
    /// Output that the caller has not consumed; the first `taken` bytes of it are consumed.
    pub(crate) out: Vec<u8>,
    taken: usize,
    /// The byte of the archive that `out` starts at.
    base: u64,
    pub(crate) directory: Vec<u8>,
    entries: u64,
    content_bytes: u64,
    large: Option<Written>,
    raw: Option<Raw>,
}

/// The open entry of another archive.
#[derive(Debug)]
struct Raw {
    entry: RawEntry,
    offset: u64,
    bytes: u64,
}

impl Sequence {
    /// An archive that continues after the entries of a directory.
    pub(crate) fn resume(at: u64, directory: Vec<u8>, entries: u64, content_bytes: u64) -> Self {
        Self {
            base: at,
            directory,
            entries,
            content_bytes,
            ..Self::default()
        }
    }

    /// The position of the next output byte in the archive.
    fn offset(&self) -> u64 {
        self.base + self.out.len() as u64
    }

    pub(crate) fn totals(&self) -> Totals {
        Totals {
            entries: self.entries,
            content_bytes: self.content_bytes,
            archive_bytes: self.offset(),
        }
    }

    pub(crate) fn output(&self) -> &[u8] {
        &self.out[self.taken..]
    }

    pub(crate) fn consume(&mut self, bytes: usize) {
        self.taken = (self.taken + bytes).min(self.out.len());
        if self.taken == self.out.len() {
            self.base += self.taken as u64;
            self.out.clear();
            self.taken = 0;
        }
    }

    /// Swaps the output for other memory.
    pub(crate) fn take(&mut self, mut spare: Vec<u8>) -> Vec<u8> {
        spare.clear();
        if self.taken > 0 {
            spare.extend_from_slice(self.output());
            self.consume(spare.len());
        } else {
            std::mem::swap(&mut self.out, &mut spare);
            self.base += spare.len() as u64;
        }
        spare
    }

    /// Adds one entry whose content is complete.
    pub(crate) fn whole(
        &mut self,
        engines: &mut Engines,
        name: &[u8],
        meta: &Meta,
        content: &[u8],
    ) -> Result<(), Error> {
        let offset = self.offset();
        let (out, directory) = (&mut self.out, &mut self.directory);
        pack_one(engines, name, meta, content, out, directory, offset)?;
        self.count(content.len() as u64);
        Ok(())
    }

    /// Adds entries that were packed elsewhere.
    pub(crate) fn packed(&mut self, out: &[u8], records: &[u8], content_bytes: u64) {
        let base = self.offset();
        self.entries += put_shifted(&mut self.directory, records, base);
        self.content_bytes += content_bytes;
        self.out.extend_from_slice(out);
    }

    fn count(&mut self, content_bytes: u64) {
        self.entries += 1;
        self.content_bytes += content_bytes;
    }

    /// Starts a large entry.
    pub(crate) fn begin(
        &mut self,
        large: Large,
        encryption: Option<&Encryption>,
    ) -> Result<(), Error> {
        let offset = self.offset();
        let Large {
            name, meta, method, ..
        } = &large;
        put_local(&mut self.out, name, meta, *method, large.shape);
        let start = self.out.len();
        let encryptor = match (encryption, meta.encryption) {
            (Some(encryption), Some(_)) => Some(Encryptor::begin(encryption, &mut self.out)?),
            _ => None,
        };
        let sizes = Sizes {
            compressed: (self.out.len() - start) as u64,
            ..Sizes::default()
        };
        self.large = Some(Written {
            large,
            offset,
            sizes,
            encryptor,
        });
        Ok(())
    }

    /// Adds a part of the content to the checksum and sizes.
    fn tally(&mut self, crc32: u32, content: u64, compressed: u64) -> Result<(), Error> {
        let Some(Written { sizes, .. }) = &mut self.large else {
            return Err(internal("content without an entry"));
        };
        let mut sum = crc32fast::Hasher::new_with_initial_len(sizes.crc32, sizes.content);
        sum.combine(&crc32fast::Hasher::new_with_initial_len(crc32, content));
        sizes.crc32 = sum.finalize();
        sizes.content += content;
        sizes.compressed += compressed;
        Ok(())
    }

    /// Adds compressed content.
    pub(crate) fn piece(&mut self, out: &[u8], crc32: u32, content: u64) -> Result<(), Error> {
        let start = self.out.len();
        self.out.extend_from_slice(out);
        self.placed(start, crc32, content)
    }

    /// Counts compressed content that is already in `out`, from `start` on.
    pub(crate) fn placed(&mut self, start: usize, crc32: u32, content: u64) -> Result<(), Error> {
        let placed = &mut self.out[start..];
        let compressed = placed.len() as u64;
        if let Some(Written {
            encryptor: Some(encryptor),
            ..
        }) = &mut self.large
        {
            encryptor.encrypt(placed);
        }
        self.tally(crc32, content, compressed)
    }

    /// Ends the large entry.
    pub(crate) fn end(&mut self) -> Result<(), Error> {
        let Some(Written {
            large,
            offset,
            mut sizes,
            encryptor,
        }) = self.large.take()
        else {
            return Err(internal("an end without an entry"));
        };
        if let Some(encryptor) = encryptor {
            let start = self.out.len();
            encryptor.end(&mut self.out);
            sizes.compressed += (self.out.len() - start) as u64;
        }
        match large.shape {
            Shape::Known(known) => {
                // What the headers do not state is not compared.
                let crc32 = large.meta.stated_crc(sizes.crc32);
                let found = Sizes { crc32, ..sizes };
                if known != found {
                    return Err(differs(&large.name, &known, &found));
                }
            }
            Shape::Descriptor | Shape::Descriptor64 => local::put_descriptor(
                &mut self.out,
                large.meta.stated_crc(sizes.crc32),
                sizes.compressed,
                sizes.content,
                large.shape.is_wide(),
            ),
        }
        let Large {
            name, meta, method, ..
        } = &large;
        let directory = &mut self.directory;
        put_central(directory, name, meta, *method, large.shape, &sizes, offset);
        self.count(sizes.content);
        Ok(())
    }

    /// Removes the open large entry: all output from its header on.
    pub(crate) fn retract(&mut self) -> Result<(), Error> {
        let Some(Written { offset, .. }) = self.large.take() else {
            return Err(internal("a retraction without an entry"));
        };
        match offset.checked_sub(self.base) {
            Some(kept) => {
                let kept = usize::try_from(kept).unwrap_or(usize::MAX);
                self.out.truncate(kept);
                self.taken = self.taken.min(self.out.len());
            }
            None => {
                self.out.clear();
                self.taken = 0;
                self.base = offset;
            }
        }
        Ok(())
    }

    /// Bytes of the archive that the caller has consumed.
    pub(crate) fn consumed(&self) -> u64 {
        self.base + self.taken as u64
    }

    /// Ends a large entry whose content the caller put after the output; returns what its header
    /// lacks.
    pub(crate) fn end_external(&mut self, crc32: u32) -> Result<Patch, Error> {
        let Some(Written {
            large,
            offset,
            sizes,
            ..
        }) = &mut self.large
        else {
            return Err(internal("an end without an entry"));
        };
        let Shape::Known(known) = &mut large.shape else {
            return Err(internal("external content without a known size"));
        };
        known.crc32 = crc32;
        *sizes = *known;
        self.base += known.content;
        let patch = Patch {
            offset: *offset + local::CRC32_AT,
            bytes: crc32.to_le_bytes(),
        };
        self.end()?;
        Ok(patch)
    }

    /// Starts an entry of another archive.
    pub(crate) fn begin_raw(&mut self, entry: RawEntry) {
        let offset = self.offset();
        entry.put_local(&mut self.out);
        let bytes = 0;
        self.raw = Some(Raw {
            entry,
            offset,
            bytes,
        });
    }

    /// Adds bytes of that entry.
    pub(crate) fn push_raw(&mut self, bytes: &[u8]) {
        self.out.extend_from_slice(bytes);
        if let Some(raw) = &mut self.raw {
            raw.bytes += bytes.len() as u64;
        }
    }

    /// Ends that entry.
    pub(crate) fn end_raw(&mut self) -> Result<(), Error> {
        let Some(raw) = self.raw.take() else {
            return Err(internal("an end without an entry"));
        };
        let (stated, came) = (raw.entry.compressed_bytes(), raw.bytes);
        if stated != came {
            let what = format!("compressed bytes: stated {stated}, received {came}");
            let name = String::from_utf8_lossy(raw.entry.name_bytes());
            return Err(Error::new(ErrorKind::Mismatch, what).entry(name));
        }
        raw.entry.put_end(&mut self.out);
        raw.entry.put_central(&mut self.directory, raw.offset);
        self.count(raw.entry.content_bytes());
        Ok(())
    }

    /// Appends the directory and the end record.
    pub(crate) fn close(&mut self, comment: &[u8]) {
        let offset = self.offset();
        let bytes = self.directory.len() as u64;
        if self.out.is_empty() {
            // With an empty output nothing has to be copied.
            std::mem::swap(&mut self.out, &mut self.directory);
        } else {
            self.out.append(&mut self.directory);
        }
        self.directory = Vec::new();
        end::put(&mut self.out, self.entries, offset, bytes, comment);
    }
}

fn differs(name: &[u8], known: &Sizes, found: &Sizes) -> Error {
    let what = format!(
        "size {} and checksum {:08x} were announced, found {} and {:08x}",
        known.content, known.crc32, found.content, found.crc32
    );
    Error::new(ErrorKind::Mismatch, what)
        .entry(String::from_utf8_lossy(name))
        .help("the file changed while it was read: pack it again")
}
