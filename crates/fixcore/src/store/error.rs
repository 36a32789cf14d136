//! Why a store cannot be opened, read or written, with the file and the byte.

use std::io;
use std::path::{Path, PathBuf};

/// Results of the store.
pub type StoreResult<T> = Result<T, StoreError>;

/// What is wrong with a place of a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Damage {
    /// The checksum is another.
    #[error("the checksum is another")]
    Checksum,
    /// A record that is longer than its segment, or of no kind.
    #[error("this is no record")]
    Record,
    /// A record out of its order.
    #[error("the sequence number is out of order")]
    Order,
    /// Zeros, with records behind them.
    #[error("records are missing")]
    Missing,
    /// A segment whose header is none, or belongs to another place.
    #[error("the header of the segment is wrong")]
    Header,
    /// The index of a segment leads elsewhere.
    #[error("the index leads elsewhere")]
    Index,
}

/// Why a call failed. A call that failed has changed nothing.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// Another process, or another part of this one, has the store open.
    #[error("the store '{}' is open elsewhere", dir.display())]
    Locked {
        /// The store's directory.
        dir: PathBuf,
    },
    /// There is no room for the next segment. The message was not stored; the call can be repeated
    /// when there is room.
    #[error("no room for {bytes} bytes: cannot make '{}'", path.display())]
    Full {
        /// The segment that could not be made.
        path: PathBuf,
        /// Its bytes.
        bytes: u64,
        /// What the system said; absent when a limit of the options was reached.
        source: Option<io::Error>,
    },
    /// The system failed.
    #[error("cannot {what} '{}'", path.display())]
    Io {
        /// What was tried.
        what: &'static str,
        /// With which file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// What was written, and synced where that was asked for, is no longer what it was.
    #[error("'{}' is damaged at byte {offset}: {damage}", path.display())]
    Damaged {
        /// The segment.
        path: PathBuf,
        /// The first byte of what is wrong.
        offset: u64,
        /// What is wrong.
        damage: Damage,
    },
    /// Messages are stored under the next number, and under no other.
    #[error("message {given} cannot be stored: the next is {next}")]
    Order {
        /// The number that was asked for.
        given: u64,
        /// The number that is due.
        next: u64,
    },
    /// A message that does not fit into a segment.
    #[error("a message of {bytes} bytes is too long: at most {bytes_max} fit")]
    TooLong {
        /// Its bytes.
        bytes: usize,
        /// What fits.
        bytes_max: usize,
    },
    /// A sync failed before, so nobody knows what is on the disk. Open the store again.
    #[error("the store cannot be written since a sync failed: open it again")]
    Unsynced,
    /// Options that cannot be.
    #[error("segments have between {min} and {max} bytes, not {given}")]
    SegmentBytes {
        /// What was asked for.
        given: usize,
        /// The smallest.
        min: usize,
        /// The largest.
        max: usize,
    },
}

impl StoreError {
    pub(super) fn io(what: &'static str, path: &Path, source: io::Error) -> Self {
        Self::Io {
            what,
            path: path.to_owned(),
            source,
        }
    }

    pub(super) fn damaged(path: &Path, offset: usize, damage: Damage) -> Self {
        Self::Damaged {
            path: path.to_owned(),
            offset: offset as u64,
            damage,
        }
    }

    /// Whether the disk, a quota or a limit of the options is used up.
    #[must_use]
    pub fn is_full(&self) -> bool {
        matches!(self, Self::Full { .. })
    }
}
