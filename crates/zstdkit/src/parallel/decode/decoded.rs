//! The result of one call of the parallel decoder.

use super::super::buffers::Output;
use crate::step::State;

/// The result of one call of a [`ParallelDecoder`](super::ParallelDecoder).
#[derive(Debug)]
#[must_use = "the counts say which bytes were taken and written"]
pub struct Decoded {
    /// Bytes taken from the start of the input. The rest must be given again.
    pub consumed: usize,
    /// Bytes written to the start of the room.
    pub produced: usize,
    /// Content that a worker decoded. Then nothing was written to the room.
    pub output: Option<Output>,
    /// Bytes of content that are next in order and that a worker has already written to their
    /// position. Then there is none in the room or in `output`.
    pub placed: u64,
    /// What to do next.
    pub state: State,
}

impl Decoded {
    pub(super) fn more(consumed: usize, produced: usize, output: Option<Output>) -> Self {
        Self {
            consumed,
            produced,
            output,
            placed: 0,
            state: State::MoreOutput,
        }
    }
}
