//! The rival: an inverted index of a few lines, which shares no code with the matcher.
//!
//! Each conjunction is filed under the values of its rarest positive test, by how often expressions ask for them;
//! one without such a test is looked at for every event. What is found is tested in the order of the conjunction.

use std::collections::HashMap;

use super::{Conjunctions, Plain, Test, Value};

/// An inverted index over conjunctions.
#[derive(Debug, Default)]
pub struct SimpleIndex {
    conjunctions: Vec<(u32, Vec<Test>)>,
    postings: HashMap<(usize, i64), Vec<u32>>,
    rest: Vec<u32>,
    /// The event for which each expression was last found.
    found: Vec<u32>,
    turn: u32,
}

impl SimpleIndex {
    /// An index of expressions, numbered from 0.
    #[must_use]
    pub fn new(expressions: &[Conjunctions]) -> Self {
        let mut asked: HashMap<(usize, i64), usize> = HashMap::new();
        for test in expressions.iter().flatten().flatten() {
            let (at, values) = match test {
                Test::Any(at, values) | Test::All(at, values) => (at, &values[..]),
                Test::Contains(at, v) | Test::Starts(at, v) | Test::Ends(at, v) => {
                    (at, std::slice::from_ref(v))
                }
                _ => continue,
            };
            for value in values {
                *asked.entry((*at, *value)).or_default() += 1;
            }
        }
        let mut out = Self {
            found: vec![0; expressions.len()],
            ..Self::default()
        };
        for (number, expression) in expressions.iter().enumerate() {
            for conjunction in expression {
                let at = out.conjunctions.len() as u32;
                out.conjunctions.push((number as u32, conjunction.clone()));
                let ways = conjunction.iter().filter_map(|test| match test {
                    Test::Any(attribute, values) => {
                        let keys: Vec<_> = values.iter().map(|v| (*attribute, *v)).collect();
                        Some((keys.iter().map(|key| asked[key]).sum::<usize>(), keys))
                    }
                    Test::All(attribute, values) => {
                        let rarest = values.iter().min_by_key(|v| asked[&(*attribute, **v)])?;
                        let key = (*attribute, *rarest);
                        Some((asked[&key], vec![key]))
                    }
                    Test::Contains(at, v) | Test::Starts(at, v) | Test::Ends(at, v) => {
                        let key = (*at, *v);
                        Some((asked[&key], vec![key]))
                    }
                    _ => None,
                });
                match ways.min_by_key(|(count, _)| *count) {
                    Some((_, keys)) => keys
                        .into_iter()
                        .for_each(|key| out.postings.entry(key).or_default().push(at)),
                    None => out.rest.push(at),
                }
            }
        }
        out
    }

    /// The expressions that match an event, in no order.
    pub fn search(&mut self, event: &Plain, out: &mut Vec<u32>) {
        out.clear();
        self.turn += 1;
        let mut visit = |lists: &[u32]| {
            for at in lists {
                let (number, tests) = &self.conjunctions[*at as usize];
                let found = &mut self.found[*number as usize];
                if *found != self.turn && tests.iter().all(|test| holds(test, event)) {
                    *found = self.turn;
                    out.push(*number);
                }
            }
        };
        visit(&self.rest);
        for (attribute, value) in event.values.iter().enumerate() {
            for value in value.elements() {
                if let Some(list) = self.postings.get(&(attribute, *value)) {
                    visit(list);
                }
            }
        }
    }
}

/// Whether a test holds. One of an absent value does not.
pub(super) fn holds(test: &Test, event: &Plain) -> bool {
    match test {
        Test::Either(tests) => tests.iter().any(|test| holds(test, event)),
        Test::Any(at, values) => match &event.values[*at] {
            Value::Integer(value) => values.contains(value),
            Value::List(list) => values.iter().any(|v| list.binary_search(v).is_ok()),
            Value::Float(_) | Value::Absent => false,
        },
        Test::None(at, values) => match &event.values[*at] {
            Value::Integer(value) => !values.contains(value),
            Value::List(list) => !values.iter().any(|v| list.binary_search(v).is_ok()),
            Value::Float(_) | Value::Absent => false,
        },
        Test::All(at, values) => match &event.values[*at] {
            Value::List(list) => values.iter().all(|v| list.binary_search(v).is_ok()),
            _ => false,
        },
        Test::Between(at, low, high) => {
            matches!(event.values[*at], Value::Integer(value) if *low <= value && value <= *high)
        }
        Test::FloatLeast(at, low) => {
            matches!(event.values[*at], Value::Float(value) if value >= *low)
        }
        Test::FloatBetween(at, low, high) => {
            matches!(event.values[*at], Value::Float(value) if *low <= value && value <= *high)
        }
        Test::Radius(latitude, longitude, km) => event
            .place
            .is_some_and(|place| distance(place, (*latitude, *longitude)) <= *km),
        Test::Cap(campaign, most, length) => {
            let counter = event.caps.binary_search_by_key(campaign, |(id, ..)| *id);
            counter.map_or(true, |at| {
                let (_, count, second) = event.caps[at];
                event.now - second > *length || count < *most
            })
        }
        Test::Contains(at, v) => words(event, *at).contains(v),
        Test::Lacks(at, v) => !words(event, *at).contains(v),
        Test::Starts(at, v) => words(event, *at).first() == Some(v),
        Test::Ends(at, v) => words(event, *at).last() == Some(v),
        // Without the attribute, a boolean is not true, and so `not` of it holds.
        Test::Is(at, wanted) => match event.values[*at] {
            Value::Integer(value) => (value != 0) == *wanted,
            _ => !wanted,
        },
    }
}

/// The words of a text.
fn words(event: &Plain, at: usize) -> &[i64] {
    match &event.values[at] {
        Value::List(words) => words,
        _ => &[],
    }
}

/// Kilometres along a great circle.
fn distance(from: (f64, f64), to: (f64, f64)) -> f64 {
    let half = |a: f64, b: f64| ((b - a).to_radians() / 2.0).sin().powi(2);
    let share = half(from.0, to.0)
        + from.0.to_radians().cos() * to.0.to_radians().cos() * half(from.1, to.1);
    2.0 * 6372.8 * share.sqrt().asin()
}
