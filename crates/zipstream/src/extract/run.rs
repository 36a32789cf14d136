//! Entries out of an archive that can be read anywhere: by several threads, one block of entries at a time.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use files::Cancel;
use files::beneath::Placed;

use super::observer::{ExtractObserver, ExtractWorker, Item, Unobserved};
use super::options::{Destination, ExtractOptions, IsText, Rename};
use super::place::{LINK_BYTES_MAX, Place, too_long};
use super::reason::Reason;
use super::report::{ExtractReport, Failed, Stopped};
use super::select::select;
use super::text::UnixLines;
use super::work::{Work, at};
use super::writing::{Ended, Writing};
use crate::error::{Error, ErrorKind};
use crate::name::{self, system_path};
use crate::read::{ArchiveReader, Entry, Profile, ReadAt, Scratch};

/// Extracts an archive into a directory, which is made where there is none.
///
/// See the [module](super) for what is refused and in which order files appear.
///
/// # Errors
/// The directory cannot be made or opened; or entries of the archive share bytes
/// ([`check`](ArchiveReader::check)), and nothing is extracted. What fails of single entries is in the
/// report.
pub fn extract_to<R: ReadAt + Sync>(
    reader: &ArchiveReader<R>,
    directory: &Path,
    options: &ExtractOptions<'_>,
) -> Result<ExtractReport, Error> {
    extract_into(reader, Destination::Directory(directory), options)
}

/// Extracts an archive into a directory, a store or a writer, or verifies it.
///
/// # Errors
/// As of [`extract_to`].
pub fn extract_into<R: ReadAt + Sync>(
    reader: &ArchiveReader<R>,
    destination: Destination<'_>,
    options: &ExtractOptions<'_>,
) -> Result<ExtractReport, Error> {
    let mut place = Place::open(destination, options)?;
    // What shares bytes is not worth reading.
    reader.check()?;
    let mut report = ExtractReport::default();
    let selected = select(reader, options, &mut place, &mut report);
    make_directories(
        reader,
        &selected.directories,
        options,
        &mut place,
        &mut report,
    );
    let threads = match options.threads {
        0 => std::thread::available_parallelism().map_or(1, usize::from),
        threads => threads,
    };
    if report.stopped.is_none() {
        let shared = Shared::new(reader, selected.files, options);
        report.add(run_all(shared, threads, &mut place));
    }
    if report.stopped.is_none() {
        make_links(reader, &selected.links, options, &mut place, &mut report);
        finish_directories(reader, &selected.directories, options, &mut place);
    }
    Ok(report)
}

/// Reads every entry and compares its checksum, whatever its name. Of the options, the number of threads,
/// the observer and the context count.
pub fn verify<R: ReadAt + Sync>(
    reader: &ArchiveReader<R>,
    options: &ExtractOptions<'_>,
) -> ExtractReport {
    let mut files = Work::default();
    for entry in reader.entries().flatten() {
        files.push(&entry);
    }
    let shared = Shared::new(reader, files, options);
    run_all(shared, options.threads.max(1), &mut Place::Nowhere)
}

/// What all threads share.
struct Shared<'a, R> {
    reader: &'a ArchiveReader<R>,
    files: Work,
    observer: Option<&'a dyn ExtractObserver>,
    cancel: &'a Cancel,
    /// Whether the file system is full, so that nothing else can be written either.
    full: AtomicBool,
    rename: Option<&'a Rename<'a>>,
    texts: Option<&'a IsText<'a>>,
}

impl<'a, R> Shared<'a, R> {
    fn new(reader: &'a ArchiveReader<R>, files: Work, options: &'a ExtractOptions<'_>) -> Self {
        Self {
            reader,
            files,
            observer: options.observer,
            cancel: options.context.cancelled(),
            full: AtomicBool::new(false),
            rename: options.rename.as_deref(),
            texts: options.texts.as_deref(),
        }
    }

    /// The path of an entry, which has one that was taken.
    fn path(&self, name: &str) -> String {
        let renamed = match self.rename {
            Some(rename) => rename(name).unwrap_or_default(),
            None => return name::path(name).unwrap_or_default(),
        };
        name::path(&renamed).unwrap_or_default()
    }

    fn worker(&self) -> Box<dyn ExtractWorker + '_> {
        match self.observer {
            Some(observer) => observer.worker(),
            None => Box::new(Unobserved),
        }
    }
}

fn make_directories<R: ReadAt>(
    reader: &ArchiveReader<R>,
    directories: &[u64],
    options: &ExtractOptions<'_>,
    place: &mut Place<'_>,
    report: &mut ExtractReport,
) {
    let Some(directory) = place.directory() else {
        return;
    };
    let mut scratch = Scratch::default();
    for entry in at(reader, directories) {
        compare(reader, &entry, &mut scratch, report);
        let name = entry.name_lossy();
        let Ok(path) = options.path(&name) else {
            continue;
        };
        match directory.root.directory(system_path(&path)) {
            Ok(()) => report.entries += 1,
            Err(error) => {
                report.fail_and_judge(Failed::new(name, Reason::Write(error)));
                if report.stopped.is_some() {
                    return;
                }
            }
        }
    }
}

/// Links come last, so that nothing is written through them.
fn make_links<R: ReadAt>(
    reader: &ArchiveReader<R>,
    links: &[u64],
    options: &ExtractOptions<'_>,
    place: &mut Place<'_>,
    report: &mut ExtractReport,
) {
    let mut scratch = Scratch::default();
    for entry in at(reader, links) {
        let Some(directory) = place.directory() else {
            return;
        };
        let name = entry.name_lossy();
        let Ok(path) = options.path(&name) else {
            continue;
        };
        compare(reader, &entry, &mut scratch, report);
        if !directory.makes_links(&name, report) {
            continue;
        }
        let mut target = Vec::new();
        let read = if entry.content_bytes() > LINK_BYTES_MAX {
            Err(Failed::new(&*name, Reason::Link(too_long())))
        } else {
            let read = reader.extract(&entry, &mut scratch, &mut |piece: &[u8]| {
                target.extend_from_slice(piece);
                Ok::<_, Error>(())
            });
            read.map_err(Failed::of_archive)
        };
        let made = read.and_then(|_| {
            let made = directory.link(&path, &target, entry.time());
            let made = made.and_then(|placed| {
                report.entries += 1;
                directory.placed(placed, report)
            });
            made.map_err(|reason| Failed::new(&*name, reason))
        });
        if let Err(failed) = made {
            report.fail(failed);
        }
    }
}

fn finish_directories<R: ReadAt>(
    reader: &ArchiveReader<R>,
    directories: &[u64],
    options: &ExtractOptions<'_>,
    place: &mut Place<'_>,
) {
    let Some(directory) = place.directory() else {
        return;
    };
    let made = |entry: Entry<'_>| {
        let path = options.path(&entry.name_lossy()).ok()?;
        Some((path, directory.attributes(&entry)))
    };
    let made = at(reader, directories).filter_map(made).collect();
    directory.finish(made);
}

fn run_all<R: ReadAt + Sync>(
    mut shared: Shared<'_, R>,
    threads: usize,
    place: &mut Place<'_>,
) -> ExtractReport {
    let others: Vec<Place<'_>> = (1..threads.min(shared.files.blocks()))
        .map_while(|_| place.another())
        .collect();
    if !others.is_empty() {
        shared.files.largest_first();
    }
    let shared = &shared;
    std::thread::scope(|scope| {
        let spawned: Vec<_> = others
            .into_iter()
            .filter_map(|mut place| {
                let lane = move || lane(shared, &mut place);
                // Without another thread this one does it all.
                std::thread::Builder::new().spawn_scoped(scope, lane).ok()
            })
            .collect();
        let mut report = lane(shared, place);
        for thread in spawned {
            match thread.join() {
                Ok(other) => report.add(other),
                Err(_) => report.fail(Failed::new("", Reason::Panicked)),
            }
        }
        report
    })
}

/// Counts a local header that says something else than the directory: that counts, unless the profile
/// has refused the archive already.
fn compare<R: ReadAt>(
    reader: &ArchiveReader<R>,
    entry: &Entry<'_>,
    scratch: &mut Scratch,
    report: &mut ExtractReport,
) {
    let strict = reader.options().profile == Profile::Strict;
    if !strict
        && let Err(error) = reader.compare_headers(entry, scratch)
        && error.kind() == ErrorKind::Mismatch
    {
        report.contradicts(error);
    }
}

/// The part of one thread.
fn lane<R: ReadAt>(shared: &Shared<'_, R>, place: &mut Place<'_>) -> ExtractReport {
    let (mut report, mut scratch) = (ExtractReport::default(), Scratch::default());
    let mut worker = shared.worker();
    while let Some(block) = shared.files.next() {
        for entry in at(shared.reader, block) {
            if shared.cancel.is_set() {
                report.stopped = Some(Stopped::Cancelled);
            }
            if shared.full.load(Ordering::Relaxed) {
                report.stopped.get_or_insert(Stopped::Full);
            }
            if report.stopped.is_some() {
                return report;
            }
            compare(shared.reader, &entry, &mut scratch, &mut report);
            // Only what becomes a file needs a path, and has one that was taken.
            let name = entry.name_lossy();
            let path = match place.has_paths() {
                true => shared.path(&name),
                false => String::new(),
            };
            let done = one(shared, &entry, &path, place, &mut scratch, &mut *worker);
            let done = done.and_then(|(bytes, placed)| {
                report.entries += 1;
                report.content_bytes += bytes;
                report.compressed_bytes += entry.compressed_bytes();
                Ok(place.placed(placed, &mut report)?)
            });
            // What was waited for has failed because the flag is set.
            let done = done.map_err(|ended| match shared.cancel.is_set() {
                true => Ended::Cancelled,
                false => ended,
            });
            if let Err(failed) = done.or_else(|ended| report.end(ended, &name)) {
                // It is said once, whatever the number of threads.
                if failed.is_of_full_disk() && shared.full.swap(true, Ordering::Relaxed) {
                    continue;
                }
                worker.failed(&failed);
                report.fail(failed);
            }
        }
    }
    report
}

fn one<R: ReadAt>(
    shared: &Shared<'_, R>,
    entry: &Entry<'_>,
    path: &str,
    place: &mut Place<'_>,
    scratch: &mut Scratch,
    worker: &mut dyn ExtractWorker,
) -> Result<(u64, Placed), Ended> {
    let item = Item::Entry(entry);
    worker.started(item);
    let whole = entry.content_bytes().max(entry.compressed_bytes());
    let attributes = place
        .directory()
        .map(|directory| directory.attributes(entry));
    let mut writing = place.start(path, Some(whole), attributes.unwrap_or_default())?;
    if matches!(writing, Writing::Kept) {
        return Ok((0, Placed::Kept));
    }
    let nowhere = matches!(writing, Writing::Nowhere);
    let is_text = shared.texts.is_some_and(|is_text| is_text(entry));
    let mut lines = is_text.then(UnixLines::default);
    let mut converted = Vec::new();
    let mut take = |piece: &[u8], bytes: u64| {
        worker.decoded(item, bytes);
        match &mut lines {
            Some(lines) => {
                converted.clear();
                lines.convert(piece, &mut converted);
                writing.take(&converted)?;
            }
            None => writing.take(piece)?,
        }
        worker.written(item, bytes);
        match shared.cancel.is_set() {
            true => Err(Ended::Cancelled),
            false => Ok(()),
        }
    };
    let reader = shared.reader;
    let bytes = if nowhere {
        reader.test(entry, scratch, &mut |bytes| take(&[], bytes))?
    } else {
        let mut sink = |piece: &[u8]| take(piece, piece.len() as u64);
        reader.extract(entry, scratch, &mut sink)?
    };
    let placed = writing.finish()?;
    worker.done(item, bytes);
    Ok((bytes, placed))
}
