//! Packs sources through the encoder into the target, with every call timed. `file` reads the files.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::Path;
use std::time::Instant;

use files::link_target;
use files::output::Output;
use files::rights::Rights;
use files::target::Target;
use files::write_behind::WriteBehind;
use report::{Outcome, names};
use zipstream::extract::describe;
use zipstream::{
    ArchiveEncoder, ArchiveOptions, Encryption, EntryKind, EntryOptions, RawEntry, ReadAt as _,
    Totals,
};

use crate::commands::transfer::{Stop, write_error};
use crate::commands::zip::edit::Base;
use crate::commands::zip::listed::Source;
use crate::commands::zip::plan::ZipPlan;
use crate::failure::{Failure, Result};
use crate::session::Session;
use crate::term::progress::Progress;
use crate::term::{message, signal};

mod direct_copy;
mod file;
mod stream;
mod times;
mod waiting;

use times::Times;

/// Output that is worth a write.
const WRITE_BYTES: usize = 128 << 10;

/// What an archive starts from.
#[derive(Clone, Copy)]
pub(super) enum Start<'a> {
    New,
    /// An archive that is changed.
    Changed(&'a Base),
    /// The first bytes of a file, such as a program that extracts the archive.
    Behind(&'a File, u64),
}

/// The packing of one archive.
pub(super) struct Packer<'a> {
    encoder: ArchiveEncoder,
    plan: &'a ZipPlan,
    target: &'a Target,
    file: Output,
    times: Times,
    progress: &'a Progress,
    /// Whether entries are encrypted, and therefore state no checksum.
    sealed: bool,
    /// Writes the output of the current entry in the background, if that is not written directly.
    behind: Option<WriteBehind>,
    pub(super) read_bytes: u64,
    /// Who may read all packed files.
    pub(super) rights: Rights,
    /// Files that changed while they were packed; the archive contains what was read.
    pub(super) changed: u64,
}

impl<'a> Packer<'a> {
    pub(super) fn new(
        session: &Session,
        plan: &'a ZipPlan,
        target: &'a Target,
        progress: &'a Progress,
        fixed_time: Option<i64>,
        encryption: Option<Encryption>,
        start: Start<'_>,
    ) -> Result<Self> {
        // One of the threads is the calling one.
        let threads = if plan.threads > 1 { plan.threads } else { 0 };
        let times = Times::new(session, threads > 0);
        let mut options = ArchiveOptions::default();
        options.threads = threads as usize;
        options.observer = (threads > 0).then(|| times.around());
        options.reproducible = fixed_time;
        let sealed = encryption.is_some();
        options.encryption = encryption;
        options.comment = plan.comment.clone().unwrap_or_default();
        let mut file = target.writer();
        let mut resumed = None;
        match start {
            Start::New => {}
            Start::Changed(base) => {
                if plan.comment.is_none() {
                    options.comment = base.comment();
                }
                // What the archive has twice already may stay so.
                options.repeated_names = true;
                resumed = base.goes_on();
                // A program before the archive stays in its place.
                if resumed.is_none() {
                    let copied = base.reader.copy_preceding(&mut file);
                    let bytes = copied.map_err(|error| Failure::new(error.to_string()))?;
                    options.preceding_bytes = bytes;
                }
            }
            Start::Behind(source, bytes) => {
                copy_start(source, bytes, &mut file)
                    .map_err(|error| Failure::io("copy", Path::new("the archive"), &error))?;
                options.preceding_bytes = bytes;
            }
        }
        let encoder = match resumed {
            Some(directory) => ArchiveEncoder::resume(options, directory),
            None => ArchiveEncoder::new(options),
        };
        let encoder =
            encoder.map_err(|error| Failure::new(format!("cannot start packing: {error}")))?;
        Ok(Self {
            encoder,
            plan,
            target,
            file,
            times,
            progress,
            sealed,
            behind: None,
            read_bytes: 0,
            changed: 0,
            rights: Rights::default(),
        })
    }

    /// Packs one source. A failure that is reported has cost only this entry.
    pub(super) fn add(&mut self, source: &Source) -> std::result::Result<bool, Stop> {
        if signal::interrupted() {
            return Err(Stop::Interrupted);
        }
        let start = Instant::now();
        let added = match source.kind {
            _ if source.is_stream() => self.stream(source)?,
            EntryKind::File => self.file(source)?,
            EntryKind::Directory => {
                self.small(source, EntryOptions::directory(), |_| Ok(Vec::new()))?
            }
            EntryKind::Symlink => self.small(source, EntryOptions::symlink(), link_target)?,
        };
        if added {
            let end = Instant::now();
            self.times
                .entry
                .record_span_what(start, end, || source.name.clone());
        }
        Ok(added)
    }

    /// Copies an entry without decoding it, given its headers.
    pub(super) fn carry(
        &mut self,
        raw: RawEntry,
        bytes: impl FnOnce(&mut Sink<'_>) -> std::result::Result<(), Carried>,
    ) -> std::result::Result<(), Stop> {
        if signal::interrupted() {
            return Err(Stop::Interrupted);
        }
        let start = Instant::now();
        let name = names::text(raw.name_bytes());
        self.settle().map_err(|error| Carried::from(error).0)?;
        let carried = self.encoder.start_raw(raw).map_err(Carried::from);
        let carried = carried.and_then(|()| {
            bytes(&mut |piece| {
                self.encoder.push_raw(piece)?;
                self.drain(WRITE_BYTES).map_err(Carried)
            })
        });
        carried.map_err(|Carried(stop)| stop)?;
        let ended = self.encoder.finish_raw();
        ended.map_err(|error| Carried::from(error).0)?;
        self.drain(WRITE_BYTES)?;
        self.times
            .entry
            .record_span_what(start, Instant::now(), || name);
        Ok(())
    }

    /// A directory or link.
    fn small(
        &mut self,
        source: &Source,
        mut options: EntryOptions,
        content: impl FnOnce(&Path) -> io::Result<Vec<u8>>,
    ) -> std::result::Result<bool, Stop> {
        let read = source
            .path
            .symlink_metadata()
            .and_then(|metadata| Ok((metadata, content(&source.path)?)));
        let (metadata, content) = match read {
            Ok(read) => read,
            Err(error) => return Ok(passed_over(&source.path, &error)),
        };
        self.rights.narrow(&metadata);
        describe(&mut options, &metadata);
        self.start(source, &options)?;
        self.push(source, &content)?;
        self.end(source)?;
        Ok(true)
    }

    fn options(&self) -> EntryOptions {
        EntryOptions::new(self.plan.method).level(self.plan.level)
    }

    fn start(&mut self, source: &Source, options: &EntryOptions) -> std::result::Result<(), Stop> {
        self.call(source, |encoder| encoder.start_entry(&source.name, options))
    }

    fn push(&mut self, source: &Source, mut content: &[u8]) -> std::result::Result<(), Stop> {
        while !content.is_empty() {
            let taken = self.call(source, |encoder| encoder.push(content))?;
            content = &content[taken..];
            self.read_bytes += taken as u64;
            self.progress.add(taken as u64);
            self.drain(WRITE_BYTES)?;
        }
        Ok(())
    }

    fn end(&mut self, source: &Source) -> std::result::Result<(), Stop> {
        self.call(source, ArchiveEncoder::finish_entry)?;
        self.drain(WRITE_BYTES)
    }

    /// One timed call of the encoder.
    fn call<T>(
        &mut self,
        source: &Source,
        call: impl FnOnce(&mut ArchiveEncoder) -> std::result::Result<T, zipstream::Error>,
    ) -> std::result::Result<T, Stop> {
        let start = self.wait(source, ArchiveEncoder::wait_for_threads)?;
        let result = call(&mut self.encoder);
        self.held(source, start, Instant::now());
        result.map_err(|error| failed(&source.path, &error))
    }

    fn held(&mut self, source: &Source, start: Instant, end: Instant) {
        self.times.calls += 1;
        let calls = self.times.calls;
        self.times
            .hold
            .record_span_what(start, end, || format!("{}, call {calls}", source.name));
    }

    /// Waits until the output of an entry is written.
    fn catch_up(&mut self) -> std::result::Result<(), Stop> {
        let written = self.behind.take().map_or(Ok(()), WriteBehind::finish);
        written.map_err(|error| write_error(Some(self.target), error))
    }

    fn drain(&mut self, least: usize) -> std::result::Result<(), Stop> {
        let output = self.encoder.output();
        let bytes = output.len();
        if bytes < least {
            return Ok(());
        }
        if let Some(behind) = &mut self.behind {
            let output = self.encoder.take_output(behind.spare());
            return behind.put(output).map_err(|error| {
                self.behind = None;
                write_error(Some(self.target), error)
            });
        }
        self.file
            .write_all(output)
            .map_err(|error| write_error(Some(self.target), error))?;
        self.encoder.consume(bytes);
        Ok(())
    }

    /// Writes the directory.
    pub(super) fn finish(&mut self) -> std::result::Result<Totals, Stop> {
        let failed = |error| Failure::new(format!("cannot finish the archive: {error}"));
        let start = self.settle().map_err(failed)?;
        if self.encoder.directory_bytes() > WRITE_BYTES as u64 {
            self.encoder.settle_all().map_err(failed)?;
            self.drain(1)?;
        }
        let totals = self.encoder.finish().map_err(failed)?;
        let end = Instant::now();
        self.times
            .hold
            .record_span_what(start, end, || "the directory".to_owned());
        self.drain(1)?;
        Ok(totals)
    }

    /// Puts the times into the outcome.
    pub(super) fn report(self, outcome: &mut Outcome) {
        drop(self.encoder);
        self.times.finish(outcome);
    }
}

/// Copies the first bytes of a file.
fn copy_start(source: &File, bytes: u64, out: &mut Output) -> io::Result<()> {
    let mut buffer = vec![0; WRITE_BYTES];
    let mut at = 0;
    while at < bytes {
        let left = usize::try_from(bytes - at).unwrap_or(usize::MAX);
        let most = left.min(buffer.len());
        let read = source.read_at(&mut buffer[..most], at)?;
        if read == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        out.write_all(&buffer[..read])?;
        at += read as u64;
    }
    Ok(())
}

/// Receives the bytes of an entry that is copied.
pub(super) type Sink<'a> = dyn FnMut(&[u8]) -> std::result::Result<(), Carried> + 'a;

/// Why an entry could not be copied.
pub(super) struct Carried(pub(super) Stop);

impl From<zipstream::Error> for Carried {
    fn from(error: zipstream::Error) -> Self {
        let failure = Failure::new(format!("cannot copy {error}"));
        Self(Stop::Failed(failure.archive_help(&error)))
    }
}

/// Reports a source that cannot be read and is left out.
fn passed_over(path: &Path, error: &io::Error) -> bool {
    message::failure(&Failure::io("read", path, error));
    false
}

fn failed(path: &Path, error: &zipstream::Error) -> Stop {
    let failure = Failure::new(format!("cannot pack '{}': {error}", path.display()));
    Stop::Failed(failure.archive_help(error))
}
