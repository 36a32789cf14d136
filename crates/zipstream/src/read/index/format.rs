//! An index as bytes: a header, a table of points, their checksum, and the windows.
//!
//! Numbers are little-endian. The header, of [`HEAD_BYTES`]:
//!
//! | bytes | holds |
//! |---|---|
//! | 0..8 | [`MAGIC`], whose last byte is the version |
//! | 8..16 | where the stream starts in its source |
//! | 16..24 | compressed bytes of the stream |
//! | 24..32 | bytes of its content |
//! | 32..36 | CRC-32 of its content |
//! | 36..40 | the number of points |
//!
//! The table has one record of [`POINT_BYTES`] per point, the first for the start of the stream:
//!
//! | bytes | holds |
//! |---|---|
//! | 0..8 | bytes of content before the point |
//! | 8..16 | bits of the stream before it |
//! | 16..20 | CRC-32 of the content from here to the next point |
//! | 20..24 | CRC-32 of the window: of the content before the point, 32 KiB at most |
//! | 24..28 | bytes of the window as it is stored |
//!
//! The CRC-32 of header and table follows, then the windows, each compressed with deflate, in the order
//! of the points and with nothing between or behind them.

use crate::crc::Crc32;
use crate::error::{Error, ErrorKind};

/// The first bytes; the last of them is the version.
pub(super) const MAGIC: [u8; 8] = *b"deflidx\x01";
pub(super) const HEAD_BYTES: usize = 40;
pub(super) const POINT_BYTES: usize = 28;
/// The checksum of header and table.
pub(super) const SUM_BYTES: usize = 4;

/// What an index says about its stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Head {
    /// Where the stream starts in its source.
    pub(super) start: u64,
    pub(super) compressed_bytes: u64,
    pub(super) content_bytes: u64,
    pub(super) crc32: u32,
    pub(super) points: u32,
}

/// A place from which the stream can be decoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Point {
    /// Bytes of content before it.
    pub(super) content: u64,
    /// Bits of the stream before it.
    pub(super) bit: u64,
    /// Checksum of the content from here to the next point.
    pub(super) crc32: u32,
    /// Checksum of the content before it, 32 KiB at most.
    pub(super) window_crc32: u32,
    /// Size of the compressed window.
    pub(super) window_bytes: u32,
}

/// The error for an index that contradicts its format.
pub(super) fn invalid(what: impl Into<String>) -> Error {
    let what = format!("in the index: {}", what.into());
    Error::new(ErrorKind::Index, what).help("make the index again from the archive")
}

impl Head {
    /// Reads the header.
    pub(super) fn parse(bytes: &[u8; HEAD_BYTES]) -> Result<Self, Error> {
        let (magic, version) = (&MAGIC[..7], MAGIC[7]);
        if bytes[..7] != *magic {
            return Err(invalid("it does not start like an index of deflate data"));
        }
        if bytes[7] != version {
            let what = format!("version {}, but this program reads {version}", bytes[7]);
            return Err(invalid(what));
        }
        Ok(Self {
            start: le64(bytes, 8),
            compressed_bytes: le64(bytes, 16),
            content_bytes: le64(bytes, 24),
            crc32: le32(bytes, 32),
            points: le32(bytes, 36),
        })
    }

    fn put(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&MAGIC);
        for value in [self.start, self.compressed_bytes, self.content_bytes] {
            out.extend_from_slice(&value.to_le_bytes());
        }
        for value in [self.crc32, self.points] {
            out.extend_from_slice(&value.to_le_bytes());
        }
    }
}

impl Point {
    /// Reads a record of the table.
    pub(super) fn parse(bytes: &[u8; POINT_BYTES]) -> Self {
        Self {
            content: le64(bytes, 0),
            bit: le64(bytes, 8),
            crc32: le32(bytes, 16),
            window_crc32: le32(bytes, 20),
            window_bytes: le32(bytes, 24),
        }
    }

    fn put(&self, out: &mut Vec<u8>) {
        for value in [self.content, self.bit] {
            out.extend_from_slice(&value.to_le_bytes());
        }
        for value in [self.crc32, self.window_crc32, self.window_bytes] {
            out.extend_from_slice(&value.to_le_bytes());
        }
    }
}

/// An index as bytes.
pub(super) fn write(head: &Head, points: &[Point], windows: &[u8]) -> Vec<u8> {
    let table_bytes = HEAD_BYTES + POINT_BYTES * points.len() + SUM_BYTES;
    let mut out = Vec::with_capacity(table_bytes + windows.len());
    head.put(&mut out);
    points.iter().for_each(|point| point.put(&mut out));
    let sum = sum_of(&out);
    out.extend_from_slice(&sum.to_le_bytes());
    out.extend_from_slice(windows);
    out
}

/// CRC-32 of some bytes.
pub(super) fn sum_of(bytes: &[u8]) -> u32 {
    let mut sum = Crc32::new();
    sum.update(bytes);
    sum.sum()
}

fn le64(bytes: &[u8], at: usize) -> u64 {
    let mut value = [0; 8];
    value.copy_from_slice(&bytes[at..at + 8]);
    u64::from_le_bytes(value)
}

pub(super) fn le32(bytes: &[u8], at: usize) -> u32 {
    let mut value = [0; 4];
    value.copy_from_slice(&bytes[at..at + 4]);
    u32::from_le_bytes(value)
}
