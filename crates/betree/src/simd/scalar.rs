//! Blocks lane by lane, in plain code: for any processor, and the reference for tests of the others.

use super::blocks::{ACCEPTED, Block, LANES, REJECTED, Row, Truth};

pub(super) fn run(rows: &[Row], blocks: &[Block], truth: &Truth, matches: &mut [u64]) {
    for (block, found) in blocks.iter().zip(matches) {
        let mut accepted = 0;
        for lane in 0..block.lanes.count_ones() as usize {
            accepted |= u64::from(self::lane(rows, block, lane, truth)) << lane;
        }
        *found = accepted;
    }
}

/// One lane from its first position to its end; visits only the positions of its program.
#[inline]
pub(super) fn lane(rows: &[Row], block: &Block, lane: usize, truth: &Truth) -> bool {
    let start = block.start as usize;
    let end = start + 2 * block.positions as usize;
    let Some(rows) = rows.get(start..end) else {
        return false;
    };
    let lane = lane % LANES;
    let mut position = 0;
    while let Some([tests, jumps]) = rows.get(2 * position..2 * position + 2) {
        let test = tests.0[lane];
        if (truth.0[usize::from(test & 0x7f)] ^ test) & 0x80 == 0 {
            position += 1;
            continue;
        }
        match jumps.0[lane] {
            ACCEPTED => return true,
            REJECTED => return false,
            // Behind the last step of a short program.
            0 => return true,
            next => position = usize::from(next),
        }
    }
    true
}
