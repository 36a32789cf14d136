//! The directory of a store: file names, the lock, and files that are allocated whole.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::error::{StoreError, StoreResult};
use super::record::is_zero;

/// The suffix of a segment's name, after ten digits.
const SUFFIX: &str = ".segment";
/// The suffix of a file that is not a segment yet.
const NEW_SUFFIX: &str = ".new";
const LOCK: &str = "lock";
/// How many bytes show whether a segment was used.
pub(super) const BEGINNING_BYTES: usize = 4096;

/// The path of a segment by its number.
pub(super) fn segment_path(dir: &Path, number: u64) -> PathBuf {
    dir.join(format!("{number:010}{SUFFIX}"))
}

/// The lock of a directory, held while any copy of this value exists.
#[derive(Debug, Clone)]
pub(super) struct Lock {
    dir: PathBuf,
    _file: Arc<File>,
}

impl Lock {
    /// Whether a path names a file in the locked directory.
    pub(super) fn covers(&self, path: &Path) -> bool {
        path.parent() == Some(self.dir.as_path())
    }
}

/// Creates the directory if needed and takes its lock, which ends with the process.
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

/// Opens a file for reading and writing.
pub(super) fn writable(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).open(path)
}

/// Whether a file has only zeros after its beginning.
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

/// Creates a segment of zeros with every byte allocated on the disk. It gets its name when it is
/// complete; nothing is left of one that does not fit.
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
        // A file that cannot be removed now is removed when the store is opened next.
        let _ = fs::remove_file(&new);
        failed(path, bytes, error)
    })
}

/// Removes files that did not become segments.
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

/// Allocates a file of zeros, or the zeros at its end, on the disk.
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

/// The same without a system call for it.
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

/// The error of a call that needs room.
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

/// Waits until the directory's entries are on the disk.
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
