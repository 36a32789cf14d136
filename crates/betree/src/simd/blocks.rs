//! Blocks of 64 programs as the instruction sets read them: rows of tests and jumps, and the truth of
//! the tests. Which programs share a block is decided in [`crate::lockstep`].

/// Programs of a block.
pub(crate) const LANES: usize = 64;
/// Tests of a family.
pub(crate) const TESTS_MAX: usize = 128;
/// What a lane that accepted, and one that rejected, waits for.
pub(crate) const ACCEPTED: u8 = 0xfe;
pub(crate) const REJECTED: u8 = 0xff;
/// Positions after which a block looks whether all of its lanes are done.
pub(super) const CHECKED: usize = 8;
/// A lane without a program.
pub(crate) const NO_PROGRAM: u32 = u32::MAX;

/// One byte a lane.
#[derive(Debug, Clone, Copy)]
#[repr(align(64))]
pub(crate) struct Row(pub(crate) [u8; LANES]);

/// The truth of a family's tests: the highest bit of each byte.
#[derive(Debug, Clone)]
#[repr(align(64))]
pub(crate) struct Truth(pub(crate) [u8; TESTS_MAX]);

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
    pub(crate) word: u32,
    /// Which of the spreads is its.
    pub(crate) spread: u32,
}

impl Block {
    /// The first of 64 slots in a row that the group has for this block, where there are such:
    /// another order of the same programs.
    pub(crate) fn base(&self) -> Option<u32> {
        let group = self.group?;
        Some(group.base + group.word * LANES as u32)
    }
}
