//! Changes an existing archive. With `--append` the archive continues where its directory was: the new end
//! is made next to it and put in place last, at the cost of the new entries. Otherwise the remaining
//! entries are copied into a new archive, which replaces the old one.

use std::collections::{HashMap, HashSet};
use std::fs::{File, Metadata};
use std::hash::{BuildHasher as _, RandomState};
use std::io;
use std::path::{Path, PathBuf};

use files::rights::Rights;
use files::target::Target;
use files::{splice, temporary};
use report::units::counted;
use zipstream::extract::local_to_utc;
use zipstream::{
    ArchiveReader, Directory, EntryKind, EntryVersion, Fate, FileVersion, Merge, Totals, Warning,
};

use crate::args::glob::Asked;
use crate::commands::transfer::Stop;
use crate::commands::zip::entry_name;
use crate::commands::zip::listed::Source;
use crate::commands::zip::plan::{Edit, ZipPlan};
use crate::commands::zip::sources::Sources;
use crate::failure::{Failure, Result};
use crate::io::context;
use crate::term::message;

/// The archive to change.
pub(super) struct Base {
    pub(super) reader: ArchiveReader<Held>,
    /// Its path, no link.
    path: PathBuf,
    /// Whether the archive continues where its directory was.
    pub(super) in_place: bool,
    pub(super) metadata: Metadata,
    /// Positions of the entries that stay.
    pub(super) kept: Vec<u64>,
    /// Positions of the entries that sources are to replace, by the names of those.
    pub(super) replaced: HashMap<String, Vec<u64>>,
    /// Number of entries that are deleted or replaced.
    pub(super) dropped: u64,
    /// Whether an entry is encrypted.
    pub(super) encrypted: bool,
    /// Whether two entries that stay may have one name.
    repeats: bool,
}

/// Entries of an archive that have the names of sources.
type Names = HashMap<String, Entry>;

/// Where the entries of a name are, and what the archive states of the last of them, which is the one that
/// programs leave in the place of the others.
#[derive(Debug)]
struct Entry {
    positions: Vec<u64>,
    version: EntryVersion,
}

/// The file of an archive, locked if it can be written.
pub(super) struct Held {
    file: File,
    locked: bool,
}

impl Held {
    pub(super) fn into_file(self) -> File {
        self.file
    }
}

impl zipstream::ReadAt for Held {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        self.file.read_at(buffer, offset)
    }

    fn size(&self) -> io::Result<u64> {
        self.file.size()
    }
}

/// Opens an archive to change or repair it. An interrupted append is undone first.
pub(super) fn hold(path: &Path) -> io::Result<Held> {
    match splice::lock(path) {
        Ok((file, undone)) => {
            if undone {
                message::remark("an interrupted --append was undone: the archive is unchanged");
            }
            Ok(Held { file, locked: true })
        }
        // An archive that cannot be written may still be replaced.
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Ok(Held {
            file: File::open(path)?,
            locked: false,
        }),
        Err(error) => Err(error),
    }
}

impl Base {
    /// Opens the archive; `None` if it does not exist and that is allowed.
    pub(super) fn open(path: &Path, plan: &ZipPlan, edit: &Edit) -> Result<Option<Self>> {
        let unreadable = |error: io::Error| Failure::io("change", path, &error);
        let metadata = match std::fs::metadata(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound && makes(edit) => {
                return Ok(None);
            }
            other => other.map_err(unreadable)?,
        };
        if !metadata.is_file() {
            let name = path.display();
            return Err(Failure::usage(format!(
                "'{name}' is not a file that can be changed"
            )));
        }
        let real = std::fs::canonicalize(path).map_err(unreadable)?;
        let file = hold(&real).map_err(unreadable)?;
        // An archive that is verified before it appears is a separate file.
        let appends = *edit == Edit::Merge(Merge::Append) && plan.comment.is_none();
        let in_place = file.locked && appends && !plan.verify;
        let wrong = |what: String| {
            let name = path.display();
            Failure::new(format!("cannot change '{name}': {what}")).help(format!(
                "it is unchanged; perfkit zip --repair {} NEW copies its intact entries to NEW",
                files::display(path)
            ))
        };
        let opened = ArchiveReader::open(file).and_then(|reader| reader.check().map(|()| reader));
        let reader = opened.map_err(|error| wrong(error.to_string()))?;
        let lost = |found: &&Warning| matches!(found, Warning::Trailing { .. });
        if let Some(warning) = reader.directory().warnings().iter().find(lost) {
            return Err(wrong(format!("{warning}, and would be lost")));
        }
        // Offsets that count from behind a prefix would have to change.
        let prefixed = |found: &Warning| matches!(found, Warning::Prefix { .. });
        let in_place = in_place && !reader.directory().warnings().iter().any(prefixed);
        Ok(Some(Self {
            reader,
            path: real,
            in_place,
            metadata,
            kept: Vec::new(),
            replaced: HashMap::new(),
            dropped: 0,
            encrypted: false,
            repeats: false,
        }))
    }

    /// Whether it has what strict reading refuses and what stays: something before the first entry, or a
    /// name twice.
    pub(super) fn is_odd(&self) -> bool {
        self.repeats || self.reader.preceding_bytes().is_ok_and(|bytes| bytes > 0)
    }

    /// The comment, which stays.
    pub(super) fn comment(&self) -> Vec<u8> {
        self.reader.directory().comment().to_vec()
    }

    /// The directory of an archive that is changed in place.
    pub(super) fn goes_on(&self) -> Option<&Directory> {
        self.in_place.then(|| self.reader.directory())
    }

    /// Puts the new end, which is now in `target`, at the end of the archive, if there is one.
    pub(super) fn go_on(
        &self,
        target: &Target,
        totals: &Totals,
        rights: &Rights,
    ) -> std::result::Result<(), Stop> {
        if totals.entries == self.reader.len() {
            return Ok(());
        }
        let at = self.reader.directory().start();
        let file = &self.reader.source().file;
        #[cfg(unix)]
        match rights.bound(file) {
            Ok(None) => {}
            Ok(Some(mode)) => message::remark(&format!(
                "the archive has the mode {mode:03o} now: not everybody may read what is added"
            )),
            Err(error) => return Err(Stop::Failed(Failure::io("change", &self.path, &error))),
        }
        #[cfg(not(unix))]
        let _ = rights;
        let replaced = temporary::undisturbed(context(), || {
            splice::replace(file, &self.path, at, target.writer().file())
        });
        replaced.map_err(|error| Stop::Failed(Failure::io("change", &self.path, &error)))
    }

    /// Decides which entries stay, and removes sources that are not to be packed.
    pub(super) fn choose(&mut self, edit: &Edit, found: &mut Sources) -> Result<()> {
        // The names of sources, and whether they are directories.
        let wanted = found.sources.iter();
        let wanted = wanted.map(|source| (source.name, source.kind == EntryKind::Directory));
        let wanted: HashMap<String, bool> = wanted.collect();
        let syncs = *edit == Edit::Merge(Merge::Sync);
        let mut stay = HashSet::new();
        let mut held = Names::new();
        let (hasher, mut names) = (RandomState::new(), HashSet::new());
        let mut asked = match edit {
            Edit::Delete(selection) => Some(Asked::new(selection)),
            Edit::Merge(_) | Edit::Comment => None,
        };
        for entry in self.reader.entries() {
            let entry = entry.map_err(|error| Failure::new(error.to_string()))?;
            let name = entry.name_lossy().into_owned();
            if asked.as_mut().is_some_and(|asked| asked.takes(&name)) {
                self.dropped += 1;
            } else {
                self.kept.push(entry.position());
                self.repeats |= !names.insert(hasher.hash_one(&name));
            }
            // What was a file and is a directory now is another entry.
            let same = |directory: &bool| !syncs || *directory == name.ends_with('/');
            let known = wanted.get_key_value(name.trim_end_matches('/'));
            if let Some((key, _)) = known.filter(|(_, directory)| same(directory)) {
                let version = EntryVersion::of(&entry, local_to_utc);
                let known = held.entry(key.clone()).or_insert_with(|| Entry {
                    positions: Vec::new(),
                    version,
                });
                known.positions.push(entry.position());
                known.version = version;
            }
            // Its file is there.
            if found.left.contains(name.trim_end_matches('/')) {
                stay.insert(entry.position());
            }
            self.encrypted |= entry.is_encrypted();
        }
        let unmet = asked.iter().flat_map(Asked::unmet);
        let list = format!(
            "list the names: perfkit unzip -1 {}",
            files::display(&self.path)
        );
        found
            .failures
            .extend(unmet.map(|glob| {
                Failure::new(format!("no entry matches '{glob}'")).help(list.as_str())
            }));
        match edit {
            Edit::Delete(_) if self.dropped == 0 => {
                return Err(
                    Failure::new("no entry matches, so nothing is deleted").help(list.as_str())
                );
            }
            Edit::Delete(_) | Edit::Comment => {}
            Edit::Merge(merge) => self.merge(*merge, &held, stay, found)?,
        }
        Ok(())
    }

    /// Decides by the times and sizes of files and entries; those at the positions of `stay` do.
    fn merge(
        &mut self,
        merge: Merge,
        held: &Names,
        mut stay: HashSet<u64>,
        found: &mut Sources,
    ) -> Result<()> {
        if merge.deletes() && (found.sources.is_empty() || !found.failures.is_empty()) {
            message::failures(&found.failures);
            let what = "--filesync would delete entries of files that were not found";
            return Err(Failure::new(what).help("name what can be read, or use -u"));
        }
        if !stay.is_empty() {
            let entries = counted(stay.len() as u64, ["entry", "entries"]);
            message::note(
                &format!("kept for files that are there and are left out: {entries}"),
                "--delete removes entries",
            );
        }
        let failures = &mut found.failures;
        found.sources.retain(|_, source| {
            let known = held.get(&source.name);
            stay.extend(known.iter().flat_map(|entry| &entry.positions));
            let fate = merge.fate(version(source), known.map(|entry| entry.version));
            let repeats = known.is_some_and(|entry| entry.positions.len() > 1);
            // An archive that is what the files are has each once.
            let once = fate == Fate::Keep && repeats && merge.deletes();
            match (fate, known) {
                (Fate::Add, _) => true,
                (Fate::Replace | Fate::Keep, Some(entry)) if fate == Fate::Replace || once => {
                    let positions = entry.positions.clone();
                    self.replaced.insert(source.name.clone(), positions);
                    true
                }
                (Fate::Refuse, _) => {
                    let name = &source.name;
                    let failure = Failure::new(format!("'{name}' is already in the archive"));
                    failures.push(failure.help("-u replaces older entries"));
                    false
                }
                _ => false,
            }
        });
        let before = self.kept.len();
        let replaced: HashSet<u64> = self.replaced.values().flatten().copied().collect();
        self.kept.retain(|position| {
            !replaced.contains(position) && (!merge.deletes() || stay.contains(position))
        });
        self.dropped = (before - self.kept.len()) as u64;
        Ok(())
    }
}

/// The files that an archive has entries of, as far as they exist; none if it cannot be read, which is
/// reported when it is changed.
pub(super) fn files_of_entries(archive: &Path) -> Vec<PathBuf> {
    let Ok(Ok(reader)) = File::open(archive).map(ArchiveReader::open) else {
        return Vec::new();
    };
    let entries = reader.entries().flatten();
    let names = entries.map(|entry| entry.name_lossy().into_owned());
    // A name that leads elsewhere is none of a file that was packed.
    let packed = |name: &String| {
        let (path, bare) = (Path::new(name), name.strip_suffix('/'));
        let own = bare.unwrap_or(name);
        entry_name::name(path).is_ok_and(|name| name.as_deref() == Some(own))
            && path
                .symlink_metadata()
                .is_ok_and(|found| found.is_dir() == bare.is_some())
    };
    names.filter(packed).map(PathBuf::from).collect()
}

/// Whether an archive that does not exist is made.
fn makes(edit: &Edit) -> bool {
    !matches!(
        edit,
        Edit::Delete(_) | Edit::Comment | Edit::Merge(Merge::Freshen)
    )
}

/// What is known of a source; what cannot be read is taken for new, and fails when it is packed.
pub(super) fn version(source: &Source) -> FileVersion {
    let unknown = FileVersion {
        modified: i64::MAX,
        bytes: u64::MAX,
        directory: source.kind == EntryKind::Directory,
    };
    if source.path.as_os_str() == "-" {
        return unknown;
    }
    let Ok(metadata) = source.path.symlink_metadata() else {
        return unknown;
    };
    let changed = metadata.modified().ok();
    let changed = changed.and_then(|time| jiff::Timestamp::try_from(time).ok());
    FileVersion {
        modified: changed.map_or(i64::MAX, jiff::Timestamp::as_second),
        bytes: metadata.len(),
        ..unknown
    }
}
