//! Numbers for keys, in memory that clones share.
//!
//! A clone costs nothing, and an addition after it copies a few short pieces rather than everything: a table of a
//! 256th of the recent keys, and a block of 256 of them. So a tree grows by one expression while any number of its
//! snapshots live. [`Numbers::settle`] moves recent keys to a flat table, in which they are found with fewer reads of
//! memory.

use std::hash::{BuildHasher, Hash};
use std::sync::Arc;

use hashbrown::{DefaultHashBuilder, HashTable};

/// Keys of a block, and blocks of a page.
const BLOCK: usize = 256;
/// Tables of a group, and groups.
const TABLES: usize = 16;

type Pages<K> = Arc<Vec<Arc<Vec<Arc<Vec<K>>>>>>;
type Tables = Arc<Vec<Arc<Vec<Arc<HashTable<u32>>>>>>;

/// Different keys, numbered from 0 in the order in which they were added.
#[derive(Debug)]
pub(crate) struct Numbers<K> {
    /// The first keys.
    settled: Arc<Settled<K>>,
    /// Blocks of further keys, in pages.
    pages: Pages<K>,
    /// How many further keys there are.
    recent: usize,
    /// The numbers of further keys less the count of settled ones, by hash; empty before the first.
    tables: Tables,
    hasher: DefaultHashBuilder,
}

/// Keys that were added long ago, and their numbers by hash.
#[derive(Debug)]
struct Settled<K> {
    keys: Vec<K>,
    numbers: HashTable<u32>,
}

impl<K> Clone for Numbers<K> {
    fn clone(&self) -> Self {
        Self {
            settled: Arc::clone(&self.settled),
            pages: Arc::clone(&self.pages),
            recent: self.recent,
            tables: Arc::clone(&self.tables),
            hasher: self.hasher.clone(),
        }
    }
}

impl<K> Default for Numbers<K> {
    fn default() -> Self {
        Self {
            settled: Arc::new(Settled {
                keys: Vec::new(),
                numbers: HashTable::new(),
            }),
            pages: Arc::default(),
            recent: 0,
            tables: Arc::default(),
            hasher: DefaultHashBuilder::default(),
        }
    }
}

impl<K> Numbers<K> {
    /// How many keys there are.
    pub(crate) fn len(&self) -> usize {
        self.settled.keys.len() + self.recent
    }

    /// About the memory that it takes, without what its keys refer to.
    pub(crate) fn bytes(&self) -> usize {
        // A number and a byte of a table that is filled to about two thirds.
        self.len() * (size_of::<K>() + 8)
    }

    /// The key of a number.
    #[inline]
    pub(crate) fn get(&self, number: u32) -> Option<&K> {
        match (number as usize).checked_sub(self.settled.keys.len()) {
            None => self.settled.keys.get(number as usize),
            Some(at) => key(&self.pages, at),
        }
    }

    /// All keys, by their numbers.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &K> {
        let blocks = self.pages.iter().flat_map(|page| page.iter());
        let recent = blocks.flat_map(|block| block.iter());
        self.settled.keys.iter().chain(recent)
    }
}

impl<K: Hash + Eq + Clone> Numbers<K> {
    /// The number of a key, if it was added.
    #[inline]
    pub(crate) fn find(&self, wanted: &K) -> Option<u32> {
        self.find_by(wanted, |key| key == wanted)
    }
}

impl<K: Hash + Clone> Numbers<K> {
    /// The number of the key that has the hash of `wanted` and that `is` accepts.
    #[inline]
    pub(crate) fn find_by<Q: Hash + ?Sized>(
        &self,
        wanted: &Q,
        is: impl Fn(&K) -> bool,
    ) -> Option<u32> {
        let hash = self.hasher.hash_one(wanted);
        let Settled { keys, numbers } = &*self.settled;
        let same = |number: &u32| keys.get(*number as usize).is_some_and(&is);
        match numbers.find(hash, same) {
            Some(number) => Some(*number),
            None if self.recent == 0 => None,
            None => self.find_recent(hash, is),
        }
    }

    fn find_recent(&self, hash: u64, is: impl Fn(&K) -> bool) -> Option<u32> {
        let (group, table) = place(hash);
        let table = self.tables.get(group)?.get(table)?;
        let same = |at: &u32| key(&self.pages, *at as usize).is_some_and(&is);
        let at = table.find(hash, same)?;
        Some(self.settled.keys.len() as u32 + at)
    }

    /// Whether [`Numbers::settle`] would move keys.
    pub(crate) fn has_many_recent(&self) -> bool {
        self.recent > 0 && self.recent >= self.settled.keys.len()
    }

    /// Moves recent keys to the flat table once they are as many as those in it, so that each key is moved about log₂ n
    /// times in all.
    pub(crate) fn settle(&mut self) {
        if !self.has_many_recent() {
            return;
        }
        let keys: Vec<K> = self.iter().cloned().collect();
        let mut numbers = HashTable::with_capacity(keys.len());
        let again = |number: &u32| {
            let key = keys.get(*number as usize);
            key.map_or(0, |key| self.hasher.hash_one(key))
        };
        for number in 0..keys.len() as u32 {
            numbers.insert_unique(again(&number), number, again);
        }
        self.settled = Arc::new(Settled { keys, numbers });
        self.pages = Arc::default();
        self.tables = Arc::default();
        self.recent = 0;
    }

    /// Adds a key that is new, and returns its number.
    pub(crate) fn add(&mut self, fresh: K) -> u32 {
        let number = u32::try_from(self.len()).unwrap_or(u32::MAX);
        let at = u32::try_from(self.recent).unwrap_or(u32::MAX);
        let hash = self.hasher.hash_one(&fresh);
        self.push(fresh);
        let tables = Arc::make_mut(&mut self.tables);
        if tables.is_empty() {
            tables.resize_with(TABLES, || Arc::new(vec![Arc::default(); TABLES]));
        }
        let (group, table) = place(hash);
        let table = tables
            .get_mut(group)
            .and_then(|group| Arc::make_mut(group).get_mut(table));
        if let Some(table) = table {
            let (pages, hasher) = (&self.pages, &self.hasher);
            let again = |at: &u32| key(pages, *at as usize).map_or(0, |key| hasher.hash_one(key));
            Arc::make_mut(table).insert_unique(hash, at, again);
        }
        number
    }

    fn push(&mut self, fresh: K) {
        let pages = Arc::make_mut(&mut self.pages);
        if self.recent.is_multiple_of(BLOCK * BLOCK) {
            pages.push(Arc::default());
        }
        if let Some(page) = pages.last_mut() {
            let page = Arc::make_mut(page);
            if self.recent.is_multiple_of(BLOCK) {
                page.push(Arc::new(Vec::with_capacity(BLOCK)));
            }
            if let Some(block) = page.last_mut() {
                Arc::make_mut(block).push(fresh);
                self.recent += 1;
            }
        }
    }
}

fn key<K>(pages: &Pages<K>, at: usize) -> Option<&K> {
    let page = pages.get(at / (BLOCK * BLOCK))?;
    page.get(at / BLOCK % BLOCK)?.get(at % BLOCK)
}

/// The group and the table of a hash, by bits that the table itself does not use.
fn place(hash: u64) -> (usize, usize) {
    let bits = (hash >> 40) as usize;
    (bits % TABLES, bits / TABLES % TABLES)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_found_and_clones_keep_what_they_had() {
        let mut numbers: Numbers<Arc<str>> = Numbers::default();
        let find = |numbers: &Numbers<Arc<str>>, text: &str| numbers.find(&text.into());
        let mut clones = Vec::new();
        let count = BLOCK * BLOCK + BLOCK + 1;
        for at in 0..count {
            if at % 10_007 == 0 || at == BLOCK || at == BLOCK * BLOCK {
                clones.push(numbers.clone());
                numbers.settle();
                clones.push(numbers.clone());
            }
            let text = format!("key {at}");
            assert_eq!(find(&numbers, &text), None);
            assert_eq!(numbers.add(text.into()), at as u32);
        }
        clones.push(numbers);
        for clone in clones {
            assert_eq!(clone.iter().count(), clone.len());
            for at in (0..count).step_by(97) {
                let text = format!("key {at}");
                let there = at < clone.len();
                assert_eq!(find(&clone, &text), there.then_some(at as u32));
                let key = clone.get(at as u32).map(|key| &**key);
                assert_eq!(key, there.then_some(text.as_str()));
            }
        }
    }
}
