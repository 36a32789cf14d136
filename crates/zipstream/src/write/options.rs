//! Options of an archive and of its entries.

use std::sync::Arc;

use super::workers::Workers;
use crate::crypt::Encryption;
use crate::entry_kind::EntryKind;
use crate::entry_owner::EntryOwner;
use crate::method::Method;
use crate::read::THRESHOLD_NS;

/// Called around every compression job, for example to time it: it gets a description of the job
/// and calls the work.
pub type JobObserver = Arc<dyn Fn(Job, &mut dyn FnMut()) + Send + Sync>;

/// A job of compression.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Job {
    /// The number of its first entry, from 0.
    pub entry: u64,
    /// The entries that are completely in it; 0 for a chunk of a large one.
    pub entries: u64,
    /// Bytes of its content.
    pub content_bytes: u64,
}

/// Options of a whole archive.
#[derive(Clone)]
#[non_exhaustive]
pub struct ArchiveOptions {
    /// Threads that compress, in addition to the calling one. With 0, calls compress themselves.
    /// The bytes of the archive do not depend on it.
    pub threads: usize,
    /// Threads shared with other archives, in place of own ones. The archive keeps `threads` of
    /// them busy, at least one.
    pub workers: Option<Workers>,
    /// Makes the same bytes from the same contents: every entry gets this time (seconds since
    /// 1970), no extra fields, and of its mode only whether the owner may execute it.
    pub reproducible: Option<i64>,
    /// Comment of the archive, at most 65,535 bytes.
    pub comment: Vec<u8>,
    /// How all entries but directories are encrypted. Salts are random, so that no two archives are
    /// alike: it cannot be combined with `reproducible`.
    pub encryption: Option<Encryption>,
    /// Bytes that precede the archive in its file, such as the program that extracts it. Offsets count
    /// from the start of the file, so that every reader finds the entries. The encoder does not write
    /// these bytes.
    pub preceding_bytes: u64,
    /// Whether an entry that is copied may have the name of another one, as in an archive that is changed
    /// and has it already. New entries never may.
    pub repeated_names: bool,
    /// Called around every compression job.
    pub observer: Option<JobObserver>,
    /// How long an asynchronous writer works before other tasks of its thread have a turn, in nanoseconds: see
    /// [`threshold_ns`](Self::threshold_ns).
    pub threshold_ns: u64,
}

impl Default for ArchiveOptions {
    fn default() -> Self {
        Self {
            threads: 0,
            workers: None,
            reproducible: None,
            comment: Vec::new(),
            encryption: None,
            preceding_bytes: 0,
            repeated_names: false,
            observer: None,
            threshold_ns: THRESHOLD_NS,
        }
    }
}

impl ArchiveOptions {
    /// The default options: no threads, no comment, no encryption.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets [`threads`](Self::threads).
    #[must_use]
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = threads;
        self
    }

    /// Sets [`workers`](Self::workers).
    #[must_use]
    pub fn workers(mut self, workers: Workers) -> Self {
        self.workers = Some(workers);
        self
    }

    /// Sets [`reproducible`](Self::reproducible) to this time, in seconds since 1970.
    #[must_use]
    pub fn reproducible(mut self, seconds: i64) -> Self {
        self.reproducible = Some(seconds);
        self
    }

    /// Sets [`comment`](Self::comment).
    #[must_use]
    pub fn comment(mut self, comment: impl Into<Vec<u8>>) -> Self {
        self.comment = comment.into();
        self
    }

    /// Sets [`encryption`](Self::encryption).
    #[must_use]
    pub fn encryption(mut self, encryption: Encryption) -> Self {
        self.encryption = Some(encryption);
        self
    }

    /// Sets [`preceding_bytes`](Self::preceding_bytes).
    #[must_use]
    pub fn preceding_bytes(mut self, bytes: u64) -> Self {
        self.preceding_bytes = bytes;
        self
    }

    /// Sets [`repeated_names`](Self::repeated_names).
    #[must_use]
    pub fn repeated_names(mut self, allowed: bool) -> Self {
        self.repeated_names = allowed;
        self
    }

    /// Sets [`observer`](Self::observer).
    #[must_use]
    pub fn observer(mut self, observer: JobObserver) -> Self {
        self.observer = Some(observer);
        self
    }

    /// Sets how long the writer of the feature `tokio` works before other tasks of its thread have a turn, in nanoseconds:
    /// 100,000 by default. Other threads compress what takes longer; writers that are not asynchronous ignore it.
    #[must_use]
    pub fn threshold_ns(mut self, most: u64) -> Self {
        self.threshold_ns = most;
        self
    }
}

impl std::fmt::Debug for ArchiveOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ArchiveOptions")
            .field("threads", &self.threads)
            .field("reproducible", &self.reproducible)
            .finish_non_exhaustive()
    }
}

/// The size and checksum of a content, when they are known in advance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct KnownContent {
    /// Its size.
    pub bytes: u64,
    /// Its CRC-32. Ignored for entries whose headers state none (AE-2 encryption).
    pub crc32: u32,
}

impl KnownContent {
    /// A content of this size and CRC-32.
    pub const fn new(bytes: u64, crc32: u32) -> Self {
        Self { bytes, crc32 }
    }
}

/// Options of one entry.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct EntryOptions {
    /// File, directory or symbolic link.
    pub kind: EntryKind,
    /// How to compress it. Content that does not shrink is stored, if that is known in time. [`Method::Stored`] needs
    /// [`known`](Self::known) for content of more than 1 MiB: where size and checksum are not known, such content becomes
    /// deflate, for a stored entry states both before its content.
    pub method: Method,
    /// The level, one of [`Method::levels`]; `None` is the method's default. 0 stores, with zstd, too.
    pub level: Option<i32>,
    /// Modification time in seconds since 1970, UTC; `None` writes 1980-01-01.
    pub modified: Option<i64>,
    /// Offset of local time from UTC, for the old time fields, which are local.
    pub utc_offset_seconds: i32,
    /// Permission bits.
    pub mode: u32,
    /// About how much content will come. It decides the header of a large entry: without it the
    /// entry may have any size, but needs readers that know ZIP64.
    pub size_hint: Option<u64>,
    /// The exact content, if it is known in advance. The entry must match it, and needs no
    /// descriptor. A large entry can be stored only with it.
    pub known: Option<KnownContent>,
    /// Whether to encrypt it, if the archive is encrypted. The default is `true`.
    pub encrypt: bool,
    /// Whether the time is stated in the old fields alone: local, to two seconds, rounded up, without an extra field.
    pub old_time_only: bool,
    /// Whether it is made as on DOS: of its mode only whether it may be written is stated, and no link stays one.
    pub dos_attributes: bool,
    /// Who owns the file; stated only if it is set, in Info-ZIP's field (0x7875). Archives that are
    /// reproducible leave it out.
    pub owner: Option<EntryOwner>,
    /// Whether the directory says that the content is a text, so that readers may give it their line ends.
    /// [`TextReader::is_text`](crate::TextReader::is_text) tells. The default is `false`.
    pub text: bool,
}

impl Default for EntryOptions {
    fn default() -> Self {
        Self {
            kind: EntryKind::File,
            method: Method::Deflate,
            level: None,
            modified: None,
            utc_offset_seconds: 0,
            mode: 0o644,
            size_hint: None,
            known: None,
            encrypt: true,
            old_time_only: false,
            dos_attributes: false,
            owner: None,
            text: false,
        }
    }
}

impl EntryOptions {
    /// A file compressed with `method` at its default level.
    pub fn new(method: Method) -> Self {
        Self {
            method,
            ..Self::default()
        }
    }

    /// Options of a directory.
    pub fn directory() -> Self {
        Self {
            kind: EntryKind::Directory,
            method: Method::Stored,
            mode: 0o755,
            ..Self::default()
        }
    }

    /// Options of a symbolic link.
    pub fn symlink() -> Self {
        Self {
            kind: EntryKind::Symlink,
            method: Method::Stored,
            mode: 0o777,
            ..Self::default()
        }
    }

    /// Sets [`level`](Self::level).
    #[must_use]
    pub fn level(mut self, level: i32) -> Self {
        self.level = Some(level);
        self
    }

    /// Sets [`modified`](Self::modified) to this time, in seconds since 1970.
    #[must_use]
    pub fn modified(mut self, seconds: i64) -> Self {
        self.modified = Some(seconds);
        self
    }

    /// Sets [`utc_offset_seconds`](Self::utc_offset_seconds).
    #[must_use]
    pub fn utc_offset_seconds(mut self, seconds: i32) -> Self {
        self.utc_offset_seconds = seconds;
        self
    }

    /// Sets [`mode`](Self::mode).
    #[must_use]
    pub fn mode(mut self, mode: u32) -> Self {
        self.mode = mode;
        self
    }

    /// Sets [`size_hint`](Self::size_hint).
    #[must_use]
    pub fn size_hint(mut self, bytes: u64) -> Self {
        self.size_hint = Some(bytes);
        self
    }

    /// Sets [`known`](Self::known).
    #[must_use]
    pub fn known(mut self, content: KnownContent) -> Self {
        self.known = Some(content);
        self
    }

    /// Sets [`old_time_only`](Self::old_time_only).
    #[must_use]
    pub fn old_time_only(mut self, only: bool) -> Self {
        self.old_time_only = only;
        self
    }

    /// Sets [`dos_attributes`](Self::dos_attributes).
    #[must_use]
    pub fn dos_attributes(mut self, dos: bool) -> Self {
        self.dos_attributes = dos;
        self
    }

    /// Sets [`owner`](Self::owner).
    #[must_use]
    pub fn owner(mut self, owner: EntryOwner) -> Self {
        self.owner = Some(owner);
        self
    }

    /// Sets [`text`](Self::text).
    #[must_use]
    pub fn text(mut self, text: bool) -> Self {
        self.text = text;
        self
    }

    /// Sets [`encrypt`](Self::encrypt).
    #[must_use]
    pub fn encrypt(mut self, encrypt: bool) -> Self {
        self.encrypt = encrypt;
        self
    }
}
