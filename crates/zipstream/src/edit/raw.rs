//! An entry as another archive has it: all that its headers say, but for where it stands.

use crate::crypt::aes;
use crate::error::{Error, ErrorKind};
use crate::format::central::CENTRAL_BYTES;
use crate::format::local::LOCAL_BYTES;
use crate::format::{CENTRAL_SIGNATURE, LOCAL_SIGNATURE, MAX32, extra, flag, local};
use crate::read::Entry;

/// The version of a reader that ZIP64 takes, times ten.
const ZIP64_VERSION: u16 = 45;

/// What an entry brings along when it is copied without being decoded: from
/// [`ArchiveReader::raw`](crate::ArchiveReader::raw) to
/// [`ArchiveEncoder::start_raw`](crate::ArchiveEncoder::start_raw).
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
    /// What the directory and the extra area of the local header say.
    pub(crate) fn new(entry: &Entry<'_>, local_extra: &[u8]) -> Result<Self, Error> {
        let central = entry.central();
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
            crc32: entry.crc32(),
            compressed: entry.compressed_bytes(),
            content: entry.content_bytes(),
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

    /// The bytes of its name.
    pub fn name_bytes(&self) -> &[u8] {
        &self.name
    }

    /// The bytes that are to be carried over.
    pub fn compressed_bytes(&self) -> u64 {
        self.compressed
    }

    pub(crate) fn content_bytes(&self) -> u64 {
        self.content
    }

    /// Whether a descriptor has to follow: only where the check of a password depends on it.
    fn has_descriptor(&self) -> bool {
        let classic = self.flags & flag::ENCRYPTED != 0 && self.method != aes::METHOD;
        classic && self.flags & flag::DESCRIPTOR != 0
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

    /// What both headers state alike, from the needed version to the uncompressed size.
    fn put_shared(&self, out: &mut Vec<u8>, wide: bool) {
        let narrow = |value: u64| u32::try_from(value).unwrap_or(MAX32);
        let sizes = match wide && self.is_wide() {
            // Both or none, in local headers.
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
        // That both fit was checked.
        let extra_bytes = self.local_extra.len() + if wide { 20 } else { 0 };
        out.extend_from_slice(&(extra_bytes as u16).to_le_bytes());
        out.extend_from_slice(&self.name);
        out.extend_from_slice(&self.local_extra);
        if wide {
            extra::put_zip64(out, &[self.content, self.compressed]);
        }
    }

    /// Appends what stands behind its content.
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

/// An extra area without its ZIP64 field, which says where things were.
fn without_zip64(area: &[u8]) -> Vec<u8> {
    let mut kept = Vec::with_capacity(area.len());
    for (id, data) in extra::fields(area).filter(|(id, _)| *id != extra::ZIP64) {
        kept.extend_from_slice(&id.to_le_bytes());
        kept.extend_from_slice(&(data.len() as u16).to_le_bytes());
        kept.extend_from_slice(data);
    }
    kept
}
