//! Numbers for keys, in memory that clones share.
//!
//! A clone costs nothing, and an addition after it copies a few short pieces rather than everything: a table of a
//! 256th of all keys, and a block of 256 of them. So a tree grows by one expression while any number of its
//! snapshots live.

use std::borrow::Borrow;
use std::hash::{BuildHasher, Hash, RandomState};
use std::sync::Arc;

use hashbrown::HashTable;

/// Keys of a block, and blocks of a page.
const BLOCK: usize = 256;
/// Tables of a group, and groups.
const TABLES: usize = 16;

type Pages<K> = Arc<Vec<Arc<Vec<Arc<Vec<K>>>>>>;
type Tables = Arc<Vec<Arc<Vec<Arc<HashTable<u32>>>>>>;

/// Different keys, numbered from 0 in the order in which they were added.
#[derive(Debug)]
pub(crate) struct Numbers<K> {
    /// Blocks of keys, in pages.
    pages: Pages<K>,
    length: usize,
    /// The numbers, by hash; empty before the first.
    tables: Tables,
    hasher: RandomState,
}

impl<K> Clone for Numbers<K> {
    fn clone(&self) -> Self {
        Self {
            pages: Arc::clone(&self.pages),
            length: self.length,
            tables: Arc::clone(&self.tables),
            hasher: self.hasher.clone(),
        }
    }
}

impl<K> Default for Numbers<K> {
    fn default() -> Self {
        Self {
            pages: Arc::default(),
            length: 0,
            tables: Arc::default(),
            hasher: RandomState::new(),
        }
    }
}

impl<K> Numbers<K> {
    /// How many keys there are.
    pub(crate) fn len(&self) -> usize {
        self.length
    }

    /// About the memory that it takes, without what its keys refer to.
    pub(crate) fn bytes(&self) -> usize {
        // A number and a byte of a table that is filled to about two thirds.
        self.length * (size_of::<K>() + 8)
    }

    /// The key of a number.
    #[inline]
    pub(crate) fn get(&self, number: u32) -> Option<&K> {
        key(&self.pages, number)
    }

    /// All keys, by their numbers.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &K> {
        let blocks = self.pages.iter().flat_map(|page| page.iter());
        blocks.flat_map(|block| block.iter())
    }
}

impl<K: Hash + Eq + Clone> Numbers<K> {
    /// The number of a key, if it was added.
    #[inline]
    pub(crate) fn find<Q: Hash + Eq + ?Sized>(&self, wanted: &Q) -> Option<u32>
    where
        K: Borrow<Q>,
    {
        let hash = self.hasher.hash_one(wanted);
        let (group, table) = place(hash);
        let table = self.tables.get(group)?.get(table)?;
        let same = |number: &u32| self.get(*number).is_some_and(|key| key.borrow() == wanted);
        table.find(hash, same).copied()
    }

    /// Adds a key that is new, and returns its number.
    pub(crate) fn add(&mut self, fresh: K) -> u32 {
        let number = u32::try_from(self.length).unwrap_or(u32::MAX);
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
            let again = |number: &u32| key(pages, *number).map_or(0, |key| hasher.hash_one(key));
            Arc::make_mut(table).insert_unique(hash, number, again);
        }
        number
    }

    fn push(&mut self, fresh: K) {
        let pages = Arc::make_mut(&mut self.pages);
        if self.length.is_multiple_of(BLOCK * BLOCK) {
            pages.push(Arc::default());
        }
        if let Some(page) = pages.last_mut() {
            let page = Arc::make_mut(page);
            if self.length.is_multiple_of(BLOCK) {
                page.push(Arc::new(Vec::with_capacity(BLOCK)));
            }
            if let Some(block) = page.last_mut() {
                Arc::make_mut(block).push(fresh);
                self.length += 1;
            }
        }
    }
}

fn key<K>(pages: &Pages<K>, number: u32) -> Option<&K> {
    let number = number as usize;
    let page = pages.get(number / (BLOCK * BLOCK))?;
    page.get(number / BLOCK % BLOCK)?.get(number % BLOCK)
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
        let mut clones = Vec::new();
        let count = BLOCK * BLOCK + BLOCK + 1;
        for at in 0..count {
            if at % 10_007 == 0 || at == BLOCK || at == BLOCK * BLOCK {
                clones.push(numbers.clone());
            }
            let text = format!("key {at}");
            assert_eq!(numbers.find(text.as_str()), None);
            assert_eq!(numbers.add(text.into()), at as u32);
        }
        clones.push(numbers);
        for clone in clones {
            assert_eq!(clone.iter().count(), clone.len());
            for at in (0..count).step_by(97) {
                let text = format!("key {at}");
                let there = at < clone.len();
                assert_eq!(clone.find(text.as_str()), there.then_some(at as u32));
                let key = clone.get(at as u32).map(|key| &**key);
                assert_eq!(key, there.then_some(text.as_str()));
            }
        }
    }
}
