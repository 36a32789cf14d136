//! Compression methods by their numbers in the format, and the levels they have.

use std::fmt;

use crate::error::{Error, ErrorKind};

/// How the content of an entry is compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Method {
    /// Not at all.
    Stored,
    /// Deflate, which every reader knows.
    Deflate,
    /// Zstandard (method 93), which recent readers know.
    Zstd,
    /// Another number of the format.
    Other(u16),
}

impl Method {
    /// The method of a number.
    pub const fn of(code: u16) -> Self {
        match code {
            0 => Self::Stored,
            8 => Self::Deflate,
            93 => Self::Zstd,
            other => Self::Other(other),
        }
    }

    /// The number in the format.
    pub const fn code(self) -> u16 {
        match self {
            Self::Stored => 0,
            Self::Deflate => 8,
            Self::Zstd => 93,
            Self::Other(code) => code,
        }
    }

    /// Whether entries of it are read.
    pub(crate) const fn is_read(self) -> bool {
        match self {
            Self::Stored | Self::Deflate => true,
            Self::Zstd => cfg!(feature = "zstd"),
            Self::Other(code) => cfg!(feature = "methods") && matches!(code, 9 | 12 | 14 | 95),
        }
    }

    /// Levels to write at.
    pub fn levels(self) -> std::ops::RangeInclusive<i32> {
        match self {
            Self::Deflate => 0..=9,
            Self::Zstd => 0..=19,
            Self::Stored | Self::Other(_) => 0..=0,
        }
    }

    /// The level that weighs time against size.
    pub const fn default_level(self) -> i32 {
        match self {
            Self::Deflate => 6,
            Self::Zstd => 3,
            Self::Stored | Self::Other(_) => 0,
        }
    }

    /// The version of the format that a reader has to know, times ten.
    pub(crate) const fn version(self) -> u16 {
        match self {
            Self::Stored => 10,
            Self::Deflate => 20,
            Self::Zstd | Self::Other(_) => 63,
        }
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self.code() {
            0 => "stored",
            1 => "shrunk",
            6 => "imploded",
            8 => "deflate",
            9 => "deflate64",
            12 => "bzip2",
            14 => "lzma",
            93 => "zstd",
            95 => "xz",
            98 => "ppmd",
            99 => "aes",
            other => return f.pad(&format!("method {other}")),
        })
    }
}

/// The refusal of a method that this crate does not have.
pub(crate) fn unsupported(method: Method) -> Error {
    Error::new(ErrorKind::Unsupported, format!("compressed as {method}"))
        .help("use 7zz for this one")
}
