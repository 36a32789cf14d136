//! The order of things: jobs go out, and what comes back is put in line behind what came before it.

use super::{ArchiveEncoder, Slot};
use crate::error::{Error, internal};
use crate::write::batch::{Coding, Job};
use crate::write::in_flight::Done;

/// A chunk that shrinks by this much consists of a few long matches, which take no time.
pub(super) const QUICK_RATIO: u64 = 64;

impl ArchiveEncoder {
    /// Hands on the small entries that are held.
    pub(super) fn flush_batch(&mut self) -> Result<(), Error> {
        if self.batch.entries() == 0 {
            return Ok(());
        }
        let next = self.spare_batches.pop().unwrap_or_default();
        let mut batch = std::mem::replace(&mut self.batch, next);
        batch.encryption.clone_from(&self.options.encryption);
        self.submit(Job::Batch(batch))
    }

    /// Waits while as much as may be out is, unless the caller has seen to that.
    pub(super) fn wait_for_room(&mut self) -> Result<(), Error> {
        while self.waits && !self.has_room() {
            self.step(true)?;
        }
        Ok(())
    }

    /// Whether another job may be out, or wait for those that are.
    pub(super) fn has_room(&self) -> bool {
        let waiting = |slot: &&Slot| matches!(slot, Slot::Job | Slot::Piece(_));
        let out = self.slots.iter().filter(waiting).count();
        let in_flight = self.in_flight.as_ref();
        in_flight.is_none_or(|in_flight| out < in_flight.jobs_max())
    }

    pub(super) fn submit(&mut self, job: Job) -> Result<(), Error> {
        self.wait_for_room()?;
        let Some(in_flight) = &self.in_flight else {
            return Err(internal("a job without threads"));
        };
        in_flight.submit(job)?;
        self.slots.push_back(Slot::Job);
        self.pump()
    }

    /// Puts in line what is done.
    pub(super) fn pump(&mut self) -> Result<(), Error> {
        while self.step(false)? {}
        Ok(())
    }

    /// Waits for everything that is at work.
    pub(super) fn settle(&mut self) -> Result<(), Error> {
        while self.step(true)? {}
        Ok(())
    }

    /// Puts the oldest thing in line; `false` when there is none, or it is not done and we do not
    /// wait for it.
    fn step(&mut self, wait: bool) -> Result<bool, Error> {
        match self.slots.front() {
            None => return Ok(false),
            Some(Slot::Job) => {
                let Some(in_flight) = &self.in_flight else {
                    return Err(internal("a job without threads"));
                };
                let Some(done) = in_flight.next(wait)? else {
                    return Ok(false);
                };
                self.slots.pop_front();
                self.take_in(done)?;
            }
            Some(_) => match self.slots.pop_front() {
                Some(Slot::Begin(large)) => {
                    let encryption = self.options.encryption.as_ref();
                    self.sequence.begin(*large, encryption)?;
                }
                Some(Slot::Piece(chunk)) => self.take_in((Job::Chunk(chunk), Ok(())))?,
                _ => self.sequence.end()?,
            },
        }
        Ok(true)
    }

    fn take_in(&mut self, (mut job, result): Done) -> Result<(), Error> {
        result?;
        let content_bytes = job.describe().content_bytes;
        match &job {
            Job::Batch(batch) => self
                .sequence
                .packed(&batch.out, &batch.records, content_bytes),
            Job::Chunk(chunk) if chunk.coding == Coding::Stored => {
                let content = chunk.content();
                self.sequence.piece(content, chunk.crc32, content_bytes)?;
            }
            Job::Chunk(chunk) => {
                self.quick = chunk.out.len() as u64 * QUICK_RATIO <= content_bytes;
                self.sequence
                    .piece(&chunk.out, chunk.crc32, content_bytes)?;
            }
        }
        job.recycle();
        match job {
            Job::Batch(batch) => self.spare_batches.push(batch),
            Job::Chunk(chunk) => self.spare_chunks.push(chunk),
        }
        Ok(())
    }
}
