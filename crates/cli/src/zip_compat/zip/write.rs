//! Writes the new archive, without its name.

use std::collections::{HashMap, HashSet};
use std::fs::{File, Metadata};
use std::io;

use files::link_target;
use files::output::Output;
use zipstream::extract::utc_offset_seconds;
use zipstream::{
    ArchiveOptions, ArchiveReader, ArchiveWriter, Encryption, EntryKind, EntryOptions, LineEnds,
    Method, ReadAt, Scratch, TextReader,
};

use crate::failure::Failure;
use crate::io::open;
use crate::term::{message, signal};
use crate::zip_compat::ended::{Ended, Stop, zip as code};
use crate::zip_compat::shown;
use crate::zip_compat::zip::decide::{Plan, Step};
use crate::zip_compat::zip::flags::Line;
use crate::zip_compat::zip::sources::{Found, Item};
use crate::zip_compat::zip::warnings;

/// What is written, and how.
pub(super) struct Job<'a, R> {
    pub(super) line: &'a Line,
    pub(super) found: &'a Found,
    pub(super) plan: &'a Plan,
    pub(super) reader: Option<&'a ArchiveReader<R>>,
    pub(super) comment: Vec<u8>,
    pub(super) encryption: Option<Encryption>,
    /// Comments that entries get, by their names.
    pub(super) comments: HashMap<String, Vec<u8>>,
}

/// What came of it.
#[derive(Debug, Default)]
pub(super) struct Done {
    /// Entries of the archive.
    pub(super) entries: u64,
    /// Items that could not be read.
    pub(super) unread: HashSet<usize>,
}

pub(super) fn failed(error: &zipstream::Error) -> Stop {
    let exit = match error.kind() {
        zipstream::ErrorKind::Io(_) => code::WRITE,
        zipstream::ErrorKind::Name => code::OPEN,
        _ => code::STRUCTURE,
    };
    let failure = Failure::new(format!("cannot write the archive: {error}"));
    Stop::new(exit, failure.archive_help(error))
}

impl<R: ReadAt> Job<'_, R> {
    /// Writes the archive to `output`.
    pub(super) fn write(mut self, mut output: Output) -> Ended<Done> {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let mut options = ArchiveOptions::new()
            .threads(if threads > 1 { threads } else { 0 })
            .comment(std::mem::take(&mut self.comment));
        options.encryption = self.encryption.take();
        // A program before the archive stays in its place.
        if let Some(reader) = self.reader {
            // What the archive has twice already may stay so.
            options.repeated_names = true;
            let copied = reader.copy_preceding(&mut output);
            options.preceding_bytes = copied.map_err(|error| failed(&error))?;
        }
        let mut writer =
            ArchiveWriter::with_options(output, options).map_err(|error| failed(&error))?;
        let (mut done, mut scratch) = (Done::default(), Scratch::default());
        for step in &self.plan.steps {
            match step {
                Step::Keep(at) => self.keep(*at, &mut writer, &mut scratch)?,
                Step::Replace(item) => self.add(*item, &mut writer, &mut done)?,
            }
        }
        for item in &self.plan.added {
            self.add(*item, &mut writer, &mut done)?;
        }
        let (_, totals) = writer.finish().map_err(|error| failed(&error))?;
        done.entries = totals.entries;
        Ok(done)
    }

    /// Copies an entry that stays.
    fn keep(
        &self,
        at: u64,
        writer: &mut ArchiveWriter<Output>,
        scratch: &mut Scratch,
    ) -> Ended<()> {
        let Some(reader) = self.reader else {
            return Ok(());
        };
        let Some(Ok(entry)) = reader.directory().iter_at(at).next() else {
            return Ok(());
        };
        let comment = self.comments.get(entry.name_lossy().as_ref());
        let change = |raw: &mut zipstream::RawEntry| match comment {
            Some(comment) => raw.set_comment(comment.clone()),
            None => Ok(()),
        };
        writer
            .copy_with(reader, &entry, scratch, change)
            .map_err(|error| failed(&error))
    }

    /// Packs a file; one that cannot be read is left out.
    fn add(&self, at: usize, writer: &mut ArchiveWriter<Output>, done: &mut Done) -> Ended<()> {
        if signal::interrupted() {
            return Err(Stop::silent(code::INTERRUPTED));
        }
        let item = &self.found.items[at];
        if let Err(error) = self.pack(item, writer)? {
            let name = item.path.display();
            let why = files::reason(&error);
            message::remark(&format!("cannot read '{name}': {why}; it is left out"));
            done.unread.insert(at);
        }
        Ok(())
    }

    fn pack(&self, item: &Item, writer: &mut ArchiveWriter<Output>) -> Ended<io::Result<()>> {
        let started = |result: Result<(), zipstream::Error>| result.map_err(|error| failed(&error));
        if item.path.as_os_str() == "-" {
            let mut options = self.options(item);
            options.modified = Some(item.version.modified);
            // What comes through a pipe has no mode that says who may read it.
            options.mode = 0o600;
            let mut stdin = io::stdin().lock();
            if let Some(ends) = self.line.ends {
                return self.text(item, writer, options, stdin, ends);
            }
            started(writer.start_entry(&item.name, &options))?;
            return content(writer, &mut stdin);
        }
        let read = match item.kind {
            EntryKind::File => open::regular(&item.path).map(|(file, found)| (Some(file), found)),
            EntryKind::Directory => item.path.metadata().map(|found| (None, found)),
            EntryKind::Symlink => item.path.symlink_metadata().map(|found| (None, found)),
        };
        let (file, metadata) = match read {
            Ok(read) => read,
            Err(error) => return Ok(Err(error)),
        };
        let mut options = self.options(item);
        describe(&mut options, &metadata);
        let name = item.name.trim_end_matches('/');
        match (item.kind, file) {
            (EntryKind::File, Some(file)) if self.line.ends.is_some() => {
                // A line end alone becomes twice as long.
                let most = metadata.len().saturating_mul(2);
                options.size_hint = Some(most).filter(|bytes| *bytes > 0);
                let ends = self.line.ends.unwrap_or(LineEnds::Dos);
                self.text(item, writer, options, file, ends)
            }
            (EntryKind::File, Some(mut file)) => {
                options.size_hint = Some(metadata.len()).filter(|bytes| *bytes > 0);
                started(writer.start_entry(name, &options))?;
                content(writer, &mut file)
            }
            (EntryKind::Symlink, _) => {
                let target = match link_target(&item.path) {
                    Ok(target) => target,
                    Err(error) => return Ok(Err(error)),
                };
                started(writer.add(name, &options, &mut &target[..]))?;
                Ok(Ok(()))
            }
            _ => {
                started(writer.add(name, &options, &mut &b""[..]))?;
                Ok(Ok(()))
            }
        }
    }

    /// Packs a content with other line ends, unless it is no text.
    fn text(
        &self,
        item: &Item,
        writer: &mut ArchiveWriter<Output>,
        options: EntryOptions,
        source: impl io::Read,
        ends: LineEnds,
    ) -> Ended<io::Result<()>> {
        let mut text = match TextReader::new(source, ends) {
            Ok(text) => text,
            Err(error) => return Ok(Err(error)),
        };
        if text.is_binary() {
            let name = shown::name(&item.name);
            warnings::warn(self.line, &format!("{name} is no text; its line ends stay"));
        }
        let started = writer.start_entry(&item.name, &options);
        started.map_err(|error| failed(&error))?;
        content(writer, &mut text)
    }

    fn options(&self, item: &Item) -> EntryOptions {
        let line = self.line;
        let lower = item.name.to_lowercase();
        // The highest level tries everything.
        let by_suffix = line.level != 9 && line.stored.iter().any(|end| lower.ends_with(end));
        let options = match item.kind {
            EntryKind::Directory => EntryOptions::directory(),
            EntryKind::Symlink => EntryOptions::symlink(),
            EntryKind::File if by_suffix || line.level == 0 || line.method == Method::Stored => {
                EntryOptions::new(Method::Stored)
            }
            EntryKind::File => EntryOptions::new(Method::Deflate).level(line.level),
        };
        let options = options.old_time_only(line.old_times);
        options.dos_attributes(line.dos_names)
    }
}

/// Takes a content into the open entry. One that cannot be read to its end is removed, if that is still
/// possible.
fn content(
    writer: &mut ArchiveWriter<Output>,
    source: &mut impl io::Read,
) -> Ended<io::Result<()>> {
    loop {
        match writer.push_from(source) {
            Ok(0) => break,
            Ok(_) if signal::interrupted() => return Err(Stop::silent(code::INTERRUPTED)),
            Ok(_) => {}
            Err(zipstream::PushError::Source(error)) => {
                if writer.abandon_entry().is_err() {
                    let why = files::reason(&error);
                    return Err(Stop::new(
                        code::READ,
                        Failure::new(format!("a file could not be read to its end: {why}")),
                    ));
                }
                return Ok(Err(error));
            }
            Err(zipstream::PushError::Archive(error)) => return Err(failed(&error)),
        }
    }
    writer.finish_entry().map_err(|error| failed(&error))?;
    Ok(Ok(()))
}

/// Time and mode of a file.
fn describe(options: &mut EntryOptions, metadata: &Metadata) {
    let modified = metadata.modified().ok();
    let modified = modified.and_then(|time| jiff::Timestamp::try_from(time).ok());
    if let Some(modified) = modified {
        let seconds = modified.as_second();
        options.modified = Some(seconds);
        options.utc_offset_seconds = utc_offset_seconds(seconds);
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        options.mode = metadata.permissions().mode();
    }
}

/// The archive that was written, to be read again.
pub(super) fn written(file: &File) -> Ended<ArchiveReader<&File>> {
    ArchiveReader::open(file).map_err(|error| failed(&error))
}
