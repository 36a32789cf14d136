//! Which fields a message, a header or a group entry may and must have, by the numbers of fields.

/// The number of a group of a dictionary.
pub(crate) type GroupId = u32;
/// A set of fields by their numbers.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Bits(pub(super) Box<[u64]>);

impl Bits {
    pub(super) fn new(fields: usize) -> Self {
        Self(vec![0; fields.div_ceil(64)].into())
    }

    #[inline]
    pub(crate) fn has(&self, field: usize) -> bool {
        let word = self.0.get(field / 64).copied().unwrap_or(0);
        word >> (field % 64) & 1 != 0
    }

    /// Adds a field. Returns whether it is new.
    #[inline]
    pub(super) fn set(&mut self, field: usize) -> bool {
        let Some(word) = self.0.get_mut(field / 64) else {
            return false;
        };
        let before = *word;
        *word |= 1 << (field % 64);
        *word != before
    }

    /// Empties the set, with room for this many fields.
    pub(super) fn clear(&mut self, fields: usize) {
        let words = fields.div_ceil(64);
        match self.0.len() < words {
            true => *self = Self::new(fields),
            false => self.0.fill(0),
        }
    }

    pub(super) fn add(&mut self, other: &Self) {
        for (word, more) in self.0.iter_mut().zip(&other.0) {
            *word |= more;
        }
    }

    /// The first field of this set that another set lacks.
    pub(super) fn lacking(&self, other: &Self) -> Option<usize> {
        let words = self.0.iter().zip(&other.0).map(|(word, has)| word & !has);
        let (at, word) = words.enumerate().find(|(_, word)| *word != 0)?;
        Some(64 * at + word.trailing_zeros() as usize)
    }
}

/// Which fields a message or a group entry may have.
#[derive(Debug, Default, Clone)]
pub(crate) struct Layout {
    pub(super) allowed: Bits,
    pub(crate) required: Bits,
    /// Sorted by the number of the count field.
    pub(super) groups: Vec<(u32, GroupId)>,
    /// Fields in the dictionary's order.
    pub(crate) order: Vec<u32>,
}

impl Layout {
    #[inline]
    pub(crate) fn group(&self, field: usize) -> Option<GroupId> {
        let at = self
            .groups
            .binary_search_by_key(&(field as u32), |group| group.0);
        at.ok()
            .and_then(|at| self.groups.get(at))
            .map(|group| group.1)
    }
}

#[derive(Debug, Clone)]
pub(crate) struct Group {
    /// The count field: it states the number of entries.
    pub(super) count: u32,
    /// The field that begins each entry.
    pub(super) first: u32,
    pub(crate) layout: Layout,
    /// Its fields, and those of groups inside it.
    pub(super) all: Bits,
}
