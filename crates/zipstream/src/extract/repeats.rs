//! Several entries of one path, of which one becomes a file.

use std::collections::HashMap;

use super::names::Taken;
use super::options::ExtractOptions;
use super::report::ExtractReport;
use super::run::at;
use super::select::Selected;
use super::work::Work;
use crate::read::{ArchiveReader, Entry, ReadAt};

/// Which of several entries becomes the file of a path that they share. The others are counted
/// ([`repeats`](super::ExtractReport::repeats)). It is a failure in any case where one is a directory, and in the
/// strict profile.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Repeats {
    /// The last, as of most programs: unzip, 7-Zip, libarchive, Python. It may have been appended to replace the
    /// others. Where files that exist are kept ([`Existing::Skip`](super::Existing::Skip)) it is the first.
    #[default]
    Last,
    /// The first.
    First,
    /// The first, and each other one is a failure.
    Refuse,
}

/// Takes out of the selection what is not the last of its path. `last` has the positions of the last ones of paths
/// that several entries have, by the keys of the paths.
pub(super) fn keep_last<R: ReadAt>(
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
