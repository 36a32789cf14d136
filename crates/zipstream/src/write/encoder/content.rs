//! Taking the content of the open entry, and ending the entry.

use super::{ArchiveEncoder, BATCH_BYTES, BATCH_ENTRIES, Open, State, WHOLE_BYTES_MAX, order};
use crate::error::{Error, ErrorKind};
use crate::write::budget::Budget;
use crate::write::meta::Meta;
use crate::write::options::{Job as Described, KnownContent};

impl ArchiveEncoder {
    /// Takes content and returns the number of bytes taken: at least one, unless `content` is
    /// empty.
    pub fn push(&mut self, content: &[u8]) -> Result<usize, Error> {
        if content.is_empty() {
            return Ok(0);
        }
        let room = self.room()?;
        let bytes = room.len().min(content.len());
        room[..bytes].copy_from_slice(&content[..bytes]);
        self.filled(bytes)?;
        Ok(bytes)
    }

    /// Takes all of `content`. Pass large contents in parts and take the output in between.
    pub fn push_all(&mut self, mut content: &[u8]) -> Result<(), Error> {
        while !content.is_empty() {
            content = &content[self.push(content)?..];
        }
        Ok(())
    }

    /// Takes content from the front of `content` until it is empty or the budget is spent, and
    /// returns the number of bytes taken. A call works on no more than the budget had left, plus
    /// the chunk of 256 KiB or the entry of up to 1 MiB that this completes.
    pub fn push_within(&mut self, content: &mut &[u8], budget: &mut Budget) -> Result<u64, Error> {
        let mut total = 0;
        while !content.is_empty() && !budget.is_spent() {
            let most = usize::try_from(budget.left()).unwrap_or(usize::MAX);
            let bytes = self.push(&content[..content.len().min(most)])?;
            *content = &content[bytes..];
            budget.charge(bytes as u64);
            total += bytes as u64;
        }
        Ok(total)
    }

    /// Content taken of the open entry, or of the last one.
    pub fn entry_bytes(&self) -> u64 {
        self.open.taken
    }

    /// Room for content of the open entry, never empty. Report what was written there by
    /// [`filled`](ArchiveEncoder::filled). Compresses the held content if there is no room.
    pub fn room(&mut self) -> Result<&mut [u8], Error> {
        match self.state {
            State::Whole(start) if self.batch.filled() - start >= WHOLE_BYTES_MAX => {
                let result = self.spill(start);
                self.keep_error(result)?;
            }
            _ => {}
        }
        if let State::Large(bytes) = self.state
            && self.chunk.content().len() >= bytes
        {
            let result = self.dispatch(false);
            self.keep_error(result)?;
        }
        self.unwaited = 0;
        match &self.state {
            State::Whole(start) => Ok(self.batch.room(start + WHOLE_BYTES_MAX)),
            State::Failed(error) => Err(error.clone()),
            State::Idle | State::Raw | State::External | State::Finished => {
                Err(order("no entry is open"))
            }
            State::Large(bytes) => Ok(self.chunk.room(*bytes)),
        }
    }

    /// Whether the next content, or a part of it, is only copied.
    pub(crate) fn only_copies(&self) -> bool {
        match &self.state {
            State::Whole(start) => self.batch.filled() - start < WHOLE_BYTES_MAX,
            State::Large(bytes) => self.chunk.content().len() < *bytes,
            _ => true,
        }
    }

    /// Counts content that was written into the [`room`](ArchiveEncoder::room).
    pub fn filled(&mut self, bytes: usize) -> Result<(), Error> {
        let taken = self.open.taken + bytes as u64;
        if let Some(most) = self.open.bytes_max.filter(|most| taken > *most) {
            let result = Err(too_large(&self.open, most));
            return self.keep_error(result);
        }
        self.open.taken = taken;
        match &self.state {
            State::Whole(_) => self.batch.advance(bytes),
            State::Failed(error) => return Err(error.clone()),
            State::Idle | State::Raw | State::External | State::Finished => {
                return Err(order("no entry is open"));
            }
            State::Large(_) => self.chunk.advance(bytes),
        }
        Ok(())
    }

    /// Ends the entry.
    pub fn finish_entry(&mut self) -> Result<(), Error> {
        let result = match &self.state {
            State::Idle | State::Raw | State::External | State::Finished => {
                return Err(order("no entry is open"));
            }
            State::Failed(error) => return Err(error.clone()),
            State::Whole(start) => {
                let start = *start;
                self.finish_whole(start)
            }
            State::Large(_) => self.dispatch(true),
        };
        self.keep_error(result)?;
        self.state = State::Idle;
        Ok(())
    }

    /// Removes the open entry, for example when its source cannot be read. This works only while
    /// nothing of the entry is written: up to 1 MiB of content.
    pub fn abandon_entry(&mut self) -> Result<(), Error> {
        let State::Whole(start) = self.state else {
            return Err(order("the beginning of the entry is already written"));
        };
        self.batch.take_back(start);
        self.names.remove(&self.open.hash);
        self.started -= 1;
        self.state = State::Idle;
        Ok(())
    }

    /// Whether the call itself compresses the open entry when it ends.
    pub(super) fn is_inline(&self) -> bool {
        let first = self.slots.is_empty() && self.batch.entries() == 0;
        let small = self.open.taken <= self.inline_bytes_max;
        let has_key = self.open.meta.is_some_and(|meta| meta.encryption.is_some());
        self.in_flight.is_none() || (first && small && self.inline_bytes_max > 0 && !has_key)
    }

    fn finish_whole(&mut self, start: usize) -> Result<(), Error> {
        let meta = self.meta()?;
        if self.is_inline() {
            let observer = self.options.observer.clone();
            let job = Described {
                entry: self.started - 1,
                entries: 1,
                content_bytes: self.open.taken,
            };
            let content = self.batch.take_back(start);
            check_known(&self.open, &meta, content)?;
            let (sequence, engines) = (&mut self.sequence, &mut self.engines);
            let name = &self.open.name;
            let mut result = Ok(());
            let mut work = || result = sequence.whole(engines, name, &meta, content);
            match observer {
                Some(observer) => observer(job, &mut work),
                None => work(),
            }
            return result;
        }
        if self.open.known.is_some() {
            let content = self.batch.take_back(start);
            let bytes = content.len();
            check_known(&self.open, &meta, content)?;
            self.batch.advance(bytes);
        }
        if self.batch.entries() == 0 {
            self.batch.first = self.started - 1;
        }
        self.batch.complete(&self.open.name, meta, start);
        if self.batch.filled() >= BATCH_BYTES || self.batch.entries() >= BATCH_ENTRIES {
            self.flush_batch()?;
        }
        Ok(())
    }
}

/// Compares a complete entry with its known content.
fn check_known(open: &Open, meta: &Meta, content: &[u8]) -> Result<(), Error> {
    let fits = |known: KnownContent| {
        let stated = meta.stated_crc(known.crc32);
        known.bytes == content.len() as u64
            && stated == meta.stated_crc(libdeflater::crc32(content))
    };
    if open.known.is_none_or(fits) {
        return Ok(());
    }
    let what = "the content differs from its known size or checksum";
    Err(Error::new(ErrorKind::Mismatch, what))
}

fn too_large(open: &Open, most: u64) -> Error {
    let name = String::from_utf8_lossy(&open.name);
    let what = format!("more than the {most} bytes that its header can describe");
    Error::new(ErrorKind::TooLarge, what)
        .entry(name)
        .help("start it with its real size, or without a size hint")
}
