//! What becomes of a file, and of the entry of its name, when files are packed into an archive that
//! exists. Nothing here reads a file or an archive.

use crate::entry_time::EntryTime;
use crate::read::Entry;

/// How files and the entries of an archive go together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Merge {
    /// Adds what the archive does not have; an entry that it has is refused.
    Append,
    /// Adds what the archive does not have, and replaces what it has.
    Replace,
    /// Adds what the archive does not have, and replaces entries that are older than their file.
    Update,
    /// Replaces entries that are older than their file, and adds nothing.
    Freshen,
    /// Makes the archive what the files are: adds, replaces what differs in time or size, and deletes
    /// entries that have no file. Of directories the time counts alone.
    Sync,
}

/// What is known of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FileVersion {
    /// When it was modified, in seconds since 1970.
    pub modified: i64,
    /// Its size.
    pub bytes: u64,
    /// Whether it is a directory, whose size says nothing.
    pub directory: bool,
}

/// What an archive states of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct EntryVersion {
    /// When it was modified, in seconds since 1970.
    pub modified: i64,
    /// Whether that is only known to two seconds.
    pub coarse: bool,
    /// The size of its content.
    pub bytes: u64,
}

/// What becomes of a file and its entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Fate {
    /// The file becomes a new entry.
    Add,
    /// The file takes the place of the entry.
    Replace,
    /// The entry stays, and the file is not packed.
    Keep,
    /// There is no entry, and none is made.
    Skip,
    /// The archive has the entry, which was to be new.
    Refuse,
}

impl EntryVersion {
    /// That of an entry. `to_utc` gives the moment of a local time, as in
    /// [`EntryTime::seconds_utc`].
    pub fn of(entry: &Entry<'_>, to_utc: impl FnOnce(i64) -> i64) -> Self {
        let time = entry.time();
        Self {
            modified: time.seconds_utc(to_utc),
            coarse: matches!(time, EntryTime::Local { .. }),
            bytes: entry.content_bytes(),
        }
    }

    /// By how many seconds a moment may differ from the stated one and still be the same.
    fn slack(self) -> i64 {
        i64::from(self.coarse)
    }

    /// Whether a file was changed after this entry was made. Within the steps of the entry's time, a change
    /// shows only by its size.
    #[must_use]
    pub fn is_older_than(self, file: FileVersion) -> bool {
        let latest = self.modified.saturating_add(self.slack());
        let earliest = self.modified.saturating_sub(self.slack());
        file.modified > latest || (self.resized(file) && file.modified >= earliest)
    }

    /// Whether a file differs from this entry by what is stated of both.
    #[must_use]
    pub fn differs_from(self, file: FileVersion) -> bool {
        let apart = file.modified.saturating_sub(self.modified);
        apart.saturating_abs() > self.slack() || self.resized(file)
    }

    /// Whether a file, which is no directory, has another size.
    fn resized(self, file: FileVersion) -> bool {
        !file.directory && file.bytes != self.bytes
    }
}

impl Merge {
    /// What becomes of a file whose entry, if there is one, is `held`.
    ///
    /// ```
    /// use zipstream::{EntryVersion, Fate, FileVersion, Merge};
    ///
    /// let file = FileVersion { modified: 1_000, bytes: 5, directory: false };
    /// let entry = EntryVersion { modified: 900, coarse: false, bytes: 5 };
    /// assert_eq!(Merge::Freshen.fate(file, Some(entry)), Fate::Replace);
    /// assert_eq!(Merge::Freshen.fate(file, None), Fate::Skip);
    /// ```
    #[must_use]
    pub fn fate(self, file: FileVersion, held: Option<EntryVersion>) -> Fate {
        match (self, held) {
            (Self::Freshen, None) => Fate::Skip,
            (_, None) => Fate::Add,
            (Self::Replace, Some(_)) => Fate::Replace,
            // An existing directory is what the user wants.
            (Self::Append, Some(_)) if file.directory => Fate::Keep,
            (Self::Append, Some(_)) => Fate::Refuse,
            (Self::Update | Self::Freshen, Some(held)) => match held.is_older_than(file) {
                true => Fate::Replace,
                false => Fate::Keep,
            },
            (Self::Sync, Some(held)) => match held.differs_from(file) {
                true => Fate::Replace,
                false => Fate::Keep,
            },
        }
    }

    /// Whether an entry without a file goes.
    #[must_use]
    pub fn deletes(self) -> bool {
        self == Self::Sync
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HELD: EntryVersion = EntryVersion {
        modified: 1_000,
        coarse: false,
        bytes: 5,
    };

    fn file(modified: i64, bytes: u64) -> FileVersion {
        FileVersion {
            modified,
            bytes,
            directory: false,
        }
    }

    #[test]
    fn every_way_treats_new_older_and_equal_files_as_it_says() {
        use Fate::{Add, Keep, Refuse, Replace, Skip};
        for (merge, none, same, newer, older) in [
            (Merge::Append, Add, Refuse, Refuse, Refuse),
            (Merge::Replace, Add, Replace, Replace, Replace),
            (Merge::Update, Add, Keep, Replace, Keep),
            (Merge::Freshen, Skip, Keep, Replace, Keep),
            (Merge::Sync, Add, Keep, Replace, Replace),
        ] {
            assert_eq!(merge.fate(file(1_000, 5), None), none, "{merge:?}");
            for (at, fate) in [(1_000, same), (1_001, newer), (999, older)] {
                assert_eq!(merge.fate(file(at, 5), Some(HELD)), fate, "{merge:?} {at}");
            }
        }
    }

    #[test]
    fn within_the_steps_of_old_times_only_the_size_tells() {
        let coarse = EntryVersion {
            coarse: true,
            ..HELD
        };
        assert!(!coarse.is_older_than(file(1_001, 5)));
        assert!(coarse.is_older_than(file(1_001, 6)));
        assert!(coarse.is_older_than(file(999, 6)));
        assert!(!coarse.is_older_than(file(998, 6)));
        assert!(coarse.is_older_than(file(1_002, 5)));
        assert!(!coarse.differs_from(file(999, 5)) && coarse.differs_from(file(998, 5)));
        assert!(HELD.is_older_than(file(1_001, 5)));
    }

    #[test]
    fn a_directory_is_refreshed_by_its_time_and_never_refused() {
        let directory = |modified| FileVersion {
            directory: true,
            ..file(modified, 4096)
        };
        for (merge, same, newer, older) in [
            (Merge::Append, Fate::Keep, Fate::Keep, Fate::Keep),
            (Merge::Replace, Fate::Replace, Fate::Replace, Fate::Replace),
            (Merge::Update, Fate::Keep, Fate::Replace, Fate::Keep),
            (Merge::Freshen, Fate::Keep, Fate::Replace, Fate::Keep),
            (Merge::Sync, Fate::Keep, Fate::Replace, Fate::Replace),
        ] {
            for (at, fate) in [(1_000, same), (1_001, newer), (999, older)] {
                let found = merge.fate(directory(at), Some(HELD));
                assert_eq!(found, fate, "{merge:?} {at}");
            }
        }
        assert!(Merge::Sync.deletes() && !Merge::Update.deletes());
    }
}
