//! The memory of searches, allocated once and reused.

use super::bits::Bits;
use super::found::Found;
use super::phase::Cursor;
use crate::SubscriptionId;
use crate::index::cells::WORDS_MAX;
use crate::index::columns::Cleared;
use crate::index::counted::Marks;
use crate::priorities::Best;
use crate::program::run::Memos;
use crate::simd::{Isa, Join, LANES, TESTS_MAX, TILE_WORDS, Truth};
use crate::state::State;

/// Memory for searches. The same buffers work for any snapshot and any event.
#[derive(Debug)]
pub struct Buffers {
    pub(super) isa: Isa,
    /// One bit per slot, for each part of the snapshot.
    pub(super) bits: Vec<Bits>,
    /// Whether bits of an unfinished search may be left.
    pub(super) dirty: bool,
    pub(super) memos: Vec<Memos>,
    /// The join plan of each part for the current event, and the members that passed a tile.
    pub(super) plans: Vec<Vec<Join>>,
    pub(super) members: Vec<u32>,
    /// The members of the current tile that may match.
    pub(super) left: [u64; TILE_WORDS],
    /// The lists of members that the event excludes, of each part.
    pub(super) cleared: Vec<Vec<Cleared>>,
    /// The patterns that texts of the event have.
    pub(super) texts: Found,
    /// Nodes to visit.
    pub(super) stack: Vec<u32>,
    /// The words that guards test, and the units that passed them.
    pub(super) cells: Box<[u64; WORDS_MAX]>,
    pub(super) units: Vec<u32>,
    /// The lists that are found of each unit with several.
    pub(super) marks: Marks,
    pub(super) truth: Truth,
    /// Room for ids; the first `found` of them are results.
    pub(super) ids: Vec<SubscriptionId>,
    pub(super) found: usize,
    pub(super) bitmap: Vec<u64>,
    pub(super) best: Best,
    /// How far each part was written.
    pub(super) cursors: Vec<Cursor>,
}

impl Buffers {
    /// Empty buffers for the fastest instruction set of this processor.
    #[must_use]
    pub fn new() -> Self {
        Self::with_isa(Isa::detect())
    }

    /// The same with a given instruction set; without it on this processor, plain code runs.
    #[must_use]
    pub fn with_isa(isa: Isa) -> Self {
        Self {
            isa,
            bits: Vec::new(),
            dirty: false,
            memos: Vec::new(),
            plans: Vec::new(),
            members: Vec::new(),
            left: [0; TILE_WORDS],
            cleared: Vec::new(),
            texts: Found::default(),
            stack: Vec::new(),
            cells: Box::new([0; WORDS_MAX]),
            units: Vec::new(),
            marks: Marks::default(),
            truth: Truth([0; TESTS_MAX]),
            ids: Vec::new(),
            found: 0,
            bitmap: Vec::new(),
            best: Best::default(),
            cursors: Vec::new(),
        }
    }

    /// The instruction set that searches use.
    #[must_use]
    pub fn isa(&self) -> Isa {
        self.isa
    }

    /// How often, in all searches so far, an expensive test was not evaluated because another expression had asked the
    /// same of the event.
    #[must_use]
    pub fn memoised(&self) -> u64 {
        self.memos.iter().map(|memos| memos.reused).sum()
    }

    /// The ids that the last search found, ascending.
    #[must_use]
    pub fn ids(&self) -> &[SubscriptionId] {
        self.ids.get(..self.found).unwrap_or(&[])
    }

    /// Hands over the bits of an `Output::Rest` search, part by part, and clears them.
    pub(crate) fn take_rest(&mut self, mut take: impl FnMut(usize, &[u64])) {
        for (part, bits) in self.bits.iter_mut().enumerate() {
            take(part, bits.words());
            bits.clear();
        }
        self.dirty = false;
    }

    pub(crate) fn into_ids(mut self) -> Vec<SubscriptionId> {
        self.ids.truncate(self.found);
        self.ids
    }

    /// Makes room for `count` ids and one block more.
    pub(super) fn reserve(&mut self, count: usize) {
        if self.ids.len() < count + LANES {
            self.ids.resize(count + LANES, SubscriptionId(0));
        }
    }

    /// Writes one id.
    pub(super) fn push(&mut self, id: SubscriptionId) {
        if let Some(place) = self.ids.get_mut(self.found) {
            *place = id;
            self.found += 1;
        }
    }

    /// Makes room for a snapshot. Returns whether all bits are clear.
    pub(super) fn begin(&mut self, state: &State) -> bool {
        self.found = 0;
        self.bitmap.clear();
        self.best.clear();
        self.stack.clear();
        self.cursors.clear();
        self.bits.truncate(state.parts.len());
        for (at, part) in state.parts.iter().enumerate() {
            let words = part.index.sources.len().div_ceil(64);
            match self.bits.get_mut(at) {
                Some(bits) if bits.len() == words => {}
                Some(bits) => *bits = Bits::new(words),
                None => self.bits.push(Bits::new(words)),
            }
            if self.plans.len() <= at {
                self.plans.push(Vec::new());
                self.cleared.push(Vec::new());
            }
            if self.memos.len() <= at {
                self.memos.push(Memos::default());
            }
            self.memos[at].begin(part.index.tests.len());
        }
        !std::mem::replace(&mut self.dirty, true)
    }
}

impl Default for Buffers {
    fn default() -> Self {
        Self::new()
    }
}
