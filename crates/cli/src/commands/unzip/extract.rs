//! Entries out of a file that can be read anywhere: by several threads, blocks of entries at a time.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use latency::report::LatencyName;
use latency::{Recorder, Spec};
use zipstream::{ArchiveReader, Entry, EntryKind, ReadAt, Scratch};

use crate::args::glob::Asked;
use crate::commands::unzip::flags::{Existing, UnzipPlan};
use crate::commands::unzip::place::{self, LINK_BYTES_MAX, Place, Taken, Writing};
use crate::exit::ExitStatus;
use crate::failure::Failure;
use crate::io::beneath::{Attributes, Placed};
use crate::session::Session;
use crate::term::progress::Progress;
use crate::term::signal;

/// Entries that a thread takes at a time: enough to read ahead, few enough to share the rest.
const BLOCK_ENTRIES: usize = 32;
/// Failures that are kept; more are counted.
const FAILURES_MAX: usize = 1000;

/// What came of a run, or of a thread's part of it.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    /// Entries that are done.
    pub(crate) entries: u64,
    /// Their content.
    pub(crate) content_bytes: u64,
    /// Their compressed content.
    pub(crate) compressed_bytes: u64,
    /// Files that existed and were kept.
    pub(crate) kept: u64,
    /// What failed, the first of it.
    pub(crate) failures: Vec<Failure>,
    /// How much failed.
    pub(crate) failed: u64,
    /// Entries whose local headers contradict the directory, and what the first of them say.
    pub(crate) contradicted: u64,
    pub(super) contradictions: Vec<String>,
    /// Whether nothing more can be written, since nobody reads it or it is interrupted.
    pub(crate) stopped: Option<ExitStatus>,
    pub(super) alike: u64,
}

impl Tally {
    pub(super) fn fail(&mut self, failure: Failure) {
        if failure.exit_status() == ExitStatus::Interrupted {
            self.stopped = Some(ExitStatus::Interrupted);
            return;
        }
        self.failed += 1;
        if self.failures.len() < FAILURES_MAX {
            self.failures.push(failure);
        }
    }

    /// Counts a failure that ends it all.
    pub(super) fn end(&mut self, failure: Failure) {
        self.fail(failure);
        self.stopped.get_or_insert(ExitStatus::Failure);
    }

    fn add(&mut self, other: Self) {
        self.entries += other.entries;
        self.content_bytes += other.content_bytes;
        self.compressed_bytes += other.compressed_bytes;
        self.kept += other.kept;
        self.failed += other.failed;
        self.alike += other.alike;
        self.failures.extend(other.failures);
        self.failures.truncate(FAILURES_MAX);
        self.contradicted += other.contradicted;
        self.contradictions.extend(other.contradictions);
        self.contradictions.truncate(FAILURES_MAX);
        self.stopped = self.stopped.or(other.stopped);
    }

    /// Keeps in mind that a local header says something else than the directory.
    fn contradicts(&mut self, error: &zipstream::Error) {
        self.contradicted += 1;
        if self.contradictions.len() < FAILURES_MAX {
            self.contradictions.push(error.to_string());
        }
    }

    /// Counts a file that is done, or that existed.
    pub(super) fn place(&mut self, placed: Placed, existing: Existing, path: &str) {
        match (placed, existing) {
            (Placed::Kept, Existing::Refuse) => self.fail(
                Failure::new(format!("'{path}' exists already"))
                    .help("add -o to overwrite, or -n to skip what exists"),
            ),
            (Placed::Kept, _) => self.kept += 1,
            (Placed::Done, _) => {}
        }
    }
}

/// The recorders of a thread.
pub(super) struct Times {
    pub(super) entry: Recorder,
    pub(super) hold: Recorder,
}

impl Times {
    pub(super) fn new(session: &Session) -> Self {
        let recorder = |spec| Recorder::new(session.spec(spec), session.run_start());
        Self::of(recorder)
    }

    fn unreported() -> Self {
        let start = Instant::now();
        Self::of(|spec| Recorder::new(spec, start))
    }

    fn of(recorder: impl Fn(Spec) -> Recorder) -> Self {
        Self {
            entry: recorder(Spec::new(LatencyName::Service, "entry")),
            hold: recorder(Spec::new(LatencyName::Hold, "call")),
        }
    }

    fn merge(&mut self, other: Self) {
        // Recorders of one run have one layout.
        let _ = self.entry.merge(other.entry);
        let _ = self.hold.merge(other.hold);
    }
}

/// What all threads share.
struct Shared<'a, R> {
    reader: &'a ArchiveReader<R>,
    /// Where the records of the entries are.
    files: Vec<u64>,
    next: AtomicUsize,
    progress: &'a Progress,
    existing: Existing,
}

/// Reads every entry and compares its checksum.
pub(crate) fn test_all<R: ReadAt + Sync>(reader: &ArchiveReader<R>, threads: usize) -> Tally {
    let files = reader.entries().flatten().map(|entry| entry.position());
    let progress = Progress::start(false, None);
    let shared = Shared {
        reader,
        files: files.collect(),
        next: AtomicUsize::new(0),
        progress: &progress,
        existing: Existing::Refuse,
    };
    let mut place = Place::Nowhere;
    run_all(&shared, threads, &mut place, Times::unreported).0
}

/// Whether an entry that the plan asks for is encrypted.
pub(super) fn any_encrypted<R: ReadAt>(reader: &ArchiveReader<R>, plan: &UnzipPlan) -> bool {
    let mut entries = reader.entries().flatten();
    entries.any(|entry| entry.is_encrypted() && plan.selection.takes(&entry.name_lossy()))
}

/// Where the records of what is selected are, by what becomes of it.
#[derive(Default)]
struct Selected {
    files: Vec<u64>,
    links: Vec<u64>,
    directories: Vec<u64>,
}

/// Picks the entries that the plan asks for and, where files are made of them, takes their paths.
fn select<R: ReadAt>(
    reader: &ArchiveReader<R>,
    plan: &UnzipPlan,
    extracts: bool,
    tally: &mut Tally,
) -> Selected {
    let strict = plan.read.profile == zipstream::Profile::Strict;
    let mut selected = Selected::default();
    let mut taken = Taken::default();
    let mut asked = Asked::new(&plan.selection);
    for entry in reader.entries() {
        let named = entry.and_then(|entry| Ok((entry, entry.name()?)));
        let (entry, name) = match named {
            Ok(named) => named,
            Err(error) => {
                tally.fail(crate::commands::unzip::run::failed(&error));
                continue;
            }
        };
        if !asked.takes(&name) {
            continue;
        }
        let free = match extracts {
            true => taken.path(&name, entry.kind(), strict).map(drop),
            false => Ok(()),
        };
        let position = entry.position();
        match (free, entry.kind()) {
            (Err(failure), _) => tally.fail(failure),
            (Ok(()), EntryKind::Directory) if extracts => selected.directories.push(position),
            (Ok(()), EntryKind::Symlink) if extracts => selected.links.push(position),
            (Ok(()), _) => selected.files.push(position),
        }
    }
    tally.alike = taken.alike;
    let unmatched = crate::commands::unzip::run::unmatched(&asked).into_iter();
    unmatched.for_each(|failure| tally.fail(failure));
    selected
}

/// Does what the plan asks for with every entry that it selects.
pub(super) fn run<R: ReadAt + Sync>(
    reader: &ArchiveReader<R>,
    plan: &UnzipPlan,
    place: &mut Place,
    session: &Session,
    progress: &Progress,
) -> (Tally, Times) {
    let mut tally = Tally::default();
    let extracts = matches!(place, Place::Root { .. });
    let Selected {
        files,
        links,
        directories,
    } = select(reader, plan, extracts, &mut tally);
    make_directories(reader, &directories, place, &mut tally);
    let shared = Shared {
        reader,
        files,
        next: AtomicUsize::new(0),
        progress,
        existing: plan.existing,
    };
    let threads = plan.threads as usize;
    let (done, times) = run_all(&shared, threads, place, || Times::new(session));
    tally.add(done);
    if tally.stopped.is_none() {
        make_links(reader, &links, place, plan.existing, &mut tally);
        finish_directories(reader, &directories, place);
    }
    (tally, times)
}

fn make_directories<R: ReadAt>(
    reader: &ArchiveReader<R>,
    directories: &[u64],
    place: &mut Place,
    tally: &mut Tally,
) {
    let Place::Root { root, .. } = place else {
        return;
    };
    let mut scratch = Scratch::default();
    for entry in at(reader, directories) {
        compare(reader, &entry, &mut scratch, tally);
        let Ok(path) = place::path(&entry.name_lossy()) else {
            continue;
        };
        match root.directory(&path) {
            Ok(()) => tally.entries += 1,
            Err(error) => tally.fail(place::cannot_write(&path, &error)),
        }
    }
}

/// The entries at these positions, which were looked at before.
fn at<'a, R: ReadAt>(
    reader: &'a ArchiveReader<R>,
    positions: &'a [u64],
) -> impl Iterator<Item = Entry<'a>> {
    let one = |position: &u64| reader.directory().iter_at(*position).next();
    positions.iter().filter_map(one).flatten()
}

/// Links come last, so that nothing is written through them.
fn make_links<R: ReadAt>(
    reader: &ArchiveReader<R>,
    links: &[u64],
    place: &mut Place,
    existing: Existing,
    tally: &mut Tally,
) {
    let Place::Root { root, .. } = place else {
        return;
    };
    let mut scratch = Scratch::default();
    for entry in at(reader, links) {
        let Ok(path) = place::path(&entry.name_lossy()) else {
            continue;
        };
        compare(reader, &entry, &mut scratch, tally);
        let mut target = Vec::new();
        let read = if entry.content_bytes() > LINK_BYTES_MAX {
            Err(Failure::new(format!(
                "link '{path}' is not made: it leads to a path of {} bytes",
                entry.content_bytes()
            )))
        } else {
            let read = reader.extract(&entry, &mut scratch, &mut |piece: &[u8]| {
                target.extend_from_slice(piece);
                Ok::<_, zipstream::Error>(())
            });
            read.map_err(|error| crate::commands::unzip::run::failed(&error))
        };
        match read.and_then(|_| place::link(root, &path, &target)) {
            Ok(placed) => {
                tally.entries += 1;
                tally.place(placed, existing, &path);
            }
            Err(failure) => tally.fail(failure),
        }
    }
}

/// Modes and times of directories, which writing into them would change; the deepest first, for a
/// mode may close a directory.
fn finish_directories<R: ReadAt>(
    reader: &ArchiveReader<R>,
    directories: &[u64],
    place: &mut Place,
) {
    let Place::Root { root, .. } = place else {
        return;
    };
    let placed = |entry: Entry<'_>| {
        let path = place::path(&entry.name_lossy()).ok()?;
        Some((path, place::attributes(&entry)))
    };
    let mut placed: Vec<_> = at(reader, directories).filter_map(placed).collect();
    placed.sort_by_key(|(path, _)| std::cmp::Reverse(path.len()));
    for (path, attributes) in placed {
        // A directory that was there before may be another's.
        let _ = root.set(&path, attributes);
    }
}

fn run_all<R: ReadAt + Sync>(
    shared: &Shared<'_, R>,
    threads: usize,
    place: &mut Place,
    times: impl Fn() -> Times + Sync,
) -> (Tally, Times) {
    let useful = shared.files.len().div_ceil(BLOCK_ENTRIES).max(1);
    let others: Vec<Place> = (1..threads.min(useful))
        .map_while(|_| place.another())
        .collect();
    std::thread::scope(|scope| {
        let spawned: Vec<_> = others
            .into_iter()
            .filter_map(|mut place| {
                let times = &times;
                let lane = move || lane(shared, &mut place, times());
                // Without another thread this one does it all.
                std::thread::Builder::new().spawn_scoped(scope, lane).ok()
            })
            .collect();
        let (mut tally, mut all) = lane(shared, place, times());
        for thread in spawned {
            match thread.join() {
                Ok((other, times)) => {
                    tally.add(other);
                    all.merge(times);
                }
                Err(_) => tally.fail(
                    Failure::new("a thread panicked")
                        .help("please report this as a bug with the command line"),
                ),
            }
        }
        (tally, all)
    })
}

/// Counts a local header that says something else than the directory: that counts, unless the profile
/// has refused the archive already.
fn compare<R: ReadAt>(
    reader: &ArchiveReader<R>,
    entry: &Entry<'_>,
    scratch: &mut Scratch,
    tally: &mut Tally,
) {
    let strict = reader.options().profile == zipstream::Profile::Strict;
    if !strict
        && let Err(error) = reader.compare_headers(entry, scratch)
        && error.kind() == zipstream::ErrorKind::Mismatch
    {
        tally.contradicts(&error);
    }
}

/// The part of one thread.
fn lane<R: ReadAt>(shared: &Shared<'_, R>, place: &mut Place, mut times: Times) -> (Tally, Times) {
    let (mut tally, mut scratch) = (Tally::default(), Scratch::default());
    loop {
        let start = shared.next.fetch_add(BLOCK_ENTRIES, Ordering::Relaxed);
        let Some(rest) = shared.files.get(start..).filter(|rest| !rest.is_empty()) else {
            break;
        };
        for entry in at(shared.reader, &rest[..rest.len().min(BLOCK_ENTRIES)]) {
            if signal::interrupted() {
                tally.stopped = Some(ExitStatus::Interrupted);
            }
            if tally.stopped.is_some() {
                return (tally, times);
            }
            compare(shared.reader, &entry, &mut scratch, &mut tally);
            // Only what becomes a file needs a path, and has one that was taken.
            let path = match place {
                Place::Root { .. } => place::path(&entry.name_lossy()).unwrap_or_default(),
                Place::Nowhere | Place::Stdout { .. } => String::new(),
            };
            match one(shared, &entry, &path, place, &mut scratch, &mut times) {
                Ok((bytes, placed)) => {
                    tally.entries += 1;
                    tally.content_bytes += bytes;
                    tally.compressed_bytes += entry.compressed_bytes();
                    tally.place(placed, shared.existing, &path);
                }
                Err(Ended::PipeClosed) => tally.stopped = Some(ExitStatus::Ok),
                Err(Ended::Undelivered(failure)) => tally.end(failure),
                Err(Ended::Failed(failure) | Ended::Unreadable(failure)) => tally.fail(failure),
            }
        }
    }
    (tally, times)
}

/// Why an entry came to nothing.
pub(super) enum Ended {
    /// It could not be written, or was not to be.
    Failed(Failure),
    /// It could not be read.
    Unreadable(Failure),
    /// Whoever read standard output has gone.
    PipeClosed,
    /// Standard output takes no more, so that nothing that follows could be delivered either.
    Undelivered(Failure),
}

impl From<zipstream::Error> for Ended {
    fn from(error: zipstream::Error) -> Self {
        Self::Unreadable(crate::commands::unzip::run::failed(&error))
    }
}

impl From<Failure> for Ended {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

fn one<R: ReadAt>(
    shared: &Shared<'_, R>,
    entry: &Entry<'_>,
    path: &str,
    place: &mut Place,
    scratch: &mut Scratch,
    times: &mut Times,
) -> Result<(u64, Placed), Ended> {
    let start = Instant::now();
    let whole = entry.content_bytes().max(entry.compressed_bytes());
    let attributes: Attributes = place::attributes(entry);
    let mut writing: Writing<'_> = place.start(path, Some(whole), attributes)?;
    let mut mark = start;
    let hold = &mut times.hold;
    let nowhere = matches!(writing, Writing::Nowhere);
    let mut take = |piece: &[u8], bytes: u64| {
        hold.record_span_what(mark, Instant::now(), || {
            crate::commands::unzip::list::name(entry)
        });
        writing.take(piece)?;
        shared.progress.add(bytes);
        if signal::interrupted() {
            return Err(Ended::Failed(
                Failure::new("interrupted").status(ExitStatus::Interrupted),
            ));
        }
        mark = Instant::now();
        Ok(())
    };
    let reader = shared.reader;
    let bytes = if nowhere {
        reader.test(entry, scratch, &mut |bytes| take(&[], bytes))?
    } else {
        let mut sink = |piece: &[u8]| take(piece, piece.len() as u64);
        reader.extract(entry, scratch, &mut sink)?
    };
    let placed = writing.finish()?;
    let end = Instant::now();
    times
        .entry
        .record_span_what(start, end, || crate::commands::unzip::list::name(entry));
    Ok((bytes, placed))
}
