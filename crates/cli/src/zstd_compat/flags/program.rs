//! The names of the zstd program, and the environment variables that it reads.

use std::ffi::OsStr;
use std::path::Path;

use crate::commands::formats::Format;

/// A name of the zstd program. Under those of lz4 it takes zstd's flags, for that format, and lz4's own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Name {
    Zstd,
    /// With one thread per CPU.
    Zstdmt,
    /// Decompresses.
    Unzstd,
    /// Decompresses to standard output, and copies what is not compressed.
    Zstdcat,
    /// Writes lz4.
    Lz4,
    Unlz4,
    /// grep over what is compressed.
    Zstdgrep,
    /// less over what is compressed.
    Zstdless,
}

/// All names.
const NAMES: [(&str, Name); 8] = [
    ("zstd", Name::Zstd),
    ("zstdmt", Name::Zstdmt),
    ("unzstd", Name::Unzstd),
    ("zstdcat", Name::Zstdcat),
    ("lz4", Name::Lz4),
    ("unlz4", Name::Unlz4),
    ("zstdgrep", Name::Zstdgrep),
    ("zstdless", Name::Zstdless),
];

impl Name {
    /// The name in the first argument of a command line.
    pub(crate) fn of(program: &OsStr) -> Option<Self> {
        let name = Path::new(program).file_name()?.to_str()?;
        let name = name.strip_suffix(".exe").unwrap_or(name);
        let found = NAMES.iter().find(|(text, _)| *text == name)?;
        Some(found.1)
    }

    /// The start of messages.
    pub(crate) fn as_str(self) -> &'static str {
        let found = NAMES.iter().find(|(_, name)| *name == self);
        found.map_or("zstd", |(text, _)| text)
    }

    /// Whether it writes to standard output, and copies what is not compressed.
    pub(super) fn is_cat(self) -> bool {
        self == Self::Zstdcat
    }

    /// Whether it compresses unless it is told otherwise.
    pub(super) fn compresses(self) -> bool {
        matches!(self, Self::Zstd | Self::Zstdmt | Self::Lz4)
    }

    /// Whether the second of two files is the target.
    pub(super) fn names_target(self) -> bool {
        matches!(self, Self::Lz4 | Self::Unlz4)
    }

    /// What it writes unless it is told otherwise.
    pub(super) fn format(self) -> Format {
        match self {
            Self::Lz4 | Self::Unlz4 => Format::Lz4,
            _ => Format::Zstd,
        }
    }
}

/// The environment variables, if set.
#[derive(Debug, Clone, Default)]
pub(crate) struct Variables {
    /// `ZSTD_CLEVEL`.
    pub(crate) level: Option<String>,
    /// `ZSTD_NBTHREADS`.
    pub(crate) threads: Option<String>,
}
