//! An entry for copying: everything that its headers say, except for its position.

use crate::crypt::aes;
use crate::error::{Error, ErrorKind};
use crate::format::central::{CENTRAL_BYTES, Central};
use crate::format::extra::Wide;
use crate::format::local::{LOCAL_BYTES, Local};
use crate::format::{CENTRAL_SIGNATURE, LOCAL_SIGNATURE, MAX32, extra, flag, le16, local};

/// "Made by" of DOS, version 2.0: modes are unknown.
const DOS_MADE_BY: u16 = 20;
/// The DOS attribute of directories.
const DOS_DIRECTORY: u32 = 0x10;
/// The version that a reader of ZIP64 needs, times ten.
const ZIP64_VERSION: u16 = 45;

/// An entry that is copied without decoding: from [`ArchiveReader::raw`](crate::ArchiveReader::raw)
/// to [`ArchiveEncoder::start_raw`](crate::ArchiveEncoder::start_raw).
#[derive(Debug, Clone)]
pub struct RawEntry {
    name: Vec<u8>,
    comment: Vec<u8>,
    local_extra: Vec<u8>,
    central_extra: Vec<u8>,
    made_by: u16,
    needed: u16,
    flags: u16,
    method: u16,
    time: u16,
    date: u16,
    crc32: u32,
    compressed: u64,
    content: u64,
    internal: u16,
    attributes: u32,
}

impl RawEntry {
    /// From its directory record and its local extra fields.
    pub(crate) fn new(
        central: &Central<'_>,
        wide: &Wide,
        local_extra: &[u8],
    ) -> Result<Self, Error> {
        let raw = Self {
            name: central.name.to_vec(),
            comment: central.comment.to_vec(),
            local_extra: without_zip64(local_extra),
            central_extra: without_zip64(central.extra),
            made_by: central.made_by,
            needed: central.needed,
            flags: central.flags,
            method: central.method,
            time: central.time,
            date: central.date,
            crc32: central.crc32,
            compressed: wide.compressed,
            content: wide.content,
            internal: central.internal,
            attributes: central.attributes,
        };
        let longest = raw.local_extra.len().max(raw.central_extra.len());
        if longest + extra::ZIP64_BYTES_MAX > usize::from(u16::MAX) {
            let what = "its extra fields leave no room for sizes beyond 4 GiB";
            return Err(Error::new(ErrorKind::Unsupported, what));
        }
        Ok(raw)
    }

    /// From the local header at the start of `bytes` and the sizes found by decoding; also returns
    /// the length of that header.
    pub(crate) fn from_local(bytes: &[u8], found: &FoundSizes) -> Option<(Self, usize)> {
        let fixed = bytes.first_chunk::<LOCAL_BYTES>()?;
        let total = local::total_bytes(fixed);
        let local = Local::parse(bytes.get(..total)?)?;
        let directory = local.name.ends_with(b"/");
        let raw = Self {
            name: local.name.to_vec(),
            comment: Vec::new(),
            local_extra: without_zip64(local.extra),
            central_extra: central_of(local.extra),
            made_by: DOS_MADE_BY,
            needed: le16(fixed, 4),
            flags: local.flags,
            method: local.method,
            time: local.time,
            date: local.date,
            crc32: found.crc32,
            compressed: found.compressed,
            content: found.content,
            internal: 0,
            attributes: if directory { DOS_DIRECTORY } else { 0 },
        };
        let fits = raw.local_extra.len() + extra::ZIP64_BYTES_MAX <= usize::from(u16::MAX);
        fits.then_some((raw, total))
    }

    /// Takes what only a directory says from a record, if that describes the same content.
    pub(crate) fn complete(&mut self, central: &Central<'_>) {
        let same = central.wide().is_some_and(|wide| {
            (central.crc32, wide.compressed, wide.content)
                == (self.crc32, self.compressed, self.content)
        });
        if same {
            self.comment = central.comment.to_vec();
            self.central_extra = without_zip64(central.extra);
            self.made_by = central.made_by;
            (self.internal, self.attributes) = (central.internal, central.attributes);
        }
    }

    /// Its name.
    pub fn name_bytes(&self) -> &[u8] {
        &self.name
    }

    /// Its comment.
    pub fn comment(&self) -> &[u8] {
        &self.comment
    }

    /// Its external attributes: on Unix the mode in the upper half, and those of DOS in the lowest byte.
    pub fn external_attributes(&self) -> u32 {
        self.attributes
    }

    /// Replaces its external attributes. Who made the entry says what they mean, and stays.
    pub fn set_external_attributes(&mut self, attributes: u32) {
        self.attributes = attributes;
    }

    /// Its internal attributes; the lowest bit says that the content is text.
    pub fn internal_attributes(&self) -> u16 {
        self.internal
    }

    /// Replaces its internal attributes.
    pub fn set_internal_attributes(&mut self, attributes: u16) {
        self.internal = attributes;
    }

    /// The extra fields of its local header, as they are, without that of ZIP64.
    pub fn local_extra_bytes(&self) -> &[u8] {
        &self.local_extra
    }

    /// The extra fields of its directory record, as they are, without that of ZIP64.
    pub fn extra_bytes(&self) -> &[u8] {
        &self.central_extra
    }

    /// Puts a field of this id into both headers, in place of all that they have of it.
    ///
    /// # Errors
    /// The id is that of ZIP64, of WinZip AES or of the Unicode name, which say how the entry is read; or the
    /// fields get too long.
    pub fn set_extra_field(&mut self, id: u16, data: &[u8]) -> Result<(), Error> {
        self.remove_extra_field(id)?;
        let longest = self.local_extra.len().max(self.central_extra.len());
        let most = usize::from(u16::MAX) - extra::ZIP64_BYTES_MAX;
        if longest + 4 + data.len() > most {
            let what = format!("its extra fields exceed {most} bytes");
            return Err(Error::new(ErrorKind::Setting, what));
        }
        put_field(&mut self.local_extra, id, data);
        put_field(&mut self.central_extra, id, data);
        Ok(())
    }

    /// Removes the fields of this id from both headers.
    ///
    /// # Errors
    /// The id is one that says how the entry is read.
    pub fn remove_extra_field(&mut self, id: u16) -> Result<(), Error> {
        if matches!(id, extra::ZIP64 | extra::AES | extra::UNICODE_NAME) {
            let what = format!("the extra field {id:#06x} says how the entry is read");
            return Err(Error::new(ErrorKind::Setting, what));
        }
        for area in [&mut self.local_extra, &mut self.central_extra] {
            let mut kept = Vec::with_capacity(area.len());
            for (other, data) in extra::fields(area).filter(|(other, _)| *other != id) {
                put_field(&mut kept, other, data);
            }
            *area = kept;
        }
        Ok(())
    }

    /// Replaces its comment.
    ///
    /// # Errors
    /// The comment is longer than 65,535 bytes.
    pub fn set_comment(&mut self, comment: impl Into<Vec<u8>>) -> Result<(), Error> {
        let comment = comment.into();
        if comment.len() > usize::from(u16::MAX) {
            let what = "a comment of an entry is longer than 65535 bytes";
            return Err(Error::new(ErrorKind::Setting, what));
        }
        self.comment = comment;
        Ok(())
    }

    /// The number of bytes to copy.
    pub fn compressed_bytes(&self) -> u64 {
        self.compressed
    }

    pub(crate) fn content_bytes(&self) -> u64 {
        self.content
    }

    /// Whether a descriptor has to follow: only if the password check depends on it.
    fn has_descriptor(&self) -> bool {
        let zipcrypto = self.flags & flag::ENCRYPTED != 0 && self.method != aes::METHOD;
        zipcrypto && self.flags & flag::DESCRIPTOR != 0
    }

    fn flags(&self) -> u16 {
        match self.has_descriptor() {
            true => self.flags,
            false => self.flags & !flag::DESCRIPTOR,
        }
    }

    fn is_wide(&self) -> bool {
        self.compressed.max(self.content) >= MAX32.into()
    }

    /// Fields that both headers share, from the needed version to the length of the name.
    fn put_shared(&self, out: &mut Vec<u8>, wide: bool) {
        let narrow = |value: u64| u32::try_from(value).unwrap_or(MAX32);
        let sizes = match wide && self.is_wide() {
            // Local headers need both or none.
            true => [MAX32; 2],
            false => [narrow(self.compressed), narrow(self.content)],
        };
        let least = if wide { ZIP64_VERSION } else { 0 };
        for value in [
            self.needed.max(least),
            self.flags(),
            self.method,
            self.time,
            self.date,
        ] {
            out.extend_from_slice(&value.to_le_bytes());
        }
        for value in [self.crc32, sizes[0], sizes[1]] {
            out.extend_from_slice(&value.to_le_bytes());
        }
        out.extend_from_slice(&(self.name.len() as u16).to_le_bytes());
    }

    /// Appends its local header.
    pub(crate) fn put_local(&self, out: &mut Vec<u8>) {
        let wide = self.is_wide();
        out.reserve(LOCAL_BYTES + self.name.len() + self.local_extra.len());
        out.extend_from_slice(&LOCAL_SIGNATURE.to_le_bytes());
        self.put_shared(out, wide);
        // Both were checked to fit.
        let extra_bytes = self.local_extra.len() + if wide { 20 } else { 0 };
        out.extend_from_slice(&(extra_bytes as u16).to_le_bytes());
        out.extend_from_slice(&self.name);
        out.extend_from_slice(&self.local_extra);
        if wide {
            extra::put_zip64(out, &[self.content, self.compressed]);
        }
    }

    /// Appends what follows its content.
    pub(crate) fn put_end(&self, out: &mut Vec<u8>) {
        if self.has_descriptor() {
            let (compressed, content) = (self.compressed, self.content);
            local::put_descriptor(out, self.crc32, compressed, content, self.is_wide());
        }
    }

    /// Appends its directory record.
    pub(crate) fn put_central(&self, out: &mut Vec<u8>, offset: u64) {
        let mut values = Vec::new();
        if self.is_wide() {
            values.extend([self.content, self.compressed]);
        }
        if offset >= MAX32.into() {
            values.push(offset);
        }
        let wide = !values.is_empty();
        out.reserve(CENTRAL_BYTES + self.name.len() + self.central_extra.len());
        out.extend_from_slice(&CENTRAL_SIGNATURE.to_le_bytes());
        out.extend_from_slice(&self.made_by.to_le_bytes());
        self.put_shared(out, wide);
        let zip64_bytes = if wide { 4 + 8 * values.len() } else { 0 };
        let extra_bytes = self.central_extra.len() + zip64_bytes;
        out.extend_from_slice(&(extra_bytes as u16).to_le_bytes());
        out.extend_from_slice(&(self.comment.len() as u16).to_le_bytes());
        out.extend_from_slice(&[0; 2]);
        out.extend_from_slice(&self.internal.to_le_bytes());
        out.extend_from_slice(&self.attributes.to_le_bytes());
        let narrow = u32::try_from(offset).unwrap_or(MAX32);
        out.extend_from_slice(&narrow.to_le_bytes());
        out.extend_from_slice(&self.name);
        out.extend_from_slice(&self.central_extra);
        if wide {
            extra::put_zip64(out, &values);
        }
        out.extend_from_slice(&self.comment);
    }
}

/// Sizes and checksum of a decoded content.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FoundSizes {
    pub(crate) crc32: u32,
    pub(crate) compressed: u64,
    pub(crate) content: u64,
}

/// The extra fields of a directory record, made of those of a local header: they hold only one
/// time.
fn central_of(area: &[u8]) -> Vec<u8> {
    let mut kept = Vec::new();
    for (id, data) in extra::fields(area) {
        let data = match id {
            extra::TIMES => data.get(..5).unwrap_or_default(),
            extra::UNICODE_NAME | extra::AES => data,
            _ => continue,
        };
        put_field(&mut kept, id, data);
    }
    kept
}

fn put_field(out: &mut Vec<u8>, id: u16, data: &[u8]) {
    out.extend_from_slice(&id.to_le_bytes());
    // It was a field before, so it fits.
    out.extend_from_slice(&(data.len() as u16).to_le_bytes());
    out.extend_from_slice(data);
}

/// Extra fields without ZIP64, whose values are written anew.
pub(crate) fn without_zip64(area: &[u8]) -> Vec<u8> {
    let mut kept = Vec::with_capacity(area.len());
    for (id, data) in extra::fields(area).filter(|(id, _)| *id != extra::ZIP64) {
        put_field(&mut kept, id, data);
    }
    kept
}
