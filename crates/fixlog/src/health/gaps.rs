//! The gaps of one direction that may still be filled.

use std::collections::VecDeque;
use std::ops::Range;

use super::rows::Gap;

/// Ranges of missing numbers that are remembered: beyond these the lowest is given up, and never comes.
const RANGES_MAX: usize = 64;

/// How a number that was missing came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum How {
    Resent,
    Fill,
    Late,
}

/// A gap with the numbers that have not come, the lowest first.
#[derive(Debug)]
struct Open {
    gap: Gap,
    missing: VecDeque<Range<u64>>,
}

/// Gaps without a common number, the lowest first.
#[derive(Debug, Default)]
pub(super) struct Gaps {
    open: VecDeque<Open>,
    ranges: usize,
}

impl Gaps {
    /// Adds a gap above all others. A gap that is given up for it goes to `ended`.
    pub(super) fn add(&mut self, gap: Gap, ended: &mut Vec<Gap>) {
        let mut missing = VecDeque::new();
        missing.push_back(gap.expected..gap.got);
        self.open.push_back(Open { gap, missing });
        self.ranges += 1;
        self.shrink(ended);
    }

    /// Takes out the numbers from `from` to before `to`; how many there were. Gaps that are filled go to `ended`.
    pub(super) fn fill(
        &mut self,
        (from, to): (u64, u64),
        how: How,
        at_ns: Option<i64>,
        ended: &mut Vec<Gap>,
    ) -> u64 {
        let mut filled = 0;
        let mut at = self.open.partition_point(|open| open.gap.got <= from);
        while let Some(open) = self.open.get_mut(at)
            && open.gap.expected < to
        {
            let before = open.missing.len();
            let count = take(&mut open.missing, from, to);
            self.ranges = self.ranges + open.missing.len() - before;
            filled += count;
            open.gap.filled[how as usize] += count;
            if count > 0 {
                open.gap.end_ns = at_ns;
            }
            if open.missing.is_empty()
                && let Some(done) = self.open.remove(at)
            {
                let mut gap = done.gap;
                gap.how = match gap.filled {
                    [_, 0, 0] => "resent",
                    [0, _, 0] => "gap fill",
                    [0, 0, _] => "late",
                    [_, _, 0] => "resent and gap fill",
                    _ => "late in part",
                };
                ended.push(gap);
                continue;
            }
            at += 1;
        }
        self.shrink(ended);
        filled
    }

    /// Gives up what is too much.
    fn shrink(&mut self, ended: &mut Vec<Gap>) {
        while self.ranges > RANGES_MAX
            && let Some(open) = self.open.front_mut()
        {
            open.missing.pop_front();
            self.ranges -= 1;
            open.gap.how = "never";
            if open.missing.is_empty()
                && let Some(open) = self.open.pop_front()
            {
                ended.push(never(open.gap, "never"));
            }
        }
    }

    /// Ends all gaps: numbers began anew (`reset`), or the log ended (`never`).
    pub(super) fn end(&mut self, how: &'static str, at_ns: Option<i64>, ended: &mut Vec<Gap>) {
        for open in self.open.drain(..) {
            let mut gap = never(open.gap, how);
            if how == "reset" {
                gap.end_ns = at_ns;
            }
            ended.push(gap);
        }
        self.ranges = 0;
    }
}

/// A gap that was not filled.
fn never(mut gap: Gap, how: &'static str) -> Gap {
    gap.end_ns = None;
    gap.how = how;
    gap
}

/// Takes a range out of ranges; how many numbers they had of it.
fn take(missing: &mut VecDeque<Range<u64>>, from: u64, to: u64) -> u64 {
    let mut at = missing.partition_point(|range| range.end <= from);
    let mut taken = 0;
    while let Some(range) = missing.get_mut(at)
        && range.start < to
    {
        let inside = range.start.max(from)..range.end.min(to);
        taken += inside.end - inside.start;
        match (range.start < inside.start, inside.end < range.end) {
            (false, false) => {
                missing.remove(at);
                continue;
            }
            (false, true) => range.start = inside.end,
            (true, false) => range.end = inside.start,
            (true, true) => {
                let behind = inside.end..range.end;
                range.end = inside.start;
                missing.insert(at + 1, behind);
                break;
            }
        }
        at += 1;
    }
    taken
}
