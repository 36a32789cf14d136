//! Shapes drawn at random.

use super::{Ask, Clause, Shape, Values};
use crate::workload::prng::Prng;

/// Bounds of values: few, some, many.
const BOUNDS: [u64; 9] = [2, 3, 10, 40, 128, 129, 1_000, 5_000, 50_000];

/// A shape that depends on nothing but the seed: 1 to 40 attributes of any type, clauses of any kind that fits them,
/// one to four conjunctions, and any skew.
#[must_use]
pub fn drawn(seed: u64) -> Shape {
    let mut prng = Prng::new(seed ^ 0x6472_6177);
    let prng = &mut prng;
    let count = 1 + prng.skewed(40) as usize;
    let mut attributes = Vec::new();
    let mut clauses = Vec::new();
    for attribute in 0..count {
        let bound = BOUNDS[prng.below(BOUNDS.len() as u64) as usize];
        let values = match prng.below(8) {
            0..3 => Values::Text(bound),
            3 => Values::Integer(bound),
            4 => Values::Float(bound),
            5 | 6 => Values::List(1 + prng.skewed(60), bound),
            _ => Values::Boolean,
        };
        let few = 1 + prng.skewed(8);
        let ask = match (values, prng.below(4)) {
            (Values::Boolean, 0..2) => Ask::True,
            (Values::Boolean, _) => Ask::False,
            (Values::Float(_), 0) => Ask::Least,
            (Values::Float(_), _) => Ask::Range(1 + prng.skewed(800)),
            (Values::Integer(_), 0) => Ask::Least,
            (Values::Integer(_), 1) => Ask::Range(1 + prng.skewed(800)),
            (Values::List(..), 0) => Ask::All(1 + few / 3),
            (_, 1) => Ask::None(few),
            _ => Ask::Any(few),
        };
        let absent = if prng.chance(30) { prng.below(700) } else { 0 };
        attributes.push((values, absent));
        let share = [1000, 700, 300, 50][prng.below(4) as usize];
        clauses.push(Clause {
            attribute,
            ask,
            share,
        });
    }
    let extra = |ask, share| Clause {
        attribute: 0,
        ask,
        share,
    };
    if prng.chance(15) {
        clauses.push(extra(
            Ask::Radius(1 + prng.skewed(500)),
            300 + prng.below(700),
        ));
    }
    if prng.chance(15) {
        clauses.push(extra(Ask::Cap, 300 + prng.below(700)));
    }
    let least = 1 + prng.skewed(3);
    Shape {
        name: format!("drawn {seed}"),
        attributes,
        clauses,
        conjunctions: if prng.chance(70) {
            (1, 1)
        } else {
            (least, least + prng.below(3))
        },
        clauses_max: if prng.chance(50) {
            usize::MAX
        } else {
            1 + prng.below(8) as usize
        },
        skew: prng.below(3) as u8,
    }
}
