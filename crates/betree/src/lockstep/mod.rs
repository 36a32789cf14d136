//! Lockstep: 64 programs take each step at once, one program per lane.
//!
//! A *family* is a set of programs over at most 128 tests. The tests are evaluated once per event into a table of
//! truth bytes; its *blocks* of 64 lanes need only that table. A lane waits at the position that it last jumped
//! to until the block gets there, so a short circuit costs a lane only waiting. How blocks are made is in [`build`], how they are run in [`crate::simd`].

mod build;

pub(crate) use build::Builder;

use crate::memory;
use crate::simd::{self, ACCEPTED, Block, GROUP_WORDS, Isa, LANES, NO_PROGRAM, Row, Spread, Truth};

/// Programs over the same tests.
#[derive(Debug, Default)]
pub(crate) struct Family {
    /// The words of all tests, and where each test begins.
    words: Vec<u32>,
    starts: Vec<u32>,
    /// Its blocks.
    pub(crate) blocks: std::ops::Range<usize>,
}

impl Family {
    pub(crate) fn tests(&self) -> usize {
        self.starts.len()
    }

    /// The words of a test. The second flag of its head is the outcome for an undefined attribute.
    pub(crate) fn test(&self, index: usize) -> &[u32] {
        let start = self.starts.get(index).map_or(0, |at| *at as usize);
        self.words.get(start..).unwrap_or(&[])
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
    /// The spreads of blocks that belong to a group.
    spreads: Vec<Spread>,
}

impl Lockstep {
    /// The slot of a lane.
    pub(crate) fn slot(&self, block: usize, lane: usize) -> u32 {
        let found = self.slots.get(block * LANES + lane);
        found.copied().unwrap_or(NO_PROGRAM)
    }

    /// Whether there are no programs.
    pub(crate) fn is_empty(&self) -> bool {
        self.families.is_empty()
    }

    /// The memory that it takes.
    pub(crate) fn bytes(&self) -> usize {
        let families = self.families.iter();
        let families = families.map(|one| memory::of(&one.words) + memory::of(&one.starts));
        families.sum::<usize>()
            + memory::of(&self.blocks)
            + memory::of(&self.rows)
            + memory::of(&self.slots)
            + memory::of(&self.spreads)
    }

    /// The slots of all lanes with a program.
    pub(crate) fn slots(&self) -> impl Iterator<Item = u32> {
        let all = self.slots.iter().copied();
        all.filter(|slot| *slot != NO_PROGRAM)
    }

    /// The slot of a lane in the order of slots, if the block's group has one.
    pub(crate) fn slot_in_order(&self, block: usize, lane: usize) -> u32 {
        let slot = self.slot(block, lane);
        let base = self.blocks.get(block).and_then(Block::base);
        let base = base.filter(|_| slot != NO_PROGRAM);
        base.map_or(slot, |base| base + lane as u32)
    }

    /// Adds the bits of a block's lanes to the slots of its group, if it has one.
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
            simd::spread(isa, (spread, group.base, slots), found, words);
        }
    }

    /// Runs blocks over the truth of their family's tests; `matches` gets one bit per lane.
    #[inline]
    pub(crate) fn run(
        &self,
        isa: Isa,
        wide: bool,
        blocks: &[Block],
        truth: &Truth,
        matches: &mut [u64],
    ) {
        simd::run(isa, &self.rows, blocks, truth, wide, matches);
        for (block, found) in blocks.iter().zip(matches) {
            *found &= block.lanes;
        }
    }

    /// The step of a lane at a position: its test, and the next position or end when the test is true and when it
    /// is false. `None` after its last step.
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
