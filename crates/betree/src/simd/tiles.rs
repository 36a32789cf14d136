//! Joins rows of bits, one bit per expression, 2,048 expressions (a tile) at a time. `index::columns` makes the
//! rows and the plan.

/// Words of a tile of a row.
pub(crate) const TILE_WORDS: usize = 32;

/// What to do with a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Join {
    /// Removes expressions whose bit is not set.
    And(u32),
    /// Removes expressions whose bit is set.
    AndNot(u32),
    /// The first of several rows, at least one of which must have the bit.
    Any(u32),
    /// Another of these rows.
    Or(u32),
    /// Removes expressions without a bit in any of these rows.
    AndAny,
}

/// The bits of the members that pass a plan, and how many of its steps were needed.
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
