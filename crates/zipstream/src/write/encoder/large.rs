//! Large entries: the header is written before the content, which follows in chunks.

use super::reorder::QUICK_RATIO;
use super::{ArchiveEncoder, NARROW_BYTES_MAX, Slot, State, WHOLE_BYTES_MAX};
use crate::crypt::encrypt::EntryEncryption;
use crate::engine::chunk::CHUNK_BYTES;
use crate::error::Error;
use crate::method::Method;
use crate::write::batch::{Coding, Job};
use crate::write::records::{Shape, Sizes};
use crate::write::sequence::Large;

/// The jobs of content that no longer fits the batch, and one of the batch.
const SPILL_JOBS: usize = WHOLE_BYTES_MAX / CHUNK_BYTES + 1;

impl ArchiveEncoder {
    /// Turns an entry that no longer fits the batch into a large one. The jobs that become of it, and of the small
    /// entries before it, are submitted together: only the first waits for threads.
    pub(super) fn spill(&mut self, start: usize) -> Result<(), Error> {
        self.wait_for_room()?;
        self.unwaited = SPILL_JOBS;
        let content = self.batch.take_out(start);
        self.begin_large()?;
        let mut rest = &content[..];
        while let State::Large(bytes) = self.state
            && !rest.is_empty()
        {
            if self.chunk.content().len() >= bytes {
                self.dispatch(false)?;
            }
            rest = &rest[self.chunk.put(rest, bytes)..];
        }
        Ok(())
    }

    /// Queues the header of a large entry after everything that came before.
    pub(super) fn begin_large(&mut self) -> Result<(), Error> {
        self.flush_batch()?;
        let meta = self.meta()?;
        let expected = self.open.hint.unwrap_or(u64::MAX).max(self.open.taken);
        let narrow = expected <= NARROW_BYTES_MAX;
        let mut shape = if narrow {
            Shape::Descriptor
        } else {
            Shape::Descriptor64
        };
        self.open.bytes_max = narrow.then_some(NARROW_BYTES_MAX);
        let (method, coding) = match (meta.method, self.open.known) {
            (Method::Stored, Some(known)) => {
                shape = Shape::Known(Sizes {
                    crc32: meta.stated_crc(known.crc32),
                    compressed: known.bytes + meta.encryption.map_or(0, EntryEncryption::bytes),
                    content: known.bytes,
                });
                self.open.bytes_max = Some(known.bytes);
                (Method::Stored, Coding::Stored)
            }
            #[cfg(feature = "zstd")]
            (Method::Zstd, _) => (Method::Zstd, Coding::Frames),
            _ => (Method::Deflate, Coding::Deflate),
        };
        self.chunk.begin(self.started - 1, coding, meta.level);
        self.quick = false;
        self.state = State::Large(match coding {
            // Without threads, a frame is compressed as its content arrives.
            #[cfg(feature = "zstd")]
            Coding::Frames if self.in_flight.is_some() => {
                crate::engine::frames::frame_bytes(meta.level)
            }
            _ => CHUNK_BYTES,
        });
        #[cfg(feature = "zstd")]
        self.engines.frames.restart();
        self.slots.push_back(Slot::Begin(Box::new(Large {
            name: self.open.name.clone(),
            meta,
            method,
            shape,
        })));
        self.pump()
    }

    /// Queues or compresses the held content of a large entry.
    pub(super) fn dispatch(&mut self, last: bool) -> Result<(), Error> {
        self.chunk.last = last;
        if self.chunk.coding == Coding::Stored {
            self.store()?;
        } else if self.in_flight.is_some() && !self.is_quick() {
            let chunk = self.next_chunk();
            self.submit(Job::Chunk(chunk))?;
        } else {
            self.pack_chunk()?;
        }
        if last {
            self.slots.push_back(Slot::End);
        }
        self.pump()
    }

    /// Whether a chunk is compressed by this call although there are threads: like the one before it becomes almost nothing.
    #[cfg(feature = "tokio")]
    fn is_quick(&self) -> bool {
        self.quick
            && self.inline_bytes_max > 0
            && self.slots.is_empty()
            && self.chunk.coding == Coding::Deflate
            && self.chunk.repeats()
    }

    #[cfg(not(feature = "tokio"))]
    fn is_quick(&self) -> bool {
        false
    }

    /// The current chunk; the next one continues after it.
    fn next_chunk(&mut self) -> crate::write::batch::Chunk {
        let mut next = self.spare_chunks.pop().unwrap_or_default();
        next.follow(&self.chunk);
        std::mem::replace(&mut self.chunk, next)
    }

    /// Compresses the current chunk in this call.
    fn pack_chunk(&mut self) -> Result<(), Error> {
        let start = self.sequence.out.len();
        let job = self.chunk.describe();
        let (chunk, out) = (&mut self.chunk, &mut self.sequence.out);
        let engines = &mut self.engines;
        let mut result = Ok(());
        let mut work = || result = chunk.pack(engines, false, out);
        match &self.options.observer {
            Some(observer) => observer(job, &mut work),
            None => work(),
        }
        result?;
        let (crc32, content_bytes) = (self.chunk.crc32, job.content_bytes);
        self.quick = (self.sequence.out.len() - start) as u64 * QUICK_RATIO <= content_bytes;
        self.sequence.placed(start, crc32, content_bytes)?;
        self.chunk.slide();
        Ok(())
    }

    /// Queues content that is stored.
    fn store(&mut self) -> Result<(), Error> {
        let content = self.chunk.content();
        // Most encrypted entries state no checksum.
        let encryption = self.open.meta.and_then(|meta| meta.encryption);
        let crc32 = match encryption {
            Some(encryption) if !encryption.checksum => 0,
            _ => libdeflater::crc32(content),
        };
        if self.slots.is_empty() {
            self.sequence.piece(content, crc32, content.len() as u64)?;
            self.chunk.slide();
            return Ok(());
        }
        // Jobs before it are still running.
        self.wait_for_room()?;
        let mut chunk = self.next_chunk();
        chunk.crc32 = crc32;
        self.slots.push_back(Slot::Piece(chunk));
        Ok(())
    }
}
