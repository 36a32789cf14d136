//! What can be wrong with the structure of an xz file, and at which byte.

use thiserror::Error;

/// What is wrong with an xz file. More flaws may be added.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Error)]
#[non_exhaustive]
pub enum XzFlaw {
    /// The file is empty.
    #[error("the file is empty")]
    Empty,
    /// The file is smaller than the smallest stream.
    #[error("the file is too small for an xz stream")]
    TooSmall,
    /// The first bytes are no header of an xz stream.
    #[error("no xz stream")]
    NotXz,
    /// Flags of a stream that have no meaning yet.
    #[error("the flags {stated:04x} of the stream are unknown")]
    Flags {
        /// The two bytes.
        stated: u16,
    },
    /// A CRC-32 does not fit.
    #[error("CRC-32 of the {of}: stated {stated:08x}, computed {computed:08x}")]
    Checksum {
        /// What it is the checksum of: header, footer or index.
        of: &'static str,
        /// The checksum in the file.
        stated: u32,
        /// That of the data.
        computed: u32,
    },
    /// What stands before a stream is no footer of one.
    #[error("no footer of an xz stream ends here")]
    NoFooter,
    /// The zeros behind a stream are not a multiple of four.
    #[error("{bytes} zeros behind a stream, not a multiple of 4")]
    Padding {
        /// How many bytes are zero.
        bytes: u64,
    },
    /// A footer states a larger index than there is room for, or the index larger blocks.
    #[error("the {of} states {stated} bytes, but only {left} are left")]
    Outside {
        /// What states it: footer or index.
        of: &'static str,
        /// Stated size in bytes.
        stated: u64,
        /// Bytes between the beginning of the file and that place.
        left: u64,
    },
    /// No header stands where the index says that the stream begins.
    #[error("no header where the index has the beginning of the stream")]
    NoHeader,
    /// Header and footer of a stream differ in their flags.
    #[error("header and footer of the stream have different flags")]
    FlagsDiffer,
    /// An index does not begin as one.
    #[error("no index of an xz stream begins here")]
    NoIndex,
    /// A number with more bytes than it needs, or above 63 bits.
    #[error("a number of the index is malformed")]
    Number,
    /// A size that no block can have, or sizes whose sum has more than 63 bits.
    #[error("the size {stated} of a block is out of range")]
    Size {
        /// The stated size.
        stated: u64,
    },
    /// The index is shorter or longer than the footer says.
    #[error("the index does not have the size that the footer states")]
    IndexSize,
    /// The file ends before what its end states. It may have been changed while it was read.
    #[error("the file became shorter")]
    Truncated,
}

/// An error in an xz file: the flaw and its byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Error)]
#[error("byte {offset}: {flaw}")]
pub struct XzError {
    flaw: XzFlaw,
    offset: u64,
}

impl XzError {
    pub(super) fn new(flaw: XzFlaw, offset: u64) -> Self {
        Self { flaw, offset }
    }

    /// The flaw.
    pub fn flaw(&self) -> XzFlaw {
        self.flaw
    }

    /// The byte of the file at which the invalid part starts.
    pub fn offset(&self) -> u64 {
        self.offset
    }
}
