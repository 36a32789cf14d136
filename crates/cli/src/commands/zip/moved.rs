//! `--move`: removes files that are in the archive now.

use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::path::Path;

use zipstream::extract::local_to_utc;
use zipstream::{ArchiveReader, EntryKind, EntryVersion};

use crate::commands::zip::edit;
use crate::commands::zip::listed::{Listed, Source};
use crate::failure::Failure;
use crate::term::message;

/// Removes the sources that the complete archive has as they are, and directories that are empty then.
/// Returns whether no file had to stay.
pub(super) fn remove(archive: &Path, sources: &Listed) -> bool {
    let entries = match written(archive) {
        Ok(entries) => entries,
        Err(error) => {
            let failure = Failure::io("read", archive, &error);
            message::failure(&failure.help("the archive is complete, and no file was removed"));
            return false;
        }
    };
    let mut complete = true;
    let mut directories = Vec::new();
    for source in sources.iter() {
        if source.path.as_os_str() == "-" {
            continue;
        }
        if source.kind == EntryKind::Directory {
            directories.push(source.path);
            continue;
        }
        if let Err(failure) = remove_one(&source, entries.get(&source.name)) {
            complete = false;
            message::failure(&failure);
        }
    }
    directories.sort_by_key(|path| std::cmp::Reverse(path.components().count()));
    for path in directories {
        // One that has something left in it stays.
        let _ = std::fs::remove_dir(path);
    }
    complete
}

/// What the archive on the disk states of its entries.
fn written(archive: &Path) -> io::Result<HashMap<String, EntryVersion>> {
    let file = File::open(archive)?;
    // What is removed next cannot be packed again.
    file.sync_all()?;
    let reader = ArchiveReader::open(file).map_err(io::Error::other)?;
    let mut entries = HashMap::new();
    for entry in reader.entries() {
        let entry = entry.map_err(io::Error::other)?;
        let version = EntryVersion::of(&entry, local_to_utc);
        entries.insert(entry.name_lossy().into_owned(), version);
    }
    Ok(entries)
}

fn remove_one(source: &Source, entry: Option<&EntryVersion>) -> Result<(), Failure> {
    let now = edit::version(source);
    if entry.is_none_or(|entry| entry.differs_from(now)) {
        let name = source.path.display();
        let failure = Failure::new(format!("'{name}' is not removed: its entry differs"));
        return Err(failure.help("it changed, or is a link that was followed: remove it yourself"));
    }
    std::fs::remove_file(&source.path).map_err(|error| Failure::io("remove", &source.path, &error))
}
