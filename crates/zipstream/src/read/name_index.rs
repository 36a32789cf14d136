//! An index of names.

use std::borrow::Cow;
use std::collections::HashMap;
use std::hash::{BuildHasher as _, RandomState};
use std::sync::OnceLock;

use crate::error::Error;

/// An index of names, made by the second search: the first costs no more than one look at each record.
#[derive(Debug, Clone, Default)]
pub(super) struct NameIndex {
    asked: OnceLock<()>,
    places: OnceLock<Places>,
}

/// Where a name is.
pub(super) enum Search {
    /// It is the first search: there is no index.
    First,
    /// In no record.
    Nowhere,
    /// In the record at this position, or in one that the index does not tell apart from it.
    At(u64),
}

impl NameIndex {
    /// Looks for a name. `names` has all of them with their positions, as far as they are text.
    pub(super) fn search<'n>(
        &self,
        name: &str,
        names: impl Iterator<Item = Result<(Option<Cow<'n, str>>, u64), Error>>,
    ) -> Result<Search, Error> {
        if self.asked.set(()).is_ok() {
            return Ok(Search::First);
        }
        let places = self.places.get_or_init(|| Places::of(names));
        if let Some(error) = &places.failed {
            return Err(error.clone());
        }
        let hash = places.hasher.hash_one(name);
        let position = places.positions.get(&hash);
        Ok(position.map_or(Search::Nowhere, |position| Search::At(*position)))
    }
}

#[derive(Debug, Clone)]
struct Places {
    hasher: RandomState,
    /// Positions of the last records of each name, by the hashes of the names.
    positions: HashMap<u64, u64>,
    /// Why the directory cannot be read to its end.
    failed: Option<Error>,
}

impl Places {
    fn of<'n>(names: impl Iterator<Item = Result<(Option<Cow<'n, str>>, u64), Error>>) -> Self {
        let mut places = Self {
            hasher: RandomState::new(),
            positions: HashMap::new(),
            failed: None,
        };
        for found in names {
            match found {
                Ok((Some(name), position)) => {
                    let hash = places.hasher.hash_one(&*name);
                    places.positions.insert(hash, position);
                }
                Ok((None, _)) => {}
                Err(error) => places.failed = Some(error),
            }
        }
        places
    }
}
