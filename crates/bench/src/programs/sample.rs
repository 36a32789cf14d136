//! The measured runs of one command line, and what they come to.

use latency::clock::FLOORS_MIN;
use latency::compare::median;
use latency::deviation;

use super::{Program, Ran};

/// Deviations from the median, in standard deviations of a normal distribution estimated by the median
/// deviation, beyond which a run is an outlier.
const OUTLIER_DEVIATIONS: f64 = 14.826;

/// The measured runs of one command line.
#[derive(Debug, Clone, PartialEq)]
pub struct Sample {
    /// The command line.
    pub program: Program,
    /// Its runs, in their order; what the shell took to start is taken off.
    pub runs: Vec<Ran>,
    /// Whether the caller asked to stop before all runs were made.
    pub cut_short: bool,
}

/// Runs that took much longer or shorter than the rest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outliers {
    /// None.
    None,
    /// The first run took longer: caches were empty.
    First,
    /// Others.
    Some,
}

impl Sample {
    /// Wall times in their order.
    #[must_use]
    pub fn times_ns(&self) -> Vec<f64> {
        self.runs.iter().map(|run| run.wall_ns).collect()
    }

    fn mean_of(&self, of: impl Fn(&Ran) -> f64) -> f64 {
        let sum: f64 = self.runs.iter().map(of).sum();
        sum / self.runs.len().max(1) as f64
    }

    /// Mean of the wall times; 0 without a run.
    #[must_use]
    pub fn mean_ns(&self) -> f64 {
        self.mean_of(|run| run.wall_ns)
    }

    /// Mean of the processor time in the programs' own code.
    #[must_use]
    pub fn user_ns(&self) -> f64 {
        self.mean_of(|run| run.user_ns)
    }

    /// Mean of the processor time in the system.
    #[must_use]
    pub fn system_ns(&self) -> f64 {
        self.mean_of(|run| run.system_ns)
    }

    /// Standard deviation of the wall times; `None` for a single run.
    #[must_use]
    pub fn stdev_ns(&self) -> Option<f64> {
        let mean = self.mean_ns();
        let squares: f64 = self
            .runs
            .iter()
            .map(|run| (run.wall_ns - mean).powi(2))
            .sum();
        deviation::of_squares(squares, self.runs.len() as u64)
    }

    /// Median of the wall times; 0 without a run.
    #[must_use]
    pub fn median_ns(&self) -> f64 {
        median(&self.times_ns()).unwrap_or(0.0)
    }

    /// Least and greatest wall time; 0 without a run.
    #[must_use]
    pub fn range_ns(&self) -> [f64; 2] {
        let times = self.times_ns();
        let least = times.iter().copied().min_by(f64::total_cmp);
        let greatest = times.iter().copied().max_by(f64::total_cmp);
        [least.unwrap_or(0.0), greatest.unwrap_or(0.0)]
    }

    /// Whether a run took less than [`FLOORS_MIN`] of what starting the shell takes, or a process.
    #[must_use]
    pub fn is_short(&self, floor_ns: f64) -> bool {
        let least = floor_ns * FLOORS_MIN as f64;
        self.runs.iter().any(|run| run.wall_ns < least)
    }

    /// Whether a run failed.
    #[must_use]
    pub fn has_failures(&self) -> bool {
        self.runs.iter().any(|run| !run.succeeded)
    }

    /// The value of a percentile, where there are enough runs to know it.
    #[must_use]
    pub fn percentile_ns(&self, p: f64) -> Option<f64> {
        let mut times = self.times_ns();
        let n = times.len() as u64;
        if n < latency::percentile::earned_n(p) {
            return None;
        }
        times.sort_by(f64::total_cmp);
        let rank = latency::percentile::rank(n, p);
        times
            .get(usize::try_from(rank.checked_sub(1)?).ok()?)
            .copied()
    }

    /// Runs that took much longer or shorter than the rest, by modified z-scores (Iglewicz and Hoaglin, 1993).
    #[must_use]
    pub fn outliers(&self) -> Outliers {
        let times = self.times_ns();
        let middle = self.median_ns();
        let deviations: Vec<f64> = times.iter().map(|time| (time - middle).abs()).collect();
        // Where more than half of all runs took the same time, any deviation counts.
        let width = median(&deviations)
            .filter(|width| *width > 0.0)
            .unwrap_or(f64::EPSILON);
        let score = |time: &f64| (time - middle) / width;
        match times.first().map(score) {
            Some(first) if first > OUTLIER_DEVIATIONS => Outliers::First,
            _ if times
                .iter()
                .any(|time| score(time).abs() > OUTLIER_DEVIATIONS) =>
            {
                Outliers::Some
            }
            _ => Outliers::None,
        }
    }
}

#[cfg(test)]
pub(super) fn sample(name: &str, times_ns: &[f64]) -> Sample {
    let run = |wall_ns: &f64| Ran {
        wall_ns: *wall_ns,
        succeeded: true,
        exit_code: Some(0),
        ..Ran::default()
    };
    Sample {
        program: Program::new(name),
        runs: times_ns.iter().map(run).collect(),
        cut_short: false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_comes_to_what_is_computed_by_hand() {
        let four = sample("a", &[4.0, 1.0, 3.0, 2.0]);
        assert_eq!((four.mean_ns(), four.median_ns()), (2.5, 2.5));
        assert_eq!(four.range_ns(), [1.0, 4.0]);
        let stdev = four.stdev_ns().unwrap();
        assert!((stdev - (5.0_f64 / 3.0).sqrt()).abs() < 1e-12, "{stdev}");
        let one = sample("a", &[7.0]);
        assert_eq!((one.mean_ns(), one.stdev_ns()), (7.0, None));
        let none = sample("a", &[]);
        assert_eq!((none.mean_ns(), none.median_ns()), (0.0, 0.0));
        assert_eq!(none.range_ns(), [0.0; 2]);
    }

    #[test]
    fn a_run_is_short_below_twenty_floors() {
        let found = sample("a", &[30e6, 20e6]);
        assert!(!found.is_short(1e6) && found.is_short(1.001e6));
        assert!(!sample("a", &[]).is_short(1e6) && !sample("a", &[0.0]).is_short(0.0));
    }

    #[test]
    fn percentiles_need_enough_runs() {
        let times: Vec<f64> = (1..=29).map(f64::from).collect();
        let found = sample("a", &times);
        assert_eq!(found.percentile_ns(90.0), Some(27.0));
        assert_eq!(found.percentile_ns(99.0), None);
        assert_eq!(sample("a", &times[..28]).percentile_ns(90.0), None);
    }

    #[test]
    fn outliers_are_found_where_they_are() {
        for (times, expected) in [
            (&[][..], Outliers::None),
            (&[5.0], Outliers::None),
            (&[10.0, 11.0, 9.0, 10.0, 12.0], Outliers::None),
            (&[90.0, 11.0, 9.0, 10.0, 12.0], Outliers::First),
            (&[10.0, 11.0, 9.0, 10.0, 90.0], Outliers::Some),
            (&[10.0, 10.0, 10.0, 10.0, 11.0], Outliers::Some),
        ] {
            assert_eq!(sample("a", times).outliers(), expected, "{times:?}");
        }
    }
}
