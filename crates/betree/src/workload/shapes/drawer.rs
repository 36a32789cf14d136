//! Draws expressions and events of a shape.

use std::collections::BTreeSet;

use super::{Ask, Clause, Conjunctions, Plain, Shape, Test, Value, Values, campaign};
use crate::workload::prng::Prng;

/// Campaigns that have counters.
const CAMPAIGNS: u64 = 2_000;
/// The second at which all events happen.
const NOW: i64 = 1_700_000_000;

/// Expressions and events of a shape. A seed gives the same ones everywhere.
#[derive(Debug, Clone)]
pub struct Drawer {
    shape: Shape,
    expressions: Prng,
    events: Prng,
}

impl Drawer {
    /// A drawer whose expressions and events depend on nothing but the shape and the seed.
    #[must_use]
    pub fn new(shape: Shape, seed: u64) -> Self {
        Self {
            shape,
            expressions: Prng::new(seed ^ 0x7368_6170),
            events: Prng::new(seed ^ 0x6576_656e),
        }
    }

    /// The shape.
    #[must_use]
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// The next expression.
    pub fn expression(&mut self) -> Conjunctions {
        let Self {
            shape, expressions, ..
        } = self;
        let prng = expressions;
        let (least, most) = shape.conjunctions;
        let count = least + prng.below(most - least + 1);
        let mut all: Conjunctions = (0..count).map(|_| conjunction(shape, prng)).collect();
        // The campaign is a constant of the subscription, the same in all its caps.
        if let Some(first) = campaign(&all) {
            for test in all.iter_mut().flatten() {
                if let Test::Cap(campaign, ..) = test {
                    *campaign = first;
                }
            }
        }
        all
    }

    /// The next event.
    pub fn event(&mut self) -> Plain {
        let Self { shape, events, .. } = self;
        let prng = events;
        let mut out = Plain {
            now: NOW,
            ..Plain::default()
        };
        for (values, absent) in &shape.attributes {
            let value = match *values {
                Values::Text(bound) => Value::Integer(draw(prng, bound, shape.skew) as i64),
                Values::Integer(bound) => Value::Integer(prng.below(bound + 1) as i64),
                Values::Float(bound) => Value::Float(prng.below(bound * 100 + 1) as f64 / 100.0),
                Values::Boolean => Value::Integer(i64::from(prng.chance(50))),
                Values::Words(count, bound) => {
                    let words = (0..count).map(|_| draw(prng, bound, shape.skew) as i64);
                    Value::List(words.collect())
                }
                Values::List(most, bound) => {
                    let count = prng.below(most + 1);
                    let list = (0..count).map(|_| draw(prng, bound, shape.skew) as i64);
                    let mut list: Vec<i64> = list.collect();
                    list.sort_unstable();
                    list.dedup();
                    Value::List(list)
                }
            };
            let is_absent = prng.below(1000) < *absent;
            out.values
                .push(if is_absent { Value::Absent } else { value });
        }
        if shape.has(|ask| matches!(ask, Ask::Radius(_))) {
            out.place = Some(place(prng));
        }
        if shape.has_caps() {
            let count = prng.below(30);
            let mut caps: Vec<_> = (0..count)
                .map(|_| {
                    let campaign = prng.below(CAMPAIGNS) as i64;
                    (
                        campaign,
                        prng.below(12) as i64,
                        NOW - prng.below(5_000) as i64,
                    )
                })
                .collect();
            caps.sort_unstable();
            caps.dedup_by_key(|(campaign, ..)| *campaign);
            out.caps = caps;
        }
        out
    }
}

/// A value below a bound.
fn draw(prng: &mut Prng, bound: u64, skew: u8) -> u64 {
    match skew {
        0 => prng.below(bound),
        1 => prng.skewed(bound),
        // The number of bits is uniform, so a value is about as frequent as its inverse.
        _ => {
            let bits = prng.below(u64::from(bound.ilog2()) + 1);
            let low = (1u64 << bits) - 1;
            (low + prng.below(1 << bits)).min(bound - 1)
        }
    }
}

/// This many distinct values below a bound, ascending; all of them if there are fewer.
fn distinct(prng: &mut Prng, count: u64, bound: u64) -> Vec<i64> {
    if count < bound / 4 {
        let mut out = BTreeSet::new();
        while (out.len() as u64) < count {
            out.insert(prng.below(bound) as i64);
        }
        return out.into_iter().collect();
    }
    let mut left = count.min(bound);
    let mut out = Vec::with_capacity(left as usize);
    for value in 0..bound {
        // Each value is as likely as any other of those that are left.
        if prng.below(bound - value) < left {
            out.push(value as i64);
            left -= 1;
        }
    }
    out
}

/// A place near one of the larger towns of a made-up country, or anywhere in it.
fn place(prng: &mut Prng) -> (f64, f64) {
    let unit = |prng: &mut Prng| prng.below(1 << 30) as f64 / (1u64 << 30) as f64;
    if prng.chance(70) {
        let town = prng.skewed(300);
        let mut at = Prng::new(town);
        let (latitude, longitude) = (25.0 + 24.0 * unit(&mut at), -124.0 + 57.0 * unit(&mut at));
        return (latitude + 0.4 * unit(prng), longitude + 0.4 * unit(prng));
    }
    (25.0 + 24.0 * unit(prng), -124.0 + 57.0 * unit(prng))
}

fn conjunction(shape: &Shape, prng: &mut Prng) -> Vec<Test> {
    let mut clauses: Vec<Clause> = shape.clauses.clone();
    clauses.retain(|clause| prng.below(1000) < clause.share);
    while clauses.len() > shape.clauses_max {
        let drop = prng.below(clauses.len() as u64) as usize;
        clauses.swap_remove(drop);
    }
    if clauses.is_empty() {
        clauses.extend(shape.clauses.first());
    }
    clauses
        .iter()
        .map(|clause| test(shape, clause, prng))
        .collect()
}

fn test(shape: &Shape, clause: &Clause, prng: &mut Prng) -> Test {
    let at = clause.attribute;
    let values = shape
        .attributes
        .get(at)
        .map_or(Values::Boolean, |(values, _)| *values);
    let bound = match values {
        Values::Text(bound) | Values::Integer(bound) | Values::Float(bound) => bound,
        Values::List(_, bound) | Values::Words(_, bound) => bound,
        Values::Boolean => 2,
    };
    let several = |prng: &mut Prng, most: u64, exact: bool| {
        let count = if exact { most } else { 1 + prng.below(most) };
        let list = (0..count).map(|_| draw(prng, bound, shape.skew) as i64);
        let mut list: Vec<i64> = list.collect();
        list.sort_unstable();
        list.dedup();
        list
    };
    match clause.ask {
        Ask::Any(most) => Test::Any(at, several(prng, most, false)),
        Ask::Long(count) => Test::Any(at, distinct(prng, count, bound)),
        Ask::None(most) => Test::None(at, several(prng, most, false)),
        Ask::All(most) => Test::All(at, several(prng, most, true)),
        Ask::Range(share) => {
            let width = (bound * share / 1000).max(1);
            let low = prng.below(bound.saturating_sub(width) + 1);
            match values {
                Values::Float(_) => Test::FloatBetween(at, low as f64, (low + width) as f64),
                _ => Test::Between(at, low as i64, (low + width) as i64),
            }
        }
        Ask::Least => {
            let low = prng.below(bound);
            match values {
                Values::Float(_) => Test::FloatLeast(at, low as f64 + 0.5),
                _ => Test::Between(at, low as i64, i64::MAX),
            }
        }
        Ask::Radius(most) => {
            let (latitude, longitude) = place(prng);
            Test::Radius(latitude, longitude, (1 + prng.below(most)) as f64)
        }
        Ask::Cap => {
            let campaign = prng.below(CAMPAIGNS) as i64;
            let value = 1 + prng.below(10) as i64;
            Test::Cap(campaign, value, 600 * (1 + prng.below(6) as i64))
        }
        Ask::Contains => Test::Contains(at, draw(prng, bound, shape.skew) as i64),
        Ask::Lacks => Test::Lacks(at, draw(prng, bound, shape.skew) as i64),
        Ask::Starts => Test::Starts(at, draw(prng, bound, shape.skew) as i64),
        Ask::Ends => Test::Ends(at, draw(prng, bound, shape.skew) as i64),
        Ask::True => Test::Is(at, true),
        Ask::False => Test::Is(at, false),
        Ask::Either(asks) => Test::Either(
            asks.iter()
                .map(|(attribute, ask)| {
                    let clause = Clause {
                        attribute: *attribute,
                        ask: *ask,
                        share: clause.share,
                    };
                    test(shape, &clause, prng)
                })
                .collect(),
        ),
    }
}
