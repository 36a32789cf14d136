//! The names of gzip.

use std::ffi::OsStr;
use std::path::Path;

/// A name of gzip.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Name {
    Gzip,
    /// Decompresses.
    Gunzip,
    /// Decompresses to standard output.
    Zcat,
    /// Its name where `zcat` is another program.
    Gzcat,
}

impl Name {
    /// The name in the first argument of a command line.
    pub(crate) fn of(program: &OsStr) -> Option<Self> {
        let name = Path::new(program).file_name()?.to_str()?;
        Some(match name.strip_suffix(".exe").unwrap_or(name) {
            "gzip" => Self::Gzip,
            "gunzip" => Self::Gunzip,
            "zcat" => Self::Zcat,
            "gzcat" => Self::Gzcat,
            _ => return None,
        })
    }

    /// The start of messages.
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Gzip => "gzip",
            Self::Gunzip => "gunzip",
            Self::Zcat => "zcat",
            Self::Gzcat => "gzcat",
        }
    }
}
