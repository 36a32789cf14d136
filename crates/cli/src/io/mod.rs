//! Files and pipes: sources that read ahead, targets that appear whole or not at all.
//!
//! Nothing here knows what the bytes mean. [`standard`] has the standard streams, [`output`] what data
//! is written to. [`plan`] turns paths into jobs, [`source`] brings
//! buffers, [`sink`] takes them away, both on threads of their own where that pays; [`place`] writes
//! beside it, and `verify` reads what it wrote. [`target`] makes files appear by rename, out of
//! [`temporary`] ones, [`targets`] several at once. [`conflicts`] refuses to write what is read,
//! [`open`] waits for FIFOs,
//! [`confined`] keeps files below one directory. Sources may be named by a [`url`]; what is behind
//! one is read in `remote`. [`steady`] tells whether a file changed while it was read, [`rights`] who may read what is made of
//! several. [`splice`] replaces the end of a file that stays the same file.

use std::io;

pub(crate) mod confined;
pub(crate) mod conflicts;
pub(crate) mod open;
pub(crate) mod output;
pub(crate) mod place;
pub(crate) mod plan;
#[cfg(feature = "cloud")]
pub(crate) mod remote;
pub(crate) mod rights;
pub(crate) mod sink;
pub(crate) mod source;
pub(crate) mod splice;
pub(crate) mod standard;
pub(crate) mod steady;
pub(crate) mod target;
pub(crate) mod targets;
pub(crate) mod temporary;
pub(crate) mod url;
mod verify;

/// Bytes of one buffer on its way from a source or to a sink: large enough to make system calls
/// and hand-overs cheap, small enough that a handful fit in the second-level cache.
pub(crate) const BUFFER_BYTES: usize = 256 * 1024;

/// The same where blocks are decompressed in order: the largest block. Little memory is needed
/// otherwise, so that buffers show.
pub(crate) const BLOCK_BUFFER_BYTES: usize = 128 * 1024;

/// Buffers in flight on each side of a pipeline: one being filled, one waiting, one being used.
pub(crate) const BUFFERS_IN_FLIGHT: usize = 3;

/// Regular files up to this size are read and written in place: starting two threads costs more
/// than reading ahead brings.
pub(crate) const INLINE_BYTES: u64 = 1 << 20;

/// Regular files up to this size may be done several at a time: they are read in one piece, and
/// with the tables for content of this size a context takes a few MiB at most.
pub(crate) const SMALL_BYTES: u64 = 255 * 1024;

/// How often a wait for a source or sink looks at the interrupt flag.
pub(crate) const POLL: std::time::Duration = std::time::Duration::from_millis(50);

/// What can be read from any place on.
pub(crate) trait ReadSeek: io::Read + io::Seek {}

impl<T: io::Read + io::Seek> ReadSeek for T {}

/// Whether the user's interrupt is what ended this.
pub(crate) fn is_interrupt(error: &io::Error) -> bool {
    #[cfg(feature = "cloud")]
    if remote::is_interrupt(error) {
        return true;
    }
    // The system's own interruptions are waited out: this one is the user's.
    error.kind() == io::ErrorKind::Interrupted
}
