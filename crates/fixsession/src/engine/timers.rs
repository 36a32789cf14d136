//! When sessions and connections want to be called again.
//!
//! A deadline that moves later, as one does with every message, costs nothing: the entry that is armed
//! stays, and its owner is asked when it fires.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Duration;

/// Deadlines by the index of their owner.
#[derive(Debug, Default)]
pub(super) struct Timers {
    heap: BinaryHeap<Reverse<(Duration, usize)>>,
    /// By owner: the earliest entry in the heap.
    armed: Vec<Option<Duration>>,
}

impl Timers {
    /// Calls `owner` not later than `at`. An earlier call may come, too: the owner knows its deadline.
    pub(super) fn arm(&mut self, owner: usize, at: Duration) {
        if self.armed.len() <= owner {
            self.armed.resize(owner + 1, None);
        }
        let Some(armed) = self.armed.get_mut(owner) else {
            return;
        };
        if armed.is_none_or(|armed| at < armed) {
            *armed = Some(at);
            self.heap.push(Reverse((at, owner)));
        }
    }

    /// The earliest entry.
    pub(super) fn next(&self) -> Option<Duration> {
        self.heap.peek().map(|Reverse((at, _))| *at)
    }

    /// An owner whose entry is due, which is no longer armed.
    pub(super) fn due(&mut self, now: Duration) -> Option<usize> {
        while self.next().is_some_and(|at| at <= now) {
            let Reverse((at, owner)) = self.heap.pop()?;
            if let Some(armed) = self.armed.get_mut(owner)
                && *armed == Some(at)
            {
                *armed = None;
                return Some(owner);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deadline_fires_once_and_a_later_one_is_not_armed_twice() {
        let at = Duration::from_secs;
        let mut timers = Timers::default();
        timers.arm(1, at(10));
        timers.arm(0, at(5));
        timers.arm(1, at(20));
        assert_eq!(timers.next(), Some(at(5)));
        assert_eq!(timers.due(at(4)), None);
        assert_eq!(timers.due(at(30)), Some(0));
        assert_eq!(timers.due(at(30)), Some(1));
        assert_eq!(timers.due(at(30)), None);
        timers.arm(1, at(40));
        timers.arm(1, at(35));
        assert_eq!(timers.due(at(41)), Some(1));
        assert_eq!(timers.due(at(41)), None, "the entry at 40 was superseded");
        assert_eq!(timers.next(), None);
    }
}
