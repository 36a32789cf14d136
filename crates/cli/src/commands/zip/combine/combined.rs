//! What both ways of combining share: the new archives with their names, what was done, and errors.

use std::path::{Path, PathBuf};

#[cfg(feature = "cloud")]
use files::url;
use zipstream::Totals;
use zipstream::combine::{Combination, NewArchive};

use super::flags::numbered;
use crate::commands::zip::flags::ZipArgs;
use crate::failure::{Failure, Result};
use crate::term::message;

/// What was done.
#[derive(Debug, Default)]
pub(super) struct Combined {
    /// Entries, content and bytes of all new archives.
    pub(super) totals: Totals,
    pub(super) archives: u64,
    /// Entries that were left out because another has their name.
    pub(super) dropped: u64,
    /// Bytes that went through this machine.
    pub(super) moved_bytes: u64,
    /// Bytes that the server copied.
    pub(super) copied_bytes: u64,
    /// The sizes of the sources.
    pub(super) source_bytes: Vec<u64>,
}

impl Combined {
    /// Counts a new archive that has appeared.
    pub(super) fn add(&mut self, archive: &NewArchive, moved_bytes: u64, copied_bytes: u64) {
        let totals = archive.totals();
        self.totals.entries += totals.entries;
        self.totals.content_bytes = self
            .totals
            .content_bytes
            .saturating_add(totals.content_bytes);
        self.totals.archive_bytes += totals.archive_bytes;
        self.archives += 1;
        self.moved_bytes += moved_bytes;
        self.copied_bytes += copied_bytes;
    }
}

/// Whether a name is a URL of another machine.
#[cfg(feature = "cloud")]
pub(super) fn is_remote(path: &Path) -> bool {
    url::of(path).is_some_and(|url| url::local(url).is_none())
}

/// The new archives, and entries that were left out.
pub(super) fn finish(
    combination: Combination,
    args: &ZipArgs,
    combined: &mut Combined,
) -> Result<Vec<(PathBuf, NewArchive)>> {
    combined.dropped = combination.dropped();
    let archives = combination.finish().map_err(|error| failed(&error))?;
    if combined.dropped > 0 && args.terminal.wants_warnings() {
        let dropped = combined.dropped;
        message::remark(&format!(
            "{dropped} entries were left out: others have their names"
        ));
    }
    let count = archives.len();
    let named = |(archive, number)| {
        let output = match args.combine.splits() {
            true => numbered(&args.output, number, count),
            false => args.output.clone(),
        };
        (output, archive)
    };
    Ok(archives.into_iter().zip(1..).map(named).collect())
}

/// An error of a combination, with the names that its numbers stand for.
pub(super) fn failed(error: &zipstream::Error) -> Failure {
    let failure = Failure::new(format!("cannot combine: {error}"));
    match error.kind() {
        zipstream::ErrorKind::Duplicate => {
            failure.help("--duplicates first or --duplicates last says which to take")
        }
        zipstream::ErrorKind::Limit => failure.help("give --split a larger SIZE"),
        _ => failure.archive_help(error),
    }
}

/// An error of one of the archives.
pub(super) fn unreadable(path: &Path, error: &zipstream::Error) -> Failure {
    let failure = Failure::new(format!("cannot read {}: {error}", files::display(path)));
    failure.archive_help(error)
}
