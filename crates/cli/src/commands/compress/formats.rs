//! Compresses a file to gzip, by any number of threads, or to xz, lzma or lz4 on this one.

use std::time::UNIX_EPOCH;

use zipstream::gzip::{GzipEncoder, GzipMember, GzipOptions};

use super::stage::{CHUNK_BYTES, Compress};
use crate::commands::formats::pack::{Packer, Packing};
use crate::commands::transfer::{Operation, Stop, Stream, WAIT_MAX};
use crate::failure::Failure;
use crate::term::signal;

impl Compress {
    /// Compresses to one gzip member.
    pub(super) fn write_gzip(&mut self, stream: &mut Stream<'_>) -> Result<(), Stop> {
        let mut encoder = self.gzip.take().unwrap_or_else(|| {
            let threads = match self.plan.threads {
                1 => 0,
                threads => threads as usize,
            };
            let options = GzipOptions::new().level(self.plan.encoder.level);
            let rsyncable = self.plan.encoder.rsyncable;
            GzipEncoder::new(&options.threads(threads).rsyncable(rsyncable))
        });
        let result = self.write_member(stream, &mut encoder);
        if result.is_err() {
            encoder.abandon();
        }
        self.gzip = Some(encoder);
        result
    }

    fn write_member(
        &mut self,
        stream: &mut Stream<'_>,
        encoder: &mut GzipEncoder,
    ) -> Result<(), Stop> {
        let name = stream.name();
        let failed = |error: zipstream::Error| {
            Stop::Failed(Failure::new(format!("cannot compress {name}: {error}")))
        };
        encoder.begin(&self.member(stream)).map_err(failed)?;
        let mut offset = 0_u64;
        loop {
            let input = stream.next()?;
            let end = input.is_empty();
            let mut parts = input.chunks(CHUNK_BYTES);
            loop {
                let part = parts.next();
                if part.is_none() && !end {
                    break;
                }
                let mut rest = part.unwrap_or_default();
                let mut operation = Operation::default();
                loop {
                    let step = stream
                        .call(CHUNK_BYTES, &mut operation, |room| {
                            encoder.push(rest, room, end, WAIT_MAX)
                        })?
                        .map_err(failed)?;
                    stream.produced(step.produced);
                    rest = &rest[step.consumed..];
                    // Threads may need a while.
                    if step.consumed + step.produced == 0 && signal::interrupted() {
                        return Err(Stop::Interrupted);
                    }
                    if step.done || (!end && rest.is_empty()) {
                        break;
                    }
                }
                stream.record(operation, || format!("{name}, chunk at byte {offset}"));
                offset += part.map_or(0, |part| part.len() as u64);
                if end {
                    return Ok(());
                }
            }
        }
    }

    /// What the member states of its source.
    fn member(&self, stream: &Stream<'_>) -> GzipMember {
        let names = self.plan.gzip_names;
        let mut member = GzipMember::new();
        let path = stream.path();
        if names.name
            && path.as_os_str() != "-"
            && let Some(name) = path.file_name()
        {
            member = member.name(name.as_encoded_bytes());
        }
        let modified = stream.attributes().and_then(|own| own.modified().ok());
        let seconds = modified.and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        // A time beyond 2106 does not fit, and is left out.
        match seconds.and_then(|time| u32::try_from(time.as_secs()).ok()) {
            Some(seconds) if names.time => member.modified(seconds),
            _ => member,
        }
    }

    /// Compresses to xz, lzma or lz4.
    pub(super) fn write_other(&mut self, stream: &mut Stream<'_>) -> Result<(), Stop> {
        let name = stream.name();
        let failed = |error: std::io::Error| {
            Stop::Failed(Failure::new(format!("cannot compress {name}: {error}")))
        };
        let encoder = &self.plan.encoder;
        let mut packer = Packer::new(Packing {
            format: self.plan.format,
            level: encoder.level,
            checksum: encoder.checksum,
            content_bytes: stream.stated_size().filter(|_| encoder.content_size),
            settings: self.plan.packing,
        })
        .map_err(failed)?;
        let mut offset = 0_u64;
        loop {
            let input = stream.next()?;
            if input.is_empty() {
                break;
            }
            for part in input.chunks(CHUNK_BYTES) {
                let mut operation = Operation::default();
                stream
                    .call(0, &mut operation, |_| packer.push(part))?
                    .map_err(failed)?;
                put(stream, &packer.take())?;
                stream.record(operation, || format!("{name}, chunk at byte {offset}"));
                offset += part.len() as u64;
            }
        }
        let mut operation = Operation::default();
        let rest = stream
            .call(0, &mut operation, |_| packer.finish())?
            .map_err(failed)?;
        put(stream, &rest)?;
        stream.record(operation, || format!("{name}, end"));
        Ok(())
    }
}

/// Writes what an encoder put into memory of its own.
fn put(stream: &mut Stream<'_>, bytes: &[u8]) -> Result<(), Stop> {
    for part in bytes.chunks(CHUNK_BYTES) {
        stream.call(part.len(), &mut Operation::default(), |room| {
            room[..part.len()].copy_from_slice(part);
        })?;
        stream.produced(part.len());
    }
    Ok(())
}
