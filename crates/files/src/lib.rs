//! Files and pipes: sources that read ahead, targets that appear whole or not at all.
//!
#![doc = include_str!("../README.md")]
//!
//! # Modules
//!
//! Nothing here knows what the bytes mean. [`standard`] has the standard streams, [`output`] what data
//! is written to. [`plan`] turns paths into jobs, [`source`] brings buffers, [`sink`] takes them away,
//! both on threads of their own where that pays; [`place`] writes at positions meanwhile, and
//! [`write_behind`] writes buffers of any size in order. [`target`] makes files appear by rename, out of
//! [`temporary`] ones, [`targets`] several at once. [`conflicts`] refuses to write what is read,
//! [`open`] waits for FIFOs, [`beneath`] keeps files below one directory. Sources may be named by a
//! [`url`]; what is behind one is read in `remote`, and `object` has objects of stores for asynchronous
//! programs. [`steady`] tells whether a file changed while it was
//! read, [`rights`] who may read what is made of several. [`splice`] replaces the end of a file that
//! stays the same file.
#![forbid(unsafe_code)]

use std::io;

mod behind;
pub mod beneath;
pub mod conflicts;
mod context;
mod display;
mod error;
mod link;
#[cfg(feature = "objects")]
pub mod object;
pub mod open;
pub mod output;
pub mod place;
pub mod plan;
#[cfg(feature = "web")]
pub mod remote;
pub mod rights;
pub mod sink;
pub mod source;
pub mod splice;
pub mod standard;
pub mod steady;
pub mod target;
pub mod targets;
pub mod temporary;
pub mod url;
pub mod write_behind;

pub use context::{Cancel, Context, MakeFilter, TerminalFilter};
pub use display::display;
pub use error::{Error, Operation, Result, reason};
pub use link::link_target;

/// Bytes of one buffer on its way from a source or to a sink: large enough to make system calls
/// and hand-overs cheap, small enough that a handful fit in the second-level cache.
pub const BUFFER_BYTES: usize = 256 * 1024;

/// Buffers in flight on each side of a pipeline: one being filled, one waiting, one being used.
pub const BUFFERS_IN_FLIGHT: usize = 3;

/// Regular files up to this size are read and written in place: starting two threads costs more
/// than reading ahead brings.
pub const INLINE_BYTES: u64 = 1 << 20;

/// Regular files up to this size are read in one piece, so that several can be processed in parallel.
pub const SMALL_BYTES: u64 = 255 * 1024;

/// How often a wait for a source or sink looks at the [`Cancel`] flag.
pub const POLL: std::time::Duration = std::time::Duration::from_millis(50);

/// What can be read from any place on.
pub trait ReadSeek: io::Read + io::Seek {}

impl<T: io::Read + io::Seek> ReadSeek for T {}

/// Whether a set [`Cancel`] flag is what ended this.
#[must_use]
pub fn is_cancelled(error: &io::Error) -> bool {
    #[cfg(feature = "web")]
    if remote::is_interrupt(error) {
        return true;
    }
    // The system's own interruptions are waited out: this one is the user's.
    error.kind() == io::ErrorKind::Interrupted
}
