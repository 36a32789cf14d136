//! Programs side by side: 64 of them take each step at once, one a lane.
//!
//! A *family* is a set of programs over at most 128 tests. The tests are evaluated once an event into
//! a table of truth bytes; its *blocks* of 64 lanes then need no more than that table. A lane waits at
//! the position that it last jumped to until the block gets there; the programs' short circuits cost
//! a lane nothing but waiting. How blocks are made is in [`build`], how they are run in one file an
//! instruction set.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod build;
mod isa;
mod scalar;
mod spread;

pub(crate) use build::Builder;
pub use isa::Isa;
pub(crate) use isa::{compress, scan, sliced};
use spread::Spread;
pub(crate) use spread::WORDS as GROUP_WORDS;

/// Programs of a block.
pub(crate) const LANES: usize = 64;
/// Tests of a family.
pub(crate) const TESTS_MAX: usize = 128;
/// What a lane that accepted, and one that rejected, waits for.
pub(crate) const ACCEPTED: u8 = 0xfe;
pub(crate) const REJECTED: u8 = 0xff;
/// Positions after which a block looks whether all of its lanes are done.
const CHECKED: usize = 8;
/// A lane without a program.
pub(crate) const NOBODY: u32 = u32::MAX;

/// One byte a lane.
#[derive(Debug, Clone, Copy)]
#[repr(align(64))]
pub(crate) struct Row(pub(crate) [u8; LANES]);

/// The truth of a family's tests: the highest bit of each byte.
#[derive(Debug, Clone)]
#[repr(align(64))]
pub(crate) struct Truth(pub(crate) [u8; TESTS_MAX]);

/// Programs over the same tests.
#[derive(Debug, Default)]
pub(crate) struct Family {
    /// The words of each test, in a row, and where each begins.
    words: Vec<u32>,
    starts: Vec<u32>,
    /// Its blocks.
    pub(crate) blocks: std::ops::Range<usize>,
}

impl Family {
    pub(crate) fn tests(&self) -> usize {
        self.starts.len()
    }

    /// The words of a test. Its head's second flag is what it comes to over an undefined attribute.
    pub(crate) fn test(&self, index: usize) -> &[u32] {
        let start = self.starts.get(index).map_or(0, |at| *at as usize);
        self.words.get(start..).unwrap_or(&[])
    }
}

/// 64 programs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Block {
    /// Where its rows begin: two a position, tests and jumps.
    pub(crate) start: u32,
    pub(crate) positions: u32,
    /// The lanes that have a program.
    pub(crate) lanes: u64,
    /// Reductions that running it counts as: the tests that its programs make on average.
    pub(crate) charge: u32,
    /// The group that it is of, when the group's slots are in a row.
    pub(crate) group: Option<Place>,
}

/// The place of a block in a group whose slots follow each other.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place {
    /// The first slot of the group, a multiple of 64.
    pub(crate) base: u32,
    /// Which of the group's blocks it is.
    word: u32,
    /// Which of the spreads is its.
    spread: u32,
}

impl Block {
    /// The first of 64 slots in a row that the group has for this block, where there are such:
    /// another order of the same programs.
    pub(crate) fn base(&self) -> Option<u32> {
        let group = self.group?;
        Some(group.base + group.word * LANES as u32)
    }
}

/// All families of an index.
#[derive(Debug, Default)]
pub(crate) struct Lockstep {
    pub(crate) families: Vec<Family>,
    pub(crate) blocks: Vec<Block>,
    rows: Vec<Row>,
    /// The slot of each lane of each block.
    slots: Vec<u32>,
    /// Of the blocks that are of a group.
    spreads: Vec<Spread>,
}

impl Lockstep {
    /// The slot of a lane.
    pub(crate) fn slot(&self, block: usize, lane: usize) -> u32 {
        let found = self.slots.get(block * LANES + lane);
        found.copied().unwrap_or(NOBODY)
    }

    /// The slots of all lanes that have a program.
    pub(crate) fn slots(&self) -> impl Iterator<Item = u32> {
        let all = self.slots.iter().copied();
        all.filter(|slot| *slot != NOBODY)
    }

    /// The slot of a lane in the order of slots, where the group of the block has one.
    pub(crate) fn slot_in_order(&self, block: usize, lane: usize) -> u32 {
        let slot = self.slot(block, lane);
        let base = self.blocks.get(block).and_then(Block::base);
        let base = base.filter(|_| slot != NOBODY);
        base.map_or(slot, |base| base + lane as u32)
    }

    /// Adds the bits of the lanes of a block to those of the slots of its group, if it has one.
    #[inline]
    pub(crate) fn spread(
        &self,
        isa: Isa,
        block: usize,
        found: u64,
        words: &mut [u64; GROUP_WORDS],
    ) {
        let Some(group) = self.blocks.get(block).and_then(|block| block.group) else {
            return;
        };
        let slots = self.slots.get(block * LANES..).unwrap_or(&[]);
        if let Some(spread) = self.spreads.get(group.spread as usize) {
            isa::spread(isa, (spread, group.base, slots), found, words);
        }
    }

    /// Runs blocks over the truth of their family's tests. In `matches` a bit a lane.
    #[inline]
    pub(crate) fn run(
        &self,
        isa: Isa,
        wide: bool,
        blocks: &[Block],
        truth: &Truth,
        matches: &mut [u64],
    ) {
        isa::run(isa, &self.rows, blocks, truth, wide, matches);
        for (block, found) in blocks.iter().zip(matches) {
            *found &= block.lanes;
        }
    }

    /// Where a lane goes from a position: its test there, and the position or end that follows when
    /// the test is true, and when it is false. `None` behind its last step.
    pub(crate) fn step(&self, block: usize, lane: usize, position: u8) -> Option<(u8, [u8; 2])> {
        let block = self.blocks.get(block)?;
        if u32::from(position) >= block.positions {
            return None;
        }
        let at = block.start as usize + 2 * usize::from(position);
        let (test, jump) = (self.rows.get(at)?.0[lane], self.rows.get(at + 1)?.0[lane]);
        let next = position + 1;
        let jump = if jump == 0 { ACCEPTED } else { jump };
        let sense = test & 0x80 != 0;
        Some((test & 0x7f, if sense { [next, jump] } else { [jump, next] }))
    }

    /// The family of a block.
    pub(crate) fn family(&self, block: usize) -> usize {
        self.families
            .partition_point(|family| family.blocks.end <= block)
    }
}
