//! What came of an extraction.

use std::fmt;
use std::io::ErrorKind;

use super::reason::Reason;
use super::writing::Ended;
use crate::error::Error;
use crate::name;

/// Failures that are kept; more are counted.
pub(super) const FAILURES_MAX: usize = 1000;

/// What came of an extraction.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct ExtractReport {
    /// Entries that were extracted.
    pub entries: u64,
    /// Bytes of their content.
    pub content_bytes: u64,
    /// Bytes of their compressed content; of a pipe, all bytes that were read.
    pub compressed_bytes: u64,
    /// Files that existed and were kept.
    pub kept: u64,
    /// Links that were not made, as [`Links::Skip`](super::Links::Skip) asks.
    pub links_skipped: u64,
    /// Entries that failed.
    pub failed: u64,
    /// Those among them whose content or records cannot be read. The content of others was not looked at, or was right.
    pub damaged: u64,
    /// The first 1,000 of them, and why.
    pub failures: Vec<Failed>,
    /// Entries whose local header contradicts the directory. The directory counts.
    pub contradicted: u64,
    /// What the first 1,000 of these say.
    pub contradictions: Vec<Error>,
    /// Paths that differ from another one in case only.
    pub case_clashes: u64,
    /// Entries that were not extracted because another one has their path: see [`Repeats`](super::Repeats).
    pub repeats: u64,
    /// The names of the first 1,000 of these.
    pub repeated: Vec<String>,
    /// Why not all entries were tried.
    pub stopped: Option<Stopped>,
}

/// Why an extraction ended early.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Stopped {
    /// The cancel flag of the context was set.
    Cancelled,
    /// The reader of the [`Writer`](super::Destination::Writer) has gone: a broken pipe.
    ReaderGone,
    /// The [`Writer`](super::Destination::Writer) failed, which is among the failures.
    Undelivered,
    /// A pipe cannot be read any further, which is among the failures.
    Damaged,
    /// The file system takes no more, which is among the failures.
    Full,
}

/// An entry that was not extracted.
#[derive(Debug)]
#[non_exhaustive]
pub struct Failed {
    /// Its name; empty where it is about the archive as a whole.
    pub entry: String,
    /// Why.
    pub reason: Reason,
}

impl fmt::Display for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = &self.entry;
        let path = || self.path();
        match &self.reason {
            Reason::Archive(error) => error.fmt(f),
            Reason::Name(fault) => write!(f, "entry '{name}' is not extracted: {fault}"),
            Reason::SamePath => write!(
                f,
                "entry '{name}' is not extracted: another entry has the same path"
            ),
            Reason::CaseClash => write!(
                f,
                "entry '{name}' is not extracted: another path differs from it only in case"
            ),
            Reason::Exists => write!(f, "'{}' exists already", path()),
            Reason::Link(why) => write!(f, "link '{}' is not created: {why}", path()),
            Reason::Write(error) => {
                write!(f, "cannot write '{}': {}", path(), files::reason(error))
            }
            Reason::Undelivered(error) => {
                write!(f, "cannot write the content: {}", files::reason(error))
            }
            Reason::Panicked => f.write_str("a thread panicked"),
        }
    }
}

impl std::error::Error for Failed {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.reason {
            Reason::Archive(error) => Some(error),
            Reason::Write(error) | Reason::Undelivered(error) => Some(error),
            _ => None,
        }
    }
}

impl Failed {
    /// The path that its name is below the directory; the name, if it is none.
    #[must_use]
    pub fn path(&self) -> String {
        name::path(&self.entry).unwrap_or_else(|_| self.entry.clone())
    }

    pub(super) fn new(entry: impl Into<String>, reason: Reason) -> Self {
        Self {
            entry: entry.into(),
            reason,
        }
    }

    /// Whether there is no room for it, so that there is none for others.
    pub(super) fn is_of_full_disk(&self) -> bool {
        let full = [
            ErrorKind::StorageFull,
            ErrorKind::QuotaExceeded,
            ErrorKind::ReadOnlyFilesystem,
        ];
        matches!(&self.reason, Reason::Write(error) if full.contains(&error.kind()))
    }

    pub(super) fn of_archive(error: Error) -> Self {
        let entry = error.entry_name().unwrap_or_default().to_owned();
        Self::new(entry, Reason::Archive(error))
    }
}

impl ExtractReport {
    /// Whether everything that was asked for is extracted.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.failed == 0 && self.stopped.is_none()
    }

    /// Counts a failure, and stops where no other entry could be written either.
    pub(super) fn fail_and_judge(&mut self, failed: Failed) {
        if failed.is_of_full_disk() {
            self.stopped.get_or_insert(Stopped::Full);
        }
        self.fail(failed);
    }

    /// Notes that an entry is not extracted because another one has its path.
    pub(super) fn repeat(&mut self, name: &str) {
        self.repeats += 1;
        if self.repeated.len() < FAILURES_MAX {
            self.repeated.push(name.to_owned());
        }
    }

    pub(super) fn fail(&mut self, failed: Failed) {
        self.failed += 1;
        self.damaged += u64::from(matches!(failed.reason, Reason::Archive(_)));
        if self.failures.len() < FAILURES_MAX {
            self.failures.push(failed);
        }
    }

    /// What an entry that came to nothing means for the run: that it stops, or the failure of the entry.
    pub(super) fn end(&mut self, ended: Ended, name: &str) -> Result<(), Failed> {
        let reason = match ended {
            Ended::Failed(reason) => reason,
            Ended::Unreadable(error) if name.is_empty() => return Err(Failed::of_archive(error)),
            Ended::Unreadable(error) => Reason::Archive(error),
            Ended::Undelivered(error) => {
                self.stopped.get_or_insert(Stopped::Undelivered);
                Reason::Undelivered(error)
            }
            Ended::Cancelled => {
                self.stopped = Some(Stopped::Cancelled);
                return Ok(());
            }
            Ended::ReaderGone => {
                self.stopped = Some(Stopped::ReaderGone);
                return Ok(());
            }
        };
        Err(Failed::new(name, reason))
    }

    /// Notes that a local header says something else than the directory.
    pub(super) fn contradicts(&mut self, error: Error) {
        self.contradicted += 1;
        if self.contradictions.len() < FAILURES_MAX {
            self.contradictions.push(error);
        }
    }

    pub(super) fn add(&mut self, other: Self) {
        self.entries += other.entries;
        self.content_bytes += other.content_bytes;
        self.compressed_bytes += other.compressed_bytes;
        self.kept += other.kept;
        self.links_skipped += other.links_skipped;
        self.failed += other.failed;
        self.damaged += other.damaged;
        self.case_clashes += other.case_clashes;
        self.repeats += other.repeats;
        self.repeated.extend(other.repeated);
        self.repeated.truncate(FAILURES_MAX);
        self.failures.extend(other.failures);
        self.failures.truncate(FAILURES_MAX);
        self.contradicted += other.contradicted;
        self.contradictions.extend(other.contradictions);
        self.contradictions.truncate(FAILURES_MAX);
        self.stopped = self.stopped.or(other.stopped);
    }
}
