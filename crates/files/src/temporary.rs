//! Files that have no name of their own yet, and are gone when they never get one.
//!
//! Where the system has them they have no name at all. Every other file is listed, so that a signal
//! that ends the process at once can remove them all. Killed by force, the process leaves a file
//! `.perfkit-XXXXXX.part`, which the next run that writes there removes.

use std::fs::File;
use std::io;
#[cfg(unix)]
use std::os::fd::BorrowedFd;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tempfile::TempPath;

use crate::Context;

#[cfg(unix)]
pub(super) mod leftovers;
pub(super) mod together;

/// Short and of one length, so that a target may have the longest name that there is.
pub(super) const PREFIX: &str = ".perfkit-";
pub(super) const SUFFIX: &str = ".part";

/// Files that are made until one is not taken for a leftover.
const ATTEMPTS: usize = 100;

static ALL: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// What a file is until it gets its own name; the file is removed on drop.
#[derive(Debug)]
pub struct Temporary {
    /// What it is called meanwhile, if anything. Gone once the file has its name.
    path: Option<TempPath>,
}

impl Temporary {
    /// Creates one in `directory`, with the rights `mode` less the umask where files have rights.
    pub fn create(directory: &Path, mode: u32, context: &Context) -> io::Result<(File, Self)> {
        context.makes_temporary();
        #[cfg(unix)]
        leftovers::sweep(directory, context);
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
        for _ in 0..ATTEMPTS {
            let (file, path) = builder.tempfile_in(directory)?.into_parts();
            #[cfg(unix)]
            if !leftovers::hold(&file) {
                continue;
            }
            all.push(path.to_path_buf());
            return Ok((file, Self { path: Some(path) }));
        }
        Err(io::Error::other("other processes remove what is written"))
    }

    /// One without a name, which cannot replace a file. `None`: not here.
    pub fn create_unnamed(directory: &Path, mode: u32) -> Option<(File, Self)> {
        unnamed::create(directory, mode).map(|file| (file, Self { path: None }))
    }

    /// What it is called meanwhile, if anything.
    pub fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// Gives `file` its name; an existing file of that name is an error unless `replace`.
    pub fn persist(mut self, file: &File, name: &Path, replace: bool) -> io::Result<()> {
        let Some(path) = self.path.take() else {
            return unnamed::persist(file, name);
        };
        let mut all = all();
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

/// A file without a name in an open directory. `None`: not here.
#[cfg(unix)]
pub fn unnamed_in(directory: BorrowedFd<'_>, mode: u32) -> Option<File> {
    #[cfg(target_os = "linux")]
    return unnamed::create_in(directory, Path::new("."), mode);
    #[cfg(not(target_os = "linux"))]
    {
        let _ = (directory, mode);
        None
    }
}

/// Gives such a file a name in an open directory, where there must be none.
#[cfg(unix)]
pub fn name_in(file: &File, directory: BorrowedFd<'_>, name: &Path) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    return unnamed::persist_in(file, directory, name);
    #[cfg(not(target_os = "linux"))]
    {
        let _ = (file, directory, name);
        Err(io::ErrorKind::Unsupported.into())
    }
}

/// Files that are on no directory yet. Whatever ends the process, they are gone with it.
#[cfg(target_os = "linux")]
mod unnamed {
    use std::fs::File;
    use std::io;
    use std::os::fd::{AsRawFd as _, BorrowedFd};
    use std::path::Path;
    use std::sync::OnceLock;

    use rustix::fs::{AtFlags, CWD, Mode, OFlags, linkat, openat};

    /// Not every file system has them, and without `/proc` they may not get a name.
    pub(super) fn create(directory: &Path, mode: u32) -> Option<File> {
        create_in(CWD, directory, mode)
    }

    /// The same in a directory below an open one.
    pub(super) fn create_in(at: BorrowedFd<'_>, directory: &Path, mode: u32) -> Option<File> {
        static NAMED_BY_PROC: OnceLock<bool> = OnceLock::new();
        if !NAMED_BY_PROC.get_or_init(|| Path::new("/proc/self/fd").is_dir()) {
            return None;
        }
        let flags = OFlags::TMPFILE | OFlags::WRONLY | OFlags::CLOEXEC;
        openat(at, directory, flags, Mode::from_bits_truncate(mode))
            .ok()
            .map(File::from)
    }

    pub(super) fn persist(file: &File, name: &Path) -> io::Result<()> {
        persist_in(file, CWD, name)
    }

    /// The same below an open directory.
    pub(super) fn persist_in(
        file: &File,
        directory: BorrowedFd<'_>,
        name: &Path,
    ) -> io::Result<()> {
        // Not every kernel lets everyone do it the short way.
        match linkat(file, c"", directory, name, AtFlags::EMPTY_PATH) {
            Ok(()) => return Ok(()),
            Err(error) if error == rustix::io::Errno::EXIST => return Err(error.into()),
            Err(_) => {}
        }
        let own = format!("/proc/self/fd/{}", file.as_raw_fd());
        Ok(linkat(CWD, own, directory, name, AtFlags::SYMLINK_FOLLOW)?)
    }
}

#[cfg(not(target_os = "linux"))]
mod unnamed {
    use std::fs::File;
    use std::io;
    use std::path::Path;

    pub(super) fn create(_: &Path, _: u32) -> Option<File> {
        None
    }

    pub(super) fn persist(_: &File, _: &Path) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

/// Does what a signal must not interrupt: [`remove_all`] waits until `work` is done. It may neither make nor
/// name a temporary file.
pub fn undisturbed<T>(context: &Context, work: impl FnOnce() -> T) -> T {
    context.makes_temporary();
    let _all = all();
    work()
}

/// Removes every temporary file of this process that has a name, and lets no thread make another or
/// finish one: call it right before the process ends.
pub fn remove_all() {
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
    #[cfg(target_os = "linux")]
    use std::io::Write as _;

    #[cfg(target_os = "linux")]
    #[test]
    fn what_has_no_name_is_nowhere_until_it_has_one_and_replaces_nothing() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("named");
        let create = || Temporary::create_unnamed(directory.path(), 0o600);
        let Some((file, kept)) = create() else {
            return; // Not on this file system.
        };
        (&file).write_all(b"whole").expect("written");
        let count = || std::fs::read_dir(directory.path()).expect("listed").count();
        assert_eq!(count(), 0);
        kept.persist(&file, &path, false).expect("named");
        assert_eq!(std::fs::read(&path).expect("read"), b"whole");
        let (other, late) = create().expect("another");
        let error = late.persist(&other, &path, false).expect_err("it exists");
        assert_eq!(error.kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(
            (count(), std::fs::read(&path).expect("read")),
            (1, b"whole".to_vec())
        );
    }

    #[test]
    fn what_never_got_a_name_is_gone_and_off_the_list() {
        let directory = tempfile::tempdir().expect("a directory");
        let here = || {
            all()
                .iter()
                .filter(|path| path.starts_with(directory.path()))
                .count()
        };
        let (file, dropped) =
            Temporary::create(directory.path(), 0o600, &Context::default()).expect("made");
        let (_, kept) =
            Temporary::create(directory.path(), 0o600, &Context::default()).expect("made");
        assert_eq!(here(), 2);
        drop(dropped);
        let longest = "n".repeat(255);
        kept.persist(&file, &directory.path().join(&longest), false)
            .expect("named");
        assert_eq!(here(), 0);
        let names: Vec<_> = std::fs::read_dir(directory.path())
            .expect("listed")
            .filter_map(|entry| Some(entry.ok()?.file_name()))
            .collect();
        assert_eq!(names, [longest.as_str()]);
    }
}
