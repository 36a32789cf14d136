//! What can be wrong with a gzip file, and at which byte.

use std::fmt;

use crate::deflate::InflateError;

/// What is wrong with a gzip file. More flaws may be added.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum GzipFlaw {
    /// The first bytes are no gzip header.
    NotGzip,
    /// Bytes other than zeros behind the last member.
    TrailingData,
    /// A compression method other than deflate.
    Method {
        /// The stated method.
        stated: u8,
    },
    /// Reserved flags are set.
    Flags {
        /// All flags.
        stated: u8,
    },
    /// The checksum of the header does not fit it.
    HeaderChecksum {
        /// As the header states it.
        stated: u16,
        /// Of the header's bytes.
        computed: u16,
    },
    /// The deflate stream is invalid.
    Deflate(InflateError),
    /// The CRC-32 of the content does not fit it.
    Checksum {
        /// As the trailer states it.
        stated: u32,
        /// Of the content.
        computed: u32,
    },
    /// The size of the content does not fit it.
    Size {
        /// As the trailer states it: the size modulo 2^32.
        stated: u32,
        /// Of the content, modulo 2^32.
        counted: u32,
    },
    /// The data ends inside a member.
    Truncated,
}

/// An error in a gzip file: the flaw and its byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct GzipError {
    flaw: GzipFlaw,
    offset: u64,
}

impl GzipError {
    pub(super) fn new(flaw: GzipFlaw, offset: u64) -> Self {
        Self { flaw, offset }
    }

    /// The flaw.
    pub fn flaw(&self) -> GzipFlaw {
        self.flaw
    }

    /// The byte of the file in which the invalid item starts; for a truncated file its size.
    pub fn offset(&self) -> u64 {
        self.offset
    }
}

impl fmt::Display for GzipError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at = self.offset;
        match self.flaw {
            GzipFlaw::NotGzip => write!(f, "no gzip header at byte {at}"),
            GzipFlaw::TrailingData => {
                write!(
                    f,
                    "at byte {at}, behind the last gzip member, is other data"
                )
            }
            GzipFlaw::Method { stated } => write!(
                f,
                "compression method {stated} of the gzip header at byte {at} is unknown; only 8 (deflate) is defined"
            ),
            GzipFlaw::Flags { stated } => write!(
                f,
                "the gzip header sets reserved flags at byte {at}: {stated:#04x}"
            ),
            GzipFlaw::HeaderChecksum { stated, computed } => write!(
                f,
                "checksum of the gzip header at byte {at}: stated {stated:04x}, computed {computed:04x}"
            ),
            GzipFlaw::Deflate(error) => {
                write!(f, "{} at byte {at}, bit {}", error.what(), error.bit())
            }
            GzipFlaw::Checksum { stated, computed } => write!(
                f,
                "CRC-32 at byte {at}: stated {stated:08x}, computed {computed:08x}"
            ),
            GzipFlaw::Size { stated, counted } => write!(
                f,
                "size of the content (ISIZE) at byte {at}: stated {stated}, counted {counted}"
            ),
            GzipFlaw::Truncated => write!(f, "the data ends at byte {at}, inside a gzip member"),
        }
    }
}

impl std::error::Error for GzipError {}
