//! Memory that the kernel may work on.
#![allow(
    unsafe_code,
    reason = "addresses for the kernel within memory that is allocated by hand"
)]

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::io;
use std::ptr::NonNull;

/// A page: the alignment of a ring of buffers.
const PAGE_BYTES: usize = 4096;

/// Memory for the kernel, zeroed, on page boundaries.
#[derive(Debug)]
pub(super) struct Pages {
    /// The allocation.
    all: NonNull<u8>,
    layout: Layout,
    /// The first page boundary in it, and the number of bytes from there on.
    start: NonNull<u8>,
    bytes: usize,
}

impl Pages {
    fn new(bytes: usize) -> io::Result<Self> {
        // Aligned by hand: the allocator zeroes aligned memory page by page, which would touch all of
        // it before any is used.
        let no_memory = || io::Error::from(io::ErrorKind::OutOfMemory);
        let with_page = bytes.checked_add(PAGE_BYTES).ok_or_else(no_memory)?;
        let layout = Layout::array::<u128>(with_page / size_of::<u128>() + 1);
        let layout = layout.map_err(|_| no_memory())?;
        // SAFETY: the layout has at least a page.
        let all = unsafe { alloc_zeroed(layout) };
        let all = NonNull::new(all).ok_or_else(no_memory)?;
        let over = all.align_offset(PAGE_BYTES);
        assert!(over <= PAGE_BYTES, "a page boundary within a page");
        // SAFETY: the allocation has a page more than `bytes`, and `over` is at most a page.
        let start = unsafe { all.add(over) };
        Ok(Self {
            all,
            layout,
            start,
            bytes,
        })
    }

    /// Pages for this many items of a size.
    pub(super) fn of(number: usize, bytes_each: usize) -> io::Result<Self> {
        let bytes = number.checked_mul(bytes_each);
        Self::new(bytes.ok_or(io::ErrorKind::OutOfMemory)?)
    }

    /// The address of the first byte, on a page boundary.
    pub(super) fn start(&self) -> *mut u8 {
        self.start.as_ptr()
    }

    /// How many bytes there are.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// The address of `bytes` bytes at `at`, which must be inside.
    pub(super) fn at(&self, at: usize, bytes: usize) -> *mut u8 {
        let inside = at.checked_add(bytes).is_some_and(|end| end <= self.bytes);
        assert!(inside, "a buffer beyond the memory of the ring");
        // SAFETY: `at` is at most `bytes`, as just asserted, and the allocation has as many after
        // `start`.
        unsafe { self.start.as_ptr().add(at) }
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        // SAFETY: allocated with this layout, and dropped once.
        unsafe { dealloc(self.all.as_ptr(), self.layout) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_that_no_number_counts_is_refused() {
        let kind = |pages: io::Result<Pages>| pages.unwrap_err().kind();
        for bytes in [
            usize::MAX,
            usize::MAX - PAGE_BYTES,
            isize::MAX.unsigned_abs(),
        ] {
            assert_eq!(kind(Pages::new(bytes)), io::ErrorKind::OutOfMemory);
            assert_eq!(kind(Pages::of(2, bytes)), io::ErrorKind::OutOfMemory);
        }
    }

    #[test]
    fn addresses_are_inside_or_refused() {
        let pages = Pages::of(3, 100).unwrap();
        for (at, bytes) in [(0, 300), (299, 1), (300, 0)] {
            assert_eq!(
                pages.at(at, bytes) as usize,
                pages.start.as_ptr() as usize + at
            );
        }
        assert_eq!(pages.start.as_ptr() as usize % PAGE_BYTES, 0);
        for (at, bytes) in [
            (0, 301),
            (300, 1),
            (301, 0),
            (usize::MAX, 2),
            (1, usize::MAX),
        ] {
            let at = || pages.at(at, bytes);
            assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(at)).is_err());
        }
    }
}
