//! Where blocks are compressed to, before they are kept: one place a thread.

use std::cell::RefCell;

use super::scheduler::{CHUNK_BYTES, PooledEncoder};
use crate::error::{Error, Repr};
use crate::sliced::Budget;
use crate::step::{Operation, State, Step};

/// Room for an incompressible block, its header, and the begin and end of a frame: libzstd then writes to it
/// directly, without a copy of its own.
const ROOM_BYTES: usize = CHUNK_BYTES + 1024;

thread_local! {
    static ROOM: RefCell<Box<[u8]>> = RefCell::new(vec![0; ROOM_BYTES].into());
}

/// Gives the encoder all of this content, at most a block, and keeps what comes out. [`State::MoreOutput`]: call
/// again, with what was not consumed.
pub(super) fn compress(
    encoder: &mut PooledEncoder,
    input: &[u8],
    output: &mut Vec<u8>,
    operation: Operation,
) -> Result<Step, Error> {
    ROOM.with_borrow_mut(|room| {
        let step = encoder.step(input, room, operation, &mut Budget::slices(u32::MAX))?;
        output
            .try_reserve(step.produced)
            .map_err(|_| Repr::Memory {
                bytes: Some(step.produced as u64),
                what: "the output",
            })?;
        output.extend_from_slice(&room[..step.produced]);
        Ok(step)
    })
}

/// The same, until nothing is left to do.
pub(super) fn compress_all(
    encoder: &mut PooledEncoder,
    mut input: &[u8],
    output: &mut Vec<u8>,
    operation: Operation,
) -> Result<(), Error> {
    loop {
        let step = compress(encoder, input, output, operation)?;
        input = &input[step.consumed..];
        if step.state != State::MoreOutput {
            return Ok(());
        }
    }
}
