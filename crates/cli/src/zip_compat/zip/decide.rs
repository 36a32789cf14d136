//! What becomes of each entry of an archive and of each file.

use std::collections::HashSet;

use zipstream::extract::local_to_utc;
use zipstream::{ArchiveReader, EntryVersion, Fate, Merge, ReadAt};

use crate::failure::Failure;
use crate::zip_compat::ended::{Ended, Stop, zip as code};
use crate::zip_compat::matching::Patterns;
use crate::zip_compat::zip::sources::Found;

/// What becomes of an entry that the archive has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// It stays: the position of its record.
    Keep(u64),
    /// This item takes its place.
    Replace(usize),
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
}

impl Plan {
    /// How many entries change.
    pub(super) fn changes(&self) -> usize {
        let replaced = |step: &&Step| matches!(step, Step::Replace(_));
        self.steps.iter().filter(replaced).count() + self.added.len() + self.deleted.len()
    }

    /// The items that are packed, in their order.
    pub(super) fn packed(&self) -> impl Iterator<Item = (usize, bool)> {
        let replaced = self.steps.iter().filter_map(|step| match step {
            Step::Replace(item) => Some((*item, true)),
            Step::Keep(_) => None,
        });
        replaced.chain(self.added.iter().map(|item| (*item, false)))
    }
}

fn unreadable(error: &zipstream::Error) -> Stop {
    Stop::new(code::STRUCTURE, Failure::new(error.to_string()))
}

/// Puts files and entries together.
pub(super) fn merge<R: ReadAt>(
    merge: Merge,
    found: &Found,
    reader: Option<&ArchiveReader<R>>,
) -> Ended<Plan> {
    let mut plan = Plan::default();
    let mut seen = HashSet::new();
    if let Some(reader) = reader {
        for entry in reader.entries() {
            let entry = entry.map_err(|error| unreadable(&error))?;
            let name = entry.name_lossy().into_owned();
            let item = found.by_name.get(&name).copied();
            let version = EntryVersion::of(&entry, local_to_utc);
            let fate = item.map(|item| {
                seen.insert(item);
                merge.fate(found.items[item].version, Some(version))
            });
            match (fate, item) {
                (Some(Fate::Replace), Some(item)) => plan.steps.push(Step::Replace(item)),
                (None, _) if merge.deletes() => plan.deleted.push(name),
                _ => plan.steps.push(Step::Keep(entry.position())),
            }
        }
    }
    for (at, item) in found.items.iter().enumerate() {
        if !seen.contains(&at) && merge.fate(item.version, None) == Fate::Add {
            plan.added.push(at);
        }
    }
    Ok(plan)
}

/// Deletes entries that match.
pub(super) fn delete<R: ReadAt>(
    patterns: &mut Patterns,
    keeps: &mut Patterns,
    reader: &ArchiveReader<R>,
) -> Ended<Plan> {
    let mut plan = Plan::default();
    for entry in reader.entries() {
        let entry = entry.map_err(|error| unreadable(&error))?;
        let name = entry.name_lossy().into_owned();
        match patterns.matches(&name) && !keeps.matches(&name) {
            true => plan.deleted.push(name),
            false => plan.steps.push(Step::Keep(entry.position())),
        }
    }
    Ok(plan)
}
