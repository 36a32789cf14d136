//! When the operations of an open loop are due.

use crate::report::Arrivals;
use crate::rng::SplitMix64;

/// The greatest rate: beyond it, reading the clock alone does not keep up.
pub const RATE_MAX_PER_S: f64 = 10_000_000.0;

/// Most arrivals that one call counts.
const CATCH_UP_MAX: u64 = 100_000;

/// A rate out of range.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[error(
    "rate {0} is out of range: must be above 0 and at most {RATE_MAX_PER_S} operations per second"
)]
pub struct RateError(pub f64);

/// When operations are due: endless offsets from the start of the run, in nanoseconds.
#[derive(Debug, Clone)]
pub struct Schedule {
    arrivals: Arrivals,
    rate_per_s: f64,
    /// The first operation of a uniform schedule, in periods.
    shift: f64,
    rng: SplitMix64,
    /// How many were taken.
    given: u64,
    /// Offset of the next operation of a Poisson process.
    next_ns: f64,
}

impl Schedule {
    /// Equal distances between due times, the first operation due at once.
    ///
    /// # Errors
    /// When the rate is not above 0 and at most [`RATE_MAX_PER_S`].
    pub fn uniform(rate_per_s: f64) -> Result<Self, RateError> {
        Self::new(Arrivals::Uniform, rate_per_s, 0)
    }

    /// Uniform schedules that take turns: together they have this rate, and equal distances between all due times. The
    /// first operation of the first is due at once.
    ///
    /// # Errors
    /// When the rate of one is not above 0 and at most [`RATE_MAX_PER_S`].
    pub fn uniform_turns(rate_per_s: f64, schedules: usize) -> Result<Vec<Self>, RateError> {
        Self::uniform_turns_within(rate_per_s, schedules, 0.0)
    }

    /// The same, and their first operation is due after this part of one of their common periods: loops on several
    /// machines take turns, too, where machine `n` of `m` has the rate / `m` and begins after `n` / `m`.
    ///
    /// # Errors
    /// As [`Schedule::uniform_turns`].
    pub fn uniform_turns_within(
        rate_per_s: f64,
        schedules: usize,
        begins_after: f64,
    ) -> Result<Vec<Self>, RateError> {
        let all = schedules as f64;
        (0..schedules)
            .map(|turn| {
                Ok(Self {
                    shift: (turn as f64 + begins_after.clamp(0.0, 1.0)) / all,
                    ..Self::uniform(rate_per_s / all)?
                })
            })
            .collect()
    }

    /// Exponentially distributed distances between due times. A seed gives the same times on every platform
    /// whose logarithm rounds alike.
    ///
    /// # Errors
    /// As [`Schedule::uniform`].
    pub fn poisson(rate_per_s: f64, seed: u64) -> Result<Self, RateError> {
        let mut schedule = Self::new(Arrivals::Poisson, rate_per_s, seed)?;
        schedule.next_ns = schedule.gap_ns();
        Ok(schedule)
    }

    fn new(arrivals: Arrivals, rate_per_s: f64, seed: u64) -> Result<Self, RateError> {
        if !(rate_per_s > 0.0 && rate_per_s <= RATE_MAX_PER_S) {
            return Err(RateError(rate_per_s));
        }
        let rng = SplitMix64::new(seed);
        Ok(Self {
            arrivals,
            rate_per_s,
            shift: 0.0,
            rng,
            given: 0,
            next_ns: 0.0,
        })
    }

    /// The arrival process.
    #[must_use]
    pub fn arrivals(&self) -> Arrivals {
        self.arrivals
    }

    /// Operations a second.
    #[must_use]
    pub fn rate_per_s(&self) -> f64 {
        self.rate_per_s
    }

    pub(crate) fn period_ns(&self) -> f64 {
        1e9 / self.rate_per_s
    }

    fn gap_ns(&mut self) -> f64 {
        -self.rng.unit().ln() * self.period_ns()
    }

    /// Offset of the next operation, without taking it.
    pub(crate) fn peek(&self) -> u64 {
        match self.arrivals {
            // Computed from the number, so that errors do not add up. Saturates for the slowest rates.
            Arrivals::Uniform => ((self.given as f64 + self.shift) * self.period_ns()) as u64,
            Arrivals::Poisson => self.next_ns as u64,
        }
    }

    pub(crate) fn advance(&mut self) -> u64 {
        let offset = self.peek();
        self.given += 1;
        if self.arrivals == Arrivals::Poisson {
            self.next_ns += self.gap_ns();
        }
        offset
    }

    /// Skips what is due at `now_ns` and returns how many were taken in all. After a pause of minutes a
    /// Poisson process catches up over several calls.
    pub(crate) fn due_until(&mut self, now_ns: u64) -> u64 {
        if self.arrivals == Arrivals::Uniform {
            let count = ((now_ns as f64 / self.period_ns() - self.shift).floor() + 1.0) as u64;
            self.given = self.given.max(count);
        }
        let most = self.given.saturating_add(CATCH_UP_MAX);
        while self.peek() <= now_ns && self.peek() < u64::MAX && self.given < most {
            self.advance();
        }
        self.given
    }
}

impl Iterator for Schedule {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        Some(self.advance())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn rates_out_of_range_are_refused() {
        for rate in [0.0, -1.0, f64::NAN, f64::INFINITY, 2e7] {
            assert!(Schedule::uniform(rate).is_err() && Schedule::poisson(rate, 1).is_err());
        }
        assert_eq!(Schedule::uniform(1e-300).unwrap().nth(3), Some(u64::MAX));
    }

    #[test]
    fn a_uniform_schedule_does_not_drift() {
        let mut schedule = Schedule::uniform(3.0).unwrap();
        assert_eq!(schedule.next(), Some(0));
        assert_eq!(schedule.nth(2_999_999), Some(1_000_000_000_000_000));
    }

    #[test]
    fn schedules_that_take_turns_are_one() {
        let mut turns = Schedule::uniform_turns(4_000.0, 4).unwrap();
        let mut whole = Schedule::uniform(4_000.0).unwrap();
        for _ in 0..3 {
            for turn in &mut turns {
                assert_eq!(turn.next(), whole.next());
            }
        }
        assert!(turns.iter().all(|turn| turn.rate_per_s() == 1_000.0));
        assert!(Schedule::uniform_turns(0.0, 2).is_err());
    }

    #[test]
    fn machines_that_take_turns_are_one() {
        // Of four machines each has another number of threads.
        let threads = [1, 2, 3, 2];
        let mut machines: Vec<Vec<Schedule>> = threads
            .iter()
            .zip([0.0, 0.25, 0.5, 0.75])
            .map(|(threads, after)| {
                Schedule::uniform_turns_within(1_000.0, *threads, after).unwrap()
            })
            .collect();
        let mut whole = Schedule::uniform(4_000.0).unwrap();
        for round in 0..600_000 {
            for (threads, machine) in threads.iter().zip(&mut machines) {
                let (due, expected) = (machine[round % threads].next(), whole.next());
                let apart = due.zip(expected).map(|(due, one)| due.abs_diff(one));
                // A nanosecond is what rounding takes, however far the schedules have come.
                assert!(
                    apart.is_some_and(|apart| apart <= 1),
                    "{due:?} {expected:?}"
                );
            }
        }
    }

    #[test]
    fn a_poisson_schedule_has_its_rate_and_its_spread() {
        let offsets: Vec<u64> = Schedule::poisson(1_000.0, 42)
            .unwrap()
            .take(20_000)
            .collect();
        assert!(offsets.is_sorted());
        let gaps: Vec<f64> = offsets
            .windows(2)
            .map(|pair| (pair[1] - pair[0]) as f64)
            .collect();
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        let variance = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / gaps.len() as f64;
        assert!((mean / 1e6 - 1.0).abs() < 0.03, "{mean}");
        assert!(
            (variance.sqrt() / mean - 1.0).abs() < 0.05,
            "an exponential's deviation is its mean"
        );
        let again: Vec<u64> = Schedule::poisson(1_000.0, 42)
            .unwrap()
            .take(20_000)
            .collect();
        assert_eq!(offsets, again);
    }

    proptest! {
        #[test]
        fn the_count_of_what_is_due_is_the_schedules(
            rate in 1.0f64..100_000.0, seed: u64, times in prop::collection::vec(0u64..50_000_000, 1..20),
        ) {
            let turns = Schedule::uniform_turns(rate, 3).unwrap();
            for schedule in turns.into_iter().chain([Schedule::poisson(rate, seed).unwrap()]) {
                let mut ahead = schedule.clone();
                let mut times = times.clone();
                times.sort_unstable();
                for now in times {
                    let expected = schedule.clone().take_while(|offset| *offset <= now).count() as u64;
                    prop_assert_eq!(ahead.due_until(now), expected);
                }
            }
        }
    }
}
