//! The bytes found in place of a frame, and what they look like.

use std::fmt;

/// The first bytes found where a frame was expected, at most four.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Prefix {
    bytes: [u8; 4],
    len: u8,
}

impl Prefix {
    pub(crate) fn new(found: &[u8]) -> Self {
        let mut bytes = [0; 4];
        let len = found.len().min(4);
        bytes[..len].copy_from_slice(&found[..len]);
        Self {
            bytes,
            len: len as u8,
        }
    }

    fn found(&self) -> &[u8] {
        &self.bytes[..usize::from(self.len)]
    }

    /// What the file probably is instead, for the help line.
    pub(super) fn looks_like(&self) -> Option<&'static str> {
        match self.found() {
            [0x1f, 0x8b, ..] => Some("this looks like gzip data"),
            [0xfd, b'7', b'z', b'X'] => Some("this looks like xz data"),
            [b'B', b'Z', b'h', ..] => Some("this looks like bzip2 data"),
            [0x04, 0x22, 0x4d, 0x18] => Some("this looks like LZ4 data"),
            [b'P', b'K', 3 | 5 | 7, ..] => Some("this looks like a ZIP archive"),
            [0x37, 0xa4, 0x30, 0xec] => Some("this is a zstd dictionary, not compressed data"),
            _ => None,
        }
    }
}

impl fmt::Display for Prefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("found ")?;
        for byte in self.found() {
            write!(f, "{byte:02x}")?;
        }
        Ok(())
    }
}
