//! The best few matches: matches are offered as they are found, what cannot be among the best is left out, and at the end
//! the best are written.

use super::Search;
use super::phase::Phase;

/// Reductions of offering a match, of passing over what cannot be among the best, and of writing one.
const OFFER_REDUCTIONS: u64 = 4;
pub(super) const PASS_REDUCTIONS: u64 = 4;
const ORDER_REDUCTIONS: u64 = 4;

impl Search<'_> {
    /// Records matches of a word, all of them alive.
    #[inline]
    pub(super) fn hit_word(&mut self, part: usize, word: usize, found: u64) {
        if self.top.is_some() {
            self.offer(part, word, found);
        }
        if let Some(bits) = self.buffers.bits.get_mut(part) {
            self.matched += bits.set(word, found);
        }
    }

    #[inline(never)]
    fn offer(&mut self, part: usize, word: usize, found: u64) {
        let Some(top) = self.top else {
            return;
        };
        let bits = self.buffers.bits.get(part);
        let known = bits.and_then(|bits| bits.words().get(word)).copied();
        let mut fresh = found & !known.unwrap_or(0);
        while fresh != 0 {
            let slot = (word * 64) as u32 + fresh.trailing_zeros();
            fresh &= fresh - 1;
            self.spent += OFFER_REDUCTIONS;
            self.buffers.best.offer(top, part, slot);
        }
    }

    /// Whether an expression would be wanted if it matched.
    #[inline]
    pub(super) fn wants(&self, part: usize, slot: u32) -> bool {
        match self.top {
            None => true,
            Some(top) => self.buffers.best.accepts(top, part, slot),
        }
    }

    /// Whether any expression in a node or below it would be wanted.
    #[inline]
    pub(super) fn wants_node(&self, part: usize, node: u32) -> bool {
        match self.top {
            None => true,
            Some(top) => self.buffers.best.accepts_node(top, part, node),
        }
    }

    /// Clears the bits of matches.
    pub(super) fn best(&mut self, mut part: usize, mut group: usize, limit: u64) -> Phase {
        while let Some(bits) = self.buffers.bits.get_mut(part) {
            loop {
                if self.spent >= limit {
                    return Phase::Best { part, group };
                }
                let Some((word, _)) = bits.take(group) else {
                    break;
                };
                self.spent += 1;
                group = word / 64;
            }
            (part, group) = (part + 1, 0);
        }
        let left = self.buffers.best.len();
        self.buffers.reserve(left);
        self.buffers.found = left;
        Phase::Order { left }
    }

    /// Writes the best from the worst to the first.
    pub(super) fn order(&mut self, mut left: usize, limit: u64) -> Phase {
        while let Some(place) = left.checked_sub(1) {
            if self.spent >= limit {
                return Phase::Order { left };
            }
            self.spent += ORDER_REDUCTIONS;
            if let Some(id) = self.buffers.best.pop() {
                self.buffers.ids[place] = id;
            }
            left = place;
        }
        self.buffers.dirty = false;
        Phase::Done
    }
}
