//! What an entry of an archive is: a file, a directory or a symbolic link.

use std::fmt;
use std::str::FromStr;

use crate::error::{Error, unknown};

/// What an entry is. It is shown as, and read from, `file`, `directory` or `link`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EntryKind {
    /// A regular file.
    File,
    /// A directory; its name ends with `/`.
    Directory,
    /// A symbolic link; its content is the path that it points to.
    Symlink,
}

impl EntryKind {
    /// Its bits in a Unix mode.
    pub(crate) const fn mode_bits(self) -> u32 {
        match self {
            Self::File => 0o100_000,
            Self::Directory => 0o040_000,
            Self::Symlink => 0o120_000,
        }
    }
}

impl fmt::Display for EntryKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::File => "file",
            Self::Directory => "directory",
            Self::Symlink => "link",
        })
    }
}

impl FromStr for EntryKind {
    type Err = Error;

    /// Reads what [`Display`](fmt::Display) writes.
    fn from_str(text: &str) -> Result<Self, Error> {
        match text {
            "file" => Ok(Self::File),
            "directory" => Ok(Self::Directory),
            "link" => Ok(Self::Symlink),
            _ => Err(unknown("kind of entry", text, "file, directory, link")),
        }
    }
}
