//! Patches between files of any size, in bounded memory.
//!
//! A frame can refer back to 2 GiB at most, and whoever reads it needs that much memory, so one frame is no patch for
//! large files. Here the newer file is cut into segments. Each is a frame of its own, and its prefix is what resembles
//! it in the older file: a few ranges, wherever they are. A skippable frame before each segment states the ranges and
//! their checksum ([`SegmentHeader`]), so that another older file is refused.
//!
//! [`PatchEncoder`] and [`PatchDecoder`] do no I/O, and share the trait [`Patcher`]. They say which bytes of the older file they want next. [`create`]
//! and [`apply`] are the same over `Read`, `Seek` and `Write`. Patches of a single frame, which `zstd --patch-from`
//! writes too, are made with [`EncoderOptions::for_patch`](crate::EncoderOptions::for_patch).
//!
//! ```
//! use std::io::Cursor;
//! use zstdkit::patch::{self, PatchOptions};
//!
//! let older: Vec<u8> = (0..200_000_u32).flat_map(u32::to_le_bytes).collect();
//! let newer = [&older[500_000..], b"inserted", &older[..500_000]].concat();
//! let options = PatchOptions::default().with_segment_bytes(100_000);
//! let mut made = Vec::new();
//! patch::create(&mut Cursor::new(&older), &mut &newer[..], &mut made, &options)?;
//!
//! let mut back = Vec::new();
//! patch::apply(&mut Cursor::new(&older), &mut &made[..], &mut back, &Default::default())?;
//! assert_eq!(back, newer);
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! # How ranges are chosen
//! One pass over the older file samples anchors: places where a rolling hash over the last bytes is small. They are
//! kept in a table of bounded size, with their offsets. The anchors of a segment are looked up there. Each that is
//! found votes for the part of the older file around it; votes that follow each other in both files vote for all that
//! is between them. What was voted for is joined to ranges. If it is more than a prefix may have, the parts with the
//! fewest votes are left out.

mod choose;
mod decoder;
mod encoder;
mod gear;
mod header;
mod index;
mod io;
mod options;
mod reference;

use std::ops::Range;

use crate::error::Error;

pub use self::decoder::PatchDecoder;
pub use self::encoder::PatchEncoder;
pub use self::header::{HEADER_BYTES_MAX, RANGES_MAX, SegmentHeader};
pub use self::io::{apply, create};
pub use self::options::{MEMORY_LIMIT_BYTES, PREFIX_BYTES_MAX, PatchOptions, SEGMENT_BYTES_MAX};

/// Either side of a patch, for a loop that has the files.
pub trait Patcher {
    /// Takes input and writes output. `ended`: no input is left, and `input` is empty.
    ///
    /// # Errors
    /// Those of the side. Every further call repeats the error.
    fn step(&mut self, input: &[u8], output: &mut [u8], ended: bool) -> Result<PatchStep, Error>;

    /// The bytes of the older file that come next, if any are needed now.
    fn wanted(&self) -> Option<Range<u64>>;

    /// Takes the first of the [`wanted`](Self::wanted) bytes; returns how many.
    fn older(&mut self, bytes: &[u8]) -> usize;
}

/// What to do after a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PatchState {
    /// All input was taken and no output is left. Call again with more input.
    NeedInput,
    /// Work is left. Make room in the output, then call again with the rest of the input, which may be empty.
    MoreOutput,
    /// Bytes of the older file are missing. Give what `wanted` says to `older`, then call again.
    NeedOlder,
    /// The patch, or the newer file, is complete.
    Done,
}

/// What one call did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[must_use = "the counts say which bytes were taken and written"]
pub struct PatchStep {
    /// Bytes taken from the start of the input. The rest must be given again.
    pub consumed: usize,
    /// Bytes written to the start of the output.
    pub produced: usize,
    /// What to do next.
    pub state: PatchState,
}

impl PatchStep {
    fn idle(state: PatchState) -> Self {
        Self {
            consumed: 0,
            produced: 0,
            state,
        }
    }
}
