//! Which entries become files under which names, and which of those have a file already.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::fs::Metadata;
use std::path::{Path, PathBuf};

use zipstream::extract::local_to_utc;
use zipstream::{Entry, EntryKind, name};

use crate::zip_compat::ended::Ended;
use crate::zip_compat::shown;
use crate::zip_compat::unzip::climb::Climb;
use crate::zip_compat::unzip::flags::{Line, Which};
use crate::zip_compat::unzip::open::Opened;
use crate::zip_compat::unzip::rows::verb;
use crate::zip_compat::unzip::selection::{Selected, entries};

/// The first byte of "made by" of systems whose names have no case: DOS, VMS, VM/CMS, CP/M, TOPS-20, MVS, Tandem.
const WITHOUT_CASE: [u8; 7] = [0, 2, 4, 9, 10, 15, 17];

/// A selected entry.
#[derive(Debug)]
pub(super) struct Chosen {
    pub(super) name: String,
    /// Where its record is.
    pub(super) position: u64,
    /// Its name in the directory, without what `-j` and `-L` take.
    pub(super) target: String,
    pub(super) kind: EntryKind,
    /// The line that is printed when it is done.
    pub(super) line: String,
    /// Whether there is something of its name already.
    pub(super) exists: bool,
    /// Whether that is a symbolic link, and it is no directory.
    pub(super) over_link: bool,
    /// Whether an earlier entry becomes a file of its name.
    pub(super) repeats: bool,
    /// Whether times let it be extracted.
    pub(super) wanted: bool,
}

impl Chosen {
    /// Whether it takes the place of a file.
    pub(super) fn replaces(&self) -> bool {
        (self.exists || self.repeats) && self.wanted && self.kind != EntryKind::Directory
    }
}

/// The selected entries.
#[derive(Debug, Default)]
pub(super) struct Choice {
    pub(super) entries: Vec<Chosen>,
    /// How many names matched.
    pub(super) matched: u64,
    /// Whether one is encrypted.
    pub(super) encrypted: bool,
}

/// How names of entries become names of files.
pub(super) struct Names {
    junk: bool,
    /// Whether control characters stay in names of files.
    controls: bool,
    /// Names that get lower case.
    lower: HashSet<String>,
    /// The way to names that lead out of the target directory.
    climb: Option<Climb>,
    /// Names in which backslashes stand for `/`: those of DOS that have none.
    slashed: HashSet<String>,
}

impl Names {
    pub(super) fn of(line: &Line, opened: &Opened) -> Ended<Self> {
        let (mut lower, mut slashed) = (HashSet::new(), HashSet::new());
        for entry in entries(&opened.reader) {
            let [_, system] = entry.made_by().to_le_bytes();
            // As it reads: in some character sets the byte of a backslash is half of another character.
            let name = entry.name_lossy();
            if system == 0 && name.contains('\\') && !name.contains('/') {
                slashed.insert(name.clone().into_owned());
            }
            if line.lower > 1 || (line.lower > 0 && WITHOUT_CASE.contains(&system)) {
                lower.insert(name.into_owned());
            }
        }
        let mut names = Self {
            junk: line.junk,
            controls: line.controls,
            lower,
            slashed,
            climb: None,
        };
        if line.climbs {
            let entries = entries(&opened.reader);
            let targets = entries.map(|entry| entry.name_lossy());
            let targets: Vec<String> = targets.filter_map(|name| names.plain(&name)).collect();
            let directory = line.directory.as_deref().unwrap_or(Path::new("."));
            names.climb = Climb::of(directory, targets.iter().map(String::as_str))?;
        }
        Ok(names)
    }

    /// The directory that names are below.
    pub(super) fn root(&self, line: &Line) -> PathBuf {
        match (&self.climb, &line.directory) {
            (Some(climb), _) => climb.root().to_owned(),
            (None, Some(directory)) => directory.clone(),
            (None, None) => PathBuf::from("."),
        }
    }

    pub(super) fn has_backslashes(&self, entry: &str) -> bool {
        self.slashed.contains(entry)
    }

    /// The name below the root; `None` for directories that `-j` leaves out.
    pub(super) fn target(&self, entry: &str) -> Option<String> {
        let plain = self.plain(entry)?;
        Some(match &self.climb {
            Some(climb) => climb.below(&plain),
            None => plain,
        })
    }

    /// The name below the target directory, where absolute names begin.
    fn plain(&self, entry: &str) -> Option<String> {
        let name = match self.slashed.contains(entry) {
            true => Cow::Owned(entry.replace('\\', "/")),
            false => Cow::Borrowed(entry),
        };
        let name = here(name.trim_start_matches('/'));
        let kept = match self.junk {
            true => name::file_name(&name)?,
            false => &name,
        };
        if kept.is_empty() {
            return None;
        }
        let kept = match self.controls || !kept.contains(|letter: char| letter.is_ascii_control()) {
            true => kept.to_owned(),
            false => kept.replace(|letter: char| letter.is_ascii_control(), ""),
        };
        Some(match self.lower.contains(entry) {
            true => kept.to_lowercase(),
            false => kept,
        })
    }
}

/// Chooses entries, and looks at the files that they have.
pub(super) fn choose(line: &mut Line, opened: &Opened, names: &Names) -> Ended<Choice> {
    let directory = line.directory.clone();
    let root = names.root(line);
    let which = line.which;
    let mut choice = Choice::default();
    let mut directories = HashSet::new();
    // The times of files that earlier entries make.
    let mut made: HashMap<String, i64> = HashMap::new();
    let mut selected = Selected::new(line);
    for entry in entries(&opened.reader) {
        let name = entry.name_lossy().into_owned();
        // Patterns are about names as `-L` makes them.
        let met = match names.lower.contains(&name) {
            true => selected.takes(&name.to_lowercase()),
            false => selected.takes(&name),
        };
        if !met {
            continue;
        }
        choice.matched += 1;
        choice.encrypted |= entry.is_encrypted();
        let (Some(target), Some(plain)) = (names.target(&name), names.plain(&name)) else {
            continue;
        };
        // A directory may have several entries, and is made once.
        let is_directory = entry.kind() == EntryKind::Directory;
        if is_directory && !directories.insert(target.clone()) {
            continue;
        }
        let found = match name::check(&target) {
            Ok(()) => std::fs::symlink_metadata(at(&root, &target)).ok(),
            Err(_) => None,
        };
        let stated = entry.time().seconds_utc(local_to_utc);
        let earlier = made.get(&target).copied();
        let is_newer = which == Which::All || earlier.is_none_or(|earlier| stated > earlier);
        let wanted = is_newer && wants(which, &entry, stated, found.as_ref());
        if wanted && !is_directory {
            made.insert(target.clone(), stated);
        }
        let shown = match &directory {
            Some(directory) => shown::path(&at(directory, &plain)),
            None => shown::name(&plain).into_owned(),
        };
        let text = match entry.kind() {
            EntryKind::Directory => format!("   creating: {shown}\n"),
            EntryKind::Symlink => format!("    linking: {shown:<22}  \n"),
            EntryKind::File => format!("{}: {shown:<22}  \n", verb(entry.method())),
        };
        choice.entries.push(Chosen {
            wanted,
            kind: entry.kind(),
            exists: found.is_some(),
            over_link: !is_directory && found.as_ref().is_some_and(Metadata::is_symlink),
            repeats: earlier.is_some(),
            position: entry.position(),
            line: text,
            name,
            target,
        });
    }
    Ok(choice)
}

/// A name without parts that mean where it is: `./a` is `a`, and nothing is left of `./`.
fn here(name: &str) -> Cow<'_, str> {
    let is_here = |part: &str| part == ".";
    if !name.split('/').any(is_here) {
        return Cow::Borrowed(name);
    }
    let kept: Vec<&str> = name.split('/').filter(|part| !is_here(part)).collect();
    Cow::Owned(kept.join("/"))
}

/// Where a name below a directory is on this system.
pub(super) fn at(root: &Path, name: &str) -> PathBuf {
    root.join(name::system_path(name))
}

/// Whether the times of entry and file let it be extracted.
fn wants(which: Which, entry: &Entry<'_>, stated: i64, found: Option<&Metadata>) -> bool {
    let Some(found) = found else {
        return which != Which::Freshen;
    };
    if which == Which::All || entry.kind() == EntryKind::Directory {
        return which != Which::Freshen;
    }
    // A link is older, wherever it leads.
    if found.is_symlink() {
        return true;
    }
    let held = found
        .modified()
        .ok()
        .and_then(|at| jiff::Timestamp::try_from(at).ok());
    held.is_none_or(|held| stated > held.as_second())
}
