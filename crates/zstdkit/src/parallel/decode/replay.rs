//! Bytes of the stream that a worker could not decode, or that must be decoded in order.

use super::ParallelDecoder;
use crate::error::Error;
use crate::step::State;

/// Bytes that are held until the decoder of the calling thread has taken them.
#[derive(Debug)]
pub(super) struct Replay {
    pub(super) bytes: Vec<u8>,
    pub(super) at: usize,
    pub(super) begun: bool,
}

impl Replay {
    pub(super) fn new(bytes: Vec<u8>) -> Self {
        Self {
            bytes,
            at: 0,
            begun: false,
        }
    }
}

/// How the next frame is decoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    /// Frames are gathered for the threads.
    Gather,
    /// A frame goes through the decoder as it comes.
    InOrder,
}

impl ParallelDecoder {
    /// Whether bytes of the stream are next that a worker will not decode.
    pub(super) fn replay_is_due(&self) -> bool {
        self.retry.is_some() || (self.held.is_some() && self.workers.is_idle())
    }

    /// One step of the decoder through bytes that were held.
    pub(super) fn go_on_with_replay(&mut self, room: &mut [u8]) -> Result<usize, Error> {
        let slot = match self.retry {
            Some(_) => &mut self.retry,
            None => &mut self.held,
        };
        let Some(replay) = slot else {
            return Ok(0);
        };
        if !std::mem::replace(&mut replay.begun, true) {
            self.decoder.resume(self.totals);
        }
        let step = self.decoder.push(&replay.bytes[replay.at..], room)?;
        replay.at += step.consumed;
        self.totals = self.decoder.totals();
        if step.state == State::MoreOutput || replay.at < replay.bytes.len() {
            return Ok(step.produced);
        }
        if self.retry.take().is_none() {
            // The planner takes no bytes that are not a frame: they are next in the input.
            let some = self.held.take().is_some_and(|held| held.at > 0);
            self.mode = Mode::InOrder;
            if some && self.decoder.at_boundary() {
                self.gather();
            }
        }
        Ok(step.produced)
    }
}
