//! What can be wrong with an LZ4 file, and at which byte.

use thiserror::Error;

/// What is wrong with an LZ4 file. More flaws may be added.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Lz4Flaw {
    /// The first bytes are no frame.
    #[error("no lz4 frame")]
    NotLz4,
    /// What follows a frame is none.
    #[error("what follows the last lz4 frame is none")]
    TrailingData,
    /// A version other than 1.
    #[error("version {stated} of lz4 frames is unknown")]
    Version {
        /// The stated version.
        stated: u8,
    },
    /// Reserved bits of the header are set.
    #[error("the header of the lz4 frame sets reserved bits: {flags:02x} {block:02x}")]
    Reserved {
        /// The byte of flags.
        flags: u8,
        /// The byte with the size of blocks.
        block: u8,
    },
    /// The frame states the id of a dictionary.
    #[error("the lz4 frame needs a dictionary, which is not supported")]
    Dictionary,
    /// A code for the size of blocks that has no meaning.
    #[error("block size {stated} of the lz4 frame is unknown")]
    BlockSize {
        /// The stated code.
        stated: u8,
    },
    /// A checksum does not fit.
    #[error("checksum of the {of}: stated {stated:08x}, computed {computed:08x}")]
    Checksum {
        /// What it is the checksum of: header, block or content.
        of: &'static str,
        /// The checksum in the file.
        stated: u32,
        /// That of the data.
        computed: u32,
    },
    /// A block whose stored size is over what its frame allows.
    #[error("a block of {stated} bytes, but the frame allows {limit}")]
    BlockTooLarge {
        /// Stated size in bytes.
        stated: u64,
        /// Largest size in bytes.
        limit: u64,
    },
    /// The same in a frame of the legacy format.
    #[error("a block of {stated} bytes is too large for lz4's legacy format")]
    LegacyBlockTooLarge {
        /// Stated size in bytes.
        stated: u32,
    },
    /// The content is not as long as the header says.
    #[error("size of the content: stated {stated}, counted {counted}")]
    ContentSize {
        /// Stated size in bytes.
        stated: u64,
        /// The bytes that there are.
        counted: u64,
    },
    /// A block cannot be decompressed.
    #[error("invalid lz4 block: {why}")]
    Block {
        /// The reason.
        why: String,
    },
    /// The data ends inside of a frame.
    #[error("the data ends inside of the lz4 frame")]
    Truncated,
}

/// An error in an LZ4 file: the flaw and its byte.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("byte {offset}: {flaw}")]
pub struct Lz4Error {
    flaw: Lz4Flaw,
    offset: u64,
}

impl Lz4Error {
    pub(super) fn new(flaw: Lz4Flaw, offset: u64) -> Self {
        Self { flaw, offset }
    }

    /// The flaw.
    pub fn flaw(&self) -> &Lz4Flaw {
        &self.flaw
    }

    /// The byte of the file at which the invalid part starts; for a truncated file its size.
    pub fn offset(&self) -> u64 {
        self.offset
    }
}
