//! Rows of bits, one bit an expression, joined 2,048 expressions at a time: one tile of all rows of a
//! plan. Which rows there are is the index's (`index::columns`).

/// Words of a tile of a row.
pub(crate) const TILE_WORDS: usize = 32;

/// What to do with a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Join {
    /// Expressions whose bit is not set are out.
    And(u32),
    /// Expressions whose bit is set are out.
    AndNot(u32),
    /// The first of several rows, one of which has to have the bit.
    Any(u32),
    /// A further one.
    Or(u32),
    /// Expressions that none of them had are out.
    AndAny,
}

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
