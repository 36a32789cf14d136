//! Paths of entries: their names without what leads nowhere, and which entry gets a path that several have.

use std::collections::HashSet;
use std::hash::{BuildHasher as _, RandomState};

use super::options::{CaseClashes, Repeats};
use super::reason::Reason;
use crate::entry_kind::EntryKind;
use crate::name;

/// The paths that were given out: hashes of them, under a key of this run.
#[derive(Debug, Default)]
pub(super) struct Taken {
    hasher: RandomState,
    files: HashSet<u64>,
    directories: HashSet<u64>,
    folded: HashSet<u64>,
    /// Paths that differ from another one in case only.
    pub(super) case_clashes: u64,
}

/// The path of an entry.
#[derive(Debug, Default)]
pub(super) struct Given {
    pub(super) path: String,
    /// The hash of its path.
    pub(super) key: u64,
    /// Whether an earlier file or link has it as well.
    pub(super) repeated: bool,
}

impl Taken {
    /// Gives out the path of an entry.
    pub(super) fn path(
        &mut self,
        name: &str,
        kind: EntryKind,
        clashes: CaseClashes,
        repeats: Repeats,
    ) -> Result<Given, Reason> {
        let path = name::path(name).map_err(Reason::Name)?;
        let (key, folded) = (self.key(&path), self.key(&path.to_lowercase()));
        let mut repeated = false;
        if kind == EntryKind::Directory {
            // A directory may have two entries.
            self.directories.insert(key);
            self.folded.insert(folded);
        } else {
            repeated = !self.files.insert(key);
            if self.directories.contains(&key) || (repeated && repeats == Repeats::Refuse) {
                return Err(Reason::SamePath);
            }
            if !self.folded.insert(folded) && !repeated {
                if clashes == CaseClashes::Refuse {
                    return Err(Reason::CaseClash);
                }
                self.case_clashes += 1;
            }
        }
        Ok(Given {
            path,
            key,
            repeated,
        })
    }

    /// The hash of a path.
    pub(super) fn key(&self, path: &str) -> u64 {
        self.hasher.hash_one(path)
    }
}
