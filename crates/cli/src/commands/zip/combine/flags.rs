//! The flags of merging and splitting.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use zipstream::combine::{CombineOptions, Duplicates};

use crate::args::units;

/// The flags of merging and splitting.
#[derive(Debug, Clone, Args)]
pub(crate) struct CombineArgs {
    /// Merge the archives PATH... into OUT
    ///
    /// Entries are copied as they are: nothing is decompressed. In S3 the server copies what is larger than
    /// 5 MiB, if all names are of S3.
    #[arg(
        long,
        hide_short_help = true,
        conflicts_with_all = [
            "append", "update", "freshen", "filesync", "moves", "junk", "from_file", "comment", "read_comment", "delete", "repair", "recursive", "encrypt", "password_file", "reproducible", "level",
            "method", "include", "exclude", "verify",
        ]
    )]
    merge: bool,
    /// With --merge: make numbered archives of at most SIZE
    ///
    /// The number comes before the extension, and all have as many digits as the last: of OUT a.zip, three
    /// are a-1.zip to a-3.zip, and twelve are a-01.zip to a-12.zip. Each archive is complete by itself. One
    /// PATH is enough. --force also removes parts that a longer run has left.
    #[arg(long, value_name = "SIZE", value_parser = units::size, requires = "merge", hide_short_help = true)]
    split: Option<u64>,
    /// The same, of at most N entries
    #[arg(
        long,
        value_name = "N",
        value_parser = clap::value_parser!(u64).range(1..),
        requires = "merge",
        hide_short_help = true
    )]
    split_entries: Option<u64>,
    /// With --merge: of entries with the same name take the first, the last, or refuse them (the default)
    #[arg(
        long,
        value_name = "WHICH",
        default_value = "refuse",
        hide_default_value = true,
        hide_possible_values = true,
        hide_short_help = true,
        overrides_with = "duplicates"
    )]
    duplicates: Which,
}

/// Which of entries with the same name is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Which {
    /// None: they are an error
    Refuse,
    /// The first
    First,
    /// The last
    Last,
}

impl CombineArgs {
    /// Whether archives are combined.
    pub(crate) fn is_asked(&self) -> bool {
        self.merge
    }

    /// Whether there may be several new archives.
    pub(super) fn splits(&self) -> bool {
        self.split.is_some() || self.split_entries.is_some()
    }

    /// How they are combined.
    pub(super) fn options(&self) -> CombineOptions {
        CombineOptions::new()
            .archive_bytes(self.split.unwrap_or(u64::MAX))
            .archive_entries(self.split_entries.unwrap_or(u64::MAX))
            .duplicates(match self.duplicates {
                Which::Refuse => Duplicates::Refuse,
                Which::First => Duplicates::First,
                Which::Last => Duplicates::Last,
            })
    }
}

/// The name of one of `count` new archives, counted from 1: with a number before the extension, as long as that
/// of the last.
pub(super) fn numbered(output: &Path, number: usize, count: usize) -> PathBuf {
    padded(output, number, count.to_string().len())
}

/// The same with this many digits.
pub(super) fn padded(output: &Path, number: usize, digits: usize) -> PathBuf {
    let text = output.as_os_str().to_string_lossy();
    let name_at = text.rfind('/').map_or(0, |slash| slash + 1);
    let dot = text[name_at..].rfind('.').filter(|dot| *dot > 0);
    let (stem, extension) = text.split_at(dot.map_or(text.len(), |dot| name_at + dot));
    format!("{stem}-{number:0digits$}{extension}").into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_before_the_extension() {
        for (output, number, count, name) in [
            ("a.zip", 1, 3, "a-1.zip"),
            ("d.x/a", 7, 12, "d.x/a-07"),
            ("s3://b/a.tar.zip", 100, 100, "s3://b/a.tar-100.zip"),
            (".zip", 1, 1, ".zip-1"),
        ] {
            assert_eq!(numbered(Path::new(output), number, count), Path::new(name));
        }
    }
}
