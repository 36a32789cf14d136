//! Files that have no name of their own yet, and are gone when they never get one.
//!
//! Every such file of the process is listed, so that a signal that ends the process at once can
//! remove them all. Killed by force, the process leaves a file `.perfkit-XXXXXX.part`.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tempfile::TempPath;

use crate::term::signal;

/// Short and of one length, so that a target may have the longest name that there is.
const PREFIX: &str = ".perfkit-";
const SUFFIX: &str = ".part";

static ALL: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// The name of a file until it gets its own; the file is removed on drop.
#[derive(Debug)]
pub(crate) struct Temporary {
    /// Gone once the file has its name.
    path: Option<TempPath>,
}

impl Temporary {
    /// Creates one in `directory`, with the rights `mode` less the umask where files have rights.
    pub(crate) fn create(directory: &Path, mode: u32) -> io::Result<(File, Self)> {
        signal::guard(remove_all);
        let mut builder = tempfile::Builder::new();
        builder.prefix(PREFIX).suffix(SUFFIX);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            builder.permissions(std::fs::Permissions::from_mode(mode));
        }
        #[cfg(not(unix))]
        let _ = mode;
        // Held while the file is made: no signal falls between the file and its place on the list.
        let mut all = all();
        let (file, path) = builder.tempfile_in(directory)?.into_parts();
        all.push(path.to_path_buf());
        Ok((file, Self { path: Some(path) }))
    }

    /// Gives the file its name; an existing file of that name is an error unless `replace`.
    pub(crate) fn persist(mut self, name: &Path, replace: bool) -> io::Result<()> {
        let mut all = all();
        let Some(path) = self.path.take() else {
            return Ok(());
        };
        all.retain(|listed| listed.as_path() != &*path);
        let persisted = if replace {
            path.persist(name)
        } else {
            path.persist_noclobber(name)
        };
        // A file that did not get its name is in the error, and is removed with it.
        persisted.map_err(|error| error.error)
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if let Some(path) = self.path.take() {
            let mut all = all();
            all.retain(|listed| listed.as_path() != &*path);
            drop(path);
        }
    }
}

/// Removes every temporary file, and lets nobody make another or finish one.
fn remove_all() {
    let all = all();
    for path in &*all {
        let _ = std::fs::remove_file(path);
    }
    std::mem::forget(all);
}

fn all() -> MutexGuard<'static, Vec<PathBuf>> {
    ALL.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_never_got_a_name_is_gone_and_off_the_list() {
        let directory = tempfile::tempdir().expect("a directory");
        let here = || {
            all()
                .iter()
                .filter(|path| path.starts_with(directory.path()))
                .count()
        };
        let (_, dropped) = Temporary::create(directory.path(), 0o600).expect("made");
        let (_, kept) = Temporary::create(directory.path(), 0o600).expect("made");
        assert_eq!(here(), 2);
        drop(dropped);
        let longest = "n".repeat(255);
        kept.persist(&directory.path().join(&longest), false)
            .expect("named");
        assert_eq!(here(), 0);
        let names: Vec<_> = std::fs::read_dir(directory.path())
            .expect("listed")
            .filter_map(|entry| Some(entry.ok()?.file_name()))
            .collect();
        assert_eq!(names, [longest.as_str()]);
    }
}
