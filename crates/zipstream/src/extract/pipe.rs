//! Entries out of a pipe, in the order in which they come.
//!
//! Modes and links are in the directory, which comes last: files get their modes then, and those
//! that turn out to be links become links.

use std::cell::Cell;
use std::collections::HashMap;
use std::io::Read;
use std::path::Path;

use files::beneath::Placed;

use super::names::{Given, Taken};
use super::observer::{ExtractWorker, Item, Unobserved};
use super::options::{Destination, ExtractOptions, Repeats};
use super::place::{LINK_BYTES_MAX, Place};
use super::reason::Reason;
use super::report::{ExtractReport, Failed, Stopped};
use super::select::{case_clashes, repeats};
use super::writing::Ended;
use crate::entry_kind::EntryKind;
use crate::error::{Error, ErrorKind};
use crate::name::{self, system_path};
use crate::read::{PipeReader, StreamEntry};

/// Extracts an archive into a directory as it comes from a pipe, and reads the pipe to its end.
///
/// See the [module](super) for what is refused and in which order files appear. Until the end of the
/// archive states their modes, files are readable by their owner alone, and links are files.
///
/// ```
/// use zipstream::extract::{ExtractOptions, extract_pipe_to};
/// use zipstream::{ArchiveWriter, EntryOptions, PipeReader, ReadOptions};
///
/// let mut writer = ArchiveWriter::new(Vec::new());
/// writer.add("a.txt", &EntryOptions::default(), &mut &b"first"[..])?;
/// let (archive, _) = writer.finish()?;
///
/// let directory = tempfile::tempdir()?;
/// let mut pipe = PipeReader::new(&archive[..], &ReadOptions::default());
/// let report = extract_pipe_to(&mut pipe, directory.path(), &ExtractOptions::default())?;
/// assert!(report.is_complete());
/// assert_eq!(std::fs::read(directory.path().join("a.txt"))?, b"first");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// The directory cannot be made or opened. What fails of the archive is in the report.
pub fn extract_pipe_to(
    pipe: &mut PipeReader<impl Read>,
    directory: &Path,
    options: &ExtractOptions<'_>,
) -> Result<ExtractReport, Error> {
    extract_pipe_into(pipe, Destination::Directory(directory), options)
}

/// Extracts an archive into a directory or a writer, or verifies it, as it comes from a pipe.
///
/// # Errors
/// As of [`extract_pipe_to`].
pub fn extract_pipe_into(
    pipe: &mut PipeReader<impl Read>,
    destination: Destination<'_>,
    options: &ExtractOptions<'_>,
) -> Result<ExtractReport, Error> {
    if matches!(destination, Destination::Objects(_)) {
        let what = "an archive from a pipe cannot become objects: only its end says which entries are links";
        return Err(Error::new(ErrorKind::Unsupported, what.to_owned()));
    }
    let mut run = Run {
        place: Place::open(destination, options)?,
        options,
        worker: match options.observer {
            Some(observer) => observer.worker(),
            None => Box::new(Unobserved),
        },
        asked: Cell::new(false),
        made: HashMap::new(),
        holders: None,
        report: ExtractReport::default(),
    };
    let ended = run.entries(pipe).and_then(|()| match run.report.stopped {
        Some(_) => Ok(()),
        None => run.records(pipe),
    });
    if let Err(ended) = ended {
        let damaged = matches!(ended, Ended::Unreadable(_));
        run.end("", ended);
        if damaged {
            run.report.stopped.get_or_insert(Stopped::Damaged);
        }
    }
    run.report.compressed_bytes = pipe.offset();
    Ok(run.report)
}

struct Run<'a, 'd> {
    place: Place<'d>,
    options: &'a ExtractOptions<'a>,
    worker: Box<dyn ExtractWorker + 'a>,
    /// Whether the password was asked for.
    asked: Cell<bool>,
    /// Where the local header of each file is that was made, and its path.
    made: HashMap<u64, String>,
    /// The same by paths, from the first path on that an entry has again.
    holders: Option<HashMap<String, u64>>,
    report: ExtractReport,
}

impl Run<'_, '_> {
    fn entries(&mut self, pipe: &mut PipeReader<impl Read>) -> Result<(), Ended> {
        let profile = pipe.options().profile;
        let clashes = case_clashes(self.options, profile);
        let repeats = repeats(self.options, profile);
        let mut taken = Taken::default();
        while let Some(entry) = pipe.next_entry()? {
            if self.options.is_cancelled() {
                return Err(Ended::Cancelled);
            }
            let entry = entry.clone();
            let wanted = self.options.takes(&entry.name) && !self.keeps(&entry.name);
            if entry.encrypted && (wanted || entry.content_bytes.is_none()) {
                self.unlock(pipe)?;
            }
            if !wanted {
                pipe.skip()?;
                continue;
            }
            let kind = match entry.name.ends_with('/') {
                true => EntryKind::Directory,
                false => EntryKind::File,
            };
            let extracts = self.place.directory().is_some();
            // The directory itself is there.
            if extracts && kind == EntryKind::Directory && name::is_here(&entry.name) {
                pipe.skip()?;
                continue;
            }
            let path = match extracts {
                true => {
                    let renamed = self.options.renamed(&entry.name);
                    taken.path(&renamed.unwrap_or_default(), kind, clashes, repeats)
                }
                false => Ok(Given::default()),
            };
            let done = match path {
                Ok(given) if given.repeated && repeats == Repeats::First => {
                    self.report.repeat(&entry.name);
                    pipe.skip()?;
                    continue;
                }
                Ok(given) if given.repeated => self.again(pipe, &entry, given.path),
                Ok(given) => self.one(pipe, &entry, kind, given.path),
                Err(reason) => Err(Ended::Failed(reason)),
            };
            match done {
                Ok(()) => {}
                // The rest of it is passed over.
                Err(ended @ Ended::Failed(_)) => self.end(&entry.name, ended),
                Err(ended @ Ended::Unreadable(_)) if pipe.can_go_on() => {
                    self.end(&entry.name, ended);
                }
                Err(ended) => return Err(ended),
            }
            if self.report.stopped.is_some() {
                break;
            }
        }
        self.report.case_clashes = taken.case_clashes;
        Ok(())
    }

    /// Whether an entry is a file that exists and shall be kept, so that nothing of it is decoded.
    fn keeps(&mut self, name: &str) -> bool {
        let Some(directory) = self.place.directory() else {
            return false;
        };
        let path = self.options.path(name);
        let freshens = directory.only_older();
        let keeps =
            freshens || !name.ends_with('/') && path.is_ok_and(|path| directory.keeps(&path));
        self.report.kept += u64::from(keeps);
        keeps
    }

    /// Asks for the password, once.
    fn unlock(&self, pipe: &mut PipeReader<impl Read>) -> Result<(), Ended> {
        if let Some(ask) = &self.options.password
            && !self.asked.replace(true)
        {
            pipe.set_decryption(ask()?);
        }
        Ok(())
    }

    fn end(&mut self, name: &str, ended: Ended) {
        if let Err(failed) = self.report.end(ended, name) {
            self.worker.failed(&failed);
            self.report.fail_and_judge(failed);
        }
    }

    /// Makes a directory, or takes the content of a file to its place.
    fn one(
        &mut self,
        pipe: &mut PipeReader<impl Read>,
        entry: &StreamEntry,
        kind: EntryKind,
        path: String,
    ) -> Result<(), Ended> {
        if let (EntryKind::Directory, Some(directory)) = (kind, self.place.directory()) {
            directory
                .root
                .directory(system_path(&path))
                .map_err(Reason::Write)?;
            self.report.entries += 1;
            self.note(entry.offset, path);
            return Ok(());
        }
        let (bytes, placed) = self.content(pipe, entry, &path)?;
        self.report.entries += 1;
        self.report.content_bytes += bytes;
        if placed == Placed::Done && self.place.directory().is_some() {
            self.note(entry.offset, path);
        }
        Ok(self.place.placed(placed, &mut self.report)?)
    }

    /// Takes the content of a file to a path that an earlier one has: in its place, if it was made.
    fn again(
        &mut self,
        pipe: &mut PipeReader<impl Read>,
        entry: &StreamEntry,
        path: String,
    ) -> Result<(), Ended> {
        let made = &self.made;
        let holders = self.holders.get_or_insert_with(|| {
            let pairs = made.iter();
            pairs.map(|(at, path)| (path.clone(), *at)).collect()
        });
        let earlier = holders.get(&path).copied();
        let Some((earlier, directory)) = earlier.zip(self.place.directory()) else {
            return self.one(pipe, entry, EntryKind::File, path);
        };
        let before = directory.root.set_replace(true);
        let done = self.one(pipe, entry, EntryKind::File, path);
        if let Some(directory) = self.place.directory() {
            directory.root.set_replace(before);
        }
        done?;
        // The record of the earlier one says nothing of this file.
        self.made.remove(&earlier);
        self.report.entries -= 1;
        self.report.repeat(&entry.name);
        Ok(())
    }

    /// Notes where the local header of a file is that was made.
    fn note(&mut self, offset: u64, path: String) {
        if let Some(holders) = &mut self.holders {
            holders.insert(path.clone(), offset);
        }
        self.made.insert(offset, path);
    }

    fn content(
        &mut self,
        pipe: &mut PipeReader<impl Read>,
        entry: &StreamEntry,
        path: &str,
    ) -> Result<(u64, Placed), Ended> {
        let item = Item::Stream(entry);
        let worker = &mut *self.worker;
        worker.started(item);
        let directory = self.place.directory();
        let attributes = directory.map(|directory| directory.first_attributes(entry.time));
        let mut writing = self
            .place
            .start(path, None, attributes.unwrap_or_default())?;
        let options = self.options;
        let bytes = pipe.content(&mut |piece: &[u8]| {
            worker.decoded(item, piece.len() as u64);
            writing.take(piece)?;
            worker.written(item, piece.len() as u64);
            match options.is_cancelled() {
                true => Err(Ended::Cancelled),
                false => Ok(()),
            }
        })?;
        let placed = writing.finish()?;
        worker.done(item, bytes);
        Ok((bytes, placed))
    }

    /// Goes through the directory, and through what it says of the files that were made.
    fn records(&mut self, pipe: &mut PipeReader<impl Read>) -> Result<(), Ended> {
        let (mut links, mut directories) = (Vec::new(), Vec::new());
        while let Some(record) = pipe.next_record()? {
            let Some(directory) = self.place.directory() else {
                continue;
            };
            // Only of the entry that stands there: the name has to be the same.
            let Some(path) = self.made.remove(&record.offset()) else {
                continue;
            };
            let name = record.name_lossy();
            if !self.options.path(&name).is_ok_and(|other| other == path) {
                continue;
            }
            match record.kind() {
                EntryKind::Symlink => links.push((path, record.time())),
                EntryKind::Directory => directories.push((path, directory.attributes(&record))),
                EntryKind::File => {
                    let attributes = directory.last_attributes(&record);
                    if let Err(error) = directory.root.set(system_path(&path), attributes) {
                        self.report.fail(Failed::new(name, Reason::Write(error)));
                    }
                }
            }
        }
        let Some(directory) = self.place.directory() else {
            return Ok(());
        };
        for (path, time) in links {
            // A byte more shows that it is too long.
            let target = directory.root.take(system_path(&path), LINK_BYTES_MAX + 1);
            let report = &mut self.report;
            let made = target.map_err(Reason::Write).and_then(|target| {
                if !directory.makes_links(&path, report) {
                    return Ok(());
                }
                let placed = directory.link(&path, &target, time)?;
                directory.placed(placed, report)
            });
            if let Err(reason) = made {
                report.fail(Failed::new(path, reason));
            }
        }
        directory.finish(directories);
        Ok(())
    }
}
