//! What was found of a case.

use latency::percentile::earned_n;

/// Times of one operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Times {
    /// The median in nanoseconds.
    pub p50_ns: Option<u64>,
    /// The 99th percentile, if there are samples enough for it.
    pub p99_ns: Option<u64>,
    /// The 99.9th percentile, if there are samples enough for it.
    pub p999_ns: Option<u64>,
    /// The longest.
    pub max_ns: Option<u64>,
}

impl Times {
    /// The times of samples in nanoseconds, in any order.
    #[must_use]
    pub fn of(mut samples: Vec<u64>) -> Self {
        samples.sort_unstable();
        let at = |percent: f64| {
            let count = samples.len();
            let is_earned = percent <= 50.0 || count as u64 >= earned_n(percent);
            let rank = (count as f64 * percent / 100.0).ceil() as usize;
            let found = samples.get(rank.saturating_sub(1)).copied();
            found.filter(|_| is_earned)
        };
        Self {
            p50_ns: at(50.0),
            p99_ns: at(99.0),
            p999_ns: at(99.9),
            max_ns: samples.last().copied(),
        }
    }
}

/// What changes cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Changes {
    /// An insert and the snapshot after it.
    pub insert: Times,
    /// A delete.
    pub delete: Times,
}

/// What was found of a case.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// The name of the shape.
    pub shape: String,
    /// How many expressions.
    pub expressions: u32,
    /// Of a swept shape, which sweep and which place in it.
    pub place: Option<(&'static str, usize)>,
    /// How many expressions match an event, on average.
    pub matched: f64,
    /// Searches of betree, each in one call.
    pub betree: Times,
    /// Searches of the rivals, in their order; `None` for one that does not take part.
    pub rivals: Vec<Option<Times>>,
    /// How long betree was built: texts read, inserted, the first snapshot.
    pub build_ns: u64,
    /// The memory of betree's snapshot.
    pub bytes: usize,
    /// Inserts and deletes, one by one.
    pub changes: Changes,
    /// How long steps of a search kept their thread.
    pub hold: Times,
    /// Answers that were compared, and how many of them differed.
    pub answers: (u64, u64),
}

impl Row {
    /// How many times as long as the fastest rival betree takes, by the medians.
    #[must_use]
    pub fn worst_ratio(&self) -> Option<f64> {
        let all = (0..self.rivals.len()).filter_map(|rival| self.ratio(rival));
        all.max_by(f64::total_cmp)
    }

    /// How many times as long as a rival betree takes, by the medians.
    #[must_use]
    pub fn ratio(&self, rival: usize) -> Option<f64> {
        let other = self.rivals.get(rival).copied().flatten()?;
        Some(self.betree.p50_ns? as f64 / other.p50_ns?.max(1) as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_by_rank_and_need_enough_samples() {
        let few = Times::of(vec![3, 1, 2]);
        assert_eq!(
            (few.p50_ns, few.p99_ns, few.max_ns),
            (Some(2), None, Some(3))
        );
        let many = Times::of((1..=3_000).rev().collect());
        assert_eq!(many.p50_ns, Some(1_500));
        assert_eq!(many.p99_ns, Some(2_970));
        assert_eq!(many.p999_ns, Some(2_997));
        assert_eq!(Times::of(Vec::new()), Times::default());
    }
}
