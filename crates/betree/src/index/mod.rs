//! The compiled form of many expressions: some run in lockstep, others are found by access clauses or by rows of
//! bits.
//!
//! An index never changes. Its expressions are in the order of their ids, numbered by *slots* from 0. [`asks`]
//! counts what they ask, [`access`] finds what an event must have for a match ([`keys`], [`ranges`], [`dimension`]), [`tree`] files expressions by it
//! and, where that is one of many values, [`postings`], or, where it is several lists, [`counted`];
//! [`cells`] holds what is tested before a program runs, [`geo`] divides the map, [`texts`] finds patterns in texts. [`mix`]
//! says where a value is in a hash table.

mod access;
mod asks;
pub(crate) mod cells;
pub(crate) mod columns;
mod compile;
mod cost;
pub(crate) mod counted;
mod counters;
pub(crate) mod dimension;
mod edges;
pub(crate) mod geo;
mod guard;
pub(crate) mod item;
mod keys;
mod known;
mod mix;
mod operands;
mod positions;
mod postings;
mod ranges;
mod sources;
pub(crate) mod texts;
pub(crate) mod tree;
mod windows;

use cells::CellWords;
use columns::Columns;
use dimension::Bounds;
pub(crate) use sources::Sources;
use texts::Texts;
use tree::Tree;

use crate::SubscriptionId;
use crate::lockstep::Lockstep;
use crate::memory;
use crate::program::run::MemoTests;
use crate::simd::LANES;

/// Where the program of a slot is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    Constant(bool),
    /// A block and a lane.
    Lane(usize, usize),
    /// A member of the columns.
    Member(usize),
    /// The first of its units in the tree.
    Units(u32),
}

/// A conjunction in the tree: its expression, and where its program is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Unit {
    pub(crate) slot: u32,
    pub(crate) code: u32,
    /// The words of its program that are left to run once it was found.
    pub(crate) left: u32,
}

const LANE: u32 = 1 << 31;
const MEMBER: u32 = 1 << 30;
const TRUE: u32 = u32::MAX;
const FALSE: u32 = u32::MAX - 1;

/// The place of the program of a unit that never holds.
pub(crate) const NEVER: u32 = u32::MAX;

/// Compiled expressions.
#[derive(Debug, Default)]
pub(crate) struct Index {
    pub(crate) sources: Sources,
    pub(crate) lockstep: Lockstep,
    pub(crate) columns: Columns,
    pub(crate) tree: Tree,
    /// The units of the tree, those of an expression one after the other.
    pub(crate) units: Vec<Unit>,
    pub(crate) cells: CellWords,
    pub(crate) bounds: Bounds,
    /// The patterns that are keys of the tree.
    pub(crate) texts: Texts,
    /// The attributes of the event's place.
    pub(crate) place: Option<(usize, usize)>,
    /// Slots of expressions that are always true.
    pub(crate) always: Vec<u32>,
    pub(crate) tests: MemoTests,
    /// For each program its slot, its length and its words.
    pub(crate) code: Vec<u32>,
    places: Vec<u32>,
}

impl Index {
    /// The program of a slot.
    pub(crate) fn place(&self, slot: usize) -> Place {
        match self.places.get(slot).copied().unwrap_or(FALSE) {
            TRUE => Place::Constant(true),
            FALSE => Place::Constant(false),
            lane if lane & LANE != 0 => {
                let lane = (lane & !LANE) as usize;
                Place::Lane(lane / LANES, lane % LANES)
            }
            member if member & MEMBER != 0 => Place::Member((member & !MEMBER) as usize),
            unit => Place::Units(unit),
        }
    }

    /// A unit; none beyond the last.
    #[inline]
    pub(crate) fn unit(&self, unit: u32) -> Option<Unit> {
        self.units.get(unit as usize).copied()
    }

    /// The slot and the words of the program at a place in the code.
    #[inline]
    pub(crate) fn program(&self, at: u32) -> (u32, usize, usize) {
        let start = at as usize + 2;
        match self.code.get(at as usize..start) {
            Some([slot, length]) => (*slot, start, start + *length as usize),
            _ => (u32::MAX, 0, 0),
        }
    }

    /// The memory that it takes, without a few kilobytes for each attribute.
    pub(crate) fn bytes(&self) -> usize {
        let numbers = [&self.always, &self.code, &self.places];
        numbers.map(memory::of).iter().sum::<usize>()
            + memory::of(&self.units)
            + self.sources.bytes()
            + self.lockstep.bytes()
            + self.columns.bytes()
            + self.tree.bytes()
            + self.texts.bytes()
            + self.tests.bytes()
    }

    /// Whether all expressions run in lockstep.
    pub(crate) fn is_all_lockstep(&self) -> bool {
        self.always.is_empty() && self.code.is_empty() && self.columns.is_empty()
    }

    /// The slot of an id.
    pub(crate) fn slot(&self, id: SubscriptionId) -> Option<usize> {
        self.sources.ids.binary_search(&id).ok()
    }
}
