//! Copies large stored files directly from file to file: threads take turns on parts, each of which is
//! read, checksummed and written at its offset. Small, compressed or encrypted files go through the
//! encoder, in `pack`.

use std::fs::File;
use std::io::{self, Seek as _, SeekFrom};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use files::place::Placer;
use zipstream::{ArchiveEncoder, Crc32, EntryOptions, ReadAt as _};

use crate::commands::transfer::{Stop, write_error};
use crate::commands::zip::listed::Source;
use crate::commands::zip::pack::Packer;
use crate::commands::zip::pack::file::Reading;
use crate::term::progress::Progress;
use crate::term::signal;

/// Bytes of a part, which one thread copies.
const PART_BYTES: u64 = 4 << 20;
/// Bytes per read, which stay in the CPU cache until they are written.
const READ_BYTES: usize = 128 << 10;

impl Packer<'_> {
    /// Copies a large stored file directly into the archive file. After a failure the entry is still open.
    pub(super) fn direct_copy(
        &mut self,
        source: &Source,
        file: &File,
        bytes: u64,
        options: &EntryOptions,
    ) -> Result<Reading, Stop> {
        let name = &source.name;
        self.wait(source, ArchiveEncoder::settle_within)?;
        self.call(source, |encoder| {
            encoder.start_external(name, options, bytes)
        })?;
        self.drain(1)?;
        let unwritten = |error: io::Error| write_error(Some(self.target), error);
        // The archive may not start at the start of the file.
        let start = self.file.file().stream_position();
        let start = start.map_err(unwritten)?;
        let shift = start.wrapping_sub(self.encoder.totals().archive_bytes);
        let placer = Placer::new(self.file.clone(), false);
        let copy = Copy {
            source: file,
            bytes,
            target: &placer,
            position: start,
            progress: self.progress,
        };
        let crc32 = copy.run(self.plan.threads as usize);
        let crc32 = match crc32 {
            Ok(crc32) => crc32,
            Err(Broken::Read(error)) => return Ok(Reading::Failed(error)),
            Err(Broken::Shorter) => return Ok(Reading::Short),
            Err(Broken::Write(error)) => return Err(unwritten(error)),
            Err(Broken::Interrupted) => return Err(Stop::Interrupted),
        };
        self.read_bytes += bytes;
        let patch = self.call(source, |encoder| encoder.finish_external(crc32))?;
        let written = placer.write(patch.offset.wrapping_add(shift), &patch.bytes);
        let ended = written.and_then(|()| self.file.file().seek(SeekFrom::Start(start + bytes)));
        ended.map_err(|error| write_error(Some(self.target), error))?;
        Ok(Reading::Placed)
    }
}

/// A copy to make.
struct Copy<'a> {
    source: &'a File,
    bytes: u64,
    target: &'a Placer,
    /// The offset in the target of the first byte of the source.
    position: u64,
    progress: &'a Progress,
}

/// Why the copy failed.
enum Broken {
    Read(io::Error),
    /// The source became shorter.
    Shorter,
    Write(io::Error),
    Interrupted,
}

/// What threads share.
struct Shared {
    next: AtomicU64,
    broken: AtomicBool,
    /// The checksums of the finished parts.
    sums: Mutex<Vec<u32>>,
}

impl Copy<'_> {
    /// Copies with this many threads; returns the checksum of the whole.
    fn run(&self, threads: usize) -> Result<u32, Broken> {
        let parts = self.bytes.div_ceil(PART_BYTES);
        let count = usize::try_from(parts).unwrap_or(usize::MAX);
        let shared = Shared {
            next: AtomicU64::new(0),
            broken: AtomicBool::new(false),
            sums: Mutex::new(vec![0; count]),
        };
        let helpers = threads.min(count).saturating_sub(1);
        let result = std::thread::scope(|scope| {
            // If a thread cannot be started, there is one less.
            let helper = || std::thread::Builder::new().spawn_scoped(scope, || self.work(&shared));
            let helpers: Vec<_> = (0..helpers).map_while(|_| helper().ok()).collect();
            let own = self.work(&shared);
            let all = helpers.into_iter().map(|helper| {
                helper
                    .join()
                    .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            });
            all.fold(own, Result::and)
        });
        result?;
        let sums = shared.sums.into_inner();
        let sums = sums.unwrap_or_else(PoisonError::into_inner);
        let sizes = (0..parts).map(|part| self.part_bytes(part));
        Ok(sums
            .iter()
            .zip(sizes)
            .fold(0, |sum, (part, bytes)| Crc32::joined(sum, *part, bytes)))
    }

    fn part_bytes(&self, part: u64) -> u64 {
        PART_BYTES.min(self.bytes - part * PART_BYTES)
    }

    fn work(&self, shared: &Shared) -> Result<(), Broken> {
        let mut buffer = vec![0; READ_BYTES];
        loop {
            let part = shared.next.fetch_add(1, Ordering::Relaxed);
            if part >= self.bytes.div_ceil(PART_BYTES) || shared.broken.load(Ordering::Relaxed) {
                return Ok(());
            }
            let sum = self.part(part, &mut buffer).inspect_err(|_| {
                shared.broken.store(true, Ordering::Relaxed);
            })?;
            let sums = shared.sums.lock();
            let mut sums = sums.unwrap_or_else(PoisonError::into_inner);
            // There is one for each part.
            sums[usize::try_from(part).unwrap_or(usize::MAX)] = sum;
        }
    }

    /// Copies a part; returns its checksum.
    fn part(&self, part: u64, buffer: &mut [u8]) -> Result<u32, Broken> {
        let (mut at, end) = (part * PART_BYTES, part * PART_BYTES + self.part_bytes(part));
        let mut sum = Crc32::new();
        while at < end {
            if signal::interrupted() {
                return Err(Broken::Interrupted);
            }
            let most = buffer
                .len()
                .min(usize::try_from(end - at).unwrap_or(usize::MAX));
            let read = match self.source.read_at(&mut buffer[..most], at) {
                Ok(0) => return Err(Broken::Shorter),
                Ok(read) => read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(Broken::Read(error)),
            };
            sum.update(&buffer[..read]);
            let written = self.target.write(self.position + at, &buffer[..read]);
            written.map_err(Broken::Write)?;
            at += read as u64;
            self.progress.add(read as u64);
        }
        Ok(sum.sum())
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use super::*;

    #[test]
    fn parts_by_any_number_of_threads_are_the_whole() {
        let bytes = 2 * PART_BYTES + 77_777;
        let content: Vec<u8> = (0..bytes).map(|at| (at / 3 % 251) as u8).collect();
        let mut expected = Crc32::new();
        expected.update(&content);
        let mut source = tempfile::tempfile().unwrap();
        io::Write::write_all(&mut source, &content).unwrap();
        let progress = Progress::start(false, None);
        for threads in [1, 2, 9] {
            let mut target = tempfile::tempfile().unwrap();
            let placer = Placer::new(
                files::output::Output::new(target.try_clone().unwrap()),
                false,
            );
            let mut copy = Copy {
                source: &source,
                bytes,
                target: &placer,
                position: 5,
                progress: &progress,
            };
            assert!(matches!(copy.run(threads), Ok(sum) if sum == expected.sum()));
            let mut found = Vec::new();
            io::Seek::rewind(&mut target).unwrap();
            target.read_to_end(&mut found).unwrap();
            assert!(
                found[..5] == [0; 5] && found[5..] == content[..],
                "{threads}"
            );
            copy.bytes += 1;
            assert!(matches!(copy.run(threads), Err(Broken::Shorter)));
        }
        progress.finish();
    }
}
