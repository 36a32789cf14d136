//! Which candidates are worth having: the front over ratio and speed, and the fastest at a ratio.
//! Plain numbers in, plain numbers out.

/// The spread that stands for what too few rounds cannot show.
const NOISE_UNKNOWN: f64 = 0.25;
/// Rounds from which the spread is taken from the run.
const ROUNDS_MIN: usize = 3;

/// A speed over the rounds of a run, in bytes a second.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Speed {
    /// The middle one.
    pub(crate) median: f64,
    /// That of the slowest round.
    pub(crate) min: f64,
    /// That of the fastest round.
    pub(crate) max: f64,
    /// Rounds.
    pub(crate) rounds: usize,
}

impl Speed {
    /// The speed over these rounds; `None` of no rounds, or when one has no finite speed.
    pub(crate) fn of(rounds: &[f64]) -> Option<Self> {
        let mut sorted = rounds.to_vec();
        sorted.sort_by(f64::total_cmp);
        let (min, max) = (*sorted.first()?, *sorted.last()?);
        let middle = sorted.len() / 2;
        let median = match sorted.len() % 2 {
            0 => (sorted[middle - 1] + sorted[middle]) / 2.0,
            _ => sorted[middle],
        };
        (min > 0.0 && max.is_finite()).then_some(Self {
            median,
            min,
            max,
            rounds: sorted.len(),
        })
    }

    /// From the slowest to the fastest round, as a share of the median; of too few rounds a guess on
    /// the safe side.
    pub(crate) fn noise(&self) -> f64 {
        let spread = (self.max - self.min) / self.median;
        match self.rounds < ROUNDS_MIN {
            true => spread.max(NOISE_UNKNOWN),
            false => spread,
        }
    }

    /// Whether this is faster by more than the noise of both.
    fn beats(&self, other: &Self) -> bool {
        self.median > other.median * (1.0 + self.noise().max(other.noise()))
    }
}

/// A candidate among others on the same data.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Point {
    pub(crate) name: String,
    pub(crate) ratio: f64,
    pub(crate) speed: Speed,
}

impl Point {
    fn dominates(&self, other: &Self) -> bool {
        self.ratio >= other.ratio && self.speed.beats(&other.speed)
    }
}

/// For each point the one that dominates it: of several the fastest.
pub(crate) fn dominators(points: &[Point]) -> Vec<Option<&Point>> {
    let fastest = |point: &Point| {
        points
            .iter()
            .filter(|other| other.dominates(point))
            .max_by(|a, b| a.speed.median.total_cmp(&b.speed.median))
    };
    points.iter().map(fastest).collect()
}

/// The points that reach `ratio`, fastest first, each with whether the noise could hide a lead over
/// the first.
pub(crate) fn at_ratio(points: &[Point], ratio: f64) -> Vec<(&Point, bool)> {
    let mut reached: Vec<&Point> = points.iter().filter(|p| p.ratio >= ratio).collect();
    reached.sort_by(|a, b| b.speed.median.total_cmp(&a.speed.median));
    let first = reached.first().map(|point| point.speed);
    let level = |point: &Point| first.is_some_and(|first| !first.beats(&point.speed));
    reached.into_iter().map(|p| (p, level(p))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(name: &str, ratio: f64, rounds: &[f64]) -> Point {
        Point {
            name: name.to_owned(),
            ratio,
            speed: Speed::of(rounds).expect("a speed"),
        }
    }

    fn verdicts(points: &[Point]) -> Vec<Option<&str>> {
        let found = dominators(points);
        found.into_iter().map(|p| p.map(|p| &*p.name)).collect()
    }

    #[test]
    fn a_speed_is_the_median_with_its_ends() {
        let speed = Speed::of(&[3.0, 1.0, 2.0, 4.0]).expect("a speed");
        assert_eq!((speed.median, speed.min, speed.max), (2.5, 1.0, 4.0));
        assert_eq!(speed.noise(), 3.0 / 2.5);
        assert_eq!(Speed::of(&[]), None);
        assert_eq!(Speed::of(&[0.0, 1.0]), None);
    }

    #[test]
    fn what_is_slower_and_no_better_is_dominated_by_the_fastest_that_shows_it() {
        let points = [
            point("quick", 2.0, &[99.0, 100.0, 101.0]),
            point("good", 3.0, &[49.0, 50.0, 51.0]),
            point("better", 3.1, &[39.0, 40.0, 41.0]),
            point("bad", 2.9, &[9.0, 10.0, 11.0]),
            point("best", 4.0, &[1.0, 1.0, 1.0]),
        ];
        assert_eq!(verdicts(&points), [None, None, None, Some("good"), None]);
    }

    #[test]
    fn a_lead_within_the_noise_dominates_nothing() {
        let quiet = point("quiet", 3.0, &[100.0, 100.0, 100.0]);
        let same = point("same", 2.0, &[89.0, 90.0, 91.0]);
        assert_eq!(
            verdicts(&[quiet.clone(), same.clone()]),
            [None, Some("quiet")]
        );
        let busy = point("busy", 3.0, &[90.0, 100.0, 110.0]);
        assert_eq!(verdicts(&[busy, same.clone()]), [None, None]);
        // Two rounds that agree by chance do not make a quiet machine.
        let few = point("few", 3.0, &[100.0, 100.0]);
        assert_eq!(verdicts(&[few, same]), [None, None]);
    }

    #[test]
    fn equal_ratios_are_decided_by_speed_and_twins_stay() {
        let fast = point("fast", 2.0, &[20.0; 5]);
        let slow = point("slow", 2.0, &[10.0; 5]);
        let twin = point("twin", 2.0, &[20.0; 5]);
        assert_eq!(verdicts(&[slow, fast, twin]), [Some("twin"), None, None]);
    }

    #[test]
    fn the_fastest_at_a_ratio_comes_first_and_ties_are_told() {
        let points = [
            point("a", 2.0, &[300.0; 3]),
            point("b", 3.0, &[100.0, 101.0, 104.0]),
            point("c", 3.5, &[100.0, 103.0, 104.0]),
            point("d", 4.0, &[50.0; 3]),
        ];
        let ranked = |ratio| -> Vec<(String, bool)> {
            let found = at_ratio(&points, ratio);
            found
                .into_iter()
                .map(|(p, t)| (p.name.clone(), t))
                .collect()
        };
        let row = |name: &str, tie| (name.to_owned(), tie);
        assert_eq!(
            ranked(3.0),
            [row("c", true), row("b", true), row("d", false)]
        );
        assert_eq!(ranked(4.0), [row("d", true)]);
        assert!(ranked(4.1).is_empty());
    }
}
