//! What becomes of each entry of an archive and of each file.

use std::collections::{HashMap, HashSet};

use zipstream::extract::local_to_utc;
use zipstream::{ArchiveReader, EntryVersion, Fate, Merge, ReadAt};

use crate::failure::Failure;
use crate::zip_compat::ended::{Ended, Stop, zip as code};
use crate::zip_compat::matching::Patterns;
use crate::zip_compat::shown;
use crate::zip_compat::zip::flags::Line;
use crate::zip_compat::zip::sources::{Found, Item};

/// What becomes of an entry that the archive has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// It stays: the position of its record.
    Keep(u64),
    /// This item takes the place of the entry whose record is at `held`, which stays if the item cannot be read.
    Replace { item: usize, held: u64 },
    /// The same for a further entry of that name: it goes with the first one, or stays with it.
    Repeat { item: usize, held: u64 },
}

/// What the new archive is made of.
#[derive(Debug, Default)]
pub(super) struct Plan {
    /// Entries in their order.
    pub(super) steps: Vec<Step>,
    /// Items that follow them.
    pub(super) added: Vec<usize>,
    /// Names of entries that go.
    pub(super) deleted: Vec<String>,
    /// The number of entries that stay only because their files may be there, and are left out.
    pub(super) spared: u64,
    /// Items that the archive has as they are, by time and size.
    pub(super) current: Vec<usize>,
}

impl Plan {
    /// How many entries change.
    pub(super) fn changes(&self) -> usize {
        let changed = |step: &&Step| !matches!(step, Step::Keep(_));
        self.steps.iter().filter(changed).count() + self.added.len() + self.deleted.len()
    }

    /// What is packed, without anything that the archive has.
    pub(super) fn difference(self) -> Self {
        Self {
            added: self.packed().map(|(item, _)| item).collect(),
            ..Self::default()
        }
    }

    /// The items that are packed, in their order.
    pub(super) fn packed(&self) -> impl Iterator<Item = (usize, bool)> {
        let replaced = self.steps.iter().filter_map(|step| match step {
            Step::Replace { item, .. } => Some((*item, true)),
            Step::Keep(_) | Step::Repeat { .. } => None,
        });
        replaced.chain(self.added.iter().map(|item| (*item, false)))
    }
}

fn unreadable(error: &zipstream::Error) -> Stop {
    Stop::new(code::STRUCTURE, Failure::new(shown::error(error)))
}

/// What becomes of a file and the entries of its name; the last of them has this version.
fn fate(merge: Merge, item: &Item, mut held: EntryVersion, repeats: bool) -> Fate {
    if matches!(merge, Merge::Update | Merge::Freshen) {
        // These programs compare times alone. A link that is followed has another size than its entry.
        held.bytes = item.version.bytes;
    }
    match merge.fate(item.version, Some(held)) {
        // An archive that is what the files are has each once.
        Fate::Keep if repeats && merge.deletes() => Fate::Replace,
        fate => fate,
    }
}

/// Puts files and entries together. Of several entries of one name all go when a file takes their place.
pub(super) fn merge<R: ReadAt>(
    merge: Merge,
    found: &Found,
    reader: Option<&ArchiveReader<R>>,
) -> Ended<Plan> {
    let mut plan = Plan::default();
    let mut held: HashMap<usize, (EntryVersion, bool)> = HashMap::new();
    let entries = || reader.into_iter().flat_map(ArchiveReader::entries);
    for entry in entries() {
        let entry = entry.map_err(|error| unreadable(&error))?;
        if let Some(item) = found.by_name.get(entry.name_lossy().as_ref()) {
            let version = EntryVersion::of(&entry, local_to_utc);
            let repeats = held.contains_key(item);
            held.insert(*item, (version, repeats));
        }
    }
    let mut replaced = HashSet::new();
    for entry in entries() {
        let entry = entry.map_err(|error| unreadable(&error))?;
        let name = entry.name_lossy();
        let item = found.by_name.get(name.as_ref()).copied();
        let known = item.and_then(|item| Some((item, *held.get(&item)?)));
        let fate = known.map(|(item, (version, repeats))| {
            (item, fate(merge, &found.items[item], version, repeats))
        });
        match fate {
            Some((item, Fate::Replace)) => {
                let held = entry.position();
                plan.steps.push(match replaced.insert(item) {
                    true => Step::Replace { item, held },
                    false => Step::Repeat { item, held },
                });
            }
            // An entry goes only if its file is certainly gone.
            None if merge.deletes() && !found.may_have(&name) => {
                plan.deleted.push(name.into_owned());
            }
            fate => {
                plan.spared += u64::from(fate.is_none() && merge.deletes());
                plan.steps.push(Step::Keep(entry.position()));
            }
        }
    }
    for (at, item) in found.items.iter().enumerate() {
        match held.get(&at) {
            None if merge.fate(item.version, None) == Fate::Add => plan.added.push(at),
            Some((version, _)) if !replaced.contains(&at) => {
                let differs = !item.version.directory && version.differs_from(item.version);
                plan.current.extend((!differs).then_some(at));
            }
            _ => {}
        }
    }
    Ok(plan)
}

/// Deletes entries that match, and that the lists and dates of the line allow.
pub(super) fn delete<R: ReadAt>(
    patterns: &mut Patterns,
    line: &mut Line,
    reader: &ArchiveReader<R>,
) -> Ended<Plan> {
    let mut plan = Plan::default();
    meet(patterns, reader);
    for entry in reader.entries() {
        let entry = entry.map_err(|error| unreadable(&error))?;
        let name = entry.name_lossy().into_owned();
        let modified = EntryVersion::of(&entry, local_to_utc).modified;
        match patterns.matches(&name) && line.wants(&name, modified) {
            true => plan.deleted.push(name),
            false => plan.steps.push(Step::Keep(entry.position())),
        }
    }
    Ok(plan)
}

/// Tells patterns which names there are.
fn meet<R: ReadAt>(patterns: &mut Patterns, reader: &ArchiveReader<R>) {
    for entry in reader.entries().flatten() {
        patterns.meet(&entry.name_lossy());
    }
}

/// Keeps entries that match, or all if there are no patterns.
pub(super) fn copy<R: ReadAt>(
    patterns: &mut Patterns,
    line: &mut Line,
    reader: &ArchiveReader<R>,
) -> Ended<Plan> {
    let mut plan = Plan::default();
    meet(patterns, reader);
    for entry in reader.entries() {
        let entry = entry.map_err(|error| unreadable(&error))?;
        let name = entry.name_lossy();
        let named = patterns.is_empty() || patterns.matches(&name);
        if named && line.wants_name(&name) {
            plan.steps.push(Step::Keep(entry.position()));
        }
    }
    Ok(plan)
}
