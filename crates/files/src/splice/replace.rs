//! Replacing the end of a file, and undoing what a killed process left.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::path::Path;

use super::bytes::{Bytes, copy};
use super::undo::Undo;

/// Opens a file to change it, and locks out other processes that do the same until it is closed. Also
/// returns whether the end of a change that was cut off was put back.
///
/// # Errors
/// Another process has the lock; or the undo file is of another file, or not one.
pub fn lock(path: &Path) -> io::Result<(File, bool)> {
    let file = OpenOptions::new().read(true).write(true).open(path)?;
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => {
            return Err(io::Error::other("another process is changing it"));
        }
        // Not every file system has locks.
        Ok(()) | Err(TryLockError::Error(_)) => {}
    }
    let Some(undo) = Undo::find(&file, path)? else {
        return Ok((file, false));
    };
    undo.put_back(&file)?;
    undo.discard()?;
    Ok((file, true))
}

/// Replaces all from byte `at` of a file on by what `end` holds.
///
/// # Errors
/// There is no room, or a write fails; then the old end is back.
pub fn replace(file: &File, path: &Path, at: u64, end: &File) -> io::Result<()> {
    let (old, new) = (file.metadata()?.len(), at + end.metadata()?.len());
    let undo = Undo::keep(file, path, at, new)?;
    if let Err(error) = reserve(file, old, new) {
        // What was given of it goes back.
        let _ = file.cut(old);
        let _ = undo.discard();
        return Err(error);
    }
    replace_over(file, undo, end, new)
}

fn replace_over(to: &impl Bytes, undo: Undo, end: &File, new: u64) -> io::Result<()> {
    let (at, old) = (undo.at(), undo.end());
    // What lies behind the old end goes first: until the rest follows that is still in its place.
    let split = old.clamp(at, new);
    let written = copy(end, split - at, new - at, |bytes, from| {
        to.put(bytes, at + from)
    })
    .and_then(|()| copy(end, 0, split - at, |bytes, from| to.put(bytes, at + from)))
    .and_then(|()| if new < old { to.cut(new) } else { Ok(()) });
    if written.is_err() {
        // Where this fails too the undo file stays.
        undo.put_back(to)?;
    }
    undo.discard().and(written)
}

/// Sees to it that a file can grow, without making it grow.
fn reserve(file: &File, old: u64, new: u64) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    if new > old {
        use rustix::fs::{FallocateFlags, fallocate};
        use rustix::io::Errno;
        return match fallocate(file, FallocateFlags::KEEP_SIZE, old, new - old) {
            // Not every file system can; the writes will tell.
            Err(Errno::OPNOTSUPP | Errno::NOSYS | Errno::INVAL) | Ok(()) => Ok(()),
            Err(error) => Err(error.into()),
        };
    }
    let _ = (file, old, new);
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::io::Write as _;
    use std::path::PathBuf;

    use super::*;

    /// A file that fails after some bytes: once, or for good as for a process that was killed.
    struct Failing {
        file: File,
        left: Cell<Option<usize>>,
        for_good: bool,
    }

    impl Bytes for Failing {
        fn get(&self, room: &mut [u8], at: u64) -> io::Result<usize> {
            self.file.get(room, at)
        }

        fn put(&self, bytes: &[u8], at: u64) -> io::Result<()> {
            let Some(left) = self.left.get() else {
                return self.file.put(bytes, at);
            };
            let taken = left.min(bytes.len());
            self.file.put(&bytes[..taken], at)?;
            self.left.set(Some(left - taken));
            if taken == bytes.len() {
                return Ok(());
            }
            if !self.for_good {
                self.left.set(None);
            }
            Err(io::ErrorKind::StorageFull.into())
        }

        fn cut(&self, bytes: u64) -> io::Result<()> {
            match self.left.get() {
                Some(_) if self.for_good => Err(io::ErrorKind::StorageFull.into()),
                _ => self.file.cut(bytes),
            }
        }
    }

    struct Case {
        directory: tempfile::TempDir,
        end: File,
    }

    const OLD: &[u8] = b"what stays and THE OLD END";
    const AT: u64 = 15;

    impl Case {
        fn new(end: &[u8]) -> Self {
            let directory = tempfile::tempdir().expect("a directory");
            let mut file = tempfile::tempfile().expect("a file");
            file.write_all(end).expect("written");
            std::fs::write(directory.path().join("a"), OLD).expect("written");
            Self {
                directory,
                end: file,
            }
        }

        fn path(&self) -> PathBuf {
            self.directory.path().join("a")
        }

        fn bytes(&self) -> Vec<u8> {
            std::fs::read(self.path()).expect("read")
        }

        fn files(&self) -> usize {
            let listed = std::fs::read_dir(self.directory.path());
            listed.expect("listed").count()
        }
    }

    const ENDS: [&[u8]; 4] = [
        b"a new end, longer than the old one",
        b"about as long",
        b"short",
        b"",
    ];

    #[test]
    fn the_end_becomes_the_new_one() {
        for end in ENDS {
            let case = Case::new(end);
            let (file, undone) = lock(&case.path()).expect("locked");
            assert!(!undone);
            let again = lock(&case.path()).expect_err("it is locked");
            assert!(again.to_string().contains("another process"), "{again}");
            replace(&file, &case.path(), AT, &case.end).expect("replaced");
            assert_eq!(case.bytes(), [&OLD[..AT as usize], end].concat());
            assert_eq!(case.files(), 1);
        }
    }

    #[test]
    fn whichever_byte_fails_the_old_end_is_back() {
        for end in ENDS {
            for fails_at in 0..end.len() {
                let case = Case::new(end);
                let (file, _) = lock(&case.path()).expect("locked");
                let undo = Undo::keep(&file, &case.path(), AT, 1 << 20).expect("kept");
                let left = Cell::new(Some(fails_at));
                let failing = Failing {
                    file,
                    left,
                    for_good: false,
                };
                let new = AT + end.len() as u64;
                let failed = replace_over(&failing, undo, &case.end, new);
                let kind = failed.expect_err("it is full").kind();
                assert_eq!(kind, io::ErrorKind::StorageFull);
                assert_eq!((&case.bytes()[..], case.files()), (OLD, 1), "{fails_at}");
            }
        }
    }

    #[test]
    fn whenever_it_is_killed_the_next_one_finds_the_old_end() {
        for end in ENDS {
            for killed_at in 0..end.len() {
                let case = Case::new(end);
                let (file, _) = lock(&case.path()).expect("locked");
                let undo = Undo::keep(&file, &case.path(), AT, 1 << 20).expect("kept");
                let left = Cell::new(Some(killed_at));
                let failing = Failing {
                    file,
                    left,
                    for_good: true,
                };
                let new = AT + end.len() as u64;
                replace_over(&failing, undo, &case.end, new).expect_err("it is dead");
                drop(failing);
                assert_eq!(case.files(), 2);
                let (_file, undone) = lock(&case.path()).expect("locked");
                assert!(undone);
                assert_eq!((&case.bytes()[..], case.files()), (OLD, 1), "{killed_at}");
            }
        }
    }

    #[test]
    fn killed_while_the_old_end_is_kept_nothing_has_happened_yet() {
        let case = Case::new(b"");
        let (file, _) = lock(&case.path()).expect("locked");
        let undo = Undo::keep(&file, &case.path(), AT, 1 << 20).expect("kept");
        let path = undo.path().to_owned();
        drop((undo, file));
        let whole = std::fs::read(&path).expect("read");
        for cut in 0..whole.len() {
            std::fs::write(&path, &whole[..cut]).expect("written");
            let (_file, undone) = lock(&case.path()).expect("locked");
            assert!(!undone, "{cut}");
            assert_eq!((&case.bytes()[..], case.files()), (OLD, 1), "{cut}");
        }
    }

    #[test]
    fn the_end_of_another_file_is_not_put_back() {
        let case = Case::new(b"");
        let (file, _) = lock(&case.path()).expect("locked");
        let undo = Undo::keep(&file, &case.path(), AT, 1 << 20).expect("kept");
        drop((undo, file));
        std::fs::write(case.path(), b"another content that is as long").expect("written");
        let error = lock(&case.path()).expect_err("it is of another");
        assert!(error.to_string().contains("a.perfkit-undo"), "{error}");
        assert_eq!(case.bytes(), b"another content that is as long");
    }

    #[test]
    fn what_another_program_changed_since_and_what_is_not_ours_is_left_alone() {
        let case = Case::new(b"");
        let (file, _) = lock(&case.path()).expect("locked");
        let undo = Undo::keep(&file, &case.path(), AT, OLD.len() as u64 + 5).expect("kept");
        let kept = undo.path().to_owned();
        drop((undo, file));
        let longer = [OLD, b"of another program"].concat();
        std::fs::write(case.path(), &longer).expect("written");
        let error = lock(&case.path()).expect_err("it was changed");
        assert!(
            error.to_string().contains("another program has changed it"),
            "{error}"
        );
        assert_eq!((case.bytes(), case.files()), (longer, 2));
        // The file of that name goes with the file that it is of, but not what is somebody's own.
        Undo::forget(&case.path());
        assert!(!kept.exists());
        std::fs::write(&kept, b"mine").expect("written");
        Undo::forget(&case.path());
        let error = lock(&case.path()).expect_err("it is not ours");
        assert!(
            error.to_string().contains("is no file of perfkit's"),
            "{error}"
        );
        assert_eq!(std::fs::read(&kept).expect("read"), b"mine");
    }
}
