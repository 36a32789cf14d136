//! The end of an archive: the end record, and the two ZIP64 records before it.

use super::{END_SIGNATURE, END64_SIGNATURE, LOCATOR_SIGNATURE, MAX16, MAX32, le16, le32, le64};

/// Bytes of the end record before the comment.
pub(crate) const END_BYTES: usize = 22;
/// Bytes of the locator.
pub(crate) const LOCATOR_BYTES: usize = 20;
/// Bytes of a ZIP64 end record of version 1.
pub(crate) const END64_BYTES: usize = 56;
/// The size that it states: that of what follows the size.
pub(crate) const END64_DATA_BYTES: u64 = 44;

/// What end records state about the directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct End {
    /// Disk of this record, and of the start of the directory.
    pub(crate) disks: (u32, u32),
    /// Entries on this disk and in total.
    pub(crate) entries: (u64, u64),
    pub(crate) directory_bytes: u64,
    pub(crate) directory_offset: u64,
    pub(crate) comment_bytes: usize,
}

impl End {
    /// Whether the archive is not split.
    pub(crate) fn is_whole(&self) -> bool {
        let none = |disk: u32| disk == 0 || disk == u32::from(u16::MAX);
        none(self.disks.0) && none(self.disks.1) && self.entries.0 == self.entries.1
    }

    /// Parses the end record at the start of `bytes`.
    pub(crate) fn parse(bytes: &[u8]) -> Option<Self> {
        let fixed = bytes.first_chunk::<END_BYTES>()?;
        (le32(fixed, 0) == END_SIGNATURE).then(|| Self {
            disks: (le16(fixed, 4).into(), le16(fixed, 6).into()),
            entries: (le16(fixed, 8).into(), le16(fixed, 10).into()),
            directory_bytes: le32(fixed, 12).into(),
            directory_offset: le32(fixed, 16).into(),
            comment_bytes: le16(fixed, 20).into(),
        })
    }

    /// Parses the ZIP64 end record at the start of `bytes`.
    pub(crate) fn parse64(bytes: &[u8]) -> Option<Self> {
        let fixed = bytes.first_chunk::<END64_BYTES>()?;
        (le32(fixed, 0) == END64_SIGNATURE && le64(fixed, 4) >= END64_DATA_BYTES).then(|| Self {
            disks: (le32(fixed, 16), le32(fixed, 20)),
            entries: (le64(fixed, 24), le64(fixed, 32)),
            directory_bytes: le64(fixed, 40),
            directory_offset: le64(fixed, 48),
            comment_bytes: 0,
        })
    }

    /// Whether a value is all ones, so that the ZIP64 record has the real one.
    pub(crate) fn needs_zip64(&self) -> bool {
        self.entries.0 == u64::from(MAX16)
            || self.entries.1 == u64::from(MAX16)
            || self.directory_bytes == u64::from(MAX32)
            || self.directory_offset == u64::from(MAX32)
    }

    /// Whether the fields of this record that are not all ones agree with `wide`.
    pub(crate) fn agrees_with(&self, wide: &Self) -> bool {
        let entries = |own: u64, other: u64| own == u64::from(MAX16) || own == other;
        let bytes = |own: u64, other: u64| own == u64::from(MAX32) || own == other;
        entries(self.entries.0, wide.entries.0)
            && entries(self.entries.1, wide.entries.1)
            && bytes(self.directory_bytes, wide.directory_bytes)
            && bytes(self.directory_offset, wide.directory_offset)
    }
}

/// The offset of the ZIP64 end record, from the locator at the start of `bytes`.
pub(crate) fn located(bytes: &[u8]) -> Option<u64> {
    let fixed = bytes.first_chunk::<LOCATOR_BYTES>()?;
    (le32(fixed, 0) == LOCATOR_SIGNATURE).then(|| le64(fixed, 8))
}

/// Where the ZIP64 end record of a split archive is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Located {
    /// The number of its part, from 0.
    pub(crate) part: u32,
    /// Its place in that part.
    pub(crate) offset: u64,
    /// How many parts there are.
    pub(crate) parts: u32,
}

/// The same as [`located`], of a split archive.
pub(crate) fn located_in_parts(bytes: &[u8]) -> Option<Located> {
    let offset = located(bytes)?;
    Some(Located {
        part: le32(bytes, 4),
        offset,
        parts: le32(bytes, 16),
    })
}

/// Whether an archive needs the ZIP64 records.
fn is_wide(entries: u64, offset: u64, bytes: u64) -> bool {
    entries >= u64::from(MAX16) || offset >= u64::from(MAX32) || bytes >= u64::from(MAX32)
}

/// How long the end of an archive without a comment is.
pub(crate) fn bytes(entries: u64, offset: u64, bytes: u64) -> u64 {
    let wide = match is_wide(entries, offset, bytes) {
        true => END64_BYTES + LOCATOR_BYTES,
        false => 0,
    };
    (END_BYTES + wide) as u64
}

/// Appends the end of an archive. Its directory of `entries` records ends where `out` continues.
pub(crate) fn put(out: &mut Vec<u8>, entries: u64, offset: u64, bytes: u64, comment: &[u8]) {
    let end = End {
        disks: (0, 0),
        entries: (entries, entries),
        directory_bytes: bytes,
        directory_offset: offset,
        comment_bytes: comment.len(),
    };
    put_of(out, &end, offset + bytes, comment);
}

/// Appends what `end` states, which may be the end of a split archive. In its part it starts `at` this byte.
pub(crate) fn put_of(out: &mut Vec<u8>, end: &End, at: u64, comment: &[u8]) {
    let (bytes, offset) = (end.directory_bytes, end.directory_offset);
    if is_wide(end.entries.1, offset, bytes) {
        out.extend_from_slice(&END64_SIGNATURE.to_le_bytes());
        out.extend_from_slice(&44_u64.to_le_bytes());
        // Made by version 4.5 on Unix; needs version 4.5.
        out.extend_from_slice(&[45, super::central::UNIX, 45, 0]);
        out.extend_from_slice(&end.disks.0.to_le_bytes());
        out.extend_from_slice(&end.disks.1.to_le_bytes());
        for value in [end.entries.0, end.entries.1, bytes, offset] {
            out.extend_from_slice(&value.to_le_bytes());
        }
        out.extend_from_slice(&LOCATOR_SIGNATURE.to_le_bytes());
        out.extend_from_slice(&end.disks.0.to_le_bytes());
        out.extend_from_slice(&at.to_le_bytes());
        out.extend_from_slice(&end.disks.0.saturating_add(1).to_le_bytes());
    }
    let narrow16 = |value: u64| u16::try_from(value).unwrap_or(MAX16).to_le_bytes();
    let narrow32 = |value: u64| u32::try_from(value).unwrap_or(MAX32).to_le_bytes();
    out.extend_from_slice(&END_SIGNATURE.to_le_bytes());
    out.extend_from_slice(&narrow16(end.disks.0.into()));
    out.extend_from_slice(&narrow16(end.disks.1.into()));
    out.extend_from_slice(&narrow16(end.entries.0));
    out.extend_from_slice(&narrow16(end.entries.1));
    out.extend_from_slice(&narrow32(bytes));
    out.extend_from_slice(&narrow32(offset));
    // The caller has checked its length.
    out.extend_from_slice(&(comment.len() as u16).to_le_bytes());
    out.extend_from_slice(comment);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_archives_have_no_zip64_records() {
        let mut out = Vec::new();
        put(&mut out, 3, 100, 200, b"hi");
        assert_eq!(out.len(), END_BYTES + 2);
        let end = End::parse(&out).unwrap();
        assert_eq!((end.entries, end.directory_bytes), ((3, 3), 200));
        assert!(!end.needs_zip64());
    }

    #[test]
    fn large_ones_have_both() {
        for (entries, offset, bytes) in [(65_535, 1, 1), (1, 1 << 32, 1), (1, 0, u64::from(MAX32))]
        {
            let mut out = Vec::new();
            put(&mut out, entries, offset, bytes, b"");
            let wide = End::parse64(&out).unwrap();
            assert_eq!(wide.entries, (entries, entries));
            assert_eq!(
                (wide.directory_offset, wide.directory_bytes),
                (offset, bytes)
            );
            assert_eq!(located(&out[END64_BYTES..]), Some(offset + bytes));
            let end = End::parse(&out[END64_BYTES + LOCATOR_BYTES..]).unwrap();
            assert!(end.needs_zip64() && end.agrees_with(&wide));
        }
    }
}
