//! Ranges of sequence numbers that were left out and may still come.

use std::collections::VecDeque;
use std::ops::Range;

/// Ranges that are remembered: beyond these the lowest is forgotten, and stays missing.
const HOLES_MAX: usize = 64;

/// Ranges without a common number, the lowest first.
#[derive(Debug, Default)]
pub(super) struct Holes(VecDeque<Range<u64>>);

impl Holes {
    /// Adds the numbers from `from` to before `to`, which are higher than all others.
    pub(super) fn add(&mut self, from: u64, to: u64) {
        if self.0.len() == HOLES_MAX {
            self.0.pop_front();
        }
        self.0.push_back(from..to);
    }

    /// Takes out the numbers from `from` to before `to`; how many there were.
    pub(super) fn fill(&mut self, from: u64, to: u64) -> u64 {
        let mut at = self.0.partition_point(|hole| hole.end <= from);
        let mut filled = 0;
        while let Some(hole) = self.0.get_mut(at)
            && hole.start < to
        {
            let inside = hole.start.max(from)..hole.end.min(to);
            filled += inside.end - inside.start;
            match (hole.start < inside.start, inside.end < hole.end) {
                (false, false) => {
                    self.0.remove(at);
                    continue;
                }
                (false, true) => hole.start = inside.end,
                (true, false) => hole.end = inside.start,
                (true, true) => {
                    let behind = inside.end..hole.end;
                    hole.end = inside.start;
                    self.0.insert(at + 1, behind);
                    break;
                }
            }
            at += 1;
        }
        if self.0.len() > HOLES_MAX {
            self.0.pop_front();
        }
        filled
    }

    /// Forgets all.
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_taken_out_once_and_ranges_stay_few() {
        let mut holes = Holes::default();
        for start in 0..2 * HOLES_MAX as u64 {
            holes.add(10 * start, 10 * start + 4);
        }
        assert_eq!(holes.0.len(), HOLES_MAX);
        let first = 10 * HOLES_MAX as u64;
        assert_eq!(holes.fill(0, first), 0, "these are forgotten");
        assert_eq!(holes.fill(first + 1, first + 2), 1);
        assert_eq!(holes.0.len(), HOLES_MAX, "a range in two, the lowest gone");
        assert_eq!(
            holes.fill(first + 1, first + 4),
            2,
            "its upper part is left"
        );
        assert_eq!(holes.fill(0, u64::MAX), 4 * (HOLES_MAX as u64 - 1));
        assert_eq!(holes.fill(0, u64::MAX), 0);
    }
}
