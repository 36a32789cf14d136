//! `unzip -B`: what would be overwritten gets another name, be it a file or what an earlier entry became.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use zipstream::{EntryKind, name};

use crate::failure::Failure;
use crate::zip_compat::ended::{Ended, Stop, unzip as code};
use crate::zip_compat::unzip::choice::{Chosen, at};

/// The last number of a copy.
const NUMBER_MAX: u32 = 65_535;

/// Entries that become copies: their positions, with their names below the root.
pub(super) type Copies = HashMap<u64, String>;

/// Renames the files that these entries replace, and returns which entries become copies because a later one has
/// their path. `taken` are the entries that become files one after the other. Copies that are there already are kept if
/// new ones have numbers.
pub(super) fn back_up<'a>(
    root: &Path,
    taken: impl Iterator<Item = &'a Chosen>,
    numbered: bool,
) -> Ended<Copies> {
    // The entries that paths hold, and those that copies hold.
    let mut held: HashMap<&str, u64> = HashMap::new();
    let mut copies: HashMap<String, u64> = HashMap::new();
    let mut moved: HashSet<&str> = HashSet::new();
    for one in taken.filter(|one| one.kind != EntryKind::Directory) {
        let target = one.target.as_str();
        if name::check(target).is_err() || leads_through_link(root, target) {
            continue;
        }
        let copy = || free(root, target, numbered, &copies);
        if let Some(earlier) = held.insert(target, one.position) {
            copies.insert(copy(), earlier);
        } else if one.exists && moved.insert(target) {
            let copy = copy();
            let (from, to) = (at(root, target), at(root, &copy));
            std::fs::rename(&from, &to)
                .map_err(|error| Stop::new(code::DISK, Failure::io("write", &to, &error)))?;
        }
    }
    let copies = copies.into_iter().map(|(copy, position)| (position, copy));
    Ok(copies.collect())
}

/// Entries that become copies and have different names, so that these tell them apart.
#[derive(Debug, Default)]
pub(super) struct Round<'a> {
    copies: HashMap<&'a str, &'a str>,
    positions: HashSet<u64>,
}

impl Round<'_> {
    /// Whether the entry at this position is one of them.
    pub(super) fn has(&self, position: u64) -> bool {
        self.positions.contains(&position)
    }

    /// What an entry of this name becomes.
    pub(super) fn copy(&self, entry: &str) -> Option<String> {
        self.copies.get(entry).map(|copy| (*copy).to_owned())
    }
}

/// All entries that become copies.
pub(super) fn rounds<'a>(chosen: &'a [Chosen], copies: &'a Copies) -> Vec<Round<'a>> {
    let mut rounds: Vec<Round<'_>> = Vec::new();
    let mut turns: HashMap<&str, usize> = HashMap::new();
    for one in chosen {
        let Some(copy) = copies.get(&one.position) else {
            continue;
        };
        let turn = turns.entry(one.name.as_str()).or_default();
        if rounds.len() == *turn {
            rounds.push(Round::default());
        }
        rounds[*turn].copies.insert(&one.name, copy);
        rounds[*turn].positions.insert(one.position);
        *turn += 1;
    }
    rounds
}

/// The name of a copy: that of the file with `~` behind it, and a number where that is taken and numbers are wanted.
fn free(root: &Path, target: &str, numbered: bool, copies: &HashMap<String, u64>) -> String {
    let first = format!("{target}~");
    let is_taken =
        |name: &str| copies.contains_key(name) || at(root, name).symlink_metadata().is_ok();
    if !numbered || !is_taken(&first) {
        return first;
    }
    let mut numbers = (1..=NUMBER_MAX).map(|number| format!("{first}{number}"));
    numbers.find(|name| !is_taken(name)).unwrap_or(first)
}

/// Whether a directory of a path is a link, which may lead out of the root: nothing is written there.
fn leads_through_link(root: &Path, path: &str) -> bool {
    let slashes = path.match_indices('/').map(|(at, _)| &path[..at]);
    slashes
        .filter(|above| !above.is_empty())
        .any(|above| at(root, above).is_symlink())
}
