//! Another rival: a counting inverted index, as people write it for audience lists.
//!
//! Every test for any of some values is filed under all its values. An event counts, for each conjunction that one of
//! its values leads to, how many of these tests hold; a conjunction of which all do is looked at for what it has
//! besides. One without such a test is looked at for every event.

use std::collections::HashMap;

use super::simple::holds;
use super::{Conjunctions, Plain, Test};

/// The most tests of a conjunction that are counted.
const COUNTED_MAX: usize = 64;

/// An inverted index that counts.
#[derive(Debug, Default)]
pub struct CountingIndex {
    /// The expression of each conjunction, the tests that are counted as bits, and the other tests.
    conjunctions: Vec<(u32, u64, Vec<Test>)>,
    /// For each value of an attribute the conjunctions, and which of their tests names it.
    postings: HashMap<(usize, i64), Vec<(u32, u8)>>,
    rest: Vec<u32>,
    /// The event in which each conjunction was last found, and its tests that hold.
    counts: Vec<(u32, u64)>,
    /// The event for which each expression was last found.
    found: Vec<u32>,
    turn: u32,
}

impl CountingIndex {
    /// An index of expressions, numbered from 0.
    #[must_use]
    pub fn new(expressions: &[Conjunctions]) -> Self {
        let mut out = Self {
            found: vec![0; expressions.len()],
            ..Self::default()
        };
        for (number, expression) in expressions.iter().enumerate() {
            for conjunction in expression {
                out.add(number as u32, conjunction);
            }
        }
        out.counts = vec![(0, 0); out.conjunctions.len()];
        out
    }

    fn add(&mut self, number: u32, conjunction: &[Test]) {
        let at = self.conjunctions.len() as u32;
        let (mut counted, mut others) = (0usize, Vec::new());
        for test in conjunction {
            match test {
                Test::Any(attribute, values) if counted < COUNTED_MAX => {
                    for value in values {
                        let list = self.postings.entry((*attribute, *value)).or_default();
                        list.push((at, counted as u8));
                    }
                    counted += 1;
                }
                other => others.push(other.clone()),
            }
        }
        let all = u64::MAX.checked_shr((COUNTED_MAX - counted) as u32);
        if counted == 0 {
            self.rest.push(at);
        }
        self.conjunctions.push((number, all.unwrap_or(0), others));
    }

    /// The expressions that match an event, in no order.
    pub fn search(&mut self, event: &Plain, out: &mut Vec<u32>) {
        out.clear();
        self.turn += 1;
        for at in 0..self.rest.len() {
            self.offer(self.rest[at], event, out);
        }
        for (attribute, value) in event.values.iter().enumerate() {
            for value in value.elements() {
                let Some(list) = self.postings.get(&(attribute, *value)) else {
                    continue;
                };
                for (at, test) in list {
                    let (turn, holding) = &mut self.counts[*at as usize];
                    if *turn != self.turn {
                        (*turn, *holding) = (self.turn, 0);
                    }
                    let before = *holding;
                    *holding |= 1 << test;
                    let (number, all, others) = &self.conjunctions[*at as usize];
                    if before != *all && *holding == *all {
                        let found = &mut self.found[*number as usize];
                        if *found != self.turn && others.iter().all(|test| holds(test, event)) {
                            *found = self.turn;
                            out.push(*number);
                        }
                    }
                }
            }
        }
    }

    fn offer(&mut self, at: u32, event: &Plain, out: &mut Vec<u32>) {
        let (number, _, tests) = &self.conjunctions[at as usize];
        let found = &mut self.found[*number as usize];
        if *found != self.turn && tests.iter().all(|test| holds(test, event)) {
            *found = self.turn;
            out.push(*number);
        }
    }
}
