//! What is measured: shapes of messages.

use std::time::Duration;

use fixcore::Isa;
use fixcore::workload::shapes::{Shape, drawn, named, sweeps};

use super::Operation;

/// How much is measured.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Plan {
    /// By which instruction sets, all of which this processor has.
    pub isas: Vec<Isa>,
    /// What is done with messages.
    pub operations: Vec<Operation>,
    /// Parts of names: only named and swept shapes that have one of them; all if there are none.
    pub only: Vec<String>,
    /// How many shapes are drawn at random, and from which number on.
    pub draws: u32,
    /// The number of the first draw.
    pub first_draw: u64,
    /// Rounds, in each of which every side has a turn.
    pub rounds: u32,
    /// What messages and the order of turns are drawn from.
    pub seed: u64,
    /// No case begins after this time.
    pub max_time: Duration,
}

impl Default for Plan {
    /// What `perfkit fix-bench shapes` does without flags.
    fn default() -> Self {
        Self {
            isas: vec![Isa::detect()],
            operations: Operation::ALL.to_vec(),
            only: Vec::new(),
            draws: 50,
            first_draw: 0,
            rounds: 15,
            seed: 1,
            max_time: Duration::from_secs(30 * 60),
        }
    }
}

/// A shape, and its place in a sweep.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Case {
    /// The shape.
    pub shape: Shape,
    /// Of a swept shape, which sweep and which place in it.
    pub place: Option<(&'static str, usize)>,
}

impl Plan {
    /// All cases: named shapes, sweeps, then the draws.
    #[must_use]
    pub fn cases(&self) -> Vec<Case> {
        let is_wanted = |shape: &Shape| {
            self.only.is_empty() || self.only.iter().any(|part| shape.name.contains(&**part))
        };
        let case = |shape, place| Case { shape, place };
        let wanted = named().into_iter().filter(is_wanted);
        let mut out: Vec<Case> = wanted.map(|shape| case(shape, None)).collect();
        for sweep in sweeps() {
            let places = sweep.shapes.into_iter().enumerate();
            let wanted = places.filter(|(_, shape)| is_wanted(shape));
            out.extend(wanted.map(|(at, shape)| case(shape, Some((sweep.name, at)))));
        }
        let draws = (0..u64::from(self.draws)).map(|draw| self.first_draw.wrapping_add(draw));
        out.extend(draws.map(|draw| case(drawn(draw), None)));
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_has_every_shape_and_parts_of_names_choose() {
        let plan = Plan {
            draws: 3,
            ..Plan::default()
        };
        let swept = sweeps().iter().map(|s| s.shapes.len()).sum::<usize>();
        assert_eq!(plan.cases().len(), named().len() + swept + 3);
        let only = Plan {
            only: vec!["heartbeat".into(), "entries: 8".into()],
            draws: 1,
            ..Plan::default()
        };
        let names: Vec<_> = only.cases().into_iter().map(|c| c.shape.name).collect();
        assert_eq!(names, ["heartbeat", "sweep of entries: 8", "drawn 0"]);
    }
}
