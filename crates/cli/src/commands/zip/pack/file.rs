//! Packs files. The size that the system states is a hint: a file is read to its end, and reported if it
//! changes meanwhile. The headers always state what was read.

use std::fs::{File, Metadata};
use std::io::{self, Read, Seek as _};
use std::path::Path;
use std::time::Instant;

use files::steady::State;
use files::write_behind::WriteBehind;
use zipstream::extract::describe;
use zipstream::{ArchiveEncoder, EntryOptions, KnownContent};

use crate::commands::transfer::{Stop, write_error};
use crate::commands::zip::listed::Source;
use crate::commands::zip::pack::{Packer, WRITE_BYTES, failed, passed_over};
use crate::failure::Failure;
use crate::io::open;
use crate::term::{message, signal};

/// Larger stored files are copied directly if the archive is a file; for a pipe they are read twice, so
/// that their headers can state size and checksum.
const KNOWN_BYTES_MIN: u64 = 1 << 20;
/// Bytes per read the first time.
const READ_BYTES: usize = 128 << 10;

/// How reading a file for its entry ended.
pub(super) enum Reading {
    /// At its end, or with as many bytes as its header states.
    Ended,
    /// The same, and the entry is already complete.
    Placed,
    /// The file has more than its header can state.
    Full,
    /// The file ended before as many bytes as its header states.
    Short,
    /// It cannot be read.
    Failed(io::Error),
    /// It cannot be read, and its entry has not been started.
    Unread(io::Error),
}

impl Packer<'_> {
    /// Packs a file; returns whether the archive has an entry for it.
    pub(super) fn file(&mut self, source: &Source) -> Result<bool, Stop> {
        let (mut file, metadata) = match open::regular(&source.path) {
            Ok(opened) => opened,
            Err(error) => return Ok(passed_over(&source.path, &error)),
        };
        self.rights.narrow(&metadata);
        let before = self.read_bytes;
        let mut options = self.options();
        describe(&mut options, &metadata);
        let mut reading = self.first(source, &mut file, &metadata, &mut options)?;
        if let Reading::Short = reading {
            // The header states too much: the entry is made again, without a stated size.
            self.retract(source)?;
            self.read_bytes = before;
            options.known = None;
            options.size_hint = None;
            reading = match file.rewind() {
                Ok(()) => self.through(source, &mut file, &options)?,
                Err(error) => return Ok(passed_over(&source.path, &error)),
            };
        }
        match reading {
            Reading::Unread(error) => return Ok(passed_over(&source.path, &error)),
            Reading::Failed(error) => return self.unread(source, &options, &error),
            Reading::Placed => {}
            Reading::Ended | Reading::Full | Reading::Short => {
                self.end(source)?;
                self.catch_up()?;
            }
        }
        let full = matches!(reading, Reading::Full);
        self.compare(source, &file, &metadata, full, self.read_bytes - before);
        Ok(true)
    }

    /// Reads a file in the most suitable way.
    fn first(
        &mut self,
        source: &Source,
        file: &mut File,
        metadata: &Metadata,
        options: &mut EntryOptions,
    ) -> Result<Reading, Stop> {
        let size = metadata.len();
        // Files that state size 0 may be generated while they are read.
        options.size_hint = Some(size).filter(|size| *size > 0);
        if self.plan.level == 0 || self.plan.method == zipstream::Method::Stored {
            let direct = cfg!(unix) && !self.sealed && self.target.is_regular_file();
            if direct && size > KNOWN_BYTES_MIN {
                return self.direct_copy(source, file, size, options);
            }
            match known(file, size, self.sealed) {
                Ok(known) => options.known = known,
                Err(error) => return Ok(Reading::Unread(error)),
            }
        }
        self.through(source, file, options)
    }

    /// Reads a file through the encoder, into a new entry.
    fn through(
        &mut self,
        source: &Source,
        file: &mut File,
        options: &EntryOptions,
    ) -> Result<Reading, Stop> {
        self.start(source, options)?;
        if self.sealed && options.known.is_some() && self.plan.threads > 1 {
            self.behind = WriteBehind::start(self.file.clone()).ok();
        }
        self.content(source, file, options.known.is_some())
    }

    /// Reads a file into the open entry.
    fn content(
        &mut self,
        source: &Source,
        file: &mut File,
        promised: bool,
    ) -> Result<Reading, Stop> {
        loop {
            let start = self.wait(source, ArchiveEncoder::wait_to_push)?;
            let left = self.encoder.entry_left().unwrap_or(u64::MAX);
            if left == 0 {
                return Ok(match promised {
                    true => Reading::Ended,
                    false => Reading::Full,
                });
            }
            let room = self
                .encoder
                .room()
                .map_err(|error| failed(&source.path, &error))?;
            let made = Instant::now();
            let most = usize::try_from(left).unwrap_or(usize::MAX).min(room.len());
            let bytes = match file.read(&mut room[..most]) {
                Ok(bytes) => bytes,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Ok(Reading::Failed(error)),
            };
            self.held(source, start, made);
            self.encoder
                .filled(bytes)
                .map_err(|error| failed(&source.path, &error))?;
            if bytes == 0 {
                return Ok(match promised {
                    true => Reading::Short,
                    false => Reading::Ended,
                });
            }
            self.read_bytes += bytes as u64;
            self.progress.add(bytes as u64);
            self.drain(WRITE_BYTES)?;
            if signal::interrupted() {
                return Err(Stop::Interrupted);
            }
        }
    }

    /// Reports a file that could not be read to its end. Its entry is removed, or contains what was read if
    /// that has already gone to a pipe; returns whether there is an entry.
    fn unread(
        &mut self,
        source: &Source,
        options: &EntryOptions,
        error: &io::Error,
    ) -> Result<bool, Stop> {
        let failure = Failure::io("read", &source.path, error);
        let bytes = self.encoder.entry_bytes();
        if self.encoder.abandon_entry().is_ok() || self.retract(source).is_ok() {
            message::failure(&failure);
            return Ok(false);
        }
        if options.known.is_some() {
            // Its header states bytes that cannot be read.
            return Err(failure.into());
        }
        message::failure(&failure.help(format!(
            "the archive goes to a pipe: the entry contains the first {bytes} bytes"
        )));
        self.changed += 1;
        self.end(source)?;
        Ok(true)
    }

    /// Removes the open entry from the archive, which is impossible in a pipe.
    pub(super) fn retract(&mut self, source: &Source) -> Result<(), Stop> {
        self.catch_up()?;
        if !self.target.is_regular_file() {
            return Err(shorter(&source.path).into());
        }
        self.wait(source, ArchiveEncoder::settle_within)?;
        let totals = self.encoder.totals();
        let written = totals.archive_bytes - self.encoder.output().len() as u64;
        let kept = self.call(source, ArchiveEncoder::retract_entry)?;
        let cut = self.file.take_back(written - kept);
        cut.map_err(|error| write_error(Some(self.target), error))
    }

    /// Reports a file that changed while it was read.
    fn compare(&mut self, source: &Source, file: &File, before: &Metadata, full: bool, bytes: u64) {
        let now = file.metadata().ok().as_ref().and_then(State::of);
        let change = State::of(before).and_then(|before| before.change(now?));
        let what = match change {
            Some(change) => change.to_string(),
            None if full => "it has more than its header can describe".to_owned(),
            None => return,
        };
        self.changed += 1;
        let name = source.path.display();
        message::failure(
            &Failure::new(format!("'{name}' changed while it was packed: {what}")).help(format!(
                "its entry contains the {bytes} bytes that were read; pack it again when no process writes to it"
            )),
        );
    }
}

/// Size and checksum of a file to store, if it is worth reading twice; only its size if no header states
/// more.
fn known(file: &File, size: u64, sealed: bool) -> io::Result<Option<KnownContent>> {
    if size <= KNOWN_BYTES_MIN {
        return Ok(None);
    }
    if sealed {
        return Ok(Some(KnownContent::new(size, 0)));
    }
    let mut reader = file.try_clone()?;
    let mut buffer = vec![0; READ_BYTES];
    let mut sum = zipstream::Crc32::new();
    let mut bytes = 0;
    while bytes < size {
        let most = usize::try_from(size - bytes).unwrap_or(usize::MAX);
        let most = most.min(READ_BYTES);
        let read = reader.read(&mut buffer[..most])?;
        if read == 0 || signal::interrupted() {
            break;
        }
        sum.update(&buffer[..read]);
        bytes += read as u64;
    }
    io::Seek::rewind(&mut reader)?;
    Ok(Some(KnownContent::new(bytes, sum.sum())))
}

/// The failure of a file that has become shorter since its header was written.
fn shorter(path: &Path) -> Failure {
    let what = format!("cannot pack '{}': it became shorter", path.display());
    Failure::new(what).help("the file changed while it was read: pack it again")
}
