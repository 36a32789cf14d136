//! Mapped files: the only unsafe code of the store, and why it is sound.
//!
//! Mapped memory changes when another program writes to the file, and reading it ends the process when
//! the file was shortened. Other stores do neither: a [`Map`] is made only of a file in a directory
//! whose lock is held, and holds that lock while it exists. This store writes to its files only
//! through their maps, and shortens none. No library can stop a program that ignores the lock:
//! [`Store::open`](super::Store::open) documents this. Files are allocated before they are mapped, so
//! a full disk is an error of that call. The memory is read as bytes, for which every value is valid.

#![allow(unsafe_code, reason = "memory that is a file")]

use std::io;
use std::ops::{Deref, DerefMut};
use std::path::Path;

use memmap2::MmapMut;

use super::error::{StoreError, StoreResult};
use super::files::{self, Lock};

/// A whole file as memory.
#[derive(Debug)]
pub(super) struct Map {
    bytes: MmapMut,
    /// Dropped after the memory.
    _lock: Lock,
}

impl Map {
    /// Maps a file of the locked directory. All its bytes are allocated.
    pub(super) fn new(lock: &Lock, path: &Path) -> io::Result<Self> {
        if !lock.covers(path) {
            let why = "the file is not in the directory whose lock is held";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
        }
        let file = files::writable(path)?;
        // SAFETY: the file is in a directory whose lock is held until the memory is unmapped, so no
        // other store writes to it or shortens it, and this one shortens none of its files; the module
        // says what holds for programs that ignore the lock. The memory is accessed as bytes only.
        let bytes = unsafe { MmapMut::map_mut(&file) }?;
        Ok(Self {
            bytes,
            _lock: lock.clone(),
        })
    }

    /// Keeps all of it in memory.
    pub(super) fn locked(self, path: &Path) -> StoreResult<Self> {
        #[cfg(unix)]
        self.bytes
            .lock()
            .map_err(|error| StoreError::io("lock in memory (see `ulimit -l`)", path, error))?;
        #[cfg(not(unix))]
        let _ = path;
        Ok(self)
    }

    /// Populates the memory of a range now rather than at the first write. If that fails here, it
    /// happens then.
    pub(super) fn populate(&self, from: usize, bytes: usize) {
        #[cfg(target_os = "linux")]
        {
            let _ = self
                .bytes
                .advise_range(memmap2::Advice::PopulateWrite, from, bytes);
        }
        #[cfg(not(target_os = "linux"))]
        let _ = (from, bytes);
    }

    /// Prefetches bytes that will be read soon.
    #[inline]
    pub(super) fn fetch(&self, at: usize) {
        #[cfg(target_arch = "x86_64")]
        {
            use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            // SAFETY: a prefetch changes nothing and cannot fault, whatever the address.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(self.bytes.as_ptr().wrapping_add(at).cast()) };
        }
        #[cfg(not(target_arch = "x86_64"))]
        let _ = at;
    }

    /// Waits until a range is on the disk.
    pub(super) fn sync(&self, from: usize, bytes: usize) -> io::Result<()> {
        self.bytes.flush_range(from, bytes)
    }
}

impl Deref for Map {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        &self.bytes
    }
}

impl DerefMut for Map {
    #[inline]
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_map_is_of_a_locked_file_and_keeps_the_lock() {
        let (own, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let lock = files::lock(own.path()).unwrap();
        let path = |dir: &tempfile::TempDir| files::segment_path(dir.path(), 1);
        for dir in [&own, &other] {
            files::create(&path(dir), 8192).unwrap();
        }
        let error = Map::new(&lock, &path(&other)).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
        let map = Map::new(&lock, &path(&own)).unwrap();
        drop(lock);
        assert_eq!(map.len(), 8192);
        assert!(files::lock(own.path()).is_err(), "while it is mapped");
        drop(map);
        assert!(files::lock(own.path()).is_ok());
    }
}
