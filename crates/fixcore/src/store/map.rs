//! Memory that is a file: the one place of the store that is unsafe, and why it may be.
//!
//! Mapped memory changes when anybody writes to the file, and reading it ends the process when the
//! file became shorter. Neither is in this process's hands, so it is a promise of the store's owner:
//! the lock keeps other stores away, files are allocated before they are mapped, so that a full disk
//! is an error of that call, and no file is cut while it is mapped. What is read is bytes, for
//! which any value is a value.

#![allow(unsafe_code, reason = "memory that is a file")]

use std::fs::File;
use std::io;
use std::ops::{Deref, DerefMut};

use memmap2::MmapMut;

/// A whole file as memory.
#[derive(Debug)]
pub(super) struct Map(MmapMut);

impl Map {
    /// Maps a file of which every byte is allocated.
    pub(super) fn new(file: &File) -> io::Result<Self> {
        // SAFETY: see the module: the directory is locked, the file has its length and keeps it,
        // and its bytes are only looked at as bytes.
        unsafe { MmapMut::map_mut(file) }.map(Self)
    }

    /// Has the system find memory for a range now rather than when it is written. What does not
    /// succeed here is done then.
    pub(super) fn populate(&self, from: usize, bytes: usize) {
        #[cfg(target_os = "linux")]
        {
            let _ = self
                .0
                .advise_range(memmap2::Advice::PopulateWrite, from, bytes);
        }
        #[cfg(not(target_os = "linux"))]
        let _ = (from, bytes);
    }

    /// Asks for what will be looked at soon.
    #[inline]
    pub(super) fn fetch(&self, at: usize) {
        #[cfg(target_arch = "x86_64")]
        {
            use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            // SAFETY: fetching changes nothing and does not fail, wherever it is.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(self.0.as_ptr().wrapping_add(at).cast()) };
        }
        #[cfg(not(target_arch = "x86_64"))]
        let _ = at;
    }

    /// Waits until a range is on the disk.
    pub(super) fn sync(&self, from: usize, bytes: usize) -> io::Result<()> {
        self.0.flush_range(from, bytes)
    }
}

impl Deref for Map {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        &self.0
    }
}

impl DerefMut for Map {
    #[inline]
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.0
    }
}
