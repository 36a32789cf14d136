//! The phases that find units by counting: elements mark the lists that name them, then units of which all lists are
//! marked are tested.

use super::Search;
use super::phase::{Elements, Phase, Place};
use super::walk::{ITEM_REDUCTIONS, UNITS_TOGETHER};
use crate::index::counted::BLOCK;

/// Reductions of looking up an element.
const ELEMENT_REDUCTIONS: u64 = 10;
/// Postings that are marked at once, and how many of them a reduction takes.
const POSTINGS: u32 = 512;
const POSTINGS_PER_REDUCTION: u64 = 2;
/// Reductions of looking for a block with marks, and of looking at one.
const LOOK_REDUCTIONS: u64 = 1;
const BLOCK_REDUCTIONS: u64 = 8;

impl Search<'_> {
    /// What follows when the tree of a part was visited.
    pub(super) fn after_walk(&self, part: usize) -> Phase {
        match self.part(part).index.tree.counted().is_empty() {
            true => Phase::Enter { part: part + 1 },
            false => Phase::Count {
                part,
                at: Elements::default(),
            },
        }
    }

    /// Marks the lists that name elements of the event.
    pub(super) fn count(&mut self, part: usize, mut at: Elements, limit: u64) -> Phase {
        let counted = self.part(part).index.tree.counted();
        let event = self.event;
        self.buffers.marks.fit(counted);
        while let Some(attribute) = counted.attributes().get(at.attribute as usize) {
            let elements = event.elements(usize::from(*attribute));
            while let Some(element) = elements.get(at.element as usize) {
                if self.spent >= limit {
                    return Phase::Count { part, at };
                }
                if at.posting == 0 {
                    self.spent += ELEMENT_REDUCTIONS;
                }
                let (start, end) = counted.find(*element).unwrap_or((0, 0));
                let from = start + at.posting;
                let to = end.min(from.saturating_add(POSTINGS));
                self.buffers.marks.set(counted.postings(from, to));
                self.spent += u64::from(to - from) / POSTINGS_PER_REDUCTION;
                match to < end {
                    true => at.posting += POSTINGS,
                    false => (at.element, at.posting) = (at.element + 1, 0),
                }
            }
            (at.attribute, at.element) = (at.attribute + 1, 0);
        }
        self.gather(part, 0, limit)
    }

    /// Tests the units whose lists are all marked, from a block on. Marks are cleared even when enough was found.
    pub(super) fn gather(&mut self, part: usize, block: u32, limit: u64) -> Phase {
        let counted = self.part(part).index.tree.counted();
        let mut block = block as usize;
        while let Some(next) = self.buffers.marks.next(block) {
            let place = Place::counted(block as u32);
            if self.buffers.units.len() >= UNITS_TOGETHER {
                return Phase::Units {
                    part,
                    at: place,
                    unit: 0,
                    running: None,
                };
            }
            if self.spent >= limit {
                return Phase::Walk { part, at: place };
            }
            self.spent += LOOK_REDUCTIONS;
            let Ok(found) = next else {
                block = next.unwrap_or_else(|further| further);
                continue;
            };
            self.spent += BLOCK_REDUCTIONS;
            let mut full = self.buffers.marks.take(counted, found);
            if self.matched >= self.matches_max {
                full = 0;
            }
            self.spent += ITEM_REDUCTIONS * u64::from(full.count_ones());
            while full != 0 {
                let mark = found * BLOCK + full.trailing_zeros() as usize;
                full &= full - 1;
                let item = counted.item(mark);
                let Some(item) = item.filter(|item| item.passes(&self.buffers.cells)) else {
                    continue;
                };
                self.passed(part, item);
            }
            block = found + 1;
        }
        if self.matched >= self.matches_max {
            self.buffers.units.clear();
            return self.end();
        }
        match self.buffers.units.is_empty() {
            true => Phase::Enter { part: part + 1 },
            false => Phase::Units {
                part,
                at: Place::counted(block as u32),
                unit: 0,
                running: None,
            },
        }
    }
}
