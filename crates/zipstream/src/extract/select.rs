//! Which entries of an archive are extracted, and what becomes of them.

use std::borrow::Cow;
use std::collections::HashMap;

use super::names::Taken;
use super::options::{CaseClashes, Existing, ExtractOptions, Repeats};
use super::place::Place;
use super::reason::Reason;
use super::report::{ExtractReport, Failed};
use super::work::{Work, at};
use crate::entry_kind::EntryKind;
use crate::name;
use crate::read::{ArchiveReader, Entry, Profile, ReadAt};

/// Where the records of what is selected are, by what becomes of it.
#[derive(Default)]
pub(super) struct Selected {
    pub(super) files: Work,
    pub(super) links: Vec<u64>,
    pub(super) directories: Vec<u64>,
}

/// Picks the entries that are asked for and, where files are made of them, takes their paths.
pub(super) fn select<R: ReadAt>(
    reader: &ArchiveReader<R>,
    options: &ExtractOptions<'_>,
    place: &mut Place<'_>,
    report: &mut ExtractReport,
) -> Selected {
    let profile = reader.options().profile;
    let (clashes, repeats) = (case_clashes(options, profile), repeats(options, profile));
    let mut selected = Selected::default();
    let mut taken = Taken::default();
    // Where the last entry of each path is that several have.
    let mut last = HashMap::new();
    for entry in reader.entries() {
        let mut failed = |error| report.fail(Failed::of_archive(error));
        let entry = match &entry {
            Ok(entry) => entry,
            Err(error) => {
                failed(error.clone());
                continue;
            }
        };
        let name = match entry.name() {
            Ok(name) => name,
            Err(error) => {
                failed(error);
                continue;
            }
        };
        if !options.takes(&name) || !options.takes_entry(entry) {
            continue;
        }
        let extracts = place.has_paths();
        let renamed = match extracts {
            true => options.renamed(&name).unwrap_or_default(),
            false => Cow::Borrowed(&*name),
        };
        // The directory itself is there.
        if extracts && entry.kind() == EntryKind::Directory && name::is_here(&renamed) {
            continue;
        }
        let free = match extracts {
            true => match taken.path(&renamed, entry.kind(), clashes, repeats) {
                Ok(given) if !place.wants(&given.path, entry) => {
                    report.kept += u64::from(options.existing != Existing::Freshen);
                    continue;
                }
                Ok(given) if given.repeated && repeats == Repeats::First => {
                    report.repeat(&name);
                    continue;
                }
                Ok(given) => {
                    if given.repeated {
                        last.insert(given.key, entry.position());
                    }
                    Ok(())
                }
                Err(reason) => Err(reason),
            },
            false => Ok(()),
        };
        let position = entry.position();
        match (free, entry.kind()) {
            (Err(reason), _) => report.fail(Failed::new(name, reason)),
            (Ok(()), EntryKind::Symlink) if place.is_store() => {
                let why = "object stores have no links".to_owned();
                report.fail(Failed::new(name, Reason::Link(why)));
            }
            (Ok(()), EntryKind::Directory) if extracts => selected.directories.push(position),
            (Ok(()), EntryKind::Symlink) if extracts => selected.links.push(position),
            (Ok(()), _) => selected.files.push(entry),
        }
    }
    // Names of objects are told apart by case, too.
    if !place.is_store() {
        report.case_clashes = taken.case_clashes;
    }
    if !last.is_empty() {
        keep_last(reader, &mut selected, &taken, &last, options, report);
    }
    selected
}

/// A strict reader leaves nothing to the file system either.
pub(super) fn case_clashes(options: &ExtractOptions<'_>, profile: Profile) -> CaseClashes {
    match profile {
        Profile::Strict => CaseClashes::Refuse,
        Profile::Default => options.case_clashes,
    }
}

/// Which of several entries of one path is extracted.
pub(super) fn repeats(options: &ExtractOptions<'_>, profile: Profile) -> Repeats {
    match (profile, options.repeats, options.existing) {
        (Profile::Strict, ..) => Repeats::Refuse,
        // Once the first is there, it is kept.
        (_, Repeats::Last, Existing::Skip) => Repeats::First,
        (_, repeats, _) => repeats,
    }
}

/// Takes out of the selection what is not the last of its path. `last` has the positions of the last ones of paths
/// that several entries have, by the keys of the paths.
fn keep_last<R: ReadAt>(
    reader: &ArchiveReader<R>,
    selected: &mut Selected,
    taken: &Taken,
    last: &HashMap<u64, u64>,
    options: &ExtractOptions<'_>,
    report: &mut ExtractReport,
) {
    let mut stays = |entry: &Entry<'_>| {
        let name = entry.name_lossy();
        let path = options.path(&name).unwrap_or_default();
        let stays = last
            .get(&taken.key(&path))
            .is_none_or(|position| *position == entry.position());
        if !stays {
            report.repeat(&name);
        }
        stays
    };
    let mut files = Work::default();
    for entry in at(reader, selected.files.positions()) {
        if stays(&entry) {
            files.push(&entry);
        }
    }
    selected.files = files;
    let links = at(reader, &selected.links);
    let links: Vec<u64> = links.filter(stays).map(|entry| entry.position()).collect();
    selected.links = links;
}
