//! Changes an existing archive. With `--append` the archive continues where its directory was: the new end
//! is made next to it and put in place last, at the cost of the new entries. Otherwise the remaining
//! entries are copied into a new archive, which replaces the old one.

use std::collections::{HashMap, HashSet};
use std::fs::{File, Metadata};
use std::io;
use std::path::{Path, PathBuf};

use files::rights::Rights;
use files::target::Target;
use files::{splice, temporary};
use zipstream::extract::local_to_utc;
use zipstream::{ArchiveReader, Directory, EntryKind, Totals, Warning};

use crate::args::glob::Asked;
use crate::commands::transfer::Stop;
use crate::commands::zip::flags::{Edit, ZipPlan};
use crate::commands::zip::listed::Source;
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
    /// Number of entries that are deleted or replaced.
    pub(super) dropped: u64,
    /// Whether an entry is encrypted.
    pub(super) encrypted: bool,
}

/// Entries of an archive that have the names of sources.
type Names = HashMap<String, Entry>;

/// What an archive states about an entry.
#[derive(Debug, Clone, Copy)]
struct Entry {
    position: u64,
    /// Seconds since 1970.
    modified: i64,
    /// Size of its content, in bytes.
    bytes: u64,
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
            Err(error)
                if error.kind() == io::ErrorKind::NotFound && !matches!(edit, Edit::Delete(_)) =>
            {
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
        let in_place = file.locked && *edit == Edit::Append && !plan.verify;
        let wrong = |what: String| {
            let name = path.display();
            Failure::new(format!("cannot change '{name}': {what}"))
                .help("it is unchanged; `perfkit unzip -t --strict` shows more")
        };
        let opened = ArchiveReader::open(file).and_then(|reader| reader.check().map(|()| reader));
        let reader = opened.map_err(|error| wrong(error.to_string()))?;
        let lost =
            |found: &&Warning| matches!(found, Warning::Prefix { .. } | Warning::Trailing { .. });
        if let Some(warning) = reader.directory().warnings().iter().find(lost) {
            return Err(wrong(format!("{warning}, and would be lost")));
        }
        Ok(Some(Self {
            reader,
            path: real,
            in_place,
            metadata,
            kept: Vec::new(),
            dropped: 0,
            encrypted: false,
        }))
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
        let wanted: HashSet<String> = found.sources.iter().map(|source| source.name).collect();
        let mut held = Names::new();
        let mut asked = match edit {
            Edit::Delete(selection) => Some(Asked::new(selection)),
            Edit::Append | Edit::Update => None,
        };
        for entry in self.reader.entries() {
            let entry = entry.map_err(|error| Failure::new(error.to_string()))?;
            let name = entry.name_lossy().into_owned();
            if asked.as_mut().is_some_and(|asked| asked.takes(&name)) {
                self.dropped += 1;
            } else {
                self.kept.push(entry.position());
            }
            if let Some(key) = wanted.get(name.trim_end_matches('/')) {
                let known = Entry {
                    position: entry.position(),
                    modified: entry.time().seconds_utc(local_to_utc),
                    bytes: entry.content_bytes(),
                };
                held.insert(key.clone(), known);
            }
            self.encrypted |= entry.is_encrypted();
        }
        let unmet = asked.iter().flat_map(Asked::unmet);
        found.failures.extend(unmet.map(|glob| {
            Failure::new(format!("no entry matches '{glob}'"))
                .help("list the names: perfkit unzip -l OUT")
        }));
        match edit {
            Edit::Delete(_) if self.dropped == 0 => {
                return Err(Failure::new("no entry matches, so nothing is deleted")
                    .help("list the names: perfkit unzip -l OUT"));
            }
            Edit::Delete(_) => {}
            Edit::Append => refuse_held(&held, found),
            Edit::Update => self.replace_older(&held, found),
        }
        Ok(())
    }

    fn replace_older(&mut self, held: &Names, found: &mut Sources) {
        let mut replaced = HashSet::new();
        found
            .sources
            .retain(|_, source| match held.get(&source.name) {
                None => true,
                Some(_) if source.kind == EntryKind::Directory => false,
                Some(entry) => {
                    let newer = is_newer(source, entry);
                    replaced.extend(newer.then_some(entry.position));
                    newer
                }
            });
        self.kept.retain(|position| !replaced.contains(position));
        self.dropped = replaced.len() as u64;
    }
}

/// Removes sources that the archive already has; files among them are reported.
fn refuse_held(held: &Names, found: &mut Sources) {
    let failures = &mut found.failures;
    found.sources.retain(|_, source| {
        let is_held = held.contains_key(&source.name);
        // An existing directory is what the user wants.
        if is_held && source.kind != EntryKind::Directory {
            let name = &source.name;
            let failure = Failure::new(format!("'{name}' is already in the archive"));
            failures.push(failure.help("-u replaces older entries"));
        }
        !is_held
    });
}

/// Whether a file was changed after its entry was made. The old time fields have steps of two seconds, so a
/// change within them shows only by its size.
fn is_newer(source: &Source, held: &Entry) -> bool {
    if source.path.as_os_str() == "-" {
        return true;
    }
    let Ok(metadata) = source.path.symlink_metadata() else {
        return true;
    };
    let changed = metadata.modified().ok();
    let changed = changed.and_then(|time| jiff::Timestamp::try_from(time).ok());
    changed.is_none_or(|changed| {
        let resized = metadata.len() != held.bytes;
        let (earliest, latest) = (
            held.modified.saturating_sub(1),
            held.modified.saturating_add(1),
        );
        changed.as_second() > latest || (resized && changed.as_second() >= earliest)
    })
}
