//! Compression methods by their numbers in the format, and the levels they have.

use std::fmt;
use std::str::FromStr;

use crate::deflate;
use crate::error::{Error, ErrorKind, unknown};

/// How the content of an entry is compressed.
///
/// It is shown as, and read from, the method's usual name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Method {
    /// Not compressed.
    Stored,
    /// Deflate, which every program reads.
    Deflate,
    /// Zstandard (method 93), which recent programs read.
    Zstd,
    /// Any other method, by its number in the format.
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

    /// Whether this build reads entries of it.
    pub(crate) const fn is_read(self) -> bool {
        match self {
            Self::Stored | Self::Deflate => true,
            Self::Zstd => cfg!(feature = "zstd"),
            Self::Other(code) => cfg!(feature = "methods") && matches!(code, 9 | 12 | 14 | 95),
        }
    }

    /// The levels that entries can be written at.
    pub fn levels(self) -> std::ops::RangeInclusive<i32> {
        match self {
            Self::Deflate => 0..=deflate::OPTIMAL,
            Self::Zstd => 0..=19,
            Self::Stored | Self::Other(_) => 0..=0,
        }
    }

    /// The level that balances time and size.
    pub const fn default_level(self) -> i32 {
        match self {
            Self::Deflate => 6,
            Self::Zstd => 3,
            Self::Stored | Self::Other(_) => 0,
        }
    }

    /// The version of the format that a reader needs, times ten.
    pub(crate) const fn version(self) -> u16 {
        match self {
            Self::Stored => 10,
            Self::Deflate => 20,
            Self::Zstd | Self::Other(_) => 63,
        }
    }
}

/// Numbers of the format that have a name.
const NAMES: [(u16, &str); 11] = [
    (0, "stored"),
    (1, "shrunk"),
    (6, "imploded"),
    (8, "deflate"),
    (9, "deflate64"),
    (12, "bzip2"),
    (14, "lzma"),
    (93, "zstd"),
    (95, "xz"),
    (98, "ppmd"),
    (99, "aes"),
];

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match NAMES.iter().find(|(code, _)| *code == self.code()) {
            Some((_, name)) => f.pad(name),
            None => f.pad(&format!("method {}", self.code())),
        }
    }
}

impl FromStr for Method {
    type Err = Error;

    /// Reads what [`Display`](fmt::Display) writes: `deflate`, `zstd`, `method 97`, ...
    ///
    /// ```
    /// use zipstream::Method;
    ///
    /// assert_eq!("zstd".parse::<Method>()?, Method::Zstd);
    /// assert_eq!("bzip2".parse::<Method>()?.to_string(), "bzip2");
    /// # Ok::<(), zipstream::Error>(())
    /// ```
    fn from_str(text: &str) -> Result<Self, Error> {
        let named = NAMES.iter().find(|(_, name)| *name == text);
        let numbered = || text.strip_prefix("method ")?.parse().ok();
        named.map(|(code, _)| *code).or_else(numbered).map_or_else(
            || Err(unknown("method", text, "stored, deflate, zstd")),
            |code| Ok(Self::of(code)),
        )
    }
}

/// The refusal of a method that this build cannot read or write.
pub(crate) fn unsupported(method: Method) -> Error {
    let what = format!("compressed as {method}");
    Error::new(ErrorKind::Unsupported, what).help(match method.code() {
        93 => "build zipstream with its feature `zstd`",
        9 | 12 | 14 | 95 if !cfg!(feature = "methods") => {
            "build zipstream with its feature `methods`"
        }
        // What Debian's 7zip, unzip and libarchive-tools read.
        1 | 6 => "7zz and unzip read this method",
        98 => "7zz and bsdtar read this method",
        _ => "7zz, unzip and bsdtar do not read it either: use the program that wrote the archive",
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_method_is_read_as_it_is_written() {
        for code in 0..=u16::MAX {
            let method = Method::of(code);
            assert_eq!(method.code(), code);
            assert_eq!(method.to_string().parse::<Method>().unwrap(), method);
        }
        for word in ["", "Deflate", "method", "method x", "method 65536"] {
            let error = word.parse::<Method>().unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Setting);
        }
    }
}
