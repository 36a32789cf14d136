//! Appends records to a file, and makes them durable by a policy.

use std::fs::{File, OpenOptions};
use std::io::{self, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::{append, header};
use crate::change::Change;
use crate::error::{Error, Result};

/// When a change is durable on the disk. Every policy survives the end of the process, however it ends: what is
/// acknowledged is with the operating system by then. They differ when the machine stops.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sync {
    /// Before it is acknowledged.
    Always,
    /// At most this long after it is acknowledged.
    Interval(Duration),
    /// When the operating system pleases, and at the latest with the next snapshot.
    Never,
}

/// A log that is written.
#[derive(Debug)]
pub(crate) struct LogFile {
    file: File,
    path: PathBuf,
    bytes: u64,
    sync: Sync,
    /// Since when there is something that is not synced.
    unsynced: Option<Instant>,
    /// Reused.
    record: Vec<u8>,
}

impl LogFile {
    /// A new log, durable with its name. `last` is the change before its first.
    pub(crate) fn create(path: &Path, last: u64, sync: Sync) -> Result<Self> {
        let mut file = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .open(path)
            .map_err(Error::io("create", path))?;
        file.write_all(&header(last))
            .and_then(|()| file.sync_all())
            .map_err(Error::io("write", path))?;
        sync_parent(path)?;
        let bytes = header(last).len() as u64;
        Ok(Self::new(file, path, bytes, sync))
    }

    /// Continues a log whose good records end at `bytes`; what follows is cut off.
    pub(crate) fn go_on(path: &Path, bytes: u64, sync: Sync) -> Result<Self> {
        let mut file = OpenOptions::new()
            .write(true)
            .open(path)
            .map_err(Error::io("open", path))?;
        file.set_len(bytes)
            .and_then(|()| file.seek(SeekFrom::Start(bytes)))
            .and_then(|_| file.sync_all())
            .map_err(Error::io("write", path))?;
        Ok(Self::new(file, path, bytes, sync))
    }

    fn new(file: File, path: &Path, bytes: u64, sync: Sync) -> Self {
        Self {
            file,
            path: path.to_path_buf(),
            bytes,
            sync,
            unsynced: None,
            record: Vec::new(),
        }
    }

    /// How long it is.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Appends one record; with [`Sync::Always`] it is durable afterwards.
    ///
    /// # Errors
    /// The system refuses. What the file has then is not known; it must not be written to any more.
    pub(crate) fn append<'c>(
        &mut self,
        sequence: u64,
        changes: impl IntoIterator<Item = &'c Change>,
    ) -> io::Result<()> {
        self.record.clear();
        append(sequence, changes, &mut self.record);
        self.file.write_all(&self.record)?;
        self.bytes += self.record.len() as u64;
        self.unsynced.get_or_insert_with(Instant::now);
        match self.sync {
            Sync::Always => self.sync_now(),
            Sync::Interval(_) | Sync::Never => Ok(()),
        }
    }

    /// When it must be synced at the latest.
    pub(crate) fn sync_due(&self) -> Option<Instant> {
        match self.sync {
            Sync::Interval(interval) => self.unsynced.map(|since| since + interval),
            Sync::Always | Sync::Never => None,
        }
    }

    /// Makes everything durable.
    pub(crate) fn sync_now(&mut self) -> io::Result<()> {
        if self.unsynced.take().is_some() {
            self.file.sync_data()?;
        }
        Ok(())
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

/// Makes the names in the directory of a file durable.
pub(crate) fn sync_parent(path: &Path) -> Result<()> {
    let parent = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    #[cfg(unix)]
    File::open(parent)
        .and_then(|directory| directory.sync_all())
        .map_err(Error::io("sync", parent))?;
    #[cfg(not(unix))]
    let _ = parent;
    Ok(())
}
