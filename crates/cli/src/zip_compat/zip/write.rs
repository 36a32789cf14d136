//! Writes the new archive, without its name.

use std::collections::{HashMap, HashSet};
use std::fs::{File, Metadata};
use std::io;
use std::path::Path;

use files::link_target;
use files::output::Output;
use files::steady::State;
use zipstream::extract::describe;
use zipstream::{
    ArchiveOptions, ArchiveReader, ArchiveWriter, Encryption, EntryKind, EntryOptions, Method,
    PushError, ReadAt, ReadOptions, Scratch, TextReader,
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
    /// What the files of items were when their reading began.
    pub(super) states: HashMap<usize, State>,
}

pub(super) fn failed(error: &zipstream::Error) -> Stop {
    let exit = match error.kind() {
        zipstream::ErrorKind::Io(_) => code::WRITE,
        zipstream::ErrorKind::Name => code::USAGE,
        _ => code::STRUCTURE,
    };
    let failure = Failure::new(format!("cannot write the archive: {}", shown::error(error)));
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
            let kept = match *step {
                Step::Keep(at) => Some(at),
                Step::Replace { item, held } => {
                    self.add(item, "its entry stays", &mut writer, &mut done)?;
                    done.unread.contains(&item).then_some(held)
                }
                Step::Repeat { item, held } => done.unread.contains(&item).then_some(held),
            };
            if let Some(at) = kept {
                self.keep(at, &mut writer, &mut scratch)?;
            }
        }
        for item in &self.plan.added {
            self.add(*item, "it is left out", &mut writer, &mut done)?;
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
        let reader = self.reader;
        let found =
            reader.and_then(|reader| Some((reader, reader.directory().iter_at(at).next()?)));
        let Some((reader, entry)) = found else {
            let failure = Failure::new(format!("the archive has no record at byte {at} any more"));
            return Err(Stop::new(code::STRUCTURE, failure.help("it is unchanged")));
        };
        let entry = entry.map_err(|error| failed(&error))?;
        let comment = self.comments.get(entry.name_lossy().as_ref());
        let change = |raw: &mut zipstream::RawEntry| match comment {
            Some(comment) => raw.set_comment(comment.clone()),
            None => Ok(()),
        };
        writer
            .copy_with(reader, &entry, scratch, change)
            .map_err(|error| failed(&error))
    }

    /// Packs a file; of one that cannot be read nothing is in the archive, and `without` says what that means.
    fn add(
        &self,
        at: usize,
        without: &str,
        writer: &mut ArchiveWriter<Output>,
        done: &mut Done,
    ) -> Ended<()> {
        if signal::interrupted() {
            return Err(Stop::silent(code::INTERRUPTED));
        }
        let item = &self.found.items[at];
        match self.pack(item, writer)? {
            Ok(state) => done.states.extend(state.map(|state| (at, state))),
            Err(_) if signal::interrupted() => return Err(Stop::silent(code::INTERRUPTED)),
            Err(error) => {
                let name = item.path.display();
                let why = files::reason(&error);
                message::remark(&format!("cannot read '{name}': {why}; {without}"));
                done.unread.insert(at);
            }
        }
        Ok(())
    }

    /// Packs a file; returns what it was when its reading began, if it is a regular one.
    fn pack(
        &self,
        item: &Item,
        writer: &mut ArchiveWriter<Output>,
    ) -> Ended<io::Result<Option<State>>> {
        let mut options = self.options(item);
        if item.path.as_os_str() == "-" {
            options.modified = Some(item.version.modified);
            // What comes through a pipe has no mode that says who may read it.
            options.mode = 0o600;
            let read = self.content(item, options, io::stdin().lock(), writer)?;
            return Ok(read.map(|()| None));
        }
        let name = item.name.trim_end_matches('/');
        let opened = match item.kind {
            EntryKind::File if item.pipe => pipe(&item.path),
            EntryKind::File => open::regular(&item.path),
            EntryKind::Directory | EntryKind::Symlink => {
                let found = match item.kind {
                    EntryKind::Directory => item.path.metadata().map(|found| (found, Vec::new())),
                    _ => item
                        .path
                        .symlink_metadata()
                        .and_then(|found| Ok((found, link_target(&item.path)?))),
                };
                let (metadata, target) = match found {
                    Ok(found) => found,
                    Err(error) => return Ok(Err(error)),
                };
                self.describe(&mut options, &metadata);
                let added = writer.add(name, &options, &mut &target[..]);
                return added.map(|()| Ok(None)).map_err(|error| failed(&error));
            }
        };
        let (file, metadata) = match opened {
            Ok(opened) => opened,
            Err(error) => return Ok(Err(error)),
        };
        self.describe(&mut options, &metadata);
        // A line end alone may become twice as long.
        let most = metadata
            .len()
            .saturating_mul(1 + u64::from(self.line.ends.is_some()));
        options.size_hint = Some(most).filter(|bytes| *bytes > 0);
        let read = self.content(item, options, file, writer)?;
        Ok(read.map(|()| State::of(&metadata)))
    }

    /// Packs a content. Of one that cannot be read to its end nothing stays in the archive; a pipe, which gives nothing
    /// back, ends the run.
    fn content(
        &self,
        item: &Item,
        mut options: EntryOptions,
        source: impl io::Read,
        writer: &mut ArchiveWriter<Output>,
    ) -> Ended<io::Result<()>> {
        let mut source = match TextReader::new(source, self.line.ends) {
            Ok(source) => source,
            Err(error) => return Ok(Err(error)),
        };
        if self.line.ends.is_some() && source.is_binary() {
            let name = shown::name(&item.name);
            warnings::warn(self.line, &format!("{name} is no text; its line ends stay"));
        }
        options.text = source.is_text() && options.method != Method::Stored;
        let started = writer.start_entry(&item.name, &options);
        started.map_err(|error| failed(&error))?;
        loop {
            match writer.push_from(&mut source) {
                Ok(0) => break,
                Ok(_) if signal::interrupted() => return Err(Stop::silent(code::INTERRUPTED)),
                Ok(_) => {}
                Err(PushError::Archive(error)) => return Err(failed(&error)),
                Err(PushError::Source(error)) => {
                    let given = writer.retract_entry().map_err(|error| failed(&error))?;
                    if given > 0 && writer.sink().take_back(given).is_err() {
                        let (name, why) = (item.path.display(), files::reason(&error));
                        let failure =
                            Failure::new(format!("cannot read '{name}' to its end: {why}"));
                        let failure = failure.help("an archive in a file goes on without it");
                        return Err(Stop::new(code::READ, failure));
                    }
                    return Ok(Err(error));
                }
            }
        }
        writer.finish_entry().map_err(|error| failed(&error))?;
        Ok(Ok(()))
    }

    /// Time, mode and owner of a file.
    fn describe(&self, options: &mut EntryOptions, metadata: &Metadata) {
        describe(options, metadata);
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt as _;
            let owner = zipstream::EntryOwner::new(metadata.uid(), metadata.gid());
            options.owner = (!self.line.bare).then_some(owner);
        }
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
        let options = options.old_time_only(line.bare);
        options.dos_attributes(line.dos_names)
    }
}

/// Opens a named pipe, which waits for whoever writes to it.
fn pipe(path: &Path) -> io::Result<(File, Metadata)> {
    let file = open::open(path, File::options().read(true))?;
    let metadata = file.metadata()?;
    Ok((file, metadata))
}

/// The archive that was written, to be read again.
pub(super) fn written(file: &File) -> Ended<ArchiveReader<&File>> {
    let options = ReadOptions::new().unix_bytes(true);
    ArchiveReader::open_with(file, &options).map_err(|error| failed(&error))
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write as _};

    use zipstream::FileVersion;

    use super::*;
    use crate::zip_compat::zip::flags;

    /// Gives this many bytes, which no method makes smaller, and fails.
    struct Failing(u64);

    impl Read for Failing {
        fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
            let bytes = room.len().min(usize::try_from(self.0).unwrap_or(0));
            for byte in &mut room[..bytes] {
                self.0 -= 1;
                let mixed = self.0.wrapping_mul(0x9e37_79b9_7f4a_7c15);
                *byte = ((mixed ^ mixed >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 56) as u8;
            }
            match bytes {
                0 => Err(io::Error::other("the disk is broken")),
                bytes => Ok(bytes),
            }
        }
    }

    /// Packs a file, one that fails after these bytes, and another file.
    fn packed(sink: File, bytes: u64) -> Ended<()> {
        let line = flags::parse(&["a.zip".into()]).expect("a line");
        let (found, plan) = (Found::default(), Plan::default());
        let job: Job<'_, File> = Job {
            line: &line,
            found: &found,
            plan: &plan,
            reader: None,
            comment: Vec::new(),
            encryption: None,
            comments: HashMap::new(),
        };
        let mut writer = ArchiveWriter::new(Output::new(sink));
        for (name, bytes) in [("before", None), ("failing", Some(bytes)), ("after", None)] {
            let item = Item {
                name: name.to_owned(),
                path: name.into(),
                kind: EntryKind::File,
                version: FileVersion {
                    modified: 0,
                    bytes: 0,
                    directory: false,
                },
                pipe: false,
            };
            let options = EntryOptions::default().size_hint(bytes.unwrap_or(0) + 1);
            let read = match bytes {
                Some(bytes) => job.content(&item, options, Failing(bytes), &mut writer)?,
                None => job.content(&item, options, name.as_bytes(), &mut writer)?,
            };
            assert_eq!(read.is_err(), bytes.is_some(), "{name}");
        }
        let (mut sink, _) = writer.finish().expect("finished");
        sink.flush().expect("written");
        Ok(())
    }

    #[test]
    fn of_a_file_that_fails_half_way_nothing_is_in_the_archive() {
        for bytes in [0, 10, 100 << 10, 900 << 10, 5 << 20] {
            let sink = tempfile::tempfile().expect("a file");
            packed(sink.try_clone().expect("a handle"), bytes).expect("goes on");
            let reader = written(&sink).expect("an archive");
            let names = reader.entries().flatten();
            let names: Vec<_> = names.map(|entry| entry.name_lossy().into_owned()).collect();
            assert_eq!(names, ["before", "after"], "{bytes}");
            let wanted: Vec<u8> = names.concat().into_bytes();
            let contents = reader.entries().flatten();
            let contents: Vec<_> = contents
                .map(|entry| reader.read(&entry).expect("read"))
                .collect();
            assert_eq!(contents.concat(), wanted, "{bytes}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_pipe_that_has_taken_a_part_of_a_file_that_fails_is_given_up() {
        let (mut reader, writer) = io::pipe().expect("a pipe");
        let drained = std::thread::spawn(move || io::copy(&mut reader, &mut io::sink()));
        let sink = File::from(std::os::fd::OwnedFd::from(writer));
        let stop = packed(sink, 5 << 20).expect_err("ended");
        assert_eq!(stop.code, code::READ);
        drained.join().expect("ended").expect("read");
    }
}
