//! Which entries of an archive are extracted, and what becomes of them.

use std::borrow::Cow;

use super::names::Taken;
use super::options::{CaseClashes, ExtractOptions};
use super::place::Place;
use super::report::{ExtractReport, Failed};
use super::work::Work;
use crate::entry_kind::EntryKind;
use crate::read::{ArchiveReader, Profile, ReadAt};

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
    let clashes = case_clashes(options, reader.options().profile);
    let mut selected = Selected::default();
    let mut taken = Taken::default();
    for entry in reader.entries() {
        let named = entry.and_then(|entry| Ok((entry, entry.name()?)));
        let (entry, name) = match named {
            Ok(named) => named,
            Err(error) => {
                report.fail(Failed::of_archive(error));
                continue;
            }
        };
        if !options.takes(&name) {
            continue;
        }
        let extracts = place.directory().is_some();
        let renamed = match extracts {
            true => options.renamed(&name).unwrap_or_default(),
            false => Cow::Borrowed(&*name),
        };
        let free = match place.directory() {
            Some(directory) => match taken.path(&renamed, entry.kind(), clashes) {
                Ok(path) if !directory.wants(&path, &entry) => {
                    report.kept += u64::from(!directory.only_older());
                    continue;
                }
                other => other.map(drop),
            },
            None => Ok(()),
        };
        let position = entry.position();
        match (free, entry.kind()) {
            (Err(reason), _) => report.fail(Failed::new(name, reason)),
            (Ok(()), EntryKind::Directory) if extracts => selected.directories.push(position),
            (Ok(()), EntryKind::Symlink) if extracts => selected.links.push(position),
            (Ok(()), _) => selected.files.push(&entry),
        }
    }
    report.case_clashes = taken.case_clashes;
    selected
}

/// A strict reader leaves nothing to the file system either.
pub(super) fn case_clashes(options: &ExtractOptions<'_>, profile: Profile) -> CaseClashes {
    match profile {
        Profile::Strict => CaseClashes::Refuse,
        Profile::Default => options.case_clashes,
    }
}
