//! From lanes of a block to bits by slot: blocks consist of programs of similar reach, and the blocks of a group
//! share up to eight words of slots.

use super::blocks::{LANES, NO_PROGRAM, Row};

/// Words for the slots of a group.
pub(crate) const WORDS: usize = 8;

/// For each word of a group: the lane that each bit comes from, and which bits come from a lane.
#[derive(Debug, Clone)]
pub(crate) struct Spread {
    pub(super) lanes: [Row; WORDS],
    pub(super) own: [u64; WORDS],
}

impl Default for Spread {
    fn default() -> Self {
        Self {
            lanes: [Row([0; LANES]); WORDS],
            own: [0; WORDS],
        }
    }
}

impl Spread {
    /// Of lanes with these slots in a group that begins with slot `base`.
    pub(crate) fn new(base: u32, slots: impl Iterator<Item = u32>) -> Self {
        let mut spread = Self::default();
        for (lane, slot) in slots.enumerate().filter(|(_, slot)| *slot != NO_PROGRAM) {
            let at = (slot - base) as usize;
            if let Some(row) = spread.lanes.get_mut(at / LANES) {
                row.0[at % LANES] = lane as u8;
                spread.own[at / LANES] |= 1 << (at % LANES);
            }
        }
        spread
    }
}

/// Adds the bits of lanes to their slots, one by one.
pub(super) fn scatter(base: u32, slots: &[u32], found: u64, words: &mut [u64; WORDS]) {
    let mut found = found;
    while found != 0 {
        let lane = found.trailing_zeros() as usize;
        found &= found - 1;
        let at = slots.get(lane).map_or(0, |slot| (slot - base) as usize);
        if let Some(word) = words.get_mut(at / LANES) {
            *word |= 1 << (at % LANES);
        }
    }
}
