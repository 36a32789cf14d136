//! Reordering: jobs finish in any order, and their results enter the output in the order of the
//! entries.

use super::{ArchiveEncoder, Slot};
use crate::error::{Error, internal};
use crate::write::batch::{Coding, Job};
use crate::write::in_flight::Done;

/// A chunk that shrinks by this factor consists of a few long matches and takes almost no time.
pub(super) const QUICK_RATIO: u64 = 64;
/// Output after which a call leaves further results to the next one, and one that does not wait for threads. Copying takes its
/// time, encryption more.
const PUMP_BYTES: usize = 1 << 20;
const PUMP_BYTES_UNWAITED: usize = 64 << 10;

impl ArchiveEncoder {
    /// Submits the held small entries.
    pub(super) fn flush_batch(&mut self) -> Result<(), Error> {
        if self.batch.entries() == 0 {
            return Ok(());
        }
        let next = self.spare_batches.pop().unwrap_or_default();
        let mut batch = std::mem::replace(&mut self.batch, next);
        batch.encryption.clone_from(&self.options.encryption);
        self.submit(Job::Batch(batch))
    }

    /// The same where everything is waited for next. Little content is packed by this call if threads have nothing to
    /// do: to start one, or to wake it, takes longer.
    pub(super) fn flush_rest(&mut self) -> Result<(), Error> {
        let is_idle = self.waits && self.slots.is_empty();
        // Keys take a while for each entry.
        let is_quick = self.batch.is_little() && self.options.encryption.is_none();
        if self.batch.entries() == 0 || !(is_idle && is_quick) {
            return self.flush_batch();
        }
        let mut job = Job::Batch(std::mem::take(&mut self.batch));
        let described = job.describe();
        let observer = self.options.observer.clone();
        let mut result = Ok(());
        let mut work = || result = job.run(&mut self.engines);
        match observer {
            Some(observer) => observer(described, &mut work),
            None => work(),
        }
        self.take_in((job, result))
    }

    /// Waits while too many jobs are in flight, unless the caller has checked that.
    pub(super) fn wait_for_room(&mut self) -> Result<(), Error> {
        if let Some(left) = self.unwaited.checked_sub(1) {
            self.unwaited = left;
            return Ok(());
        }
        while self.waits && !self.has_room() {
            self.step(true)?;
        }
        Ok(())
    }

    /// Whether another job may be submitted.
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

    /// Moves finished results into the output; if there are many, a part of them.
    pub(super) fn pump(&mut self) -> Result<(), Error> {
        let bytes = match self.waits {
            true => PUMP_BYTES,
            false => PUMP_BYTES_UNWAITED,
        };
        let most = self.sequence.out.len() + bytes;
        while self.sequence.out.len() < most && self.step(false)? {}
        Ok(())
    }

    /// Waits for all running jobs.
    pub(super) fn settle(&mut self) -> Result<(), Error> {
        while self.step(true)? {}
        Ok(())
    }

    /// Moves the oldest item into the output. Returns `false` if there is none, or if it is not
    /// finished and `wait` is false.
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
