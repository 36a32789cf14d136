//! Local headers and data descriptors.

use super::extra::Found;
use super::{DESCRIPTOR_SIGNATURE, LOCAL_SIGNATURE, MAX32, flag, le16, le32};

/// Bytes of a local header before the name.
pub(crate) const LOCAL_BYTES: usize = 30;
/// The position of the checksum.
pub(crate) const CRC32_AT: u64 = 14;

/// The fields of a local header after its signature.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Local<'a> {
    pub(crate) needed: u16,
    pub(crate) flags: u16,
    pub(crate) method: u16,
    pub(crate) time: u16,
    pub(crate) date: u16,
    pub(crate) crc32: u32,
    pub(crate) compressed: u32,
    pub(crate) content: u32,
    pub(crate) name: &'a [u8],
    pub(crate) extra: &'a [u8],
}

/// The length of the whole header, from its first 30 bytes.
pub(crate) fn total_bytes(fixed: &[u8; LOCAL_BYTES]) -> usize {
    LOCAL_BYTES + usize::from(le16(fixed, 26)) + usize::from(le16(fixed, 28))
}

/// Whether these are the first bytes of a local header.
pub(crate) fn has_signature(bytes: &[u8]) -> bool {
    bytes.len() >= 4 && le32(bytes, 0) == LOCAL_SIGNATURE
}

/// Checksum and sizes before a descriptor, where they are missing, 0, or stated twice.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct StatedBefore {
    pub(crate) crc32: u32,
    /// Content and compressed size in the header, unless they are all ones.
    pub(crate) narrow: Option<(u64, u64)>,
    /// The same in the ZIP64 field.
    pub(crate) wide: Option<(u64, u64)>,
}

impl StatedBefore {
    /// Whether the sizes are stated twice and differ.
    pub(crate) fn is_two(&self) -> bool {
        self.narrow
            .zip(self.wide)
            .is_some_and(|(narrow, wide)| narrow != wide)
    }
}

impl<'a> Local<'a> {
    /// Parses a header that is complete in `bytes`; see [`total_bytes`].
    pub(crate) fn parse(bytes: &'a [u8]) -> Option<Self> {
        let fixed = bytes.first_chunk::<LOCAL_BYTES>()?;
        if !has_signature(fixed) {
            return None;
        }
        let name_end = LOCAL_BYTES + usize::from(le16(fixed, 26));
        Some(Self {
            needed: le16(fixed, 4),
            flags: le16(fixed, 6),
            method: le16(fixed, 8),
            time: le16(fixed, 10),
            date: le16(fixed, 12),
            crc32: le32(fixed, 14),
            compressed: le32(fixed, 18),
            content: le32(fixed, 22),
            name: bytes.get(LOCAL_BYTES..name_end)?,
            extra: bytes.get(name_end..total_bytes(fixed))?,
        })
    }

    pub(crate) fn has_descriptor(&self) -> bool {
        self.flags & flag::DESCRIPTOR != 0
    }

    /// Size of the content and compressed size, from this header with these extra fields alone.
    pub(crate) fn sizes(&self, found: &Found<'_>) -> (u64, u64) {
        let narrow = (u64::from(self.content), u64::from(self.compressed));
        if self.content != MAX32 && self.compressed != MAX32 {
            return narrow;
        }
        found.local_sizes().unwrap_or(narrow)
    }

    /// Everything that this header, with these extra fields, states about checksum and sizes.
    pub(crate) fn stated_before(&self, found: &Found<'_>) -> StatedBefore {
        let ones = self.content == MAX32 && self.compressed == MAX32;
        StatedBefore {
            crc32: self.crc32,
            narrow: (!ones).then_some((self.content.into(), self.compressed.into())),
            wide: found.local_sizes(),
        }
    }
}

/// Appends a data descriptor with its signature.
pub(crate) fn put_descriptor(
    out: &mut Vec<u8>,
    crc32: u32,
    compressed: u64,
    content: u64,
    zip64: bool,
) {
    out.extend_from_slice(&DESCRIPTOR_SIGNATURE.to_le_bytes());
    out.extend_from_slice(&crc32.to_le_bytes());
    for size in [compressed, content] {
        let bytes = size.to_le_bytes();
        out.extend_from_slice(if zip64 { &bytes } else { &bytes[..4] });
    }
}

/// The length of the descriptor at the start of `bytes` with these values: with or without
/// signature, of 32 or 64 bits, `zip64` first. `None` if there is none.
pub(crate) fn descriptor_bytes(
    bytes: &[u8],
    (crc32, compressed, content): (u32, u64, u64),
    zip64: bool,
) -> Option<usize> {
    let mut expected = Vec::with_capacity(24);
    for wide in [zip64, !zip64] {
        expected.clear();
        put_descriptor(&mut expected, crc32, compressed, content, wide);
        if !wide && (compressed > u64::from(MAX32) || content > u64::from(MAX32)) {
            continue;
        }
        for skip in [0, 4] {
            if bytes.starts_with(&expected[skip..]) {
                return Some(expected.len() - skip);
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descriptors_are_known_in_all_four_shapes() {
        let values = (0xdead_beef, 70_000, 80_000);
        for zip64 in [false, true] {
            let mut bytes = Vec::new();
            put_descriptor(&mut bytes, values.0, values.1, values.2, zip64);
            for asked in [false, true] {
                assert_eq!(descriptor_bytes(&bytes, values, asked), Some(bytes.len()));
                let bare = &bytes[4..];
                assert_eq!(descriptor_bytes(bare, values, asked), Some(bare.len()));
            }
            assert_eq!(descriptor_bytes(&bytes, (0, 1, 2), zip64), None);
        }
    }
}
