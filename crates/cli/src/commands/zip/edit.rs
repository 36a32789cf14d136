//! Changing an archive that exists. What is only added to goes on where its directory was: the new
//! end is made beside it and put into its place at last, so that it costs what is added and not what
//! is there. Otherwise what stays of it is carried into a new one, which replaces it.

use std::collections::{HashMap, HashSet};
use std::fs::{File, Metadata};
use std::io;
use std::path::{Path, PathBuf};

use zipstream::{ArchiveReader, Directory, EntryKind, Scratch, Totals, Warning};

use crate::args::glob::Asked;
use crate::commands::transfer::Stop;
use crate::commands::zip::flags::{Edit, ZipPlan};
use crate::commands::zip::pack::{Carried, Packer};
use crate::commands::zip::sources::{Source, Sources};
use crate::failure::{Failure, Result};
use crate::io::context;
use crate::io::rights::Rights;
use crate::io::splice;
use crate::io::target::Target;
use crate::io::temporary;
use crate::term::message;

/// The archive that is changed.
pub(super) struct Base {
    reader: ArchiveReader<Held>,
    /// Its path, no link.
    path: PathBuf,
    /// Whether it goes on where its directory was.
    in_place: bool,
    pub(super) metadata: Metadata,
    /// Positions of the entries that stay.
    kept: Vec<u64>,
    /// Entries that do not, since they are deleted or replaced.
    pub(super) dropped: u64,
    /// Whether an entry is encrypted.
    pub(super) encrypted: bool,
}

/// Entries of an archive that have the names of sources.
type Names = HashMap<String, Entry>;

/// What an archive says of an entry.
#[derive(Debug, Clone, Copy)]
struct Entry {
    position: u64,
    /// Seconds since 1970.
    modified: i64,
    /// Bytes of its content.
    bytes: u64,
}

/// The file of an archive: locked, where it can be written.
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

/// Opens an archive to change or to save it. An append that was cut off is undone first.
pub(super) fn hold(path: &Path) -> io::Result<Held> {
    match splice::lock(path) {
        Ok((file, undone)) => {
            if undone {
                message::remark("an --append that was cut off is undone: the archive is as it was");
            }
            Ok(Held { file, locked: true })
        }
        // One that cannot be written may still be replaced.
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Ok(Held {
            file: File::open(path)?,
            locked: false,
        }),
        Err(error) => Err(error),
    }
}

impl Base {
    /// Opens the archive; `None` where there is none yet and that is fine.
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
            return Err(Failure::usage(format!("'{name}' is no file to change")));
        }
        let real = std::fs::canonicalize(path).map_err(unreadable)?;
        let file = hold(&real).map_err(unreadable)?;
        // What is verified before it appears is a file of its own.
        let in_place = file.locked && *edit == Edit::Append && !plan.verify;
        let wrong = |what: String| {
            let name = path.display();
            Failure::new(format!("cannot change '{name}': {what}"))
                .help("it is as it was; see more with perfkit unzip -t --strict")
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

    /// The directory of an archive that goes on in its place.
    pub(super) fn goes_on(&self) -> Option<&Directory> {
        self.in_place.then(|| self.reader.directory())
    }

    /// Gives the archive its new end, which is in `target` by now, if there is anything new.
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

    /// Decides what stays, and takes out of the sources what is not to be packed.
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
                    modified: entry.modified(),
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

    /// Carries over what stays; how many entries that is.
    pub(super) fn carry(&self, packer: &mut Packer<'_>) -> std::result::Result<u64, Stop> {
        if self.in_place {
            return Ok(self.kept.len() as u64);
        }
        let mut scratch = Scratch::default();
        for position in &self.kept {
            let Some(Ok(entry)) = self.reader.directory().iter_at(*position).next() else {
                continue;
            };
            let raw = self.reader.raw(&entry, &mut scratch);
            let raw = raw.map_err(|error| Carried::from(error).0)?;
            packer.carry(raw, |sink| {
                let mut sink = |piece: &[u8]| sink(piece);
                self.reader.copy_raw(&entry, &mut scratch, &mut sink)
            })?;
        }
        Ok(self.kept.len() as u64)
    }
}

/// Takes out what the archive holds; files of it are told of.
fn refuse_held(held: &Names, found: &mut Sources) {
    let failures = &mut found.failures;
    found.sources.retain(|_, source| {
        let is_held = held.contains_key(&source.name);
        // A directory that is there already is what is asked for.
        if is_held && source.kind != EntryKind::Directory {
            let name = &source.name;
            let failure = Failure::new(format!("'{name}' is in the archive already"));
            failures.push(failure.help("-u replaces what is older"));
        }
        !is_held
    });
}

/// Whether a file was changed after what the archive holds of it. The old time fields are even
/// seconds, so that a change of the same second shows by its size alone.
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
