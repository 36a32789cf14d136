//! The names of the zstd program, and the environment variables that it reads.

use std::ffi::OsStr;
use std::path::Path;

/// A name of the zstd program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Name {
    Zstd,
    /// With one thread per CPU.
    Zstdmt,
    /// Decompresses.
    Unzstd,
    /// Decompresses to standard output, and copies what is not compressed.
    Zstdcat,
    /// Decompresses and removes the source, as gunzip does.
    Gunzip,
    /// The same as zstdcat, for those who look for gzip's name.
    Zcat,
    /// Its name where `zcat` is another program.
    Gzcat,
}

impl Name {
    /// The name in the first argument of a command line.
    pub(crate) fn of(program: &OsStr) -> Option<Self> {
        let name = Path::new(program).file_name()?.to_str()?;
        Some(match name.strip_suffix(".exe").unwrap_or(name) {
            "zstd" => Self::Zstd,
            "zstdmt" => Self::Zstdmt,
            "unzstd" => Self::Unzstd,
            "zstdcat" => Self::Zstdcat,
            "gunzip" => Self::Gunzip,
            "zcat" => Self::Zcat,
            "gzcat" => Self::Gzcat,
            _ => return None,
        })
    }

    /// The start of messages.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Zstd => "zstd",
            Self::Zstdmt => "zstdmt",
            Self::Unzstd => "unzstd",
            Self::Zstdcat => "zstdcat",
            Self::Gunzip => "gunzip",
            Self::Zcat => "zcat",
            Self::Gzcat => "gzcat",
        }
    }

    /// Whether it writes to standard output, and copies what is not compressed.
    pub(super) fn is_cat(self) -> bool {
        matches!(self, Self::Zstdcat | Self::Zcat | Self::Gzcat)
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
