//! What an archive and its entries are made with.

use std::sync::Arc;

use super::workers::Workers;
use crate::crypt::Encryption;
use crate::crypt::aes::{self, FIELD_BYTES};
use crate::crypt::encrypt::EntryEncryption;
use crate::error::{Error, ErrorKind};
use crate::format::{extra, time};
use crate::method::Method;

/// What surrounds a job of compression, to time it: it gets what the job is and calls the work.
pub type JobObserver = Arc<dyn Fn(Job, &mut dyn FnMut()) + Send + Sync>;

/// A job of compression.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Job {
    /// The number of its first entry, from 0.
    pub entry: u64,
    /// The entries that are wholly in it; 0 for a chunk of a large one.
    pub entries: u64,
    /// Its content.
    pub content_bytes: u64,
}

/// Settings of a whole archive.
#[derive(Clone, Default)]
#[non_exhaustive]
pub struct ArchiveOptions {
    /// Threads that compress, beside the calling one. Without any, calls compress themselves.
    /// The bytes of the archive do not depend on it.
    pub threads: usize,
    /// Threads that other archives have a share in, instead of some of its own. Of these it keeps
    /// `threads` busy, at least one.
    pub workers: Option<Workers>,
    /// The same bytes from the same contents: this time for every entry (seconds since 1970), no
    /// extra fields, and of a mode only whether its owner may execute.
    pub reproducible: Option<i64>,
    /// Comment of the archive, at most 65,535 bytes.
    pub comment: Vec<u8>,
    /// What entries are encrypted with, all but directories. Salts are drawn from the system, so
    /// that no two archives are the same: not to be had with `reproducible`.
    pub encryption: Option<Encryption>,
    /// What surrounds every job of compression.
    pub observer: Option<JobObserver>,
}

impl std::fmt::Debug for ArchiveOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ArchiveOptions")
            .field("threads", &self.threads)
            .field("reproducible", &self.reproducible)
            .finish_non_exhaustive()
    }
}

/// What an entry is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EntryKind {
    /// A regular file.
    File,
    /// A directory; its name ends with `/`.
    Directory,
    /// A symbolic link; its content is where it leads.
    Symlink,
}

impl EntryKind {
    /// Its bits in a Unix mode.
    pub(crate) const fn mode_bits(self) -> u32 {
        match self {
            Self::File => 0o100_000,
            Self::Directory => 0o040_000,
            Self::Symlink => 0o120_000,
        }
    }
}

/// A content that is known before it is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KnownContent {
    /// Its size.
    pub bytes: u64,
    /// Its checksum; of no matter where it is encrypted so that no header states one (AE-2).
    pub crc32: u32,
}

/// Settings of one entry.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct EntryOptions {
    /// What it is.
    pub kind: EntryKind,
    /// How to compress it. What does not shrink is stored when that can be known in time.
    pub method: Method,
    /// The level; `None` is that of the method.
    pub level: Option<i32>,
    /// Seconds since 1970, UTC. 1980-01-01 when there is none.
    pub modified: Option<i64>,
    /// What local time is ahead of UTC, for the old time fields, which are local.
    pub utc_offset_seconds: i32,
    /// Permission bits.
    pub mode: u32,
    /// About how much content will come. It decides the shape of the header of a large entry:
    /// without it the entry may have any size and takes readers that know ZIP64.
    pub size_hint: Option<u64>,
    /// What the content is, where that is known for sure. It is held to it, and needs no
    /// descriptor; large entries can be stored only so.
    pub known: Option<KnownContent>,
    /// Whether it is encrypted where the archive has a password; it is by default.
    pub encrypt: bool,
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

    /// Settings of a directory.
    pub fn directory() -> Self {
        Self {
            kind: EntryKind::Directory,
            method: Method::Stored,
            mode: 0o755,
            ..Self::default()
        }
    }

    /// Settings of a symbolic link.
    pub fn symlink() -> Self {
        Self {
            kind: EntryKind::Symlink,
            method: Method::Stored,
            mode: 0o777,
            ..Self::default()
        }
    }

    /// Another level.
    #[must_use]
    pub fn level(mut self, level: i32) -> Self {
        self.level = Some(level);
        self
    }

    /// What headers say of the entry beside name and content.
    pub(crate) fn meta(&self, archive: &ArchiveOptions) -> Result<Meta, Error> {
        let level = self.level.unwrap_or(self.method.default_level());
        if matches!(self.method, Method::Other(_)) {
            return Err(crate::method::unsupported(self.method));
        }
        if !self.method.levels().contains(&level) && self.method != Method::Stored {
            let range = self.method.levels();
            let (low, high) = (range.start(), range.end());
            return Err(Error::new(
                ErrorKind::Setting,
                format!(
                    "level {level} of {} is out of range ({low} to {high})",
                    self.method
                ),
            ));
        }
        let fixed = archive.reproducible;
        let modified = fixed.or(self.modified);
        let local = modified.map(|at| at.saturating_add(self.utc_offset_seconds.into()));
        let local = if fixed.is_some() { modified } else { local };
        let mode = match (fixed, self.kind) {
            (None, _) => self.mode & 0o7777,
            (_, EntryKind::Symlink) => 0o777,
            (_, EntryKind::Directory) => 0o755,
            (_, EntryKind::File) => 0o644 | if self.mode & 0o100 != 0 { 0o111 } else { 0 },
        };
        let directory = u32::from(self.kind == EntryKind::Directory) << 4;
        let stored = level == 0 || self.method == Method::Stored;
        let encryption = archive.encryption.as_ref();
        let encryption = encryption.filter(|_| self.encrypt && self.kind != EntryKind::Directory);
        Ok(Meta {
            encryption: encryption.map(Encryption::of_entry),
            method: if stored { Method::Stored } else { self.method },
            level: if stored { 0 } else { level },
            dos: time::to_dos(local.unwrap_or(time::DOS_MIN)),
            modified: self
                .modified
                .filter(|_| fixed.is_none())
                .and_then(|at| i32::try_from(at).ok()),
            attributes: (self.kind.mode_bits() | mode) << 16 | directory,
        })
    }
}

/// What headers say of an entry beside name and content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Meta {
    pub(crate) encryption: Option<EntryEncryption>,
    pub(crate) method: Method,
    pub(crate) level: i32,
    pub(crate) dos: (u16, u16),
    pub(crate) modified: Option<i32>,
    pub(crate) attributes: u32,
}

impl Meta {
    /// The checksum that is stated of a content.
    pub(crate) fn stated_crc(&self, crc32: u32) -> u32 {
        match self.encryption {
            Some(encryption) if !encryption.checksum => 0,
            _ => crc32,
        }
    }

    /// The number of the method that headers state.
    pub(crate) fn method_code(&self, method: Method) -> u16 {
        self.encryption.map_or(method.code(), |_| aes::METHOD)
    }

    /// The version of the format that a reader has to know, times ten.
    pub(crate) fn version(&self, method: Method) -> u16 {
        method
            .version()
            .max(self.encryption.map_or(0, |_| aes::VERSION))
    }

    pub(crate) fn extra_bytes(&self) -> usize {
        self.modified.map_or(0, |_| extra::TIMES_BYTES) + self.encryption.map_or(0, |_| FIELD_BYTES)
    }
}
