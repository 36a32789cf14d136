//! How an archive is read: the profile, the limits, and the warnings of the default profile.

use std::fmt;
use std::str::FromStr;

use crate::error::{Error, ErrorKind, unknown};
use crate::format::names::Stated;

/// How strictly an archive is checked. `HOSTILE.md` in the crate's folder lists every case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Profile {
    /// Opens what most programs open, and trusts the directory. Oddities become
    /// [warnings](crate::Directory::warnings).
    #[default]
    Default,
    /// Refuses whatever two programs could read in two ways.
    Strict,
}

impl fmt::Display for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Default => "default",
            Self::Strict => "strict",
        })
    }
}

impl FromStr for Profile {
    type Err = Error;

    /// Reads what [`Display`](fmt::Display) writes.
    fn from_str(text: &str) -> Result<Self, Error> {
        match text {
            "default" => Ok(Self::Default),
            "strict" => Ok(Self::Strict),
            _ => Err(unknown("profile", text, "default, strict")),
        }
    }
}

/// What an archive may cost. Limits count the bytes that are produced, not those that headers state.
///
/// ```
/// use zipstream::Limits;
///
/// let limits = Limits::default().entry_bytes(64 << 20).ratio(200);
/// assert_eq!(limits.entry_bytes, 64 << 20);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Limits {
    /// The most content of one entry: 1 TiB by default.
    pub entry_bytes: u64,
    /// The most content of all entries that one reader reads: 16 TiB by default.
    pub total_bytes: u64,
    /// The most content per compressed byte, in entries of more than 1 MiB: no limit by default.
    pub ratio: u64,
    /// The most entries: 67 million by default.
    pub entries: u64,
    /// The most memory that one thread may use for the window of a Zstandard, LZMA or XZ entry: 128 MiB by
    /// default. A service that reads many archives of strangers at a time sets it to 8 MiB, which is what Zstandard asks
    /// for up to level 19.
    pub window_bytes: u64,
    /// The largest directory, which is kept in memory: 1 GiB by default.
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

impl Limits {
    /// Sets [`entry_bytes`](Self::entry_bytes).
    #[must_use]
    pub fn entry_bytes(mut self, most: u64) -> Self {
        self.entry_bytes = most;
        self
    }

    /// Sets [`total_bytes`](Self::total_bytes).
    #[must_use]
    pub fn total_bytes(mut self, most: u64) -> Self {
        self.total_bytes = most;
        self
    }

    /// Sets [`ratio`](Self::ratio).
    #[must_use]
    pub fn ratio(mut self, most: u64) -> Self {
        self.ratio = most;
        self
    }

    /// Sets [`entries`](Self::entries).
    #[must_use]
    pub fn entries(mut self, most: u64) -> Self {
        self.entries = most;
        self
    }

    /// Sets [`window_bytes`](Self::window_bytes).
    #[must_use]
    pub fn window_bytes(mut self, most: u64) -> Self {
        self.window_bytes = most;
        self
    }

    /// Sets [`directory_bytes`](Self::directory_bytes).
    #[must_use]
    pub fn directory_bytes(mut self, most: u64) -> Self {
        self.directory_bytes = most;
        self
    }

    /// Refuses more entries than allowed.
    #[inline]
    pub(crate) fn admit_entries(&self, entries: u64) -> Result<(), Error> {
        match entries <= self.entries {
            true => Ok(()),
            false => Err(too_many(self.entries)),
        }
    }

    /// Refuses a directory that is larger than allowed.
    pub(crate) fn admit_directory(&self, bytes: u64) -> Result<(), Error> {
        let most = self.directory_bytes;
        if bytes <= most {
            return Ok(());
        }
        let what = format!("its directory has {bytes} bytes or more, the limit is {most}");
        let error = Error::new(ErrorKind::Limit, what);
        Err(error.help("raise Limits::directory_bytes if the source is trusted"))
    }
}

#[cold]
fn too_many(most: u64) -> Error {
    let what = format!("more entries than the limit of {most}");
    Error::new(ErrorKind::Limit, what).help("raise Limits::entries if the source is trusted")
}

/// How an archive is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct ReadOptions {
    /// How strictly it is checked.
    pub profile: Profile,
    /// What it may cost.
    pub limits: Limits,
    /// How long an asynchronous reader works before other tasks of its thread have a turn, in nanoseconds: see
    /// [`threshold_ns`](Self::threshold_ns).
    pub threshold_ns: u64,
    /// The charset of names that state none: see [`charset`](Self::charset).
    #[cfg(feature = "charsets")]
    pub charset: Option<crate::Charset>,
    /// The same for entries that were made on Unix: see [`unix_charset`](Self::unix_charset).
    #[cfg(feature = "charsets")]
    pub unix_charset: Option<crate::Charset>,
    /// Whether names of Unix keep their bytes: see [`unix_bytes`](Self::unix_bytes).
    pub unix_bytes: bool,
    /// Whether a directory counts up to a record that cannot be read: see [`incomplete`](Self::incomplete).
    pub incomplete: bool,
}

/// How long asynchronous readers work by default before other tasks have a turn: 100 µs.
pub(crate) const THRESHOLD_NS: u64 = 100_000;

impl Default for ReadOptions {
    fn default() -> Self {
        Self {
            profile: Profile::default(),
            limits: Limits::default(),
            threshold_ns: THRESHOLD_NS,
            #[cfg(feature = "charsets")]
            charset: None,
            #[cfg(feature = "charsets")]
            unix_charset: None,
            unix_bytes: false,
            incomplete: false,
        }
    }
}

impl ReadOptions {
    /// The default profile with default limits.
    pub fn new() -> Self {
        Self::default()
    }

    /// The strict profile with default limits.
    pub fn strict() -> Self {
        Self::default().profile(Profile::Strict)
    }

    /// Sets [`profile`](Self::profile).
    #[must_use]
    pub fn profile(mut self, profile: Profile) -> Self {
        self.profile = profile;
        self
    }

    /// Sets [`limits`](Self::limits).
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Sets how long the readers of the feature `tokio` work before other tasks of their thread have a turn, in
    /// nanoseconds: 100,000 by default. Directories, copies and content are divided by it as far as they can be; readers
    /// that are not asynchronous ignore it.
    #[must_use]
    pub fn threshold_ns(mut self, most: u64) -> Self {
        self.threshold_ns = most;
        self
    }

    /// States the charset of names that are neither flagged as UTF-8 nor have a Unicode field. Without it they
    /// are UTF-8 if they are valid UTF-8, else code page 437. The strict profile, which takes UTF-8 only, ignores it.
    #[cfg(feature = "charsets")]
    #[must_use]
    pub fn charset(mut self, charset: crate::Charset) -> Self {
        self.charset = Some(charset);
        self.unix_charset = Some(charset);
        self
    }

    /// States another charset for entries that were made on Unix, or none. Only a directory tells where an entry was
    /// made: an archive that is read as it arrives has the other charset for all.
    #[cfg(feature = "charsets")]
    #[must_use]
    pub fn unix_charset(mut self, charset: Option<crate::Charset>) -> Self {
        self.unix_charset = charset;
        self
    }

    /// Has names of entries that were made on Unix keep their bytes, where they are no UTF-8 and no charset is stated, in
    /// place of code page 437: their text is that of [`name::of_bytes`](crate::name::of_bytes), and files get the names
    /// that were packed. The strict profile, which takes UTF-8 only, ignores it.
    #[must_use]
    pub fn unix_bytes(mut self, kept: bool) -> Self {
        self.unix_bytes = kept;
        self
    }

    /// Has the entries before a record of the directory that cannot be read be all that there are, with the warning
    /// [`Warning::Cut`], instead of an error. This is for readers: who changes such an archive would lose the others. The strict
    /// profile ignores it.
    #[must_use]
    pub fn incomplete(mut self, taken: bool) -> Self {
        self.incomplete = taken;
        self
    }

    /// What is stated of names of entries made on `unix` or elsewhere.
    pub(crate) fn stated(&self, unix: bool) -> Stated {
        if self.is_strict() {
            return Stated::default();
        }
        Stated {
            #[cfg(feature = "charsets")]
            charset: match unix {
                true => self.unix_charset,
                false => self.charset,
            },
            keeps_bytes: unix && self.unix_bytes,
        }
    }

    /// Whether a directory ends before a record with this error.
    pub(super) fn cuts(&self, error: &Error) -> bool {
        self.incomplete && !self.is_strict() && error.kind() == ErrorKind::Corrupt
    }

    pub(crate) fn is_strict(&self) -> bool {
        self.profile == Profile::Strict
    }
}

/// Programs made for tapes pad their output with zeros to a record of this size, ...
const RECORD_BYTES: u64 = 10_240;
/// ... or at least to a block of this size.
const BLOCK_BYTES: u64 = 512;

/// Whether `zeros` zeros after an archive, which is `archive_bytes` long with them, are such padding.
/// Every program reads them in the same way, so the strict profile accepts them, but no more than a
/// record needs.
pub(crate) fn is_padding(zeros: u64, archive_bytes: u64) -> bool {
    zeros < RECORD_BYTES && archive_bytes.is_multiple_of(BLOCK_BYTES)
}

/// An oddity that the default profile accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Warning {
    /// Bytes before the archive, for example of a self-extracting one.
    Prefix {
        /// Their number.
        bytes: u64,
    },
    /// Zeros after the archive that fill a block, as programs made for tapes write them. The strict
    /// profile accepts them, too.
    Padding {
        /// Their number.
        bytes: u64,
    },
    /// Bytes after the archive.
    Trailing {
        /// Their number.
        bytes: u64,
    },
    /// The end record states another number of entries than the directory has.
    Count {
        /// Entries by the end record.
        stated: u64,
        /// Entries in the directory.
        found: u64,
    },
    /// The end records contradict each other; the ZIP64 one is used.
    EndRecords,
    /// The end record is that of a part of a split archive: it counts disks, or fewer entries here than in all. The
    /// archive is whole.
    Split,
    /// The directory is not where the end record states, which has a wrong size or offset.
    Elsewhere {
        /// The byte where it starts.
        start: u64,
    },
    /// A record of the directory cannot be read, and entries from there on are missing: see
    /// [`ReadOptions::incomplete`].
    Cut {
        /// The byte where it starts.
        at: u64,
    },
    /// The comment is cut off.
    Comment {
        /// Its bytes by the end record.
        stated: u64,
        /// Those that are there.
        found: u64,
    },
    /// Entries whose Unicode Path field has another name than their record. That of the field is used, as in
    /// unzip, 7-Zip and bsdtar; Python, Go and Java use the other.
    UnicodeNames {
        /// Their number.
        entries: u64,
    },
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Prefix { bytes } => write!(f, "{bytes} bytes precede the archive"),
            Self::Padding { bytes } => write!(f, "{bytes} zeros fill the last block"),
            Self::Trailing { bytes } => write!(f, "{bytes} bytes follow the archive"),
            Self::Count { stated, found } => {
                write!(f, "number of entries: stated {stated}, found {found}")
            }
            Self::UnicodeNames { entries } => write!(
                f,
                "{entries} entries have another name in their Unicode Path field: that one is used"
            ),
            Self::Split => f.write_str(
                "the end record is that of a part of a split archive, and the archive is whole",
            ),
            Self::Elsewhere { start } => write!(
                f,
                "the directory starts at byte {start}, where the end record does not state it"
            ),
            Self::Cut { at } => write!(
                f,
                "the directory cannot be read from byte {at} on: entries are missing"
            ),
            Self::Comment { stated, found } => write!(
                f,
                "the comment of the archive is cut off: stated {stated} bytes, found {found}"
            ),
            Self::EndRecords => f.write_str("the two end records contradict each other"),
        }
    }
}
