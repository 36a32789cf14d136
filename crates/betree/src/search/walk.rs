//! The phases that visit the tree: the words that guards test, nodes with their items and edges, and the programs
//! of items whose guards pass.

use super::Search;
use super::phase::{PROGRAM_REDUCTIONS, Phase, Place, WORDS_PER_REDUCTION};
use super::top::PASS_REDUCTIONS;
use crate::index::dimension::Dimension;
use crate::index::geo;
use crate::index::item::Item;
use crate::index::tree::Node;
use crate::program::run::Outcome;

/// Items that are tested at once.
const BLOCK: usize = 64;
/// Units that are run together, once this number of them waits.
pub(super) const UNITS_TOGETHER: usize = 64;
/// Reductions of testing an item, of recording a match, and of the cells of an attribute.
pub(super) const ITEM_REDUCTIONS: u64 = 2;
const HIT_REDUCTIONS: u64 = 8;
const CELL_REDUCTIONS: u64 = 8;
/// Reductions of a visit of a node and of looking up a key: each is a cache miss in a large tree.
const NODE_REDUCTIONS: u64 = 40;
const KEY_REDUCTIONS: u64 = 30;
/// Programs whose first words are read ahead.
const AHEAD: usize = 16;
/// Words of a program in one cache line.
const LINE_WORDS: usize = 16;

impl Search<'_> {
    /// Fills the words that guards test.
    pub(super) fn cells(&mut self, part: usize, mut at: usize, limit: u64) -> Phase {
        let index = &self.part(part).index;
        if index.tree.nodes.is_empty() {
            return Phase::Enter { part: part + 1 };
        }
        let words = &mut self.buffers.cells;
        if at == 0 {
            words[..index.cells.words()].fill(0);
            self.spent += (index.cells.words() / WORDS_PER_REDUCTION) as u64;
        }
        while at < index.cells.steps(self.event) {
            // The first one follows at once: a pause before it would begin anew, and a small budget would never end.
            if self.spent >= limit && at > 0 {
                return Phase::Cells { part, at };
            }
            self.spent += CELL_REDUCTIONS;
            self.spent += index.cells.set(at, self.event, &mut words[..]);
            at += 1;
        }
        self.buffers.stack.clear();
        self.buffers.units.clear();
        if !index.texts.is_empty() {
            return Phase::Texts {
                part,
                lane: 0,
                at: 0,
                one_by_one: false,
            };
        }
        match self.spent < limit {
            true => self.walk(part, Place::ROOT, limit),
            false => Phase::Walk {
                part,
                at: Place::ROOT,
            },
        }
    }

    pub(super) fn walk(&mut self, part: usize, mut at: Place, limit: u64) -> Phase {
        let index = &self.part(part).index;
        while let Some(node) = index.tree.node(at.node) {
            if self.spent >= limit {
                return Phase::Walk { part, at };
            }
            if !at.entered && !self.wants_node(part, at.node) {
                self.spent += PASS_REDUCTIONS;
                at = self.buffers.stack.pop().map_or(Place::END, Place::at);
                continue;
            }
            self.spent += if at.entered { 0 } else { NODE_REDUCTIONS };
            at.entered = true;
            if !self.items(part, &node, &mut at, limit) {
                return match self.buffers.units.len() >= UNITS_TOGETHER {
                    true => Phase::Units {
                        part,
                        at,
                        unit: 0,
                        running: None,
                    },
                    false => Phase::Walk { part, at },
                };
            }
            if !self.values(part, &node, &mut at, limit) {
                return Phase::Walk { part, at };
            }
            if self.matched >= self.matches_max {
                return self.end();
            }
            at = self.buffers.stack.pop().map_or(Place::END, Place::at);
        }
        match self.buffers.units.is_empty() {
            true => self.after_walk(part),
            false => Phase::Units {
                part,
                at,
                unit: 0,
                running: None,
            },
        }
    }

    /// Tests the items of a node. Returns false when the budget ends before, or when enough units wait.
    fn items(&mut self, part: usize, node: &Node, at: &mut Place, limit: u64) -> bool {
        let tree = &self.part(part).index.tree;
        match tree.list(at.node) {
            None => {
                let items = tree.items(node);
                self.test_items(part, items, Some, at, limit)
            }
            Some(_) => {
                let postings = tree.postings(node);
                let item = |posting: &u32| tree.posting(*posting);
                self.test_items(part, postings, item, at, limit)
            }
        }
    }

    /// Tests items, which `item` finds by what stands for them.
    #[inline(always)]
    fn test_items<'i, T>(
        &mut self,
        part: usize,
        all: &'i [T],
        item: impl Fn(&'i T) -> Option<&'i Item>,
        at: &mut Place,
        limit: u64,
    ) -> bool {
        while let Some(left) = all.get(at.items as usize..).filter(|left| !left.is_empty()) {
            if self.spent >= limit || self.buffers.units.len() >= UNITS_TOGETHER {
                return false;
            }
            let block = left.get(..BLOCK).unwrap_or(left);
            self.spent += ITEM_REDUCTIONS * block.len() as u64;
            let words = &self.buffers.cells;
            let mut passed = 0u64;
            for (at, one) in block.iter().enumerate() {
                let passes = item(one).is_some_and(|item| item.passes(words));
                passed |= u64::from(passes) << at;
            }
            while let Some(one) = block.get(passed.trailing_zeros() as usize) {
                passed &= passed - 1;
                if let Some(item) = item(one) {
                    self.passed(part, item);
                }
            }
            at.items += block.len() as u32;
        }
        true
    }

    /// Records the match of an item whose guards passed, or leaves it to its program, which runs with others.
    #[inline(always)]
    pub(super) fn passed(&mut self, part: usize, item: &Item) {
        let target = item.target();
        let slot = match item.is_exact() {
            true => Some(target),
            false if item.is_confirmed(&self.buffers.cells) => {
                self.part(part).index.unit(target).map(|unit| unit.slot)
            }
            false => None,
        };
        match slot {
            None => self.buffers.units.push(target),
            Some(slot) => {
                self.spent += HIT_REDUCTIONS;
                self.hit(part, slot);
            }
        }
    }

    /// Runs the programs of units whose guards passed.
    pub(super) fn units(
        &mut self,
        (part, at): (usize, Place),
        mut unit: usize,
        mut running: Option<u32>,
        limit: u64,
    ) -> Phase {
        let index = &self.part(part).index;
        while let Some(found) = self.buffers.units.get(unit) {
            if self.spent >= limit {
                return Phase::Units {
                    part,
                    at,
                    unit,
                    running,
                };
            }
            if unit.is_multiple_of(AHEAD) && running.is_none() {
                self.read_ahead(part, unit);
            }
            let Some(found) = index.unit(*found) else {
                unit += 1;
                continue;
            };
            if running.is_none() {
                if !self.wants(part, found.slot) {
                    self.spent += PASS_REDUCTIONS;
                    unit += 1;
                    continue;
                }
                self.spent += PROGRAM_REDUCTIONS;
                self.evaluated += 1;
            }
            let (slot, from, to) = index.program(found.code);
            let to = to.min(from.saturating_add(found.left as usize));
            match self.run_code(part, (from, to), running.unwrap_or(0), limit) {
                Outcome::Accepted => self.hit(part, slot),
                Outcome::Rejected => {}
                Outcome::Paused(position) => {
                    running = Some(position);
                    return Phase::Units {
                        part,
                        at,
                        unit,
                        running,
                    };
                }
            }
            running = None;
            unit += 1;
        }
        self.buffers.units.clear();
        // Marks are left to be cleared.
        if self.matched >= self.matches_max && at.block().is_none() {
            return self.end();
        }
        Phase::Walk { part, at }
    }

    /// Reads the first words of the next programs, so that they come from memory together rather than one after the
    /// other.
    fn read_ahead(&self, part: usize, unit: usize) {
        let index = &self.part(part).index;
        let mut codes = [0; AHEAD];
        let units = self.buffers.units.iter().skip(unit);
        for (code, unit) in codes.iter_mut().zip(units) {
            *code = index.unit(*unit).map_or(0, |unit| unit.code as usize);
        }
        for code in codes {
            let first = index.code.get(code);
            let second = index.code.get(code + LINE_WORDS);
            std::hint::black_box((first.copied(), second.copied()));
        }
    }

    /// Finds the nodes for the values of the event. Returns false when the budget ends before.
    fn values(&mut self, part: usize, node: &Node, at: &mut Place, limit: u64) -> bool {
        let index = &self.part(part).index;
        while let Some(dimension) = index.tree.parts(node).get(at.parts as usize).copied() {
            let one;
            let (list, scalar) = match dimension {
                Dimension::Segment => (self.event.entered(), &[][..]),
                Dimension::Text(attribute, position) => {
                    let texts = &self.buffers.texts;
                    let found = texts.strings(&index.texts, attribute, position);
                    (found, &[][..])
                }
                Dimension::Value(attribute) if self.state.is_list(usize::from(attribute)) => {
                    (self.event.elements(usize::from(attribute)), &[][..])
                }
                _ => {
                    one = self.value(part, dimension);
                    (&[][..], one.as_slice())
                }
            };
            let posted = index.tree.has_postings(at.node, at.parts);
            while (at.values as usize) < list.len() + scalar.len() {
                if self.spent >= limit {
                    return false;
                }
                self.spent += KEY_REDUCTIONS;
                let next = at.values as usize;
                let value = list.get(next).map(|value| u64::from(*value));
                let value = value.or(scalar.get(next).copied()).unwrap_or(0);
                if let Some(child) = index.tree.child(at.node, (dimension, value)) {
                    self.buffers.stack.push(child);
                }
                if posted {
                    self.spent += KEY_REDUCTIONS;
                    let found = index.tree.find_postings(at.parts, value);
                    self.buffers.stack.extend(found);
                }
                at.values += 1;
            }
            at.parts += 1;
            at.values = 0;
        }
        true
    }

    /// The value of the event in a dimension that has one at most.
    fn value(&self, part: usize, dimension: Dimension) -> Option<u64> {
        let index = &self.part(part).index;
        let defined = |at: usize| self.event.is_defined(at).then(|| self.event.scalar(at));
        match dimension {
            Dimension::Value(attribute) => defined(usize::from(attribute)),
            Dimension::Cell(attribute, resolution) => {
                let value = defined(usize::from(attribute))?;
                Some(index.bounds.cell(attribute, resolution, value))
            }
            Dimension::Place(level) => {
                let (latitude, longitude) = index.place?;
                let degrees = |at| defined(at).map(f64::from_bits);
                Some(geo::cell_of(level, degrees(latitude)?, degrees(longitude)?))
            }
            Dimension::Text(..) | Dimension::Segment => None,
        }
    }
}
