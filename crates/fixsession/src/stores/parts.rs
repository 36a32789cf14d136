//! The files of a QuickFIX store: which there are, what they hold in common, and what can be wrong in them.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};

use fixcore::Timestamp;
use fixcore::store::StoreError;

/// Whose files they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum FileFormat {
    /// QuickFIX for C++ since 1.16: next numbers with 20 digits.
    QuickFix,
    /// QuickFIX for C++ up to 1.15, with 10 digits. It misreads the file of the later ones.
    QuickFix115,
    /// QuickFIX/J.
    QuickFixJ,
}

impl FileFormat {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::QuickFix, Self::QuickFix115, Self::QuickFixJ];

    /// Its name: `quickfix`, `quickfix-1.15` or `quickfixj`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::QuickFix => "quickfix",
            Self::QuickFix115 => "quickfix-1.15",
            Self::QuickFixJ => "quickfixj",
        }
    }

    /// What the names of its files end with, after a point.
    #[must_use]
    pub fn endings(self) -> &'static [&'static str] {
        match self {
            Self::QuickFix | Self::QuickFix115 => &["body", "header", "seqnums", "session"],
            Self::QuickFixJ => &[
                "body",
                "header",
                "senderseqnums",
                "targetseqnums",
                "session",
            ],
        }
    }

    /// The largest sequence number that its engine can have.
    #[must_use]
    pub fn number_max(self) -> u64 {
        match self {
            Self::QuickFix => u64::MAX,
            Self::QuickFix115 | Self::QuickFixJ => i32::MAX as u64,
        }
    }
}

/// Why files of QuickFIX cannot be taken over or written. Nothing is left behind.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ForeignError {
    /// There are no such files.
    #[error("there is no QuickFIX store '{}': expected '{}.seqnums' or '{}.senderseqnums'", prefix.display(), prefix.display(), prefix.display())]
    NotFound {
        /// What their names should begin with.
        prefix: PathBuf,
    },
    /// A system call failed.
    #[error("cannot {what} '{}': {source}", path.display())]
    Io {
        /// The operation.
        what: &'static str,
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// A file does not hold what its engine writes.
    #[error("'{}' is damaged at byte {offset}: {what}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The byte.
        offset: u64,
        /// What was found, and what was expected.
        what: String,
    },
    /// Something that would be overwritten.
    #[error("'{}' exists already: it is not overwritten", path.display())]
    Exists {
        /// The file or directory.
        path: PathBuf,
    },
    /// There is no store to export.
    #[error("there is no store in '{}'", dir.display())]
    NoStore {
        /// The directory.
        dir: PathBuf,
    },
    /// A number that the other engine cannot have.
    #[error("the next number is {number}: {} ends at {}", format.name(), format.number_max())]
    Number {
        /// The number.
        number: u64,
        /// The other engine.
        format: FileFormat,
    },
    /// The store failed.
    #[error("{}", with_cause(.0))]
    Store(#[from] StoreError),
}

fn with_cause(error: &StoreError) -> String {
    match std::error::Error::source(error) {
        Some(cause) => format!("{error}: {cause}"),
        None => error.to_string(),
    }
}

impl ForeignError {
    pub(super) fn io(what: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io {
            what,
            path: path.to_owned(),
            source,
        }
    }

    pub(super) fn damaged(path: &Path, offset: u64, what: impl Into<String>) -> Self {
        Self::Damaged {
            path: path.to_owned(),
            offset,
            what: what.into(),
        }
    }
}

/// Which engine's files begin with `prefix`, if there are any. Only names are looked at, so that a file of
/// 1.15 counts as one of the later versions.
#[must_use]
pub fn found(prefix: &Path) -> Option<FileFormat> {
    let has = |ending| path(prefix, ending).is_file();
    if has("seqnums") {
        Some(FileFormat::QuickFix)
    } else if has("senderseqnums") {
        Some(FileFormat::QuickFixJ)
    } else {
        None
    }
}

/// The file with this ending.
pub(super) fn path(prefix: &Path, ending: &str) -> PathBuf {
    let mut name: OsString = prefix.as_os_str().to_owned();
    name.push(".");
    name.push(ending);
    name.into()
}

/// The prefix of files that were named by one of them, or with a point at the end.
pub(super) fn prefix_of(named: &Path) -> PathBuf {
    let all = FileFormat::ALL
        .iter()
        .flat_map(|format| format.endings().iter().copied());
    let name = named.as_os_str().to_str();
    let prefix = name.and_then(|name| {
        let mut ends = all.chain([""]);
        ends.find_map(|ending| name.strip_suffix(ending)?.strip_suffix('.'))
    });
    prefix.map_or_else(|| named.to_owned(), PathBuf::from)
}

/// Where a message is in the body.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    pub(super) offset: u64,
    pub(super) bytes: u64,
    /// Where the header states that.
    pub(super) stated_at: u64,
}

/// What a header states: the last place of each number counts.
#[derive(Debug, Default)]
pub(super) struct Index {
    pub(super) places: BTreeMap<u64, Place>,
    pub(super) replaced: u64,
}

/// The most messages that are taken over.
const MESSAGES_MAX: usize = 1 << 24;

impl Index {
    pub(super) fn add(
        &mut self,
        header: &Path,
        number: u64,
        place: Place,
    ) -> Result<(), ForeignError> {
        if number == 0 {
            return Err(ForeignError::damaged(
                header,
                place.stated_at,
                "message number 0",
            ));
        }
        if self.places.insert(number, place).is_some() {
            self.replaced += 1;
        } else if self.places.len() > MESSAGES_MAX {
            let what = format!("more than {MESSAGES_MAX} messages");
            return Err(ForeignError::damaged(header, place.stated_at, what));
        }
        Ok(())
    }
}

/// The numbers of a session, and when they began.
#[derive(Debug, Clone, Copy)]
pub(super) struct Numbers {
    pub(super) next_sender: u64,
    pub(super) next_target: u64,
    pub(super) created: Timestamp,
}

/// A file, to be read in order.
pub(super) fn reader(path: &Path) -> Result<BufReader<File>, ForeignError> {
    let file = File::open(path).map_err(ForeignError::io("open", path))?;
    Ok(BufReader::with_capacity(1 << 16, file))
}

/// A small file as a whole.
pub(super) fn small(path: &Path) -> Result<Vec<u8>, ForeignError> {
    const BYTES_MAX: u64 = 4096;
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(ForeignError::io("open", path))?;
    let read = file.take(BYTES_MAX + 1).read_to_end(&mut bytes);
    read.map_err(ForeignError::io("read", path))?;
    if bytes.len() as u64 > BYTES_MAX {
        return Err(ForeignError::damaged(path, BYTES_MAX, "it is too long"));
    }
    Ok(bytes)
}

/// A decimal number without a sign.
pub(super) fn decimal(digits: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(digits).ok()?;
    let is_right = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| is_right)
}
