//! Why a store cannot be opened, read or written, with the file and the byte.

use std::io;
use std::path::{Path, PathBuf};

/// The result of a store operation.
pub type StoreResult<T> = Result<T, StoreError>;

/// What is wrong at a damaged place of a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Damage {
    /// The checksum does not match.
    #[error("checksum mismatch")]
    Checksum,
    /// A record that is longer than its segment, or of an unknown kind.
    #[error("invalid record")]
    Record,
    /// A record whose sequence number is out of order.
    #[error("sequence number out of order")]
    Order,
    /// Zeros, followed by records.
    #[error("records missing")]
    Missing,
    /// A segment without a valid header, or with the header of another segment.
    #[error("invalid segment header")]
    Header,
    /// An index entry that does not point to its record.
    #[error("index entry does not point to its record")]
    Index,
}

/// Why a call failed. A call that failed has changed nothing.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The store is open in another process, or in another part of this one.
    #[error("store '{}' is locked: it is already open", dir.display())]
    Locked {
        /// The store's directory.
        dir: PathBuf,
    },
    /// There is no room for the next segment. The message was not stored; repeat the call when there
    /// is room.
    #[error("cannot create '{}': no room for {bytes} bytes", path.display())]
    Full {
        /// The segment that could not be created.
        path: PathBuf,
        /// Its size.
        bytes: u64,
        /// The system's error; `None` if a limit of the options was reached.
        source: Option<io::Error>,
    },
    /// A system call failed.
    #[error("cannot {what} '{}'", path.display())]
    Io {
        /// The operation.
        what: &'static str,
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The file no longer holds what was written to it.
    #[error("'{}' is damaged at byte {offset}: {damage}", path.display())]
    Damaged {
        /// The segment.
        path: PathBuf,
        /// The first damaged byte.
        offset: u64,
        /// What is wrong.
        damage: Damage,
    },
    /// A message can only be stored under the next number.
    #[error("cannot store message {given}: the next number is {next}")]
    Order {
        /// The number that was given.
        given: u64,
        /// The next number.
        next: u64,
    },
    /// A message that does not fit into a segment.
    #[error("message of {bytes} bytes does not fit a segment: the limit is {bytes_max}")]
    TooLong {
        /// Its length.
        bytes: usize,
        /// The longest message that fits.
        bytes_max: usize,
    },
    /// An earlier sync failed, so it is unknown what is on the disk. Open the store again.
    #[error("store is read-only because a sync failed: open it again")]
    Unsynced,
    /// An invalid [`Options::segment_bytes`](super::Options::segment_bytes).
    #[error("segment_bytes is {given}: must be a multiple of 4096 from {min} to {max}")]
    SegmentBytes {
        /// The value.
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

    /// Whether the disk, a quota or a limit of the options is exhausted.
    #[must_use]
    pub fn is_full(&self) -> bool {
        matches!(self, Self::Full { .. })
    }
}
