//! A unit in a node of the tree or in postings, with the guards that are tested before its program runs.
//!
//! The second guard may be one that only confirms: a unit that it passes holds, and any other is left to its program.

use super::cells::WORDS_MAX;

/// Items that match as soon as their guards pass.
pub(super) const EXACT: u32 = 1 << 31;
/// The bit of a guard's word that says that a bit must be set.
pub(super) const WANTS: u16 = 1 << 15;
/// The bit of the second guard's word that says that it only confirms.
pub(super) const CONFIRMS: u16 = 1 << 14;

/// A unit in a node, with two guards.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Item {
    pub(super) masks: [u64; 2],
    pub(super) words: [u16; 2],
    /// The unit, or the slot of one that the guards decide; and whether they do.
    pub(super) target: u32,
}

impl Item {
    /// Whether the guards pass.
    #[inline(always)]
    pub(crate) fn passes(&self, words: &[u64; WORDS_MAX]) -> bool {
        let one = |at: usize| {
            let word = words[usize::from(self.words[at]) % WORDS_MAX];
            let found = word & self.masks[at] != 0;
            found == (self.words[at] & WANTS != 0)
        };
        one(0) & (one(1) | (self.words[1] & CONFIRMS != 0))
    }

    /// Whether a unit whose guards pass holds, although they do not decide every unit of the kind.
    #[inline(always)]
    pub(crate) fn is_confirmed(&self, words: &[u64; WORDS_MAX]) -> bool {
        let word = words[usize::from(self.words[1]) % WORDS_MAX];
        (self.words[1] & CONFIRMS != 0) & (word & self.masks[1] == 0)
    }

    /// The unit; the slot of its expression, if the guards decide it.
    #[inline(always)]
    pub(crate) fn target(&self) -> u32 {
        self.target & !EXACT
    }

    /// The words that the guards test, with the bits that they look at.
    pub(super) fn guards(&self) -> impl Iterator<Item = (usize, u64)> {
        let words = self.words.map(|word| usize::from(word) % WORDS_MAX);
        words.into_iter().zip(self.masks)
    }

    /// Whether guards that pass decide that the unit holds.
    #[inline(always)]
    pub(crate) fn is_exact(&self) -> bool {
        self.target & EXACT != 0
    }
}
