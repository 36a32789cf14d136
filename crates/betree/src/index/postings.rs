//! Postings: for each value of a dimension the units that have it as one of many keys.
//!
//! A unit has one item here however many keys it has, and a key is the number of that item. So a key takes 4 bytes,
//! and each distinct value some 14 more: the scrambled value, the start of its list, and a share of the directory that
//! finds values by their first bits.

use std::collections::BTreeMap;

use super::dimension::Dimension;
use super::item::Item;
use super::mix::mixed;
use super::windows::PatternKey;
use crate::memory;

/// With fewer units with many keys, testing each of them costs less than a look-up, unless the keys are very many.
pub(super) const UNITS_MIN: usize = 4;
pub(super) const KEYS_MIN: usize = 512;

/// Values of dimensions, each with the number of the unit's item.
pub(super) type Keys = BTreeMap<Dimension, Vec<(u64, u32)>>;

/// The lists of all dimensions.
#[derive(Debug, Default)]
pub(crate) struct Postings {
    /// Units.
    pub(super) items: Vec<Item>,
    /// By part of the root.
    tables: Vec<Table>,
    /// The items of all lists.
    postings: Vec<u32>,
    /// Where each list begins, and the end.
    starts: Vec<u32>,
    /// The patterns of texts among the values.
    patterns: Vec<PatternKey>,
    seed: u64,
}

/// The values of one dimension.
#[derive(Debug, Default)]
struct Table {
    /// In ascending order, scrambled.
    values: Vec<u64>,
    /// The first value for each beginning.
    directory: Vec<u32>,
    /// Bits that follow the beginning.
    shift: u32,
    /// The list of the first value.
    first: u32,
}

impl Postings {
    /// Postings of the dimensions that are parts of the root. `keys` is empty then.
    pub(super) fn new(seed: u64, items: Vec<Item>, parts: &[Dimension], keys: &mut Keys) -> Self {
        let mut out = Self {
            items,
            seed,
            ..Self::default()
        };
        for part in parts {
            let keys = keys.remove(part).unwrap_or_default();
            if let Dimension::Text(attribute, position) = part {
                let patterns = keys
                    .iter()
                    .map(|(value, _)| (*attribute, *position, *value as u32));
                out.patterns.extend(patterns);
            }
            let table = out.table(keys);
            out.tables.push(table);
        }
        out.starts.push(out.postings.len() as u32);
        out.postings.shrink_to_fit();
        out.starts.shrink_to_fit();
        out
    }

    fn table(&mut self, mut keys: Vec<(u64, u32)>) -> Table {
        let first = self.starts.len() as u32;
        for (value, _) in &mut keys {
            *value = mixed(self.seed, *value, 0);
        }
        keys.sort_unstable();
        keys.dedup();
        let distinct = keys.chunk_by(|a, b| a.0 == b.0).count();
        let mut values = Vec::with_capacity(distinct);
        self.postings.reserve(keys.len());
        for list in keys.chunk_by(|a, b| a.0 == b.0) {
            values.push(list[0].0);
            self.starts.push(self.postings.len() as u32);
            self.postings.extend(list.iter().map(|(_, item)| *item));
        }
        // About four values have the same beginning.
        let bits = (distinct / 4).max(2).ilog2();
        let mut directory = vec![0; (1 << bits) + 1];
        let shift = u64::BITS - bits;
        for value in &values {
            directory[(value >> shift) as usize + 1] += 1;
        }
        for at in 1..directory.len() {
            directory[at] += directory[at - 1];
        }
        Table {
            values,
            directory,
            shift,
            first,
        }
    }

    /// Where the postings of a list are.
    #[inline]
    pub(super) fn list(&self, list: u32) -> Option<(u32, u32)> {
        let at = list as usize;
        Some((*self.starts.get(at)?, *self.starts.get(at + 1)?))
    }

    #[inline]
    pub(super) fn range(&self, start: u32, end: u32) -> &[u32] {
        let found = self.postings.get(start as usize..end as usize);
        found.unwrap_or(&[])
    }

    /// The patterns of texts among the values, some more than once. They are not kept.
    pub(super) fn take_patterns(&mut self) -> Vec<PatternKey> {
        std::mem::take(&mut self.patterns)
    }

    /// Whether a part of the root has postings.
    #[inline]
    pub(super) fn has(&self, part: u32) -> bool {
        let table = self.tables.get(part as usize);
        table.is_some_and(|table| !table.values.is_empty())
    }

    /// The list for a value of a part of the root.
    #[inline]
    pub(super) fn find(&self, part: u32, value: u64) -> Option<u32> {
        let table = self.tables.get(part as usize)?;
        let value = mixed(self.seed, value, 0);
        let beginning = (value >> table.shift) as usize;
        let start = *table.directory.get(beginning)?;
        let end = *table.directory.get(beginning + 1)?;
        let values = table.values.get(start as usize..end as usize)?;
        let at = values.binary_search(&value).ok()?;
        Some(table.first + start + at as u32)
    }

    /// The memory that they take.
    pub(super) fn bytes(&self) -> usize {
        let tables = self.tables.iter();
        let tables = tables.map(|one| memory::of(&one.values) + memory::of(&one.directory));
        tables.sum::<usize>()
            + memory::of(&self.tables)
            + memory::of(&self.items)
            + memory::of(&self.postings)
            + memory::of(&self.starts)
    }
}
