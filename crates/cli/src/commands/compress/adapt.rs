//! Levels that follow the speed at which input comes and output goes.
//!
//! A stream waits for its source, for its sink or for its own threads. Where it waits for either end the level
//! rises, since there is time; where it waits for the threads it falls.

use std::time::{Duration, Instant};

use crate::commands::compress::flags::AdaptPlan;
use crate::commands::transfer::Waits;

/// How long a level is tried.
const INTERVAL: Duration = Duration::from_millis(150);

/// The level of a stream.
#[derive(Debug)]
pub(super) struct Adapt {
    bounds: AdaptPlan,
    level: i32,
    /// When the interval began, and what had been waited for by then.
    since: Instant,
    before: Waits,
}

impl Adapt {
    pub(super) fn new(bounds: AdaptPlan, level: i32, now: Instant) -> Self {
        Self {
            bounds,
            level: level.clamp(bounds.min, bounds.max),
            since: now,
            before: Waits::default(),
        }
    }

    /// The level to begin with.
    pub(super) fn level(&self) -> i32 {
        self.level
    }

    /// The level to go on with, if it is another one; `waits` are all since the stream began.
    pub(super) fn look(&mut self, now: Instant, waits: Waits) -> Option<i32> {
        let time = now.saturating_duration_since(self.since);
        if time < INTERVAL {
            return None;
        }
        let share = |of: fn(&Waits) -> Duration| {
            let waited = of(&waits).saturating_sub(of(&self.before));
            waited.as_secs_f64() / time.as_secs_f64()
        };
        let (sink, source) = (share(|waits| waits.sink), share(|waits| waits.source));
        let codec = share(|waits| waits.codec);
        self.since = now;
        self.before = waits;
        let next = match () {
            () if sink > 0.25 || source > 0.5 => self.level + 1,
            () if codec > 0.5 => self.level - 1,
            () => return None,
        };
        // Level 0 stands for the default one.
        let next = match next {
            0 => next + (next - self.level),
            next => next,
        };
        let next = next.clamp(self.bounds.min, self.bounds.max);
        let changed = next != self.level && next != 0;
        self.level = if changed { next } else { self.level };
        changed.then_some(next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The level after ten intervals, each spent in these shares of waiting for source, sink and threads.
    fn after(bounds: (i32, i32), level: i32, shares: [u32; 3]) -> i32 {
        let start = Instant::now();
        let (min, max) = bounds;
        let mut adapt = Adapt::new(AdaptPlan { min, max }, level, start);
        for step in 1..=10 {
            let time = INTERVAL * step;
            let waits = Waits {
                source: time * shares[0] / 100,
                sink: time * shares[1] / 100,
                codec: time * shares[2] / 100,
            };
            adapt.look(start + time, waits);
        }
        adapt.level
    }

    #[test]
    fn a_level_rises_where_an_end_is_slow_and_falls_where_the_threads_are() {
        let all = (-131_072, 22);
        assert_eq!(after(all, 3, [0, 60, 10]), 13);
        assert_eq!(after(all, 3, [70, 0, 10]), 13);
        // Over 0, which is no level.
        assert_eq!(after(all, 3, [0, 0, 90]), -8);
        assert_eq!(after(all, -3, [0, 90, 0]), 8);
        assert_eq!(after(all, 3, [20, 10, 30]), 3);
        assert_eq!(after((2, 5), 3, [0, 60, 0]), 5);
        assert_eq!(after((2, 5), 3, [0, 0, 90]), 2);
        assert_eq!(after((7, 9), 3, [0, 0, 0]), 7);
        // A limit at 0 is not reached.
        assert_eq!(after((0, 9), 2, [0, 0, 90]), 1);
    }

    #[test]
    fn nothing_changes_within_an_interval() {
        let start = Instant::now();
        let mut adapt = Adapt::new(AdaptPlan::default(), 3, start);
        let waits = Waits {
            sink: INTERVAL,
            ..Waits::default()
        };
        assert_eq!(adapt.look(start + INTERVAL / 2, waits), None);
        assert_eq!(adapt.look(start + INTERVAL, waits), Some(4));
    }
}
