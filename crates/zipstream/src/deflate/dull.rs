//! Content without matches: places are skipped, the more the longer none has been found, but in such
//! a way that content which comes again later is found.
//!
//! Between rows of searched places, one place of each [`ROW`] is inserted. Whatever the distance at
//! which content comes again, one place of a searched row meets an inserted one. The match then
//! reaches back over the literals before it.

use super::sequences::{Match, Sequences, whole};

/// Places searched in a row.
pub(super) const ROW: usize = 16;

/// Where the next row starts, after a number of literals without a match. Up to `most` places are
/// skipped, one row for each `1 << shift` literals.
#[cold]
pub(super) fn next(literals: usize, shift: u32, most: usize, at: usize, last: usize) -> usize {
    at + (literals >> shift)
        .saturating_mul(ROW)
        .min(most)
        .min(last.saturating_sub(at))
}

/// Counts the literals that are skipped.
pub(super) fn literals(data: &[u8], at: usize, next: usize, out: &mut Sequences) {
    for &byte in &data[at..next] {
        out.literal(byte);
    }
}

/// Extends a match back over literals from `from` on, which are counted already; returns where it
/// starts.
#[cold]
pub(super) fn reach_back(
    data: &[u8],
    from: usize,
    at: usize,
    found: &mut Match,
    out: &mut Sequences,
) -> usize {
    let mut start = at;
    while start > from
        && start > found.distance
        && data[start - 1] == data[start - 1 - found.distance]
    {
        start -= 1;
        out.uncount(data[start]);
    }
    found.length = whole(found.length + at - start);
    start
}
