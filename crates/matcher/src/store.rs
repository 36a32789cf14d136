//! The directory of a matcher: a snapshot, the expressions as they were written, and logs of changes.
//!
//! Each file has the number of the last change before it in its name. A new log begins first, then the files of
//! the state at its beginning appear by rename, then what is older is removed: at any moment there is a
//! snapshot and every log since.

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use betree::{BeTree, Snapshot};
use files::target::Target;

use crate::change::Change;
use crate::error::{Error, Result};
use crate::first::First;
use crate::log::{Ending, Frames, LogError, LogFile, Sync, append, header, sync_parent};
use crate::texts::Texts;

const SNAPSHOT: &str = "snapshot";
const TEXTS: &str = "expressions";
const LOG: &str = "changes";
/// Expressions that are written as one record.
const TEXTS_PER_RECORD: usize = 1024;

/// What was found in the directory of a matcher.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Recovery {
    /// Whether there was a state; if not, the first one was made.
    pub found: bool,
    /// Changes that were repeated from logs.
    pub replayed: u64,
    /// The log that broke off, and where it was cut.
    pub cut: Option<Cut>,
    /// The log of the snapshot if it is missing: changes after the snapshot are lost, unless there were none.
    pub missing_log: Option<PathBuf>,
    /// The expressions as they were written, if they are not whole. Searches do not need them.
    pub lost_texts: Option<LostTexts>,
}

/// A file of expressions as they were written that is not whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LostTexts {
    /// The file.
    pub path: PathBuf,
    /// What is wrong with it.
    pub reason: String,
}

/// Seconds since 1970; 0 before.
pub(crate) fn unix_seconds(time: SystemTime) -> u64 {
    time.duration_since(SystemTime::UNIX_EPOCH)
        .map_or(0, |since| since.as_secs())
}

/// A log that broke off.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cut {
    /// The file.
    pub path: PathBuf,
    /// Its bytes that remain.
    pub at: u64,
    /// Bytes of an unfinished record, which are gone.
    pub bytes: u64,
}

/// An open directory.
#[derive(Debug)]
pub(crate) struct Store {
    directory: PathBuf,
    sync: Sync,
    /// Keeps other processes out as long as it is open.
    _lock: File,
}

/// A state with the log that continues it.
#[derive(Debug)]
pub(crate) struct Opened {
    pub(crate) store: Store,
    pub(crate) first: First,
    pub(crate) log: LogFile,
    /// The last change, and the last one of the snapshot.
    pub(crate) last: u64,
    pub(crate) base: u64,
    /// Logs since the snapshot, but the last.
    pub(crate) older_log_bytes: u64,
    /// When the snapshot was written, in seconds since 1970.
    pub(crate) snapshot_time: u64,
    pub(crate) recovery: Recovery,
}

impl Store {
    /// Opens the directory, which is created if it does not exist, and reads its state; without one, `first`
    /// makes it.
    pub(crate) fn open<E: From<Error>>(
        directory: &Path,
        sync: Sync,
        first: impl FnOnce() -> std::result::Result<First, E>,
    ) -> std::result::Result<Opened, E> {
        let store = Self::lock(directory, sync)?;
        let snapshots = store.numbers(SNAPSHOT)?;
        let Some(base) = snapshots.last().copied() else {
            store.check_empty()?;
            let first = first()?;
            return Ok(store.begin(first)?);
        };
        Ok(store.recover(base)?)
    }

    /// Without a snapshot, other files of a state mean that one was lost. A first start that was interrupted
    /// leaves at most the expressions of change 0.
    fn check_empty(&self) -> Result<()> {
        for kind in [LOG, TEXTS] {
            let mut numbers = self.numbers(kind)?.into_iter();
            if let Some(number) = numbers.find(|number| kind == LOG || *number > 0) {
                return Err(Error::NoSnapshot {
                    directory: self.directory.clone(),
                    found: self.path(kind, number),
                });
            }
        }
        Ok(())
    }

    /// Whether this is the log of the changes after `last`.
    pub(crate) fn is_log_since(&self, log: &LogFile, last: u64) -> bool {
        log.path() == self.path(LOG, last)
    }

    fn lock(directory: &Path, sync: Sync) -> Result<Self> {
        std::fs::create_dir_all(directory).map_err(Error::io("create", directory))?;
        let path = directory.join("lock");
        let lock = File::options()
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path)
            .map_err(Error::io("create", &path))?;
        match lock.try_lock() {
            Ok(()) => Ok(Self {
                directory: directory.to_path_buf(),
                sync,
                _lock: lock,
            }),
            Err(std::fs::TryLockError::WouldBlock) => Err(Error::Locked {
                path: directory.to_path_buf(),
            }),
            Err(std::fs::TryLockError::Error(error)) => Err(Error::io("lock", &path)(error)),
        }
    }

    fn path(&self, kind: &str, number: u64) -> PathBuf {
        self.directory.join(format!("{kind}-{number:020}"))
    }

    /// The numbers of the files of a kind, ascending.
    fn numbers(&self, kind: &str) -> Result<Vec<u64>> {
        let failed = || Error::io("list", &self.directory);
        let mut numbers = Vec::new();
        for entry in std::fs::read_dir(&self.directory).map_err(failed())? {
            let name = entry.map_err(failed())?.file_name();
            let number: Option<u64> = name
                .to_str()
                .and_then(|name| name.strip_prefix(kind)?.strip_prefix('-'))
                .filter(|digits| digits.len() == 20)
                .and_then(|digits| digits.parse().ok());
            numbers.extend(number);
        }
        numbers.sort_unstable();
        Ok(numbers)
    }

    fn begin(self, mut first: First) -> Result<Opened> {
        let snapshot = first.tree.snapshot();
        self.saving(0).run(&snapshot, &first.texts)?;
        let log = self.begin_log(0)?;
        Ok(Opened {
            store: self,
            first,
            log,
            last: 0,
            base: 0,
            older_log_bytes: 0,
            snapshot_time: unix_seconds(SystemTime::now()),
            recovery: Recovery::default(),
        })
    }

    fn recover(self, base: u64) -> Result<Opened> {
        let path = self.path(SNAPSHOT, base);
        let bytes = std::fs::read(&path).map_err(Error::io("read", &path))?;
        let written = std::fs::metadata(&path).and_then(|file| file.modified());
        let snapshot_time = written.map_or(0, unix_seconds);
        let snapshot = Snapshot::load(&bytes).map_err(|error| Error::Snapshot { path, error })?;
        drop(bytes);
        let (texts, lost_texts) = self.texts(base)?;
        let mut first = First {
            tree: BeTree::from_snapshot(&snapshot),
            texts,
        };
        let mut recovery = Recovery {
            found: true,
            lost_texts,
            ..Recovery::default()
        };
        let mut last = base;
        let mut log = None;
        let mut older_log_bytes = 0;
        let logs: Vec<u64> = self.numbers(LOG)?;
        for number in logs.into_iter().filter(|number| *number >= base) {
            let path = self.path(LOG, number);
            let bytes = std::fs::read(&path).map_err(Error::io("read", &path))?;
            let failed = |error| Error::Log {
                path: path.clone(),
                error,
            };
            let mut frames = Frames::new(&bytes).map_err(failed)?;
            let begins = if bytes.len() < header(0).len() {
                number
            } else {
                frames.last()
            };
            if number != last || begins != last {
                return Err(Error::Gap {
                    path,
                    found: begins.max(number),
                    ended: last,
                });
            }
            while let Some(frame) = frames.next_frame().map_err(failed)? {
                for (sequence, change) in (frame.sequence..).zip(&frame.changes) {
                    let replayed = first.apply(change);
                    replayed.map_err(|error| Error::Replay {
                        path: path.clone(),
                        sequence,
                        error,
                    })?;
                    recovery.replayed += 1;
                    last = sequence;
                }
            }
            let mut good = bytes.len() as u64;
            if let Ending::Torn { at, bytes } = frames.ending() {
                good = at as u64;
                recovery.cut = Some(Cut {
                    path: path.clone(),
                    at: good,
                    bytes: bytes as u64,
                });
            }
            if let Some((_, before, _)) = log.replace((path, good, number)) {
                older_log_bytes += before;
            }
        }
        // Logs before the last were complete when the next began, so only the last can be torn: a gap if not.
        let log = match log {
            Some((path, good, _)) if good >= header(0).len() as u64 => {
                LogFile::go_on(&path, good, self.sync)?
            }
            Some((path, _, number)) => LogFile::create(&path, number, self.sync)?,
            None => {
                recovery.missing_log = Some(self.path(LOG, base));
                self.begin_log(base)?
            }
        };
        Ok(Opened {
            store: self,
            first,
            log,
            last,
            base,
            older_log_bytes,
            snapshot_time,
            recovery,
        })
    }

    /// The expressions as they were written, as far as the directory has them, and what is wrong if that is not
    /// all.
    fn texts(&self, number: u64) -> Result<(Texts, Option<LostTexts>)> {
        let mut texts = Texts::default();
        let path = self.path(TEXTS, number);
        let bytes = match std::fs::read(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                let reason = "it is missing".to_owned();
                return Ok((texts, Some(LostTexts { path, reason })));
            }
            Err(error) => return Err(Error::io("read", &path)(error)),
        };
        let reason = match note_all(&bytes, &mut texts) {
            Ok(Ending::Whole) if bytes.is_empty() => Some("it is empty".to_owned()),
            Ok(Ending::Whole) => None,
            Ok(Ending::Torn { at, .. }) => Some(format!("it breaks off at byte {at}")),
            Err(error) => Some(error.to_string()),
        };
        Ok((texts, reason.map(|reason| LostTexts { path, reason })))
    }

    /// Begins the log of the changes after `last`.
    pub(crate) fn begin_log(&self, last: u64) -> Result<LogFile> {
        LogFile::create(&self.path(LOG, last), last, self.sync)
    }

    /// What writes the state after change `last`, on any thread.
    pub(crate) fn saving(&self, last: u64) -> Saving {
        let all = [SNAPSHOT, TEXTS, LOG];
        let older = all.iter().flat_map(|kind| {
            let numbers = self.numbers(kind).unwrap_or_default();
            let older = numbers.into_iter().filter(move |number| *number < last);
            older.map(|number| self.path(kind, number))
        });
        Saving {
            snapshot: self.path(SNAPSHOT, last),
            texts: self.path(TEXTS, last),
            older: older.collect(),
        }
    }
}

/// Notes the changes of a file.
fn note_all(bytes: &[u8], texts: &mut Texts) -> std::result::Result<Ending, LogError> {
    let mut frames = Frames::new(bytes)?;
    while let Some(frame) = frames.next_frame()? {
        for change in frame.changes {
            texts.note(&change);
        }
    }
    Ok(frames.ending())
}

/// A state to be written, and the files that it replaces.
#[derive(Debug)]
pub(crate) struct Saving {
    snapshot: PathBuf,
    texts: PathBuf,
    older: Vec<PathBuf>,
}

impl Saving {
    /// Writes the state, and removes what it replaces once it is durable. Returns the bytes of the snapshot.
    pub(crate) fn run(self, snapshot: &Snapshot, texts: &Texts) -> Result<u64> {
        let path = self.texts.as_path();
        write(path, |out| {
            out(&header(0))?;
            let (mut record, mut changes, mut sequence) = (Vec::new(), Vec::new(), 1);
            let mut all = texts.iter();
            loop {
                changes.clear();
                changes.extend(
                    all.by_ref()
                        .take(TEXTS_PER_RECORD)
                        .map(|(id, put)| Change::Put(*id, put.clone())),
                );
                if changes.is_empty() {
                    return Ok(());
                }
                record.clear();
                append(sequence, &changes, &mut record);
                sequence += changes.len() as u64;
                out(&record)?;
            }
        })?;
        let mut bytes = 0;
        write(&self.snapshot, |out| {
            snapshot.save(|piece| {
                bytes += piece.len() as u64;
                out(piece)
            })
        })?;
        for path in &self.older {
            // What cannot be removed is ignored by the next start, too.
            let _ = std::fs::remove_file(path);
        }
        Ok(bytes)
    }
}

/// Writes a file that appears when it is durable.
fn write(
    path: &Path,
    fill: impl FnOnce(&mut dyn FnMut(&[u8]) -> std::io::Result<()>) -> std::io::Result<()>,
) -> Result<()> {
    let target = Target::create(path, true, None, &files::Context::default())?;
    let mut out = BufWriter::new(target.writer());
    fill(&mut |piece| out.write_all(piece))
        .and_then(|()| out.flush())
        .and_then(|()| target.writer().file().sync_all())
        .map_err(Error::io("write", path))?;
    target.commit()?;
    sync_parent(path)
}
