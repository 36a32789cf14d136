//! Expressions as trees of words, in the order of slots.

use crate::SubscriptionId;
use crate::memory;

/// Trees of expressions, one after the other.
#[derive(Debug, Default, Clone)]
pub(crate) struct Sources {
    pub(crate) ids: Vec<SubscriptionId>,
    words: Vec<u32>,
    ends: Vec<u32>,
}

impl Sources {
    pub(crate) fn len(&self) -> usize {
        self.ids.len()
    }

    pub(crate) fn words(&self) -> usize {
        self.words.len()
    }

    /// The memory that it takes.
    pub(crate) fn bytes(&self) -> usize {
        memory::of(&self.ids) + memory::of(&self.words) + memory::of(&self.ends)
    }

    /// Consecutive trees that end at these words.
    pub(crate) fn new(ids: Vec<SubscriptionId>, words: Vec<u32>, ends: Vec<u32>) -> Self {
        debug_assert_eq!(ids.len(), ends.len());
        Self { ids, words, ends }
    }

    /// The ends of the trees.
    pub(crate) fn ends(&self) -> &[u32] {
        &self.ends
    }

    /// The words of all trees.
    pub(crate) fn all_words(&self) -> &[u32] {
        &self.words
    }

    /// The words of all trees, to be given other numbers of names.
    pub(crate) fn all_words_mut(&mut self) -> &mut [u32] {
        &mut self.words
    }

    /// The tree of a slot.
    pub(crate) fn tree(&self, slot: usize) -> &[u32] {
        let start = slot.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.words[start as usize..self.ends[slot] as usize]
    }

    /// Adds an expression whose tree `write` appends. When that fails, nothing is added.
    pub(crate) fn add<E>(
        &mut self,
        id: SubscriptionId,
        write: impl FnOnce(&mut Vec<u32>) -> Result<(), E>,
    ) -> Result<(), E> {
        let before = self.words.len();
        if let Err(error) = write(&mut self.words) {
            self.words.truncate(before);
            return Err(error);
        }
        self.ids.push(id);
        self.ends.push(self.words.len() as u32);
        Ok(())
    }

    fn push(&mut self, id: SubscriptionId, tree: &[u32]) {
        self.words.extend_from_slice(tree);
        self.ids.push(id);
        self.ends.push(self.words.len() as u32);
    }

    /// The same in the order of ids, only those that `keep` accepts.
    pub(crate) fn sorted(self, keep: impl Fn(usize) -> bool) -> Self {
        let all = (0..self.len()).all(&keep);
        if all && self.ids.is_sorted() {
            return self;
        }
        let mut order: Vec<usize> = (0..self.len()).filter(|slot| keep(*slot)).collect();
        order.sort_by_key(|slot| self.ids[*slot]);
        let mut out = Self::default();
        for slot in order {
            out.push(self.ids[slot], self.tree(slot));
        }
        out
    }

    /// Appends the expressions of another that `keep` accepts.
    pub(crate) fn append(&mut self, other: &Self, keep: impl Fn(usize) -> bool) {
        for slot in (0..other.len()).filter(|slot| keep(*slot)) {
            self.push(other.ids[slot], other.tree(slot));
        }
    }
}
