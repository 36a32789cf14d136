//! The look at the descriptors, before the runtime has had its turn.

#![allow(
    unsafe_code,
    reason = "a function that the loader calls is named in a section, and asks the system about descriptors"
)]

use std::sync::atomic::{AtomicU8, Ordering};

/// A bit for each of the first three descriptors that was closed.
static CLOSED: AtomicU8 = AtomicU8::new(0);

/// What the loader calls, where it is known how that is said. Elsewhere nothing counts as closed.
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
    /// The function that the loader is to call before `main`.
    #[used]
    // SAFETY: the section holds pointers to functions of the C calling convention, which the loader calls
    // once with arguments that this one ignores. It needs nothing of the runtime: it calls one function
    // of the system and stores into an atomic.
    #[cfg_attr(
        target_vendor = "apple",
        unsafe(link_section = "__DATA,__mod_init_func")
    )]
    #[cfg_attr(not(target_vendor = "apple"), unsafe(link_section = ".init_array"))]
    static LOOK: extern "C" fn() = look;

    extern "C" fn look() {
        let mut closed = 0;
        for descriptor in 0..3 {
            // SAFETY: a question about a number, which may be that of no open descriptor.
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
