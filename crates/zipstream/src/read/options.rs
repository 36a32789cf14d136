//! How an archive is read: the profile, the limits, and what is let pass with a warning.

use std::fmt;

/// How much is let pass. `HOSTILE.md` beside the README has the table of every case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Profile {
    /// The directory is trusted, and what most programs open is opened, with
    /// [warnings](crate::Directory::warnings).
    #[default]
    Default,
    /// Whatever two programs could read in two ways is refused.
    Strict,
}

/// What an archive may cost. Sizes are counted on what is produced, not on what is stated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Limits {
    /// The most content of one entry.
    pub entry_bytes: u64,
    /// The most content of all that is read through one reader.
    pub total_bytes: u64,
    /// The most content that one compressed byte may become, once an entry is beyond 1 MiB.
    pub ratio: u64,
    /// The most entries.
    pub entries: u64,
    /// The most memory that the window of an LZMA or XZ content may take; it is that of one thread.
    pub window_bytes: u64,
    /// The largest directory, which is held in memory.
    pub directory_bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            entry_bytes: 1 << 40,
            total_bytes: 1 << 44,
            ratio: u64::MAX,
            entries: 1 << 26,
            window_bytes: 128 << 20,
            directory_bytes: 1 << 30,
        }
    }
}

/// How an archive is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct ReadOptions {
    /// How much is let pass.
    pub profile: Profile,
    /// What it may cost.
    pub limits: Limits,
}

impl ReadOptions {
    /// The strict profile with default limits.
    pub fn strict() -> Self {
        Self {
            profile: Profile::Strict,
            ..Self::default()
        }
    }

    pub(crate) fn is_strict(&self) -> bool {
        self.profile == Profile::Strict
    }
}

/// Programs that write tapes fill what they write to a pipe up to a record of this size, ...
const RECORD_BYTES: u64 = 10_240;
/// ... and to a block of this one at least.
const BLOCK_BYTES: u64 = 512;

/// Whether so many zeros behind an archive, which is as long as this with them, only fill a block.
/// They can be read in one way alone, so the strict profile lets them pass, but no more of them than
/// there is a reason for.
pub(crate) fn is_padding(zeros: u64, archive_bytes: u64) -> bool {
    zeros < RECORD_BYTES && archive_bytes.is_multiple_of(BLOCK_BYTES)
}

/// What the default profile lets pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Warning {
    /// Bytes before the archive, as of a self-extracting one.
    Prefix {
        /// How many.
        bytes: u64,
    },
    /// Zeros behind the archive that fill a block, as of a program that writes to tapes. The strict
    /// profile lets them pass, too.
    Padding {
        /// How many.
        bytes: u64,
    },
    /// Bytes behind the archive.
    Trailing {
        /// How many.
        bytes: u64,
    },
    /// The end record counts other entries than the directory has.
    Count {
        /// What the end record says.
        stated: u64,
        /// What there is.
        found: u64,
    },
    /// The end records contradict each other; the ZIP64 one counts.
    EndRecords,
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Prefix { bytes } => write!(f, "{bytes} bytes stand before the archive"),
            Self::Padding { bytes } => write!(f, "{bytes} zeros fill the last block"),
            Self::Trailing { bytes } => write!(f, "{bytes} bytes follow the archive"),
            Self::Count { stated, found } => {
                write!(
                    f,
                    "the end record counts {stated} entries, there are {found}"
                )
            }
            Self::EndRecords => f.write_str("the two end records contradict each other"),
        }
    }
}
