//! What is measured: shapes, each at several numbers of expressions.

use std::time::Duration;

use betree::workload::shapes::{Shape, drawn, long, named, sweeps};

/// The most values that all expressions of a long shape name together: with more, texts and rivals take gigabytes.
const VALUES_MAX: u64 = 4_000_000;

/// How much is measured.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Plan {
    /// Numbers of expressions.
    pub sizes: Vec<u32>,
    /// Parts of names: only named and swept shapes that have one of them; all if there are none.
    pub only: Vec<String>,
    /// How many shapes are drawn at random, and from which number on.
    pub draws: u32,
    /// The number of the first draw.
    pub first_draw: u64,
    /// Events of a case.
    pub events: u32,
    /// Rounds over all events, in each of which every side has a turn.
    pub rounds: u32,
    /// Reductions of one step.
    pub budget: u64,
    /// What expressions, events and the order of turns are drawn from.
    pub seed: u64,
    /// No case begins after this time.
    pub max_time: Duration,
}

impl Default for Plan {
    /// What `perfkit betree-bench shapes` does without flags.
    fn default() -> Self {
        Self {
            sizes: vec![10_000, 100_000],
            only: Vec::new(),
            draws: 100,
            first_draw: 0,
            events: 200,
            rounds: 5,
            budget: 2_000,
            seed: 1,
            max_time: Duration::from_secs(30 * 60),
        }
    }
}

/// A shape at a number of expressions.
#[derive(Debug, Clone, PartialEq)]
pub struct Case {
    /// The shape.
    pub shape: Shape,
    /// How many expressions.
    pub expressions: u32,
    /// Of a swept shape, which sweep and which place in it.
    pub place: Option<(&'static str, usize)>,
}

impl Plan {
    /// All cases: named shapes, long shapes and sweeps by size, then the draws, each at every size. Of long shapes there
    /// are fewer expressions.
    #[must_use]
    pub fn cases(&self) -> Vec<Case> {
        let is_wanted = |shape: &Shape| {
            self.only.is_empty() || self.only.iter().any(|part| shape.name.contains(&**part))
        };
        let mut out: Vec<Case> = Vec::new();
        let case = |shape, expressions, place| Case {
            shape,
            expressions,
            place,
        };
        for size in &self.sizes {
            let wanted = named().into_iter().filter(is_wanted);
            out.extend(wanted.map(|shape| case(shape, *size, None)));
            for shape in long().into_iter().filter(is_wanted) {
                let most = u32::try_from(VALUES_MAX / shape.values()).unwrap_or(u32::MAX);
                let next = case(shape, most.min(*size), None);
                if !out.contains(&next) {
                    out.push(next);
                }
            }
            for sweep in sweeps() {
                let places = sweep.shapes.into_iter().enumerate();
                out.extend(
                    places
                        .filter(|(_, shape)| is_wanted(shape))
                        .map(|(at, shape)| case(shape, *size, Some((sweep.name, at)))),
                );
            }
        }
        for draw in 0..u64::from(self.draws) {
            let shape = drawn(self.first_draw.wrapping_add(draw));
            let sizes = self.sizes.iter();
            out.extend(sizes.map(|size| case(shape.clone(), *size, None)));
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_size_has_every_shape_and_parts_of_names_choose() {
        let plan = Plan {
            draws: 3,
            ..Plan::default()
        };
        let cases = plan.cases();
        let swept = sweeps().iter().map(|s| s.shapes.len()).sum::<usize>();
        let longs = cases.iter().filter(|case| long().contains(&case.shape));
        let (count, longs) = (long().len(), longs.collect::<Vec<_>>());
        assert!((count..=2 * count).contains(&longs.len()));
        for case in &longs {
            let values = u64::from(case.expressions) * case.shape.values();
            assert!(values <= VALUES_MAX && case.expressions > 300, "{case:?}");
        }
        let others = cases.len() - longs.len();
        assert_eq!(others, 2 * (named().len() + swept + 3));
        let only = Plan {
            only: vec!["radius".into()],
            sizes: vec![10],
            draws: 1,
            ..Plan::default()
        };
        let names: Vec<_> = only.cases().into_iter().map(|c| c.shape.name).collect();
        assert_eq!(names, ["radius and country", "radius", "drawn 0"]);
    }
}
