//! Output appended to a vector.

use super::budget::SLICE_BYTES;
use crate::error::{Error, Repr};

/// Room for an incompressible block, its header and the end of a frame.
pub(crate) const ROOM_BYTES: usize = SLICE_BYTES + 1024;

/// Calls `write` with `room` bytes after the end of `output`, and keeps as many as it says it wrote.
pub(super) fn append<T>(
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
