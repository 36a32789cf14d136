//! Large entries: their headers go out before their content, which follows in chunks, in one frame or
//! as it is.

use super::{ArchiveEncoder, NARROW_BYTES_MAX, Slot, State};
use crate::engine::chunk::CHUNK_BYTES;
use crate::engine::internal;
use crate::error::Error;
#[cfg(feature = "zstd")]
use crate::error::ErrorKind;
use crate::method::Method;
use crate::write::batch::Job;
use crate::write::records::{Shape, Sizes};
use crate::write::sequence::Large;

impl ArchiveEncoder {
    /// Turns an entry that grew too large to be held into a large one.
    pub(super) fn spill(&mut self, start: usize) -> Result<(), Error> {
        let content = self.batch.take_back(start).to_vec();
        self.begin_large()?;
        for part in content.chunks(CHUNK_BYTES) {
            if self.chunk.content().len() >= CHUNK_BYTES {
                self.dispatch(false)?;
            }
            self.chunk.room(CHUNK_BYTES)[..part.len()].copy_from_slice(part);
            self.chunk.advance(part.len());
        }
        Ok(())
    }

    /// Writes the header of a large entry, behind what came before.
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
        let mut method = meta.method;
        self.chunk.begin(self.started - 1, meta.level);
        self.state = match (meta.method, self.open.known) {
            (Method::Stored, Some(known)) => {
                shape = Shape::Known(Sizes {
                    crc32: known.crc32,
                    compressed: known.bytes,
                    content: known.bytes,
                });
                self.open.bytes_max = Some(known.bytes);
                State::Stored
            }
            #[cfg(feature = "zstd")]
            (Method::Zstd, _) => State::Framed(Box::new(self.frame(meta.level)?)),
            _ => {
                method = Method::Deflate;
                State::Chunked
            }
        };
        let large = Large {
            name: self.open.name.clone(),
            meta,
            method,
            shape,
        };
        if self.lanes.is_some() && matches!(self.state, State::Chunked) {
            self.slots.push_back(Slot::Begin(Box::new(large)));
            return self.pump();
        }
        self.settle()?;
        self.sequence.begin(large);
        Ok(())
    }

    #[cfg(feature = "zstd")]
    fn frame(&self, level: i32) -> Result<zstdkit::Encoder, Error> {
        let mut encoder =
            zstdkit::Encoder::new(&crate::engine::whole::zstd_options(level)).map_err(zstd)?;
        // A hint is not a pledge, but a small window for a small size would need one.
        encoder
            .begin(self.open.known.map(|known| known.bytes))
            .map_err(zstd)?;
        Ok(encoder)
    }

    /// Hands on the content that is held of a large entry.
    pub(super) fn dispatch(&mut self, last: bool) -> Result<(), Error> {
        self.chunk.last = last;
        match &mut self.state {
            State::Chunked if self.lanes.is_some() => self.dispatch_job(last),
            State::Chunked => {
                let start = self.sequence.out.len();
                let job = self.chunk.describe();
                let (chunk, out) = (&mut self.chunk, &mut self.sequence.out);
                let mut result = Ok(());
                let mut work = || result = chunk.pack(out);
                match &self.options.around {
                    Some(around) => around(job, &mut work),
                    None => work(),
                }
                result?;
                self.sequence
                    .placed(start, self.chunk.crc32, job.content_bytes)?;
                self.chunk.slide();
                self.end_inline(last)
            }
            State::Stored => {
                let content = self.chunk.content();
                let crc32 = libdeflater::crc32(content);
                self.sequence.piece(content, crc32, content.len() as u64)?;
                self.chunk.begin(self.started - 1, 0);
                self.end_inline(last)
            }
            #[cfg(feature = "zstd")]
            State::Framed(encoder) => {
                let start = self.sequence.out.len();
                let content = self.chunk.content();
                push_frame(encoder, content, last, &mut self.sequence.out)?;
                let (crc32, bytes) = (libdeflater::crc32(content), content.len() as u64);
                self.sequence.placed(start, crc32, bytes)?;
                self.chunk.begin(self.started - 1, 0);
                self.end_inline(last)
            }
            _ => Err(internal("no large entry is open")),
        }
    }

    fn end_inline(&mut self, last: bool) -> Result<(), Error> {
        if last { self.sequence.end() } else { Ok(()) }
    }

    fn dispatch_job(&mut self, last: bool) -> Result<(), Error> {
        let mut next = self.spare_chunks.pop().unwrap_or_default();
        next.follow(&self.chunk);
        let chunk = std::mem::replace(&mut self.chunk, next);
        self.submit(Job::Chunk(chunk))?;
        if last {
            self.slots.push_back(Slot::End);
        }
        self.pump()
    }
}

#[cfg(feature = "zstd")]
fn push_frame(
    encoder: &mut zstdkit::Encoder,
    mut content: &[u8],
    last: bool,
    out: &mut Vec<u8>,
) -> Result<(), Error> {
    use zstdkit::{Encoder, Operation, State};
    let operation = if last {
        Operation::End
    } else {
        Operation::Continue
    };
    loop {
        let start = out.len();
        out.resize(start + Encoder::recommended_output_bytes(), 0);
        let step = encoder
            .push(content, &mut out[start..], operation)
            .map_err(zstd)?;
        out.truncate(start + step.produced);
        content = &content[step.consumed..];
        if step.state != State::MoreOutput {
            return Ok(());
        }
    }
}

#[cfg(feature = "zstd")]
fn zstd(error: zstdkit::Error) -> Error {
    Error::new(ErrorKind::Internal, format!("zstd: {error}"))
}
