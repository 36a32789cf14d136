//! Work in slices of 16 KiB under a budget, for threads that others wait for.
//!
//! These are thin faces of [`Encoder`](crate::Encoder) and [`Decoder`](crate::Decoder): they cut the
//! input, count what was done and stop when the budget is spent. When to slice at all is decided in
//! `schedule`; who runs in between is up to the caller.

mod budget;
mod decoder;
mod encoder;

use crate::error::{Error, Repr};

pub use budget::{Budget, SLICE_BYTES};
pub use decoder::SlicedDecoder;
pub use encoder::SlicedEncoder;

/// Room for a block that does not compress, its header and the ends of a frame.
const ROOM_BYTES: usize = SLICE_BYTES + 1024;

/// Calls `write` with room behind what `output` holds and keeps what it says it wrote there.
pub(crate) fn append<T>(
    output: &mut Vec<u8>,
    room: usize,
    write: impl FnOnce(&mut [u8]) -> Result<(T, usize), Error>,
) -> Result<T, Error> {
    let len = output.len();
    output.try_reserve(room).map_err(|_| Repr::Memory {
        bytes: Some(room as u64),
        what: "the output",
    })?;
    output.resize(len + room, 0);
    let result = write(&mut output[len..]);
    output.truncate(match result {
        Ok((_, produced)) => len + produced,
        Err(_) => len,
    });
    result.map(|(value, _)| value)
}
