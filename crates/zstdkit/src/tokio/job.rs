//! A chunk that another thread compresses.

use turns::{Away, timed};

use super::room;
use super::scheduler::PooledEncoder;
use crate::error::Error;
use crate::step::Operation;

/// A chunk, or only the opening of a frame, with everything that this touches.
#[derive(Debug)]
pub(super) struct Job {
    pub(super) encoder: Box<PooledEncoder>,
    pub(super) chunk: Vec<u8>,
    pub(super) output: Vec<u8>,
    pub(super) task: Task,
    pub(super) result: Result<(), Error>,
    pub(super) ns: u64,
    away: Away,
}

/// What is to be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Task {
    /// Make the tables of the frame.
    Open,
    /// Compress the chunk from this byte on.
    Compress(usize, Operation),
}

impl Job {
    pub(super) fn new(
        encoder: Box<PooledEncoder>,
        chunk: Vec<u8>,
        output: Vec<u8>,
        task: Task,
        away: Away,
    ) -> Self {
        Self {
            encoder,
            chunk,
            output,
            task,
            result: Ok(()),
            ns: 0,
            away,
        }
    }

    pub(super) fn run(mut self: Box<Self>) -> Box<Self> {
        (self.result, self.ns) = timed(|| match self.task {
            Task::Open => self.encoder.open(),
            Task::Compress(from, operation) => {
                let chunk = self.chunk.get(from..).unwrap_or_default();
                room::compress_all(&mut self.encoder, chunk, &mut self.output, operation)
            }
        });
        self.away.ended();
        self
    }
}
