//! Blocks of 64 programs as the instruction sets read them: rows of tests and jumps, and the truth of
//! the tests. Which programs share a block is decided in [`crate::lockstep`].

/// Programs per block.
pub(crate) const LANES: usize = 64;
/// Most tests of a family.
pub(crate) const TESTS_MAX: usize = 128;
/// The positions of lanes that accepted and rejected.
pub(crate) const ACCEPTED: u8 = 0xfe;
pub(crate) const REJECTED: u8 = 0xff;
/// After this many positions a block checks whether all lanes are done.
pub(super) const CHECKED: usize = 8;
/// A lane without a program.
pub(crate) const NO_PROGRAM: u32 = u32::MAX;

/// One byte per lane.
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
    /// Its first row; there are two rows per position, tests and jumps.
    pub(crate) start: u32,
    pub(crate) positions: u32,
    /// The lanes with a program.
    pub(crate) lanes: u64,
    /// Reductions of running it: the average number of tests of its programs.
    pub(crate) charge: u32,
    /// Its group, if the group's slots are consecutive.
    pub(crate) group: Option<Place>,
}

/// The place of a block in a group of consecutive slots.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place {
    /// The first slot of the group, a multiple of 64.
    pub(crate) base: u32,
    /// Which of the group's blocks it is.
    pub(crate) word: u32,
    /// The index of its spread.
    pub(crate) spread: u32,
}

impl Block {
    /// The first of 64 consecutive slots that the group assigns to this block, if it has any: the same programs
    /// in another order.
    pub(crate) fn base(&self) -> Option<u32> {
        let group = self.group?;
        Some(group.base + group.word * LANES as u32)
    }
}
