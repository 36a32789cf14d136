//! Entries out of a pipe, in the order in which they come.
//!
//! Modes and links are in the directory, which comes last: files get their modes then, and those
//! that turn out to be links become links.

use std::collections::HashMap;
use std::io::Read;
use std::time::Instant;

use zipstream::{EntryKind, PipeReader, StreamEntry};

use crate::args::glob::Asked;
use crate::commands::unzip::extract::{Ended, Tally, Times};
use crate::commands::unzip::flags::{Existing, UnzipPlan};
use crate::commands::unzip::keys::Keys;
use crate::commands::unzip::place::{self, LINK_BYTES_MAX, Place, Taken};
use crate::exit::ExitStatus;
use crate::failure::Failure;
use crate::io::beneath::{Attributes, Placed};
use crate::session::Session;
use crate::term::progress::Progress;
use crate::term::signal;

/// The mode of a file whose own mode comes later.
const MODE_UNTIL_KNOWN: u32 = 0o600;

/// What a run is told, beside where contents go.
#[derive(Clone, Copy)]
pub(super) struct Run<'a> {
    pub(super) plan: &'a UnzipPlan,
    pub(super) session: &'a Session,
    pub(super) progress: &'a Progress,
}

/// Reads the archive to its end and does what the plan asks for.
pub(super) fn run(
    source: impl Read,
    run: &Run<'_>,
    place: &mut Place,
    keys: &mut Keys,
) -> (Tally, Times, u64) {
    let plan = run.plan;
    let mut pipe = PipeReader::new(source, &plan.read);
    let (mut tally, mut times) = (Tally::default(), Times::new(run.session));
    // Where the local header of each file is that was made, and its path.
    let mut made = HashMap::new();
    let ended = entries(
        &mut pipe, run, place, keys, &mut tally, &mut times, &mut made,
    )
    .and_then(|()| records(&mut pipe, plan, place, &mut tally, &mut made));
    match ended {
        Ok(()) => {}
        Err(Ended::PipeClosed) => tally.stopped = Some(ExitStatus::Ok),
        Err(Ended::Undelivered(failure)) => tally.end(failure),
        Err(Ended::Failed(failure) | Ended::Unreadable(failure)) => tally.fail(failure),
    }
    let offset = pipe.offset();
    tally.compressed_bytes = offset;
    (tally, times, offset)
}

fn entries(
    pipe: &mut PipeReader<impl Read>,
    run: &Run<'_>,
    place: &mut Place,
    keys: &mut Keys,
    tally: &mut Tally,
    times: &mut Times,
    made: &mut HashMap<u64, String>,
) -> Result<(), Ended> {
    let plan = run.plan;
    let strict = plan.read.profile == zipstream::Profile::Strict;
    let extracts = matches!(place, Place::Root { .. });
    let mut taken = Taken::default();
    let mut asked = Asked::new(&plan.selection);
    while let Some(entry) = pipe.next_entry()? {
        if signal::interrupted() {
            return Err(interrupted());
        }
        let entry = entry.clone();
        let mut wanted = asked.takes(&entry.name);
        if wanted && is_kept(&entry.name, plan, place) {
            tally.kept += 1;
            wanted = false;
        }
        if entry.encrypted && (wanted || entry.content_bytes.is_none()) {
            let decryption = keys.get()?;
            pipe.set_decryption(decryption);
        }
        if !wanted {
            pipe.skip()?;
            continue;
        }
        let kind = if entry.name.ends_with('/') {
            EntryKind::Directory
        } else {
            EntryKind::File
        };
        let path = match extracts {
            true => taken.path(&entry.name, kind, strict),
            false => Ok(String::new()),
        };
        let path = match path {
            Ok(path) => path,
            Err(failure) => {
                tally.fail(failure);
                continue;
            }
        };
        if let (EntryKind::Directory, Place::Root { root, .. }) = (kind, &mut *place) {
            match root.directory(&path) {
                Ok(()) => {
                    tally.entries += 1;
                    made.insert(entry.offset, path);
                }
                Err(error) => tally.fail(place::cannot_write(&path, &error)),
            }
            continue;
        }
        match one(pipe, &entry, &path, place, times, run.progress) {
            Ok((bytes, placed)) => {
                tally.entries += 1;
                tally.content_bytes += bytes;
                tally.place(placed, plan.existing, &path);
                if placed == Placed::Done && extracts {
                    made.insert(entry.offset, path);
                }
            }
            // The rest of it is passed over.
            Err(Ended::Failed(failure)) if failure.exit_status() != ExitStatus::Interrupted => {
                tally.fail(failure);
            }
            Err(Ended::Unreadable(failure)) if pipe.can_go_on() => tally.fail(failure),
            Err(ended) => return Err(ended),
        }
    }
    tally.alike = taken.alike;
    let unmatched = crate::commands::unzip::run::unmatched(&asked).into_iter();
    unmatched.for_each(|failure| tally.fail(failure));
    Ok(())
}

/// Whether an entry is a file that exists and shall be kept, so that nothing of it is decoded.
fn is_kept(name: &str, plan: &UnzipPlan, place: &mut Place) -> bool {
    let Place::Root { root, .. } = place else {
        return false;
    };
    plan.existing == Existing::Skip
        && !name.ends_with('/')
        && place::path(name).is_ok_and(|path| root.exists(&path).unwrap_or(false))
}

/// Takes the content of one entry to its place.
fn one(
    pipe: &mut PipeReader<impl Read>,
    entry: &StreamEntry,
    path: &str,
    place: &mut Place,
    times: &mut Times,
    progress: &Progress,
) -> Result<(u64, Placed), Ended> {
    let start = Instant::now();
    let attributes = Attributes {
        // Private until the directory states the mode.
        mode: Some(MODE_UNTIL_KNOWN),
        modified: Some(entry.modified),
    };
    let mut writing = place.start(path, None, attributes)?;
    let mut mark = start;
    let hold = &mut times.hold;
    let bytes = pipe.content(&mut |piece: &[u8]| {
        hold.record_span_what(mark, Instant::now(), || entry.name.clone());
        writing.take(piece)?;
        progress.add(piece.len() as u64);
        if signal::interrupted() {
            return Err(interrupted());
        }
        mark = Instant::now();
        Ok(())
    })?;
    let placed = writing.finish()?;
    let end = Instant::now();
    times
        .entry
        .record_span_what(start, end, || entry.name.clone());
    Ok((bytes, placed))
}

/// Goes through the directory, and through what it says of the files that were made.
fn records(
    pipe: &mut PipeReader<impl Read>,
    plan: &UnzipPlan,
    place: &mut Place,
    tally: &mut Tally,
    made: &mut HashMap<u64, String>,
) -> Result<(), Ended> {
    let (mut links, mut directories) = (Vec::new(), Vec::new());
    while let Some(record) = pipe.next_record()? {
        let Place::Root { root, .. } = &mut *place else {
            continue;
        };
        // Only of the entry that stands there: the name has to be the same.
        let Some(path) = made.remove(&record.offset()) else {
            continue;
        };
        let same = record
            .name()
            .is_ok_and(|name| place::path(&name).is_ok_and(|other| other == path));
        if !same {
            continue;
        }
        match record.kind() {
            EntryKind::Symlink => links.push(path),
            EntryKind::Directory => directories.push((path, place::attributes(&record))),
            EntryKind::File => {
                let mut attributes = place::attributes(&record);
                attributes.mode.get_or_insert(root.unstated());
                if let Err(error) = root.set(&path, attributes) {
                    tally.fail(place::cannot_write(&path, &error));
                }
            }
        }
    }
    let Place::Root { root, .. } = place else {
        return Ok(());
    };
    for path in links {
        let made = root
            .take(&path, LINK_BYTES_MAX)
            .map_err(|error| place::cannot_write(&path, &error))
            .and_then(|target| place::link(root, &path, &target));
        match made {
            Ok(placed) => tally.place(placed, plan.existing, &path),
            Err(failure) => tally.fail(failure),
        }
    }
    directories.sort_by_key(|(path, _)| std::cmp::Reverse(path.len()));
    for (path, attributes) in directories {
        // A directory that was there before may be another's.
        let _ = root.set(&path, attributes);
    }
    Ok(())
}

fn interrupted() -> Ended {
    Ended::Failed(Failure::new("interrupted").status(ExitStatus::Interrupted))
}
