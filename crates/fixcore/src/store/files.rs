//! The directory of a store: names, the lock, and files that have all their bytes from the start.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::error::{StoreError, StoreResult};
use super::record::is_zero;

/// What names of segments end with, behind ten digits.
const SUFFIX: &str = ".segment";
/// What names of files end with that are not segments yet.
const NEW_SUFFIX: &str = ".new";
const LOCK: &str = "lock";
/// Bytes by which an unused segment is told.
pub(super) const BEGINNING_BYTES: usize = 4096;

/// The segment of a number.
pub(super) fn segment_path(dir: &Path, number: u64) -> PathBuf {
    dir.join(format!("{number:010}{SUFFIX}"))
}

/// The lock of a directory, held by everything that has a copy of this.
#[derive(Debug, Clone)]
pub(super) struct Lock {
    dir: PathBuf,
    _file: Arc<File>,
}

impl Lock {
    /// Whether a path is of a file in the directory that is locked.
    pub(super) fn covers(&self, path: &Path) -> bool {
        path.parent() == Some(self.dir.as_path())
    }
}

/// Makes the directory where it is missing, and takes its lock, which goes with the process.
pub(super) fn lock(dir: &Path) -> StoreResult<Lock> {
    fs::create_dir_all(dir).map_err(|error| StoreError::io("make", dir, error))?;
    let path = dir.join(LOCK);
    let file = OpenOptions::new()
        .create(true)
        .truncate(false)
        .write(true)
        .open(&path)
        .map_err(|error| StoreError::io("open", &path, error))?;
    match file.try_lock() {
        Ok(()) => Ok(Lock {
            dir: dir.to_owned(),
            _file: Arc::new(file),
        }),
        Err(TryLockError::WouldBlock) => Err(StoreError::Locked {
            dir: dir.to_owned(),
        }),
        Err(TryLockError::Error(error)) => Err(StoreError::io("lock", &path, error)),
    }
}

/// The numbers of the segments, ascending.
pub(super) fn segments(dir: &Path) -> StoreResult<Vec<u64>> {
    let failed = |error| StoreError::io("read", dir, error);
    let mut numbers = Vec::new();
    for entry in fs::read_dir(dir).map_err(failed)? {
        let name = entry.map_err(failed)?.file_name();
        let digits = name.to_str().and_then(|name| name.strip_suffix(SUFFIX));
        numbers.extend(digits.and_then(|digits| digits.parse::<u64>().ok()));
    }
    numbers.sort_unstable();
    Ok(numbers)
}

/// Opens a segment.
pub(super) fn open(path: &Path) -> StoreResult<File> {
    writable(path).map_err(|error| StoreError::io("open", path, error))
}

/// Opens a file to read and to write it.
pub(super) fn writable(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).open(path)
}

/// Whether a file has nothing but zeros behind its beginning.
pub(super) fn is_zero_behind_beginning(path: &Path) -> StoreResult<bool> {
    let read = || {
        let mut file = File::open(path)?;
        file.seek(SeekFrom::Start(BEGINNING_BYTES as u64))?;
        let mut block = vec![0; 64 << 10];
        loop {
            match file.read(&mut block)? {
                0 => return Ok(true),
                some if !is_zero(block.get(..some).unwrap_or_default()) => return Ok(false),
                _ => {}
            }
        }
    };
    read().map_err(|error| StoreError::io("read", path, error))
}

/// Makes a segment of zeros, of which every byte has its place on the disk. It gets its name when it
/// is whole, and nothing is left of one that does not fit.
pub(super) fn create(path: &Path, bytes: u64) -> StoreResult<File> {
    let new = path.with_extension(NEW_SUFFIX.trim_start_matches('.'));
    let made = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(true)
        .open(&new)
        .and_then(|file| {
            allocate(&file, bytes)?;
            fs::rename(&new, path)?;
            Ok(file)
        });
    made.map_err(|error| {
        // What cannot be removed is removed by the next who opens the store.
        let _ = fs::remove_file(&new);
        failed(path, bytes, error)
    })
}

/// Removes what was to be a segment.
pub(super) fn remove_new(dir: &Path) -> StoreResult<()> {
    let failed = |error| StoreError::io("read", dir, error);
    for entry in fs::read_dir(dir).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path.to_string_lossy().ends_with(NEW_SUFFIX) {
            remove(&path)?;
        }
    }
    Ok(())
}

/// Gives a file of zeros, or the zeros that it ends with, places on the disk.
pub(super) fn allocate(file: &File, bytes: u64) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    {
        use rustix::fs::FallocateFlags;
        match rustix::fs::fallocate(file, FallocateFlags::empty(), 0, bytes) {
            Ok(()) => return Ok(()),
            Err(rustix::io::Errno::OPNOTSUPP | rustix::io::Errno::NOSYS) => {}
            Err(error) => return Err(error.into()),
        }
    }
    zeros(file, bytes)
}

/// The same where the system has no call for it.
fn zeros(mut file: &File, bytes: u64) -> io::Result<()> {
    use std::io::Write as _;
    let block = [0; 4096];
    let mut left = bytes.saturating_sub(file.seek(io::SeekFrom::End(0))?);
    while left > 0 {
        let some = left.min(block.len() as u64);
        file.write_all(block.get(..some as usize).unwrap_or_default())?;
        left -= some;
    }
    Ok(())
}

/// An error of a call that needs room.
pub(super) fn failed(path: &Path, bytes: u64, error: io::Error) -> StoreError {
    use io::ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull};
    match error.kind() {
        StorageFull | QuotaExceeded | FileTooLarge => StoreError::Full {
            path: path.to_owned(),
            bytes,
            source: Some(error),
        },
        _ => StoreError::io("make", path, error),
    }
}

/// Removes a segment.
pub(super) fn remove(path: &Path) -> StoreResult<()> {
    fs::remove_file(path).map_err(|error| StoreError::io("remove", path, error))
}

/// Waits until the names of a directory are on the disk.
pub(super) fn sync_names(dir: &Path) -> StoreResult<()> {
    #[cfg(unix)]
    {
        let failed = |error| StoreError::io("sync", dir, error);
        File::open(dir)
            .and_then(|file| file.sync_all())
            .map_err(failed)?;
    }
    #[cfg(not(unix))]
    let _ = dir;
    Ok(())
}
