//! Paths of entries: their names without what leads nowhere, each given out once.

use std::collections::HashSet;
use std::hash::{BuildHasher as _, RandomState};

use super::options::CaseClashes;
use super::reason::Reason;
use crate::entry_kind::EntryKind;
use crate::name;

/// The paths that were given out, to refuse one for two entries: hashes of them, under a key of this
/// run.
#[derive(Debug, Default)]
pub(super) struct Taken {
    hasher: RandomState,
    paths: HashSet<u64>,
    folded: HashSet<u64>,
    /// Paths that differ from another one in case only.
    pub(super) case_clashes: u64,
}

impl Taken {
    /// Gives out the path of an entry.
    pub(super) fn path(
        &mut self,
        name: &str,
        kind: EntryKind,
        clashes: CaseClashes,
    ) -> Result<String, Reason> {
        let path = name::path(name).map_err(Reason::Name)?;
        let hash = |path: &str| self.hasher.hash_one(path);
        let (exact, folded) = (hash(&path), hash(&path.to_lowercase()));
        // A directory may have two entries.
        let directory = kind == EntryKind::Directory;
        if !self.paths.insert(exact) && !directory {
            return Err(Reason::SamePath);
        }
        if !self.folded.insert(folded) && !directory {
            if clashes == CaseClashes::Refuse {
                return Err(Reason::CaseClash);
            }
            self.case_clashes += 1;
        }
        Ok(path)
    }
}
