//! Checks the descriptors before the runtime starts.

#![allow(
    unsafe_code,
    reason = "the loader finds the function in a linker section; it queries descriptors by a system call"
)]

use std::sync::atomic::{AtomicU8, Ordering};

/// A bit for each of the first three descriptors that was closed.
static CLOSED: AtomicU8 = AtomicU8::new(0);

/// Runs a function before `main`, on systems where we know how. On others nothing counts as closed.
#[cfg(any(
    target_os = "linux",
    target_os = "android",
    target_os = "freebsd",
    target_os = "netbsd",
    target_os = "openbsd",
    target_os = "dragonfly",
    target_os = "illumos",
    target_vendor = "apple",
))]
mod loader {
    /// The function that the loader calls before `main`.
    #[used]
    // SAFETY: the section holds pointers to functions of the C calling convention. The loader calls each
    // once, with arguments that this one ignores. It does not need the Rust runtime: it makes one system
    // call per descriptor and stores into an atomic.
    #[cfg_attr(
        target_vendor = "apple",
        unsafe(link_section = "__DATA,__mod_init_func")
    )]
    #[cfg_attr(not(target_vendor = "apple"), unsafe(link_section = ".init_array"))]
    static CHECK: extern "C" fn() = check;

    extern "C" fn check() {
        let mut closed = 0;
        for descriptor in 0..3 {
            // SAFETY: `F_GETFD` only reads flags, and fails for a number that is not an open descriptor.
            if unsafe { libc::fcntl(descriptor, libc::F_GETFD) } == -1 {
                closed |= 1 << descriptor;
            }
        }
        super::CLOSED.store(closed, super::Ordering::Relaxed);
    }
}

/// A bit for each of the first three descriptors that was closed.
pub(crate) fn closed() -> u8 {
    CLOSED.load(Ordering::Relaxed)
}
