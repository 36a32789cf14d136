//! The lockstep phases: the tests of a family, its blocks and their matches; then expressions that always match.

use super::{Phase, Search};
use crate::code::Head;
use crate::eval;
use crate::lockstep::Family;
use crate::simd::{GROUP_WORDS, Place};

/// Most blocks that run at once.
const BLOCKS_MAX: usize = 64;

impl Search<'_> {
    /// Evaluates the tests of a family.
    pub(super) fn tests(&mut self, part: usize, family: usize, test: usize, limit: u64) -> Phase {
        let state = self.state;
        let Some(found) = state.parts[part].index.lockstep.families.get(family) else {
            return self.after_lockstep(part);
        };
        for test in test..found.tests() {
            if self.spent >= limit {
                return Phase::Tests { part, family, test };
            }
            self.buffers.truth.0[test] = u8::from(self.truth(found, test)) << 7;
        }
        Phase::Blocks {
            part,
            family,
            block: found.blocks.start,
        }
    }

    /// Evaluates a test of a family.
    pub(super) fn truth(&mut self, family: &Family, test: usize) -> bool {
        let words = family.test(test);
        let head = Head(words.first().copied().unwrap_or(0));
        self.spent += match head.is_expensive() {
            true => eval::expensive_cost(head, self.event),
            false => u64::from(eval::cost(head)),
        };
        let operands = words.get(1..).unwrap_or(&[]);
        eval::truth(head, operands, self.event, &self.state.dictionary)
    }

    /// Runs the blocks of a family.
    pub(super) fn blocks(&mut self, part: usize, family: usize, block: usize, limit: u64) -> Phase {
        let state = self.state;
        let index = &state.parts[part].index;
        let lockstep = &index.lockstep;
        let found = &lockstep.families[family];
        let wide = found.tests() > 64;
        let mut block = block;
        while block < found.blocks.end {
            let first = block;
            // A search with a limit on matches must stop at the same block however the work is split.
            let go = if self.matches_max == u64::MAX {
                BLOCKS_MAX
            } else {
                1
            };
            let end = found.blocks.end.min(block + go);
            while block < end && self.spent < limit {
                // In pairs, because one block alone takes nearly as long as two.
                let pair = &lockstep.blocks[block..end.min(block + 2)];
                self.spent += pair.iter().map(|one| u64::from(one.charge)).sum::<u64>();
                block += pair.len();
            }
            if block == first {
                return Phase::Blocks {
                    part,
                    family,
                    block,
                };
            }
            let mut matches = [0; BLOCKS_MAX];
            let matches = &mut matches[..block - first];
            let blocks = &lockstep.blocks[first..block];
            let buffers = &mut *self.buffers;
            lockstep.run(buffers.isa, wide, blocks, &buffers.truth, matches);
            self.hit_blocks(part, first, matches);
            if self.matched >= self.matches_max {
                return self.end();
            }
        }
        Phase::Tests {
            part,
            family: family + 1,
            test: 0,
        }
    }

    /// Records the matches of blocks, by lane.
    fn hit_blocks(&mut self, part: usize, first: usize, matches: &[u64]) {
        let lockstep = &self.state.parts[part].index.lockstep;
        let blocks = lockstep.blocks.get(first..).unwrap_or(&[]);
        let lanes = blocks.iter().zip(matches).map(|(block, _)| block.lanes);
        self.evaluated += lanes
            .map(|lanes| u64::from(lanes.count_ones()))
            .sum::<u64>();
        let mut at = 0;
        while let (Some(block), Some(found)) = (blocks.get(at), matches.get(at)) {
            let Some(Place { base, .. }) = block.group else {
                self.hit_lanes(part, first + at, *found);
                at += 1;
                continue;
            };
            let mut words = [0; GROUP_WORDS];
            while let (Some(block), Some(found)) = (blocks.get(at), matches.get(at))
                && block.group.is_some_and(|group| group.base == base)
            {
                lockstep.spread(self.buffers.isa, first + at, *found, &mut words);
                at += 1;
            }
            self.hit_words(part, base as usize / 64, &words);
        }
    }

    /// Records matches by slot, starting at a word.
    fn hit_words(&mut self, part: usize, first: usize, words: &[u64]) {
        for (word, found) in (first..).zip(words) {
            let alive = found & !self.state.parts[part].dead(word);
            self.hit_word(part, word, alive);
        }
    }

    fn hit_lanes(&mut self, part: usize, block: usize, mut found: u64) {
        let lockstep = &self.state.parts[part].index.lockstep;
        while found != 0 {
            let lane = found.trailing_zeros() as usize;
            found &= found - 1;
            self.hit(part, lockstep.slot(block, lane));
        }
    }

    /// Records expressions that always match.
    pub(super) fn always(&mut self, part: usize, at: usize, limit: u64) -> Phase {
        let index = &self.state.parts[part].index;
        for (at, slot) in index.always.iter().enumerate().skip(at) {
            if self.spent >= limit {
                return Phase::Always { part, at };
            }
            self.spent += 1;
            self.evaluated += 1;
            self.hit(part, *slot);
        }
        if self.matched >= self.matches_max {
            return self.end();
        }
        self.after_always(part)
    }
}
