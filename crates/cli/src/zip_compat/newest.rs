//! The time that `zip -o` and `unzip -T` give an archive.

use std::time::{Duration, SystemTime};

use zipstream::extract::local_to_utc;
use zipstream::{ArchiveReader, EntryKind, ReadAt};

/// The time of the newest entry that is no directory.
pub(super) fn newest<R: ReadAt>(reader: &ArchiveReader<R>) -> Option<SystemTime> {
    let entries = reader.entries().flatten();
    let files = entries.filter(|entry| entry.kind() != EntryKind::Directory);
    let newest = files.map(|entry| entry.time().seconds_utc(local_to_utc));
    let newest = u64::try_from(newest.max()?).ok()?;
    Some(SystemTime::UNIX_EPOCH + Duration::from_secs(newest))
}
