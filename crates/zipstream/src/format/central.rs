//! Records of the directory.

use super::{CENTRAL_SIGNATURE, MAX32, extra, le16, le32};

/// Bytes of a record before the name.
pub(crate) const CENTRAL_BYTES: usize = 46;
/// The position of the local header's offset in a record.
pub(crate) const OFFSET_AT: usize = 42;
/// "Made by" of a system with Unix modes.
pub(crate) const UNIX: u8 = 3;

/// The fields of a record after its signature.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Central<'a> {
    pub(crate) made_by: u16,
    pub(crate) needed: u16,
    pub(crate) flags: u16,
    pub(crate) method: u16,
    pub(crate) time: u16,
    pub(crate) date: u16,
    pub(crate) crc32: u32,
    pub(crate) compressed: u32,
    pub(crate) content: u32,
    pub(crate) disk: u16,
    pub(crate) internal: u16,
    pub(crate) attributes: u32,
    pub(crate) offset: u32,
    pub(crate) name: &'a [u8],
    pub(crate) extra: &'a [u8],
    pub(crate) comment: &'a [u8],
}

/// The length of the whole record, from its first 46 bytes.
pub(crate) fn total_bytes(fixed: &[u8; CENTRAL_BYTES]) -> usize {
    [28, 30, 32]
        .iter()
        .fold(CENTRAL_BYTES, |sum, at| sum + usize::from(le16(fixed, *at)))
}

impl<'a> Central<'a> {
    /// Parses the record at the start of `bytes`; `None` if there is no complete one.
    #[inline(always)]
    pub(crate) fn parse(bytes: &'a [u8]) -> Option<Self> {
        let fixed = bytes.first_chunk::<CENTRAL_BYTES>()?;
        if le32(fixed, 0) != CENTRAL_SIGNATURE {
            return None;
        }
        let variable = bytes.get(CENTRAL_BYTES..total_bytes(fixed))?;
        let (name, rest) = variable.split_at(usize::from(le16(fixed, 28)));
        let (extra, comment) = rest.split_at(usize::from(le16(fixed, 30)));
        Some(Self {
            made_by: le16(fixed, 4),
            needed: le16(fixed, 6),
            flags: le16(fixed, 8),
            method: le16(fixed, 10),
            time: le16(fixed, 12),
            date: le16(fixed, 14),
            crc32: le32(fixed, 16),
            compressed: le32(fixed, 20),
            content: le32(fixed, 24),
            disk: le16(fixed, 34),
            internal: le16(fixed, 36),
            attributes: le32(fixed, 38),
            offset: le32(fixed, OFFSET_AT),
            name,
            extra,
            comment,
        })
    }

    pub(crate) fn total_bytes(&self) -> usize {
        CENTRAL_BYTES + self.name.len() + self.extra.len() + self.comment.len()
    }

    /// Sizes and offset with the ZIP64 field; `None` if that is too short.
    pub(crate) fn wide(&self) -> Option<extra::Wide> {
        extra::widen(self.content, self.compressed, self.offset, self.extra)
    }

    pub(crate) fn needs_zip64(&self) -> bool {
        [self.content, self.compressed, self.offset].contains(&MAX32)
    }
}
