//! One tile of all rows of a plan joined. Called by way of `lockstep::isa`.

use super::{Join, TILE_WORDS};

/// The bits of the members that a plan lets pass, and how many of its steps it took.
#[inline(always)]
fn run(plan: &[Join], rows: &[Vec<u64>], tile: usize) -> ([u64; TILE_WORDS], usize) {
    let mut left = [u64::MAX; TILE_WORDS];
    let mut any = [0; TILE_WORDS];
    let start = tile * TILE_WORDS;
    for (at, join) in plan.iter().enumerate() {
        let row = match *join {
            Join::And(row) | Join::AndNot(row) | Join::Any(row) | Join::Or(row) => row,
            Join::AndAny => {
                (0..TILE_WORDS).for_each(|at| left[at] &= any[at]);
                continue;
            }
        };
        let row = rows.get(row as usize).and_then(|row| row.get(start..));
        let Some((row, _)) = row.and_then(|row| row.split_first_chunk::<TILE_WORDS>()) else {
            continue;
        };
        match join {
            Join::And(_) => {
                (0..TILE_WORDS).for_each(|at| left[at] &= row[at]);
                if left.iter().fold(0, |sum, word| sum | word) == 0 {
                    return (left, at + 1);
                }
            }
            Join::AndNot(_) => (0..TILE_WORDS).for_each(|at| left[at] &= !row[at]),
            Join::Any(_) => any = *row,
            Join::Or(_) | Join::AndAny => (0..TILE_WORDS).for_each(|at| any[at] |= row[at]),
        }
    }
    (left, plan.len())
}

pub(crate) fn scalar(plan: &[Join], rows: &[Vec<u64>], tile: usize) -> ([u64; TILE_WORDS], usize) {
    run(plan, rows, tile)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
pub(crate) fn avx2(plan: &[Join], rows: &[Vec<u64>], tile: usize) -> ([u64; TILE_WORDS], usize) {
    run(plan, rows, tile)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
pub(crate) fn avx512(plan: &[Join], rows: &[Vec<u64>], tile: usize) -> ([u64; TILE_WORDS], usize) {
    run(plan, rows, tile)
}
