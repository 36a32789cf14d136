//! What would decide a limit on the regression that a comparison leaves undecided: how many more pairs, or another limit.
//!
//! An interval narrows with the square root of the number of pairs, and with it the one of a control of the same run. What
//! the runs drifted by does not. The difference is taken to be where it was found; as it moves with each run by its
//! standard error, there is room for that in four runs of five.

use super::options::MARGIN_MAX;
use super::regression::judged_drift;
use super::verdict::{POWER_80, control_bound, shift};
use crate::report::{Comparison, Design, Differences, Verdict};

/// What would decide a limit that a comparison leaves undecided.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Remedy {
    /// About how many times as many pairs like these would decide it in four runs of five. `None` where that cannot be
    /// told: the difference lies too near the limit, or the runs drifted or the control differs by as much.
    pub times: Option<f64>,
    /// The least limit that these pairs pass, as a share.
    pub passes_from: f64,
}

/// A remedy of more times as many pairs is none.
const MORE_MAX: f64 = 1_000.0;

impl Remedy {
    /// What would decide a limit on a percentile, of which [`Regression::of_percentile`](super::Regression::of_percentile) says
    /// that it is undecided; without a limit, what [`Regression::proven`](super::Regression::proven) says so of. `None` without an interval.
    #[must_use]
    pub fn of(comparison: &Comparison, p: f64, limit: Option<f64>) -> Option<Self> {
        let found = Located::of(comparison, p)?;
        let most = limit.unwrap_or(MARGIN_MAX);
        let least = limit.unwrap_or(0.0);
        let ways = [
            found.passes(most),
            found.is_beyond(least),
            found.is_no_difference(least),
        ];
        // A square root of how many times as many.
        let root = ways.into_iter().fold(f64::INFINITY, f64::min);
        let times = root.max(1.0).powi(2);
        Some(Self {
            times: Some(times).filter(|times| *times <= MORE_MAX),
            passes_from: (found.high + found.hidden[1]).max(0.0),
        })
    }

    /// About how many pairs that are where there were `pairs`; `None` where that cannot be told.
    #[must_use]
    pub fn pairs(&self, pairs: u64) -> Option<u64> {
        let times = self.times.filter(|_| pairs > 0)?;
        Some((pairs as f64 * times).ceil() as u64)
    }
}

/// A difference with its interval, and what it has to clear.
struct Located {
    middle: f64,
    low: f64,
    high: f64,
    /// How much more drift can hide below and above the interval.
    hidden: [f64; 2],
    /// What a regression has to clear, however many pairs there are.
    shift: f64,
    /// What it has to clear in these pairs: the control's bound, which narrows with more of them. There is room for where
    /// the control of the next run is, too.
    noise: f64,
    /// Within which the verdict is *no difference*, where more pairs do not change it.
    margin: Option<f64>,
    /// Whether the interval clears all that is known, and the verdict is not *worse*: something else holds it back.
    is_held_back: bool,
}

impl Located {
    fn of(comparison: &Comparison, p: f64) -> Option<Self> {
        let median = comparison.difference.as_ref().filter(|_| p == 50.0);
        let median = median.and_then(|found| Some((found.median, found.median_ci95?)));
        let (middle, [low, high], verdict) = match median {
            Some((middle, interval)) => (middle, interval, comparison.verdict),
            None => {
                let tail = comparison.tails.iter().find(|tail| tail.p == p)?;
                (tail.difference, tail.interval, tail.verdict)
            }
        };
        let hidden = judged_drift(comparison, p);
        let control = comparison.control.as_ref();
        let bound = control_bound(control);
        let is_distribution = comparison.difference.is_none();
        let (shift, noise) = match comparison.design {
            Design::Interleaved => (0.0, bound.max(POWER_80 * half_width(control))),
            // Of distributions nothing shows the drift: a difference has to clear the margin.
            Design::Sequential if is_distribution => (comparison.margin.unwrap_or(0.0), 0.0),
            Design::Sequential if p == 50.0 => (shift(comparison.design, control), 0.0),
            Design::Sequential => (bound.max(hidden[1]), 0.0),
        };
        let clears = low - hidden[0] > shift.max(bound);
        Some(Self {
            middle,
            low,
            high,
            hidden,
            shift,
            noise,
            margin: comparison.margin.filter(|margin| *margin > bound),
            is_held_back: clears && verdict != Verdict::Worse,
        })
    }

    /// How wide a side of the interval is, with room for where the next difference is. A side that is narrower than the
    /// other one is so by chance in a few pairs.
    fn half(&self, side: f64) -> f64 {
        POWER_80 * side.max(self.high / 2.0 - self.low / 2.0)
    }

    /// The factor by which more pairs bring the whole interval within the limit: it narrows by their square root.
    fn passes(&self, limit: f64) -> f64 {
        let room = limit - self.hidden[1] - self.middle;
        over(self.half(self.high - self.middle), room)
    }

    /// The same beyond the limit, and beyond what it has to clear.
    fn is_beyond(&self, limit: f64) -> f64 {
        if self.is_held_back {
            return f64::INFINITY;
        }
        let half = self.half(self.middle - self.low);
        let at_least = self.middle - self.hidden[0];
        let clears = over(half + self.noise, at_least - self.shift);
        clears.max(over(half, at_least - limit))
    }

    /// The same with the verdict *no difference*, which passes a limit of 0, and any where no drift can hide more.
    fn is_no_difference(&self, limit: f64) -> f64 {
        let counts = limit <= 0.0 || self.hidden[1] <= 0.0;
        let Some(margin) = self.margin.filter(|_| counts) else {
            return f64::INFINITY;
        };
        let half = self.half((self.high - self.middle).max(self.middle - self.low));
        over(half, margin - self.middle.abs()).max(over(self.noise, MARGIN_MAX))
    }
}

/// Half the width of a control's interval.
fn half_width(control: Option<&Differences>) -> f64 {
    let interval = control.map(|control| control.median_ci95.unwrap_or(control.range));
    interval.map_or(0.0, |[low, high]| high / 2.0 - low / 2.0)
}

/// How many times narrower `width` must become to fit; infinity where there is no room at all.
fn over(width: f64, room: f64) -> f64 {
    match room > 0.0 {
        true => width / room,
        false => f64::INFINITY,
    }
}

#[cfg(test)]
mod tests;
