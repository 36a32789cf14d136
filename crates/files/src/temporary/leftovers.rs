//! Files of runs that were ended by force. Whoever writes a temporary file holds a lock on it, which the
//! system takes back with the process: a file with our name and no lock is a leftover, and is
//! removed when the next run writes to its directory.

use std::collections::HashSet;
use std::fs::{File, TryLockError};
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use rustix::fs::{AtFlags, Dir, Mode, OFlags, openat, statat, unlinkat};

use super::{PREFIX, SUFFIX};
use crate::Context;

/// Directories that this process has looked through, by device and number.
static SWEPT: Mutex<Option<HashSet<(u64, u64)>>> = Mutex::new(None);
/// A directory with more names than this is not looked through.
const NAMES_MAX: usize = 1 << 16;
/// Letters and digits of a name that is drawn.
const DRAWN_CHARS: usize = 6;

/// Shows other processes that a file is being written. `false`: one of them has just taken it for a
/// leftover.
pub(crate) fn hold(file: &File) -> bool {
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => false,
        // Not every file system has locks, and there leftovers are kept.
        Ok(()) | Err(TryLockError::Error(_)) => file
            .metadata()
            .map_or(true, |metadata| metadata.nlink() > 0),
    }
}

/// Removes what killed runs left in a directory, once a process.
pub(super) fn sweep(directory: &Path, context: &Context) {
    if let Ok(directory) = File::open(directory) {
        sweep_in(directory.as_fd(), context);
    }
}

/// The same in an open directory.
pub(crate) fn sweep_in(directory: BorrowedFd<'_>, context: &Context) {
    // Nothing depends on it: what cannot be read or removed stays.
    let _ = look_through(directory, context);
}

fn look_through(directory: BorrowedFd<'_>, context: &Context) -> io::Result<()> {
    let stat = rustix::fs::fstat(directory)?;
    let mut swept = SWEPT.lock().unwrap_or_else(PoisonError::into_inner);
    let swept = swept.get_or_insert_default();
    if !swept.insert((stat.st_dev as u64, stat.st_ino as u64)) {
        return Ok(());
    }
    for entry in Dir::read_from(directory)?.take(NAMES_MAX) {
        let entry = entry?;
        if let Ok(name) = entry.file_name().to_str()
            && is_ours(name)
            && remove(directory, name).is_ok_and(|removed| removed)
        {
            context.removed(name);
        }
    }
    Ok(())
}

/// Whether a name is one that temporary files get: six letters and digits, or the number of a process
/// and of the file.
fn is_ours(name: &str) -> bool {
    let inner = name
        .strip_prefix(PREFIX)
        .and_then(|name| name.strip_suffix(SUFFIX));
    inner.is_some_and(|inner| {
        let drawn = inner.len() == DRAWN_CHARS && inner.bytes().all(|b| b.is_ascii_alphanumeric());
        let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        let numbered = inner.split_once('-');
        drawn || numbered.is_some_and(|(process, file)| digits(process) && digits(file))
    })
}

/// Removes a file that is not locked; returns whether it is gone.
fn remove(directory: BorrowedFd<'_>, name: &str) -> io::Result<bool> {
    let flags = OFlags::RDWR | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = File::from(openat(directory, name, flags, Mode::empty())?);
    let metadata = file.metadata()?;
    let user = rustix::process::geteuid().as_raw();
    if !metadata.is_file() || metadata.uid() != user || file.try_lock().is_err() {
        return Ok(false);
    }
    // The name may lead to another file by now.
    let named = statat(directory, name, AtFlags::SYMLINK_NOFOLLOW)?;
    if (named.st_dev as u64, named.st_ino as u64) != (metadata.dev(), metadata.ino()) {
        return Ok(false);
    }
    unlinkat(directory, name, AtFlags::empty())?;
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_that_are_given_here_are_ours() {
        for name in [".perfkit-aB3xYz.part", ".perfkit-1234-0.part"] {
            assert!(is_ours(name), "{name}");
        }
        for name in [
            ".perfkit-.part",
            ".perfkit-abcdefg.part",
            ".perfkit-abc.ef.part",
            ".perfkit-12-.part",
            ".perfkit-aB3xYz.parts",
            "x.perfkit-aB3xYz.part",
            "a.zip.perfkit-undo",
        ] {
            assert!(!is_ours(name), "{name}");
        }
    }

    #[test]
    fn what_nobody_holds_goes_and_what_somebody_writes_stays() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = |name: &str| directory.path().join(name);
        let live = File::create(path(".perfkit-LIVE00.part")).expect("made");
        assert!(hold(&live));
        std::fs::write(path(".perfkit-DEAD00.part"), b"half").expect("written");
        std::fs::write(path("mine.part"), b"mine").expect("written");
        std::fs::create_dir(path(".perfkit-ADIR00.part")).expect("made");
        std::os::unix::fs::symlink("mine.part", path(".perfkit-ALINK0.part")).expect("made");
        // Another test's directory may have had the number of this one.
        let now = std::fs::metadata(directory.path()).expect("there");
        let mut swept = SWEPT.lock().unwrap_or_else(PoisonError::into_inner);
        swept
            .get_or_insert_default()
            .remove(&(now.dev(), now.ino()));
        drop(swept);
        sweep(directory.path(), &Context::default());
        let names = std::fs::read_dir(directory.path()).expect("listed");
        let mut names: Vec<_> = names
            .map(|name| {
                name.expect("a name")
                    .file_name()
                    .into_string()
                    .expect("text")
            })
            .collect();
        names.sort();
        let expected = [
            ".perfkit-ADIR00.part",
            ".perfkit-ALINK0.part",
            ".perfkit-LIVE00.part",
            "mine.part",
        ];
        assert_eq!(names, expected);
        // Once a process is enough.
        std::fs::write(path(".perfkit-DEAD01.part"), b"half").expect("written");
        sweep(directory.path(), &Context::default());
        assert!(path(".perfkit-DEAD01.part").exists());
    }

    #[test]
    fn a_file_that_was_taken_away_is_not_held() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join(".perfkit-AAAAAA.part");
        let file = File::create(&path).expect("made");
        let other = File::open(&path).expect("opened");
        other.try_lock().expect("locked");
        assert!(!hold(&file), "another process is about to remove it");
        std::fs::remove_file(&path).expect("removed");
        drop(other);
        assert!(!hold(&file), "it is gone");
    }
}
