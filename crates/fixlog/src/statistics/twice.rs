//! What two logs have of the same session: both parties may have written one.

use std::collections::HashMap;

/// Ranges of time that are remembered of a direction: beyond these, the two that are nearest become one.
const RANGES_MAX: usize = 64;

/// When the executions of each direction were sent that logs have: those of another log at such a time are the same.
#[derive(Debug, Default)]
pub(super) struct Twice {
    /// Of the log that is read, by direction: the first and the last.
    now: HashMap<u64, (i64, i64)>,
    /// Of the logs before it, in the order of time.
    before: HashMap<u64, Vec<(i64, i64)>>,
}

impl Twice {
    /// Adds times of the log that is read.
    pub(super) fn add(&mut self, direction: u64, (first, last): (i64, i64)) {
        let known = self.now.entry(direction).or_insert((first, last));
        *known = (known.0.min(first), known.1.max(last));
    }

    /// Goes on with another log.
    pub(super) fn next_log(&mut self) {
        for (direction, new) in self.now.drain() {
            merge(self.before.entry(direction).or_default(), new);
        }
    }

    /// Whether a log before this one has what was sent at this time.
    #[inline]
    pub(super) fn is_known(&self, direction: u64, sent_ns: i64) -> bool {
        if self.before.is_empty() {
            return false;
        }
        let ranges = self.before.get(&direction);
        ranges.is_some_and(|ranges| {
            let at = ranges.partition_point(|range| range.1 < sent_ns);
            ranges.get(at).is_some_and(|range| range.0 <= sent_ns)
        })
    }
}

/// Adds a range to others that have no common time.
fn merge(ranges: &mut Vec<(i64, i64)>, new: (i64, i64)) {
    let from = ranges.partition_point(|range| range.1 < new.0);
    let to = ranges.partition_point(|range| range.0 <= new.1);
    let common = ranges.drain(from..to.max(from));
    let all = common.fold(new, |all, one| (all.0.min(one.0), all.1.max(one.1)));
    ranges.insert(from, all);
    if ranges.len() > RANGES_MAX {
        let between = |at: &usize| ranges[at + 1].0.abs_diff(ranges[*at].1);
        if let Some(at) = (0..ranges.len() - 1).min_by_key(between) {
            ranges[at].1 = ranges[at + 1].1;
            ranges.remove(at + 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_of_time_are_put_together() {
        let mut ranges = Vec::new();
        for range in [(50, 60), (10, 20), (30, 40), (61, 70)] {
            merge(&mut ranges, range);
        }
        assert_eq!(ranges, [(10, 20), (30, 40), (50, 60), (61, 70)]);
        merge(&mut ranges, (35, 61));
        assert_eq!(ranges, [(10, 20), (30, 70)]);
        merge(&mut ranges, (0, 100));
        assert_eq!(ranges, [(0, 100)]);
        for at in 0..2 * RANGES_MAX as i64 {
            merge(&mut ranges, (1000 * at + 500, 1000 * at + 600 + at));
        }
        assert_eq!(ranges.len(), RANGES_MAX);
        assert!(ranges.is_sorted_by(|a, b| a.1 < b.0));
    }

    #[test]
    fn only_the_logs_before_are_known() {
        let mut twice = Twice::default();
        twice.add(7, (10, 12));
        twice.add(7, (11, 20));
        assert!(!twice.is_known(7, 15), "it is of this log");
        twice.next_log();
        for (direction, at, known) in [(7, 10, true), (7, 20, true), (7, 21, false), (8, 15, false)]
        {
            assert_eq!(twice.is_known(direction, at), known, "{direction} {at}");
        }
    }
}
