//! An index of names, made in steps.

use std::borrow::Cow;
use std::hash::{BuildHasher as _, RandomState};
use std::sync::{Mutex, OnceLock, PoisonError};

use super::entry::RECORD_COST;
use super::hashed::Hashed;
use crate::error::Error;
use crate::write::Budget;

/// An index of names, made by the second search: the first costs no more than one look at each record. All searches
/// that want it make it together.
#[derive(Debug, Default)]
pub(super) struct NameIndex {
    asked: OnceLock<()>,
    places: OnceLock<Places>,
    making: Mutex<Making>,
}

/// A record with its name, as far as that is text.
pub(super) struct Named<'n> {
    pub(super) name: Option<Cow<'n, str>>,
    pub(super) position: u64,
    pub(super) bytes: u64,
}

/// Where a name is.
pub(super) enum Search {
    /// In no record.
    Nowhere,
    /// In the record at this position, or in one that the index does not tell apart from it.
    At(u64),
}

/// An index that has the names up to this position.
#[derive(Debug, Default)]
struct Making {
    places: Places,
    position: u64,
}

#[derive(Debug, Clone, Default)]
struct Places {
    hasher: RandomState,
    /// Positions of the last records of each name, by the hashes of the names.
    positions: Hashed<u64>,
    /// Why the directory cannot be read to its end.
    failed: Option<Error>,
}

impl NameIndex {
    /// Whether this is the first search.
    pub(super) fn is_first(&self) -> bool {
        self.asked.set(()).is_ok()
    }

    /// Looks for a name in the index, and makes more of it before if it is not complete. `names` has those of the records
    /// from a position on. `None`: the budget is spent.
    pub(super) fn search<'n, N: Iterator<Item = Result<Named<'n>, Error>>>(
        &self,
        name: &str,
        names: impl FnOnce(u64) -> N,
        budget: &mut Budget,
    ) -> Result<Option<Search>, Error> {
        let Some(places) = self.places.get().or_else(|| self.make(names, budget)) else {
            return Ok(None);
        };
        if let Some(error) = &places.failed {
            return Err(error.clone());
        }
        let hash = places.hasher.hash_one(name);
        let position = places.positions.get(hash);
        Ok(Some(
            position.map_or(Search::Nowhere, |position| Search::At(*position)),
        ))
    }

    /// About the memory that it holds.
    #[cfg(feature = "tokio")]
    pub(super) fn bytes(&self) -> usize {
        let making = self.making.lock().unwrap_or_else(PoisonError::into_inner);
        let places = self.places.get().unwrap_or(&making.places);
        places.positions.bytes()
    }

    fn make<'n, N: Iterator<Item = Result<Named<'n>, Error>>>(
        &self,
        names: impl FnOnce(u64) -> N,
        budget: &mut Budget,
    ) -> Option<&Places> {
        let mut making = self.making.lock().unwrap_or_else(PoisonError::into_inner);
        if self.places.get().is_none() {
            let names = names(making.position);
            if !making.go_on(names, budget) {
                return None;
            }
            let made = std::mem::take(&mut *making);
            drop(making);
            let _ = self.places.set(made.places);
        }
        self.places.get()
    }
}

impl Clone for NameIndex {
    /// One that is not complete is made anew.
    fn clone(&self) -> Self {
        Self {
            asked: self.asked.clone(),
            places: self.places.clone(),
            making: Mutex::default(),
        }
    }
}

impl Making {
    /// Adds names. `false`: the budget is spent.
    fn go_on<'n>(
        &mut self,
        mut names: impl Iterator<Item = Result<Named<'n>, Error>>,
        budget: &mut Budget,
    ) -> bool {
        while !budget.is_spent() {
            match names.next() {
                Some(Ok(named)) => {
                    if let Some(name) = &named.name {
                        let hash = self.places.hasher.hash_one(&**name);
                        self.places.positions.insert(hash, named.position);
                    }
                    // A name that was not seen before comes to memory that was not used before.
                    budget.charge(named.bytes + 2 * RECORD_COST);
                    self.position = named.position + named.bytes;
                }
                Some(Err(error)) => {
                    self.places.failed = Some(error);
                    return true;
                }
                None => return true,
            }
        }
        false
    }
}
