//! The file of `--ready-file`, which is there as long as a server answers: an old one is removed before anything else
//! is done, the new one appears whole, and goes at the first signal, or whenever the server ends.

use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, Once, PoisonError};

use files::target::Target;

use crate::failure::{Failure, Result};
use crate::io::context;
use crate::term::signal;

/// What was written: its path, and the file, which stays open so that no other one is taken for it.
static WRITTEN: Mutex<Option<(PathBuf, File)>> = Mutex::new(None);

/// The file, gone on drop.
#[derive(Debug)]
#[must_use = "the file goes with it"]
pub(crate) struct Ready<'a>(Option<&'a Path>);

impl<'a> Ready<'a> {
    /// Removes what an earlier run has left. Devices and pipes stay.
    pub(crate) fn clear(path: Option<&'a Path>) -> Result<Self> {
        if let Some(path) = path
            && path.is_file()
        {
            // The file that a link leads to is the one that is written.
            let removed = path.canonicalize().and_then(std::fs::remove_file);
            removed.map_err(|error| Failure::io("remove", path, &error))?;
        }
        Ok(Self(path))
    }

    /// Writes these lines.
    pub(crate) fn write(&self, lines: &str) -> Result<()> {
        static GUARDED: Once = Once::new();
        let Some(path) = self.0 else {
            return Ok(());
        };
        // Supervisors are told at the first signal, not when all is finished.
        GUARDED.call_once(|| signal::guard_running(remove, remove));
        let target = Target::create(path, true, None, context())?;
        let written = writeln!(target.writer(), "{lines}");
        written.map_err(|error| Failure::io("write", path, &error))?;
        target.commit()?;
        if path.is_file()
            && let Ok(file) = File::open(path)
        {
            let mut known = WRITTEN.lock().unwrap_or_else(PoisonError::into_inner);
            *known = Some((path.to_owned(), file));
        }
        // A signal that came meanwhile found nothing to remove.
        if signal::interrupted() {
            remove();
        }
        Ok(())
    }
}

impl Drop for Ready<'_> {
    fn drop(&mut self) {
        remove();
    }
}

/// Removes the file, unless another server has written one there since.
fn remove() {
    let mut written = WRITTEN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((path, file)) = written.take()
        && is_at(&file, &path)
        && let Ok(path) = path.canonicalize()
    {
        // If that fails, the next start removes it.
        let _ = std::fs::remove_file(path);
    }
}

#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let place = |facts: std::fs::Metadata| (facts.dev(), facts.ino());
    match (file.metadata(), path.metadata()) {
        (Ok(own), Ok(there)) => place(own) == place(there),
        _ => false,
    }
}

#[cfg(not(unix))]
fn is_at(_: &File, path: &Path) -> bool {
    path.is_file()
}
